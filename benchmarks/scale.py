"""Beyond one process and one memory, in numbers: shares, sampler, files, and a graph of 200 million edges.

    python benchmarks/scale.py                        all but the last two, about twenty minutes
    python benchmarks/scale.py --sections workers     2 workers against 1 on D&D, wall time: a quiet machine, please
    python benchmarks/scale.py --sections faults      what befalls a worker until the others end: also a quiet one
    python benchmarks/scale.py --nodes 200_000        the same on a small graph

The graph is made in --folder (12 GB at full size) and deleted in the end. Processor seconds are those of the process
itself, which a busy machine changes little. Results go to results/benchmarks/scale.json, where each section has its own
date, revision and load.

| section | what | goal |
|---|---|---|
| balance | mean / slowest of 8 workers' nodes and edges, D&D, batches of 128 | >= 0.95 |
| opening | seconds and memory of `NodeDataset.from_folder` | < 1 s, < 100 MB |
| sampler | nodes a processor second against DGL's NeighborSampler, the same graph and fanout | >= 1.0 |
| features | rows a processor second from a mapped file in the page cache, against memory | >= 0.5 |
| large | train.py on the folder: the most memory that it had, mapped files and the rest | < 4 GB, < 1 GB and a batch |
| halves | processor time of a step on half a batch of 32 against a whole one, D&D and PROTEINS, both kernels | |
| workers | D&D, batches of 32, both kernels: seconds of an epoch on 1 core, over those of 2 workers on 2 | >= 1.6 |
| faults | seconds from a kill -9, a SIGSTOP or a dead network until the other worker has ended | < 10 s for a kill |
"""

import argparse
import itertools
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(1, str(ROOT))

FANOUT, BATCH = (10, 5, 5), 1024
PIECE = 2**21  # edges that are drawn at a time
QUADRANTS = (0.45, 0.67, 0.89)  # R-MAT's .45 .22 .22 .11, added up
SECTIONS = ("balance", "opening", "sampler", "features", "large", "halves", "workers", "faults")
ON_GRAPH = {"opening", "sampler", "features", "large"}
QUIET = {"workers", "faults"}  # wall time, which others on the machine change
KERNELS = ("sparse", "native")
WARM_UP = 4  # steps that are traced, or meet sizes that are new
LIMIT = 4 * 10**9  # bytes that training on the large graph may have
SECONDS = 3600  # that any one process may take


def make_graph(folder, nodes, degree, features, seed=0):
    """R-MAT edges to CSR files by the converter, random features, eight classes and small splits; says how long."""
    rng, start = np.random.default_rng(seed), time.process_time()
    pairs = np.lib.format.open_memmap(folder / "edges.npy", "w+", np.int32, (nodes * degree // 2, 2))
    for first in range(0, len(pairs), PIECE):
        pairs[first : first + PIECE] = rmat(min(PIECE, len(pairs) - first), nodes, rng)
    drawn = time.process_time()
    del pairs
    words = [sys.executable, "-m", "ganet_tf.data.convert", folder / "edges.npy", folder, "--num-nodes", nodes]
    peaks = watched(subprocess.Popen(list(map(str, words)), cwd=ROOT))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    (folder / "edges.npy").unlink()
    x = np.lib.format.open_memmap(folder / "x.npy", "w+", np.float32, (nodes, features))
    for first in range(0, nodes, PIECE // 8):
        part = x[first : first + PIECE // 8]
        rng.standard_normal(out=part, dtype=np.float32)
    del x
    np.save(folder / "y.npy", rng.integers(0, 8, nodes).astype(np.int16))
    for split, count in (("train", 20 * BATCH), ("val", 2 * BATCH), ("test", 2 * BATCH)):
        chosen = rng.choice(nodes, min(count, nodes // 4), replace=False)
        np.save(folder / f"{split}.npy", np.sort(chosen).astype(np.int32))
    describe = json.loads((folder / "graph.json").read_text())
    (folder / "graph.json").write_text(json.dumps({**describe, "num_classes": 8}))
    size = sum(path.stat().st_size for path in folder.iterdir())
    return {
        "nodes": nodes,
        "edges": describe["num_edges"],
        "features": features,
        "bytes": size,
        "cpu_seconds": {"edges": drawn - start, "convert": used.ru_utime + used.ru_stime},
        "convert_peak_bytes": peaks,
    }


def rmat(count, nodes, rng):
    """`count` edges: each bit of source and target by one of R-MAT's four quadrants."""
    source, target = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for _ in range(int(np.ceil(np.log2(nodes)))):
        quadrant = np.searchsorted(QUADRANTS, rng.random(count, dtype=np.float32))
        source, target = source << 1 | quadrant >> 1, target << 1 | quadrant & 1
    return np.stack([source % nodes, target % nodes], axis=1)


def measure_balance():
    """{data set, batch size and workers: mean / slowest} over an epoch."""
    from ganet_tf import data
    from ganet_tf.data.batching import deal

    found = {}
    for name in ("DD", "PROTEINS"):
        ds = data.load(name)
        work, order = ds.sizes + ds.edge_counts, np.random.default_rng(0).permutation(len(ds))
        for batch in (32, 128):
            for workers in (2, 4, 8):
                parts = [work[order[first : first + batch]] for first in range(0, len(order), batch)]
                loads = [[part[share].sum() for share in deal(part, workers)] for part in parts]
                slowest = sum(max(load) for load in loads)
                found[f"{name}, batch {batch}, {workers} workers"] = float(work.sum() / workers / slowest)
    return found


def measure_opening(folder):
    """Seconds and bytes of opening the files, in this process, which has everything imported."""
    from ganet_tf import data

    before, start = status("VmRSS"), time.perf_counter()
    ds = data.load(folder)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "bytes": status("VmRSS") - before, "edges": ds.num_edges}


def measure_sampler(folder, rounds=30):
    """Nodes a processor second, without features, from lists in memory; and through the map."""
    from ganet_tf.data.sampling import NeighborLists, NeighborSampler

    found = {}
    for kind in ("memory", "mapped"):
        arrays = [np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("indptr", "indices")]
        arrays = [np.array(array) for array in arrays] if kind == "memory" else arrays
        lists = NeighborLists(*arrays)
        x = np.zeros((lists.num_nodes, 0), np.float32)
        sampler = NeighborSampler(x, lists, np.zeros(lists.num_nodes, np.int8), FANOUT)
        found[kind] = timed_samples(lambda seeds, rng: len(sampler.sample(seeds, rng)[0]["x"]), lists.num_nodes, rounds)  # noqa: B023
    return found


def timed_samples(sample, nodes, rounds):
    """{"nodes": of a sample, "cpu_seconds": of a sample, "nodes_per_cpu_second"} over some rounds."""
    rng, total, spent = np.random.default_rng(0), 0, []
    for _ in range(rounds + 3):
        seeds = rng.choice(nodes, BATCH, replace=False)
        start = time.process_time()
        count = sample(seeds, rng)
        spent.append((time.process_time() - start, count))
    kept = spent[3:]
    total, seconds = sum(count for _, count in kept), sum(used for used, _ in kept)
    return {"nodes": total / rounds, "cpu_seconds": seconds / rounds, "nodes_per_cpu_second": total / seconds}


DGL = """
import json, sys, time
import numpy as np, torch, dgl
folder, batch, rounds, fanout = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), json.loads(sys.argv[4])
torch.set_num_threads(1)
indptr = torch.from_numpy(np.load(folder + "/indptr.npy"))
indices = torch.from_numpy(np.load(folder + "/indices.npy").astype(np.int64))
graph = dgl.graph(("csc", (indptr, indices, torch.empty(0, dtype=torch.int64))), num_nodes=len(indptr) - 1)
sampler = dgl.dataloading.NeighborSampler(fanout[::-1])
rng, spent = np.random.default_rng(0), []
for _ in range(rounds + 3):
    seeds = torch.from_numpy(rng.choice(len(indptr) - 1, batch, replace=False))
    start = time.process_time()
    nodes, _, _ = sampler.sample(graph, seeds)
    spent.append((time.process_time() - start, len(nodes)))
kept = spent[3:]
total, seconds = sum(c for _, c in kept), sum(s for s, _ in kept)
print(json.dumps({"nodes": total / rounds, "cpu_seconds": seconds / rounds, "nodes_per_cpu_second": total / seconds,
                  "versions": {"dgl": dgl.__version__, "torch": torch.__version__}}))
"""


def measure_dgl(folder, rounds=30):
    """The same by DGL in its own environment, in memory; None where there is none."""
    from benchmarks.peers import environments

    if environments.make("dgl", note) is not None:
        return None
    words = [environments.interpreter("dgl"), "-c", DGL, folder, BATCH, rounds, json.dumps(FANOUT)]
    variables = {**os.environ, "DGLBACKEND": "pytorch", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, env=variables, timeout=SECONDS)
    if done.returncode:
        note(f"DGL does not take part: {done.stderr.strip().splitlines()[-1:]}")
        return None
    return json.loads(done.stdout.splitlines()[-1])


def measure_features(folder, rounds=20, rows=140_000, limit=4 * 10**6):
    """Rows a processor second out of the file, which is read once before, and out of memory; by threads beside them."""
    from ganet_tf.data.neighbor_lists import Rows

    mapped = np.load(folder / "x.npy", mmap_mode="r")
    count = min(len(mapped), limit)  # what is copied to memory
    sources = {"memory": Rows(np.array(mapped[:count])), "mapped": Rows(mapped, False), "threads": Rows(mapped, True)}
    out, spent = np.empty((rows, mapped.shape[1]), np.float32), dict.fromkeys(sources, 0.0)
    for turn in range(rounds + 2):
        nodes = np.sort(np.random.default_rng(turn).integers(0, count, rows))
        for kind, source in sources.items():
            start = time.process_time()
            source.take(nodes, out)
            spent[kind] += (time.process_time() - start) * (turn >= 2)
    return {kind: rounds * rows / seconds for kind, seconds in spent.items()}


def measure_large(folder, output):
    """train.py on the folder, an epoch of sampled steps: seconds, and the most memory, of a process of its own."""
    settings = ["sampled.batch_size=1024", "sampled.fanout=10,5,5", "model.dropout=0.1"]
    words = [ROOT / "train.py", "--task", "node", "--dataset", folder, "--runs", "1", "--epochs", "1", "--threads", "1"]
    words += ["--output", output, "--set", *settings]
    variables = {**os.environ, "GANET_MEMORY_LIMIT": str(LIMIT)}  # so that features are not mapped but read
    peaks = watched(subprocess.Popen([sys.executable, *map(str, words)], stdout=subprocess.DEVNULL, env=variables))
    result = json.loads((Path(output) / "run-01" / "result.json").read_text())
    return {"peak_bytes": peaks, "seconds": result["seconds"], "sizes": result["sizes"], "steps": 20}


def watched(process):
    """The most memory that a process had until its end: all of it, its own, and pages of files."""
    peaks = {"VmRSS": 0, "RssAnon": 0, "RssFile": 0}
    while process.poll() is None:
        for field in peaks:
            peaks[field] = max(peaks[field], status(field, process.pid))
        time.sleep(0.05)
    if process.returncode:
        raise SystemExit(f"{process.args} ended with exit code {process.returncode}")
    return peaks


def measure_halves(batches=30):
    """{data set, kernels: processor seconds of a step on the larger half of a batch of 32 over those of all of it}."""
    from experiments import environment

    environment.set_threads(1)
    found = {}
    for name, kernels in itertools.product(("DD", "PROTEINS"), KERNELS):
        step, split = steps_on(name, kernels)
        halves = steps_on(name, kernels, (0, 2))[1]
        pairs = [list(each.batches(0))[: batches + WARM_UP] for each in (split, halves)]
        spent = {"whole": 0.0, "half": 0.0}
        for turn, (whole, half) in enumerate(zip(*pairs, strict=True)):
            for kind, batch in (("whole", whole), ("half", half)):
                start = time.process_time()
                step(*batch[:2])
                spent[kind] += (time.process_time() - start) * (turn >= WARM_UP)
        found[f"{name}, {kernels}"] = spent["half"] / spent["whole"]
    return found


FAULTS = {
    "kill -9 of worker 0": (0, signal.SIGKILL),
    "kill -9 of worker 1": (1, signal.SIGKILL),
    "worker 0 stands still": (0, signal.SIGSTOP),
    "worker 1 stands still": (1, signal.SIGSTOP),
    "no network": (None, None),
}


def measure_faults(rounds=3):
    """{what: seconds until all others have ended, of each round}; in a network namespace of its own."""
    return {what: [seconds_after(*fault) for _ in range(rounds)] for what, fault in FAULTS.items()}


def seconds_after(victim, what):
    """Two workers that would train for ever, and something that befalls one of them, or their network."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    addresses = ["127.0.0.1:23450", "127.0.0.1:23451"]
    with tempfile.TemporaryDirectory() as folder:
        words = [ROOT / "train.py", "--dataset", "BA2Motifs", "--folds", "1", "--epochs", "1000000", "--quiet"]
        words = list(map(str, [sys.executable, *words, "--output", Path(folder) / "run"]))
        configs = [{"cluster": {"worker": addresses}, "task": {"type": "worker", "index": i}} for i in range(2)]
        workers = [subprocess.Popen(words, env={**os.environ, "TF_CONFIG": json.dumps(each)}) for each in configs]
        try:
            history, deadline = Path(folder, "run", "fold-01", "history.csv"), time.monotonic() + SECONDS
            while not history.exists() or history.read_text().count("\n") < 3:
                if time.monotonic() > deadline or any(worker.poll() is not None for worker in workers):
                    raise SystemExit("the workers do not train")
                time.sleep(0.05)
            start = time.monotonic()
            if victim is None:
                subprocess.run(["ip", "link", "set", "lo", "down"], check=True)
            else:
                workers[victim].send_signal(what)
            for number, worker in enumerate(workers):
                if number != victim:
                    worker.wait(SECONDS)
            return time.monotonic() - start
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()


def measure_workers(rounds=3):
    """Seconds of an epoch of D&D: one process on one core, and two workers on two; in turns, with both kernels.

    Beside the speedup what it would be if nothing had to be exchanged: two processes that each train on their half of
    every batch at the same time, and know nothing of each other.
    """
    return {kernels: {**speedup_of(kernels, rounds), "without_exchange": ceiling_of(kernels)} for kernels in KERNELS}


def speedup_of(kernels, rounds):
    """{"epoch_seconds": {workers: of each round}, "speedup": by the best of each}."""
    found = {"1": [], "2": []}
    for _ in range(rounds):
        for count in found:
            spent = {epochs: seconds_of(kernels, count, epochs) for epochs in (1, 6)}  # tracing is in both
            found[count].append((spent[6] - spent[1]) / 5)
    best = {count: min(times) for count, times in found.items()}
    return {"epoch_seconds": found, "speedup": best["1"] / best["2"]}


def seconds_of(kernels, workers, epochs):
    """Training seconds of one fold of D&D, batches of 32."""
    with tempfile.TemporaryDirectory() as folder:
        words = [ROOT / "train.py", "--dataset", "DD", "--folds", "1", "--epochs", epochs, "--threads", "1"]
        words += ["--workers", workers, "--output", f"{folder}/run"]
        words += ["--set", "batch_size=32", f"model.implementation={kernels}"]
        cores = on_core(0) if workers == "1" else []
        subprocess.run([*cores, sys.executable, *map(str, words)], check=True, capture_output=True, timeout=SECONDS)
        return json.loads(Path(folder, "run", "fold-01", "result.json").read_text())["seconds"]


def on_core(number):
    """Words before a command that keep it on one core."""
    return [] if shutil.which("taskset") is None else ["taskset", "-c", str(number)]


def ceiling_of(kernels):
    """Seconds of steps on whole batches over those of two processes at once on a half of each."""

    def start(core, share):
        words = [*on_core(core), sys.executable, __file__, "--only", f"steps {kernels} {share}"]
        return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)

    def seconds(processes):
        return max(float(process.communicate(timeout=SECONDS)[0].splitlines()[-1]) for process in processes)

    return seconds([start(0, "whole")]) / seconds([start(0, 0), start(1, 1)])


def step_seconds(kernels, share, epochs=3):
    """Seconds of D&D's steps on batches of 32, or one of two workers' halves, after an epoch to warm up."""
    from experiments import environment

    environment.set_threads(1)
    step, split = steps_on("DD", kernels, None if share == "whole" else (int(share), 2))
    for epoch in range(epochs + 1):
        if epoch == 1:
            start = time.perf_counter()
        for inputs, y, *_ in split.batches(epoch):
            step(inputs, y)
    return time.perf_counter() - start


def steps_on(name, kernels, share=None):
    """A training step of hGANet, and the split of fold 1 whose batches of 32, or shares of them, it takes."""
    from experiments import command_line
    from experiments.config import resolve
    from experiments.tasks import load_dataset, make_task, settle_splits
    from experiments.training import compile_model, make_model, make_step

    settings = ["batch_size=32", f"model.implementation={kernels}"]
    config = resolve(command_line.parse(["--dataset", name, "--set", *settings]))[0]
    dataset = load_dataset(config)
    config = settle_splits(config, dataset)
    task = make_task(config, dataset, share)
    model = make_model(config, task.dataset, task.arguments)
    model.build({key: tuple(spec.shape) for key, spec in task.spec().items()})
    return make_step(compile_model(model, config, 1, task.objective), task.spec(), task.objective.y_spec), task.split(1)


def status(field, pid="self"):
    """Bytes that /proc says of a process; 0 where it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:")), 0)


def note(text):
    print(text, file=sys.stderr, flush=True)


def parse(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    usual = [section for section in SECTIONS if section not in QUIET]
    add("--sections", nargs="+", choices=SECTIONS, default=usual, help="(all but workers and faults)")
    add("--nodes", type=int, default=20_000_000)
    add("--degree", type=int, default=10, help="directed edges a node, about (10)")
    add("--features", type=int, default=64)
    add("--folder", type=Path, help="where the graph is made (a temporary folder); one that is there is used and kept")
    add("--output", type=Path, default=ROOT / "results" / "benchmarks", help="folder for scale.json")
    add("--only", help=argparse.SUPPRESS)  # a measurement in a process of its own
    return parser.parse_args(arguments)


MEASURES = {
    "balance": lambda folder: measure_balance(),
    "opening": measure_opening,
    "sampler": lambda folder: {"ours": measure_sampler(folder), "dgl": measure_dgl(folder)},
    "features": measure_features,
    "large": lambda folder: measure_large(folder, folder / "run"),
    "halves": lambda folder: measure_halves(),
    "workers": lambda folder: measure_workers(),
    "faults": lambda folder: measure_faults(),
}


def in_process(args, section):
    """A section in a new process: what another one left in memory would be measured, too."""
    words = [sys.executable, __file__, "--only", section, "--folder", args.folder or "none", "--nodes", args.nodes]
    words += ["--degree", args.degree, "--features", args.features]
    if section == "faults":  # TensorFlow's servers listen on all interfaces, and the network will be cut
        words = ["unshare", "-n", *words]
    done = subprocess.run(list(map(str, words)), stdout=subprocess.PIPE, text=True, timeout=SECONDS)
    if done.returncode:
        note(f"{section} failed")
        return None
    return json.loads(done.stdout.splitlines()[-1])


def circumstances(record):
    """When, of which revision, and beside how much other work a section was measured: each may be done by itself."""
    found = record.record({"ours": {"versions": {}}}, 1)
    return {key: found[key] for key in ("date", "git_revision", "load_average")}


def main(arguments=None):
    args = parse(arguments)
    if args.only == "graph":
        print(json.dumps(make_graph(args.folder, args.nodes, args.degree, args.features)))
        return
    if args.only and args.only.startswith("steps "):
        print(step_seconds(*args.only.split()[1:]))
        return
    if args.only:
        print(json.dumps(MEASURES[args.only](args.folder)))
        return
    from benchmarks.peers import record

    saved = record.read(args.output, "scale") or {}
    saved.pop("record", None)
    needs_graph = set(args.sections) & ON_GRAPH
    made = needs_graph and args.folder is None
    if made:
        args.folder = Path(tempfile.mkdtemp(prefix="ganet-scale-"))
    try:
        if needs_graph and not (args.folder / "graph.json").exists():
            args.folder.mkdir(exist_ok=True)
            saved["graph"] = {**circumstances(record), **in_process(args, "graph")}
        for section in args.sections:
            saved[section] = {**circumstances(record), "result": in_process(args, section)}
            note(f"{section}: {json.dumps(saved[section])}")
            hello = {"ours": {"versions": record.environment.versions()}}
            record.write(args.output, "scale", record.record(hello, 1), saved)
    finally:
        if made:
            shutil.rmtree(args.folder, ignore_errors=True)


if __name__ == "__main__":
    main()
