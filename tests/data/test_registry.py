import pytest

from ganet_tf import data
from ganet_tf.data import registry
from ganet_tf.errors import DatasetNotFoundError

NINE = ["MUTAG", "PTC", "PROTEINS", "DD", "IMDB-M", "COLLAB", "Cora", "Citeseer", "Pubmed"]


def test_the_papers_nine_and_ours():
    heterophilous = ["chameleon", "squirrel", "actor", "minesweeper", "tolokers"]
    generated = ["BA2Motifs", "Karate", "Experts", "Dictionary", "PATTERN", "CLUSTER"]
    assert data.names() == [*NINE, "PTC_MR", *heterophilous, *generated]


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("mutag", "MUTAG"),
        ("D&D", "DD"),
        ("d d", "DD"),
        ("imdb-multi", "IMDB-M"),
        ("IMDB_MULTI", "IMDB-M"),
        ("IMDBMULTI", "IMDB-M"),
        ("imdb m", "IMDB-M"),
        ("CiteSeer", "Citeseer"),
        ("PUBMED", "Pubmed"),
        ("ptc", "PTC"),
        ("PTC-MR", "PTC_MR"),
        ("ba-2motifs", "BA2Motifs"),
        ("Chameleon_filtered", "chameleon"),
        ("SBM_PATTERN", "PATTERN"),
    ],
)
def test_spelling_is_forgiven(spelling, name):
    assert registry.find(spelling).name == name


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("Coras", "Cora"), ("PROTEIN", "PROTEINS"), ("mutagen", "MUTAG"), ("imbd multi", "IMDB-MULTI")],
)
def test_unknown_names_suggest_the_nearest(wrong, right):
    with pytest.raises(DatasetNotFoundError, match=f"did you mean '{right}'.*there are MUTAG, PTC"):
        data.load(wrong)


def test_far_off_names_suggest_nothing():
    with pytest.raises(DatasetNotFoundError, match=r"no data set 'xyzzy', and no folder or file of that name here; "):
        data.load("xyzzy")


def test_every_file_has_a_digest_and_tls():
    for entry in registry.ENTRIES:
        if entry.kind == "generated":
            continue
        assert all(len(digest) == 64 for _, digest in entry.sha256)
        assert entry.kind == "nodes" or len(entry.content) == 64
        assert all(url.startswith("https://") for url in (*entry.urls, entry.dgcnn_text) if url)
        assert len(entry.files) == (8 if entry.layout == "planetoid" else 1)
