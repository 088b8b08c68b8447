"""What Keras' `fit` costs beside a loop of one's own, and what the first step costs a newcomer.

    GANET_DATA=DIR python benchmarks/fit.py

The network is README's first one, in processor time of one thread. Steps: the ways to train take turns over epochs of
MUTAG, batches of 20, after all of them were traced; the figure is the median over rounds. First step: of
`fit` on README's data, in a process of its own for each implementation and optimizer, with all the tracing that it
needs. Writes results/benchmarks/fit.json.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import keras  # noqa: E402
import tensorflow as tf  # noqa: E402

from experiments import environment  # noqa: E402
from ganet_tf import data, models, optimizers  # noqa: E402
from ganet_tf.files import write_whole  # noqa: E402

FILE = ROOT / "results" / "benchmarks" / "fit.json"
EPOCHS, ROUNDS, FIRSTS = 10, 9, 3
OPTIMIZERS = {"Adam": keras.optimizers.Adam, "FlatAdam": optimizers.FlatAdam}


def main():
    """Measures both, or, as a process of its own, one first step; returns the exit code."""
    environment.set_threads(1)
    if len(sys.argv) == 3:
        print(first_step(*sys.argv[1:]))
        return 0
    steps, firsts = step_costs(), first_costs()
    more = {"git_revision": environment.git_revision(), "hardware": environment.hardware()}
    result = {"step_ms": steps, "first_step_seconds": firsts, **more, "versions": environment.versions()}
    write_whole(FILE, json.dumps(result, indent=1) + "\n")
    for way, row in steps.items():
        print(f"{way:50} {row['median']:6.2f} ms a step ({row['low']:.2f} to {row['high']:.2f})")
    for way, seconds in firsts.items():
        print(f"first step, {way:38} {seconds:6.2f} s")
    return 0


def compiled(dataset, optimizer, implementation="auto"):
    """README's first network."""
    keras.utils.set_random_seed(0)
    sizes = {"num_features": dataset.num_features, "sort_pooling_k": dataset.sort_pooling_k(0.6)}
    model = models.GraphClassifier(dataset.num_classes, k=8, implementation=implementation, **sizes)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(OPTIMIZERS[optimizer](1e-3), loss, metrics=["accuracy"])
    return model


def step_costs():
    """{way to train: quartiles of its milliseconds of processor time a step}."""
    train, _ = data.load("MUTAG").fold(1)
    ways = {f"{way}, {name}": maker(train, name) for name in OPTIMIZERS for way, maker in WAYS.items()}
    rounds = [{way: processor_time(run) for way, run in ways.items()} for _ in range(ROUNDS + 1)][1:]
    steps = EPOCHS * len(train.batches(20))
    costs = {way: statistics.quantiles([1e3 * each[way] / steps for each in rounds]) for way in ways}
    return {way: dict(zip(("low", "median", "high"), cost, strict=True)) for way, cost in costs.items()}


def plain_fit(train, name):
    """`fit` on batches: a new iterator for each epoch."""
    model, batches = compiled(train, name), train.batches(20, shuffle=True)
    return lambda: model.fit(batches, epochs=EPOCHS, verbose=0)


def repeated_fit(train, name):
    """`fit` on repeated batches: one iterator for all epochs."""
    model, batches = compiled(train, name), train.batches(20, shuffle=True)
    steps = len(batches)
    return lambda: model.fit(batches.repeat(), steps_per_epoch=steps, epochs=EPOCHS, verbose=0)


def own_loop(train, name):
    """As train.py has it: NumPy arrays into a compiled step."""
    model = compiled(train, name)
    step = tf.function(
        lambda *batch: model.train_step(batch), autograph=False, input_signature=train.batches(1).element_spec
    )

    def run():
        for epoch in range(EPOCHS):
            for batch in train.numpy_batches(20, shuffle=True, epoch=epoch):
                step(*tf.nest.map_structure(tf.convert_to_tensor, batch))

    return run


WAYS = {
    "fit": plain_fit,
    "fit on batches.repeat(), steps_per_epoch": repeated_fit,
    "a loop over numpy_batches": own_loop,
}


def processor_time(function):
    """Seconds of this process, all threads."""
    start = time.process_time()
    function()
    return time.process_time() - start


def first_costs():
    """{implementation and optimizer: the median of its seconds}, each time in a new process."""
    words = [(implementation, name) for implementation in ("sparse", "native") for name in OPTIMIZERS]
    rounds = [{pair: in_new_process(*pair) for pair in words} for _ in range(FIRSTS)]
    return {", ".join(pair): statistics.median(each[pair] for each in rounds) for pair in words}


def in_new_process(implementation, name):
    """`first_step` there."""
    command = [sys.executable, __file__, implementation, name]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])


def first_step(implementation, name):
    """Seconds of processor time of one step of `fit`, from a compiled model on."""
    train, _ = data.load("BA2Motifs").fold(1)
    model, batches = compiled(train, name, implementation), train.batches(32, shuffle=True)
    return processor_time(lambda: model.fit(batches, steps_per_epoch=1, verbose=0))


if __name__ == "__main__":
    sys.exit(main())
