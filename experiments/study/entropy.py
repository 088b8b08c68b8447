"""How even the attention of a contest's network is: `python -m experiments.study.entropy study/CONTEST/RIVAL ...`.

The mean entropy of its attention weights over log n, module by module, over its first runs, into
results/study/.../entropy.json. 1 is uniform, 0 all weight on one neighbour. Nothing for a rival that does not attend.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np

from experiments import environment
from experiments.attention.folds import load, open_fold
from experiments.attention.layers import looks
from experiments.attention.measures import entropy_ratios
from ganet_tf.errors import GANetError
from ganet_tf.files import write_whole

ROOT = Path(__file__).resolve().parents[2]
FILE = "entropy.json"
RUNS = 3  # of each rival


def main(argv=None):
    """Measures what is asked for; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m experiments.study.entropy", description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="+", help="folders below runs/ and results/")
    parser.add_argument("--runs", type=Path, default=ROOT / "runs", help="where train.py works")
    parser.add_argument("--results", type=Path, default=ROOT / "results", help="where summaries are")
    arguments = parser.parse_args(argv)
    environment.set_threads(1)
    try:
        for name in arguments.names:
            if entry := measured(arguments.runs / name, arguments.runs):
                write_whole(arguments.results / name / FILE, json.dumps(entry) + "\n")
    except (GANetError, OSError) as error:
        print(f"entropy: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return 0


def measured(folder, root):
    """{"runs", "modules": [mean entropy ratio]} of a run's folder; None where nothing attends."""
    folds = [fold for n in range(1, RUNS + 1) if (fold := open_fold(folder, root, n)) and fold.has_attention]
    values = [[module_entropy(look) for look in all_looks(fold)] for fold in folds]
    if not values:
        return None
    return {"runs": len(values), "modules": [round(float(value), 4) for value in np.mean(values, axis=0)]}


def all_looks(fold):
    """The looks at the first batch: the graph, or the first graphs of the test fold."""
    model, _, batches = load(fold)
    return looks(model, batches[0])


def module_entropy(look):
    """The mean over nodes."""
    return float(np.mean(entropy_ratios(look.rows, look.weights)))


if __name__ == "__main__":
    sys.exit(main())
