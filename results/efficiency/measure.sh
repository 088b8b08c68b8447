#!/bin/sh
# Measures everything that docs/efficiency.md shows: some ten minutes on two quiet cores. Run it from the project's root.
set -eu
out=results/efficiency
python=${PYTHON:-.venv/bin/python}

# The table and the plot of the document: the paper's sizes, and two that only the sparse operators reach.
"$python" profile_ops.py --nodes 1000 10000 20000 100000 1000000 --budget 1 \
  --json "$out/table.json" --csv "$out/table.csv" --plot "$out/plot.png" --markdown docs/efficiency.md

# When choosing k neighbours pays: growing degrees, forward and backward.
"$python" profile_ops.py --nodes 20000 --degree 8 32 128 --operators gao hgao topk --implementation sparse \
  --gradients --no-baseline --json "$out/degree.json" --markdown "$out/degree.md"

# One thread, the paper's operators.
"$python" profile_ops.py --operators gao hgao cgao --threads 1 --json "$out/one-thread.json" --markdown "$out/one-thread.md"
