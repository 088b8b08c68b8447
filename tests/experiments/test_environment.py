"""How many threads a run gets."""

from types import SimpleNamespace

import pytest

from experiments import environment
from experiments.environment import suitable_threads
from ganet_tf import data


@pytest.mark.parametrize(("batch_size", "threads"), [(20, 1), (2000, 0)])
def test_small_batches_of_graphs_get_one_thread(batch_size, threads):
    dataset = data.load("BA2Motifs", num_graphs=20)
    config = SimpleNamespace(task="graph", batch_size=batch_size, deterministic=False)
    assert suitable_threads(config, dataset) == threads
    config.deterministic = True
    assert suitable_threads(config, dataset) == 1


@pytest.mark.parametrize(("num_nodes", "threads"), [(50, 1), (20_000, 0)])
def test_small_graphs_of_nodes_get_one_thread(num_nodes, threads):
    dataset = SimpleNamespace(num_nodes=num_nodes, num_edges=3)
    assert suitable_threads(SimpleNamespace(task="node", deterministic=False), dataset) == threads


def test_hardware_names_what_the_last_digits_depend_on(monkeypatch):
    known = {"model name": "Abacus", "flags": "fpu avx2 sse4_2 fma avx512f"}
    monkeypatch.setattr(environment, "cpuinfo", known.get)
    found = environment.hardware()
    assert (found["processor"], found["instructions"]) == ("Abacus", ["avx2", "fma", "avx512f"])
    monkeypatch.setattr(environment, "cpuinfo", lambda name: None)
    assert environment.hardware()["instructions"] == []
