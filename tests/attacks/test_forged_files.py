"""Files that pass for a known data set are refused before they are unpickled; no real data is needed to see it."""

import pytest

from ganet_tf.data.registry import Entry
from ganet_tf.data.sources import Sources, file_sha256
from ganet_tf.errors import ChecksumError


def test_a_forged_planetoid_file_is_not_unpickled(tmp_path):
    names = ("ind.toy.x", "ind.toy.graph")
    for name in names:
        (tmp_path / name).write_bytes(name.encode())
    entry = Entry("Toy", "nodes", "toy", tuple((name, file_sha256(tmp_path / name)) for name in names))
    read = []
    sources = Sources(entry, tmp_path, online=False, accept=lambda path, checked: read.append(checked))
    sources.get()
    assert read == [True]
    (tmp_path / "ind.toy.graph").write_bytes(b"cos\nsystem\n(S'true'\ntR.")
    with pytest.raises(ChecksumError, match=r"ind\.toy\.graph is not the expected file"):
        sources.get()
    assert read == [True], "nothing was read"
