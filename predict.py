#!/usr/bin/env python
"""Predicts for new graphs, or for the nodes of a new graph, with the models of a finished run.

    python predict.py runs/mine NEW_DATA --csv out.csv
    python predict.py runs/mine NEW_DATA --csv out.csv --attention

NEW_DATA is a folder or file as train.py takes it; it needs no targets. Features are made as the run made them.
Exit codes: 0 done, 2 a user's error.
"""

import sys

from train import script


def main(argv=None):
    """Runs predict.py with the given words (default: the command line's); returns the exit code."""
    return script("predict", argv)


if __name__ == "__main__":
    sys.exit(main())
