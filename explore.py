#!/usr/bin/env python
"""Shows what a trained model attends to: one HTML page that opens in any browser, without a network.

    python explore.py runs/mine/fold-01
    python explore.py runs/mine/fold-01 --html attention.html --graphs 20

Exit codes: 0 done, 2 a user's error.
"""

import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("KERAS_BACKEND", "tensorflow")

from train import sentence, silence


def main(argv=None):
    """Runs explore.py with the given words (default: the command line's); returns the exit code."""
    with silence():
        import tensorflow as tf

        from experiments import explore
        from ganet_tf.errors import GANetError

        tf.config.list_physical_devices("GPU")  # makes the CUDA libraries complain now, not later
    try:
        return explore.run(explore.parse(sys.argv[1:] if argv is None else argv))
    except (GANetError, OSError, MemoryError, ImportError) as error:
        print(f"explore.py: {sentence(error)}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
