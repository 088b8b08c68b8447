"""Whatever kills train.py, fills its disk or damages its files: the same command ends with the same result.

A short round here; `GANET_SOAK=100` makes it a hundred times as long.
"""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from tests.attacks import run_fuzz

ROUNDS = int(os.environ.get("GANET_SOAK", "1"))
TRIALS = {"kill": 5, "damage": 8, "disk": 1, "spaces": 1}


@pytest.fixture(scope="module")
def counts():
    """What the script counted: one process for all kinds, because its start takes seconds."""
    contained = run_fuzz.contained()
    kinds = TRIALS if contained else ("kill", "damage")
    words = [f"{kind}={TRIALS[kind] * ROUNDS}" for kind in kinds]
    command = [*(run_fuzz.CONTAINER if contained else []), sys.executable, run_fuzz.__file__, "1", *words]
    limit = 200 + 60 * ROUNDS * sum(TRIALS.values())
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit, env=environment())
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-2000:]}"
    return json.loads(done.stdout.splitlines()[-1])


def environment():
    return {name: value for name, value in os.environ.items() if name != "GANET_DATA"}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="forks, and looks into /proc")
@pytest.mark.parametrize("kind", TRIALS)
def test_run_folders(kind, counts):
    if kind not in counts:
        pytest.skip("needs leave to mount a disk and to make PID namespaces")
    found = counts[kind]
    assert not found["bad"], "seed 1\n" + "\n".join(found["bad"])
    assert found["tried"] + found["late"] == TRIALS[kind] * ROUNDS and found["same"] > 0
    assert sum(found[outcome] for outcome in run_fuzz.GOOD[kind]) == found["tried"]


def test_operations_are_counted_and_one_is_the_last(tmp_path):
    """In a process of its own: a watched process stays watched."""
    code = (
        "import os, sys; from pathlib import Path; sys.path[:0] = [sys.argv[1]]\n"
        "from tests.attacks.run_fuzz import Operations\n"
        "folder = Path(sys.argv[2]); last = int(sys.argv[3]); (folder / 'run').mkdir(exist_ok=True)\n"
        "watched = Operations(folder / 'run', None if last < 0 else last, half=True); watched.install()\n"
        "(folder / 'outside').write_text('not counted')\n"
        "with open(folder / 'run/a', 'w') as file:\n"
        "    file.write('12345678'); os.fsync(file.fileno())\n"
        "os.replace(folder / 'run/a', folder / 'run/b'); (folder / 'run/b').unlink()\n"
        "print(' '.join(watched.seen))"
    )

    def start(last):
        command = [sys.executable, "-c", code, str(run_fuzz.ROOT), str(tmp_path), str(last)]
        return subprocess.run(command, capture_output=True, text=True, timeout=100)

    assert start(-1).stdout == "open write fsync os.rename os.remove\n"
    assert start(1).returncode == -9 and (tmp_path / "run/a").read_text() == "1234"
    assert start(4).returncode == -9 and (tmp_path / "run/b").read_text() == "12345678"


def test_every_spoiled_file_is_another(tmp_path):
    rng, seen = np.random.default_rng(0), set()
    for _ in range(60):
        (tmp_path / "file").write_bytes(bytes(range(1, 200)))
        seen.add(run_fuzz.spoil(tmp_path / "file", rng).split()[0])
        gone = not (tmp_path / "file").exists()
        assert gone or (tmp_path / "file").read_bytes() != bytes(range(1, 200))
    assert seen == {"emptied", "cut", "zeroed", "flipped", "overwritten", "removed"}


def test_the_yardstick_can_tell(tmp_path):
    """A run folder with one other byte, one file more or one less is not the same."""
    (tmp_path / "fold-01").mkdir()
    (tmp_path / "fold-01/history.csv").write_text("epoch,train_loss\n1,0.5\n")
    (tmp_path / "summary.json").write_text('{"written": "now", "folds": [1]}')
    expected = run_fuzz.files_of(tmp_path)
    (tmp_path / "summary.json").write_text('{"written": "later", "folds": [1]}')
    (tmp_path / ".guard").touch()
    assert run_fuzz.difference(tmp_path, expected) is None
    (tmp_path / "fold-01/lock").touch()
    assert run_fuzz.difference(tmp_path, expected) == "fold-01/lock"
    (tmp_path / "fold-01/lock").unlink()
    (tmp_path / "fold-01/history.csv").write_text("epoch,train_loss\n1,0.4\n")
    assert run_fuzz.difference(tmp_path, expected) == "fold-01/history.csv"
    (tmp_path / "summary.json").unlink()
    assert run_fuzz.difference(tmp_path, expected) == "fold-01/history.csv"
    (tmp_path / "fold-01/history.csv").write_text("epoch,train_loss\n1,0.5\n")
    assert run_fuzz.difference(tmp_path, expected) == "summary.json"
