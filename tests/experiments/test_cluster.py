"""What a cluster is, who is missing, and who is gone: without TensorFlow's part of it."""

import json
import socket

import numpy as np
import pytest

from experiments import cluster as clusters
from experiments.config import build
from experiments.tasks import check_sharing
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


def test_different_versions():
    others = [json.dumps({"keras": '"3.1"', "seed": "0"}).encode()]
    with pytest.raises(ConfigError, match=r"worker 1 \(b:2\) does not fit worker 0 \(a:1\): keras is \"3.1\" there"):
        Fake(["a:1", "b:2"], others).check_alike({"keras": "3.15", "seed": 0})
    Fake(["a:1", "b:2"], others).check_alike({"keras": "3.1", "seed": 0})


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


def test_what_can_be_shared():
    check_sharing(build({"task": "graph", "dataset": "MUTAG", "model": "hganet", "optimizer": {"clipnorm": 1.0}}))
    nodes = {"task": "node", "dataset": "Cora", "model": "gcn", "optimizer": {}, "sampled": {"batch_size": 9}}
    check_sharing(build(nodes))


def test_bytes_and_rows_of_one_process():
    alone = clusters.Alone()
    assert alone.agree(lambda: {"a": 1}) == {"a": 1} and alone.told(b"x") == b"x" and alone.end(3) == 3
    np.testing.assert_array_equal(alone.gathered(np.ones((2, 1)))[0], np.ones((2, 1)))
