#!/usr/bin/env python
"""Shows what a trained model attends to: one HTML page that opens in any browser, without a network.

    python explore.py runs/mine/fold-01
    python explore.py runs/mine/fold-01 --html attention.html --graphs 20

Exit codes: 0 done, 2 a user's error.
"""

import sys

from train import script


def main(argv=None):
    """Runs explore.py with the given words (default: the command line's); returns the exit code."""
    return script("explore", argv)


if __name__ == "__main__":
    sys.exit(main())
