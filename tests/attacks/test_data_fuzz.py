"""Damaged data files load the same or are refused in a sentence; nothing is silently wrong, nothing ends the process.

A short round here; `GANET_SOAK=100` makes it a hundred times as long.
"""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from tests.attacks import data_fuzz

ROUNDS = int(os.environ.get("GANET_SOAK", "1"))
CASES = {"text": 150, "zip": 100, "pickle": 200, "cache": 40}


@pytest.mark.parametrize("kind", CASES)
def test_damaged_files(kind):
    cases = CASES[kind] * ROUNDS
    command = [sys.executable, data_fuzz.__file__, kind, "1", str(cases)]
    environment = {name: value for name, value in os.environ.items() if name != "GANET_DATA"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120 + 2 * cases, env=environment)
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-2000:]}"
    counts = json.loads(done.stdout)
    assert counts["wrong"] == counts["crash"] == 0, f"seed 1: {counts}"
    assert counts["same"] + counts["sentence"] == cases and counts["same"] > 0
    assert counts["sentence"] > 0 or kind == "cache"


def test_the_plain_reading_can_tell():
    """The yardstick itself: it reads what is right, and refuses what is cut or ragged."""
    texts = {part: text.encode() for part, text in data_fuzz.tu_texts(np.random.default_rng(0)).items()}
    assert data_fuzz.plain_reading(texts) is not None
    lines = texts["A"].splitlines(keepends=True)
    ragged = b"1, 2, 1\n2\n"
    for wrong in (lines[0][:2] + b"\n" + b"".join(lines[1:]), ragged, b"1, 2\n\n2, 1\n", b"1, x\n"):
        assert data_fuzz.plain_reading({**texts, "A": wrong}) is None
