"""The benchmark of large graphs and several workers, on a small graph: what it writes down is there and makes sense."""

import json
import sys

import numpy as np
import pytest

from benchmarks import scale
from ganet_tf.data import NodeDataset

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
NODES = 4000


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("graph")
    return folder, scale.make_graph(folder, NODES, 10, 4)


def test_the_graph(made):
    folder, said = made
    ds = NodeDataset.from_folder(folder, check=True)
    assert ds.num_edges == said["edges"] > 5 * NODES and ds.num_classes == 8 and not (folder / "edges.npy").exists()
    assert said["bytes"] == sum(path.stat().st_size for path in folder.iterdir())
    peaks = said["convert_peak_bytes"]
    assert peaks["VmRSS"] >= peaks["RssAnon"] > 0 and said["cpu_seconds"]["convert"] > 0


def test_what_is_measured(made):
    folder, said = made
    assert scale.measure_opening(folder)["edges"] == said["edges"]
    rates = scale.measure_sampler(folder, rounds=1)
    assert rates["memory"]["nodes"] == rates["mapped"]["nodes"] > scale.BATCH
    assert set(scale.measure_features(folder, rounds=1, rows=100)) == {"memory", "mapped", "threads"}


def test_each_section_has_its_own_circumstances(tmp_path, monkeypatch):
    monkeypatch.setattr(scale, "in_process", lambda args, section: {"of": section})
    for section in ("halves", "faults"):
        scale.main(["--sections", section, "--output", str(tmp_path)])
    saved = json.loads((tmp_path / "scale.json").read_text())
    for section in ("halves", "faults"):
        assert saved[section]["result"] == {"of": section} and len(saved[section]["load_average"]) == 3
        assert {"date", "git_revision"} <= set(saved[section])


def test_faults_have_a_network_of_their_own(monkeypatch):
    """TensorFlow's servers would listen on all interfaces."""
    commands = []

    def run(words, **_):
        commands.append(words)
        return scale.subprocess.CompletedProcess(words, 0, json.dumps({"a": 1}))

    monkeypatch.setattr(scale.subprocess, "run", run)
    assert scale.in_process(scale.parse(["--sections", "faults"]), "faults") == {"a": 1}
    assert commands[0][:2] == ["unshare", "-n"]


def test_edges_of_the_right_numbers():
    edges = scale.rmat(1000, 600, np.random.default_rng(0))
    assert edges.shape == (1000, 2) and edges.min() >= 0 and edges.max() < 600
