#!/usr/bin/env python
"""Predicts for new graphs, or for the nodes of a new graph, with the models of a finished run.

    python predict.py runs/mine NEW_DATA --csv out.csv
    python predict.py runs/mine NEW_DATA --csv out.csv --attention

NEW_DATA is a folder or file as train.py takes it; it needs no targets. Features are made as the run made them.
Exit codes: 0 done, 2 a user's error.
"""

import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("KERAS_BACKEND", "tensorflow")

from train import sentence, silence


def main(argv=None):
    """Runs predict.py with the given words (default: the command line's); returns the exit code."""
    with silence():
        import tensorflow as tf

        from experiments import predict
        from ganet_tf.errors import GANetError

        tf.config.list_physical_devices("GPU")  # makes the CUDA libraries complain now, not later
    try:
        return predict.run(predict.parse(sys.argv[1:] if argv is None else argv))
    except (GANetError, OSError, MemoryError) as error:
        print(f"predict.py: {sentence(error)}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
