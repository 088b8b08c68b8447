"""What the long round counts, and what it writes."""

import json
import subprocess

import pytest

from tests.attacks import soak

RUN = {"tried": 3, "same": 2, "sentence": 0, "lost": 1, "traceback": 0, "signal": 0, "late": 0, "bad": ["lost: kill 7"]}
DATA = {"same": 3, "sentence": 4, "wrong": 1, "crash": 1, "bad": [[5, "loaded other data"]]}
LAYERS = {"rounds": 9, "tried": {"no nodes": 2}, "failed": ["round 3"]}


@pytest.mark.parametrize(
    "kind, said, expected",
    [
        ("kill", {"kill": RUN}, {"tried": 3, "same": 2, "lost": 1}),
        ("text", DATA, {"tried": 9, "same": 3, "sentence": 4, "lost": 1, "traceback": 1}),
        ("layers", LAYERS, {"tried": 9, "same": 8, "lost": 1}),
    ],
)
def test_counts(kind, said, expected):
    counts, bad = soak.judged(kind, "command", subprocess.CompletedProcess([], 0, json.dumps(said), ""))
    assert +counts == expected and len(bad) == 1 and bad[0].startswith("command: ")


@pytest.mark.parametrize("code, word", [(-11, "signal"), (136, "signal"), (1, "traceback")])
def test_a_process_that_did_not_come_back_is_counted(code, word):
    counts, bad = soak.judged("kill", "command", subprocess.CompletedProcess([], code, "", "why"))
    assert counts == {"tried": 1, word: 1} and bad == [f"command: {code} why"]


def test_a_short_round(tmp_path, monkeypatch, capsys):
    """Two kinds, one of which is not there: the table says so, and what was not right is an exit code."""
    monkeypatch.setattr(soak, "TABLE", tmp_path / "reliability.md")
    monkeypatch.setattr(soak, "missing", lambda kind: "is not there" if kind == "layers" else None)
    monkeypatch.setattr(soak.Soak, "part", lambda self, kind, first, n: (soak.collections.Counter(tried=n, same=n), []))
    assert soak.main(["text=2500", "layers=5"]) == 0
    text = (tmp_path / "reliability.md").read_text()
    assert "| damaged TU text files | 10,000 | 2,500 | 2,500 | 0 | 0 | 0 | 0 |" in text
    assert "Not tried: layers, native kernels included, on random graphs from 0 nodes upwards: is not there." in text
    monkeypatch.setattr(soak.Soak, "part", lambda self, kind, first, n: (soak.collections.Counter(lost=n), ["seed 1"]))
    assert soak.main(["text=1", "--fresh"]) == 1
    assert "## Not as it should be\n\n- seed 1" in (tmp_path / "reliability.md").read_text()


def test_a_round_that_was_stopped_goes_on(tmp_path, monkeypatch, capsys):
    """No part is done twice, and the table has the counts of both rounds."""
    tried = []

    def part(self, kind, first, trials):
        tried.append((kind, first))
        if len(tried) == 2:
            self.end = 0  # time is up
        return soak.collections.Counter(tried=trials, same=trials), []

    monkeypatch.setattr(soak, "TABLE", tmp_path / "reliability.md")
    monkeypatch.setattr(soak.Soak, "part", part)
    for _ in range(2):
        assert soak.main(["text=2500", "pickle=1000", "--jobs", "1"]) == 0
    assert sorted(tried) == [("pickle", 0), ("text", 0), ("text", 1000), ("text", 2000)]
    text = (tmp_path / "reliability.md").read_text()
    assert "| damaged TU text files | 10,000 | 2,500 | 2,500 |" in text
    assert "| damaged pickles | 10,000 | 1,000 | 1,000 |" in text
    assert soak.main(["text=1000", "--seed", "2"]) == 0, "another seed begins anew"
    assert tried[-1] == ("text", 0) and len(tried) == 5


def test_a_kind_is_done_again_when_it_is_mended(tmp_path, monkeypatch, capsys):
    found = {"text": ["data_fuzz text 1 5: wrong"], "kill": ["run_fuzz 1 kill=5 --first 0: lost"], "layers": []}

    def part(self, kind, first, trials):
        return soak.collections.Counter(tried=trials, same=trials - len(found[kind])), found[kind]

    monkeypatch.setattr(soak, "TABLE", tmp_path / "reliability.md")
    monkeypatch.setattr(soak.Soak, "part", part)
    words = ["text=5", "kill=5", "layers=5", "--jobs", "1"]
    assert soak.main(words) == 1
    found["text"] = []
    assert soak.main([*words, "--again", "text"]) == 1
    text = (tmp_path / "reliability.md").read_text()
    assert "| damaged TU text files | 10,000 | 5 | 5 |" in text and "- run_fuzz 1 kill=5" in text
    assert "data_fuzz" not in text
    found["kill"] = []
    assert soak.main([*words, "--again", "kill"]) == 0
