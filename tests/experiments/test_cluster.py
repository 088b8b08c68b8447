"""What a cluster is, who is missing, and who is gone: without TensorFlow's part of it."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import train
from experiments import cluster as clusters
from experiments.config import build
from experiments.tasks import check_sharing, make_task, settle_splits
from ganet_tf import data
from ganet_tf.errors import ConfigError, RunError


@pytest.fixture
def listener():
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        door.listen()
        yield door


def address(door):
    return f"127.0.0.1:{door.getsockname()[1]}"


@pytest.fixture
def closed():
    """An address that nobody has."""
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return address(door)


def test_no_cluster(monkeypatch):
    for name in ("TF_CONFIG", "SLURM_NTASKS"):
        monkeypatch.delenv(name, raising=False)
    assert clusters.described() is None and clusters.described(4) is None
    monkeypatch.setenv("SLURM_NTASKS", "4")  # four processes that share folds, as ever
    assert clusters.described() is None


def config(index=1, **more):
    tree = {"cluster": {"worker": ["a:1", "b:2"]}, "task": {"type": "worker", "index": index}}
    return json.dumps({**tree, **more})


def test_tf_config(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", config())
    assert clusters.described() == clusters.described(2) == (1, ["a:1", "b:2"])
    with pytest.raises(ConfigError, match="--workers is 3, but the cluster has 2: a:1, b:2"):
        clusters.described(3)


@pytest.mark.parametrize(
    "text",
    ["no json", "[]", "{}", config(2), config(-1), config(cluster={"ps": ["a:1"], "worker": ["b:2", "c:3"]})],
)
def test_a_wrong_tf_config(text, monkeypatch):
    monkeypatch.setenv("TF_CONFIG", text)
    with pytest.raises(ConfigError, match="TF_CONFIG must look like"):
        clusters.described()


def test_slurm(monkeypatch):
    """Through TensorFlow's own resolver, with the variables that srun sets."""
    monkeypatch.delenv("TF_CONFIG", raising=False)
    variables = {"PROCID": "1", "NTASKS": "2", "STEP_NUM_TASKS": "2", "STEP_NODELIST": "n[1-2]", "NODELIST": "n[1-2]"}
    variables |= {"STEP_TASKS_PER_NODE": "1(x2)", "TASKS_PER_NODE": "1(x2)"}
    for name, value in variables.items():
        monkeypatch.setenv(f"SLURM_{name}", value)
    assert clusters.described(2) == (1, ["n1:8888", "n2:8888"])
    assert clusters.threads(["n1:8888", "n2:8888"], 1) == clusters.environment.cores()
    assert clusters.threads(["n1:1"] * 10**6, 0) == 1


def test_a_worker_that_does_not_come(closed, listener, monkeypatch):
    monkeypatch.setenv("GANET_JOIN_SECONDS", "0.3")
    monkeypatch.setattr(clusters, "NOTE_SECONDS", 0.1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        own = address(free)
    said = []
    with pytest.raises(RunError, match=rf"worker 0 \({own}\) cannot reach worker 2 \({closed}\) after 0 s"):
        clusters.meet(0, [own, address(listener), closed], said.append)
    assert said == [f"Waiting for worker 2 ({closed})."]
    clusters.meet(0, [own, address(listener)], said.append)


def test_a_wrong_number_of_seconds(monkeypatch):
    monkeypatch.setenv("GANET_JOIN_SECONDS", "soon")
    with pytest.raises(ConfigError, match="GANET_JOIN_SECONDS must be a number of seconds, but is 'soon'"):
        clusters.join_seconds()


# As TensorFlow does while it joins: Python's lock is held, and no thread, no handler of a signal has a turn.
STUCK = """
import ctypes, signal, sys
from experiments import cluster
signal.signal(signal.SIGTERM, signal.default_int_handler)
with cluster.in_time(30, "too late"):
    print("in time", flush=True)
with cluster.in_time(0.5, "train.py: worker 0 met worker 1, but"):
    ctypes.PyDLL(None).sleep(60)
"""


def test_who_does_not_join_in_time_ends_with_a_sentence():
    variables = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(clusters.__file__))}
    start = time.monotonic()
    done = subprocess.run([sys.executable, "-c", STUCK], env=variables, capture_output=True, text=True, timeout=100)
    assert done.returncode == -signal.SIGKILL and time.monotonic() - start < 55
    assert done.stdout == "in time\n" and done.stderr.endswith("train.py: worker 0 met worker 1, but\n")


def test_a_port_in_use(listener, closed):
    with pytest.raises(RunError, match=rf"worker 1 cannot listen at {address(listener)}: port \d+ is in use"):
        clusters.meet(1, [closed, address(listener)], print)


class Fake(clusters.Cluster):
    """Workers that have said what they have to say."""

    def __init__(self, addresses, contents=()):
        self.index, self.addresses, self.count, self.contents = 0, addresses, len(addresses), contents

    def everyone(self, content):
        return [content, *self.contents]


def test_who_is_gone(listener, closed):
    sentence = Fake(["x:1", address(listener), closed]).blame(ValueError("reset by peer"))
    assert f"worker 2 ({closed}) is gone" in sentence and "same command again" in sentence
    assert "reset by peer" in Fake(["x:1", address(listener)]).blame(ValueError("reset by peer"))


def test_who_stands_still(listener, closed):
    """TensorFlow misses a heartbeat, though the port still answers; whoever else has ended by now is not to blame."""
    text = "on /job:worker/task:0: Collective ops is aborted by: unhealthy tasks: /job:worker/replica:0/task:1"
    sentence = Fake(["x:1", address(listener), closed]).blame(ValueError(text))
    assert sentence.startswith(f"worker 0: worker 1 ({address(listener)}) does not answer any more; the others stop")
    other = Fake([address(listener), "x:1"])
    other.index = 1
    text = "Collective ops is aborted by: Deadline Exceeded RPC: /tensorflow.CoordinationService/Heartbeat"
    assert other.blame(ValueError(text)).startswith(
        f"worker 1: worker 0 ({address(listener)}) does not answer any more"
    )


class Ended:
    """A worker's process that is over."""

    pid = 7

    def __init__(self, code):
        self.code = code
        self.teller = threading.Thread()
        self.teller.start()

    def poll(self):
        return self.code


@pytest.mark.parametrize(
    ("codes", "texts", "expected"),
    [
        (
            (2, 2),
            {0: f"train.py: worker 1 is gone; {clusters.STOP}", 1: "train.py: There is not enough memory."},
            "train.py: There is not enough memory.\n",
        ),
        ((2, 2), {0: "train.py: a full disk", 1: f"train.py: worker 0 is gone; {clusters.STOP}."}, ""),  # it said why
        ((2, 2, 2), {0: "a note\ntrain.py: no data", 1: "train.py: no data", 2: "train.py: no data"}, ""),
        ((None, 2, 2), {1: "train.py: no data", 2: "train.py: no data"}, "train.py: no data\n"),
        ((0, 3), {1: ""}, "train.py: worker 1 ended with exit code 3.\n"),
        (
            (None, 2, 2),
            {1: f"train.py: worker 2 is gone; {clusters.STOP}", 2: "a trace\nits end"},
            "a trace\nits end\n",
        ),
        ((2, -9), {0: "", 1: ""}, "train.py: worker 1 (process 7) was killed by SIGKILL; the others were stopped. "),
    ],
)
def test_who_began(codes, texts, expected, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(clusters, "SETTLE_SECONDS", 0)
    for index, text in texts.items():
        (tmp_path / f"{index}.err").write_text(text)
    assert clusters._watch([Ended(code) for code in codes], tmp_path) == (3 if 3 in codes else 2)
    said = capsys.readouterr().err
    assert said.startswith(expected) and bool(said) == bool(expected)


def test_what_worker_0_says_is_passed_on_and_kept(tmp_path, capsys):
    script = tmp_path / "script.py"
    script.write_text("import sys; print('train.py: no data', file=sys.stderr); sys.exit(2)")
    child = clusters._start(str(script), [], 0, ["127.0.0.1:1"], tmp_path)
    child.wait(60)
    child.teller.join(60)
    assert capsys.readouterr().err == "train.py: no data\n" == (tmp_path / "0.err").read_text()


@pytest.mark.parametrize(("cores", "count", "expected"), [(5, 2, [[0, 1], [2, 3, 4]]), (2, 2, [[0], [1]]), (1, 2, [])])
def test_workers_of_a_launcher_share_the_cores(cores, count, expected, monkeypatch):
    """Each core has one worker, where there are enough; a worker that nobody launched here has all."""
    bound = []
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(cores)))
    monkeypatch.setattr(os, "sched_setaffinity", lambda process, chosen: bound.append(chosen))
    monkeypatch.setattr(clusters.environment, "cores", lambda: cores)
    monkeypatch.delenv(clusters.LAUNCHED, raising=False)
    clusters.bind(0, count)
    assert not bound
    monkeypatch.setenv(clusters.LAUNCHED, "1")
    for index in range(count):
        clusters.bind(index, count)
    assert bound == expected


def test_nobody_outlives_who_launched_it(tmp_path):
    """The launcher is killed; what it launched, which would sleep on, is gone soon after."""
    child = "import sys, time; from experiments import cluster; cluster.watch_parent(); print('on', flush=True); "
    child += "time.sleep(100)"
    parent = "import os, subprocess, sys; variables = {**os.environ, 'GANET_LAUNCHED': str(os.getpid())}; "
    parent += f"subprocess.run([sys.executable, '-c', {child!r}], env=variables)"
    variables = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(clusters.__file__))}
    process = subprocess.Popen([sys.executable, "-c", parent], env=variables, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"on\n"
    start = time.monotonic()
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)  # until the child, too, has closed its end of the pipe
    assert time.monotonic() - start < 30


class Told(Fake):
    """Counts the exchanges after what was said."""

    def _all(self, values):
        self.exchanges = getattr(self, "exchanges", 0) + 1


def test_nobody_leaves_before_all_know_who_does_not_fit():
    cluster = Told(["a:1", "b:2"], [b"{}"])
    with pytest.raises(ConfigError, match="seed is None there and 0 here"):
        cluster.check_alike({"seed": 0})
    assert cluster.exchanges == 1


def test_different_versions():
    others = [json.dumps({"keras": '"3.1"', "seed": "0"}).encode()]
    with pytest.raises(ConfigError, match=r"worker 1 \(b:2\) does not fit worker 0 \(a:1\): keras is \"3.1\" there"):
        Told(["a:1", "b:2"], others).check_alike({"keras": "3.15", "seed": 0})
    Told(["a:1", "b:2"], others).check_alike({"keras": "3.1", "seed": 0})


REFUSED = {
    "whole graph cannot be shared": {"task": "node", "model": "gcn"},
    "batch_norm would take its mean": {"model": "diffpool"},
    "clips each worker's gradient": {"optimizer": {"name": "sgd", "clipnorm": 1.0}},
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_cannot_be_shared(why):
    tree = {"task": "graph", "dataset": "MUTAG", "model": "hganet", "optimizer": {}, **REFUSED[why]}
    with pytest.raises(ConfigError, match=why):
        check_sharing(build(tree))


def test_what_cannot_be_shared_starts_nobody(monkeypatch, capsys):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    monkeypatch.setattr(clusters, "launch", lambda *words: pytest.fail("workers were started"))
    assert train.main(["--task", "node", "--dataset", "Cora", "--model", "gcn", "--workers", "2"]) == 2
    assert capsys.readouterr().err.startswith("train.py: Several workers cannot train this together: ")


def test_every_worker_evaluates():
    """A test fold that would be one batch is cut, so that nobody waits while another evaluates."""
    config = build({"task": "graph", "dataset": "BA2Motifs", "model": "hganet", "optimizer": {}, "folds": 4})
    dataset = data.load("BA2Motifs", num_graphs=40)
    config = settle_splits(config, dataset)
    assert len(make_task(config, dataset).split(1).held_out) == 1
    batches = [make_task(config, dataset, (index, 3)).split(1).held_out for index in range(3)]
    assert [[len(y) for _, y in part] for part in batches] == [[4, 4, 2]] * 3


def test_what_can_be_shared():
    check_sharing(build({"task": "graph", "dataset": "MUTAG", "model": "hganet", "optimizer": {"clipnorm": 1.0}}))
    nodes = {"task": "node", "dataset": "Cora", "model": "gcn", "optimizer": {}, "sampled": {"batch_size": 9}}
    check_sharing(build(nodes))


def test_bytes_and_rows_of_one_process():
    alone = clusters.Alone()
    assert alone.agree(lambda: {"a": 1}) == {"a": 1} and alone.told(b"x") == b"x" and alone.end(3) == 3
    np.testing.assert_array_equal(alone.gathered(np.ones((2, 1)))[0], np.ones((2, 1)))
