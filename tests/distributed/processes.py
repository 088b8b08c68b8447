"""Several real processes, in a network namespace that has only the loopback interface.

TensorFlow's servers listen on all interfaces whatever address they are given. Here nobody else can reach them; where
the system allows no such namespace, the tests are skipped.
"""

import functools
import json
import os
import shlex
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 400
EPOCHS = 12  # so many that something can happen in the middle
NAMESPACE = ["unshare", "-n", "sh", "-c"]


@functools.cache
def has_namespaces():
    try:
        done = subprocess.run([*NAMESPACE, "ip link set lo up"], capture_output=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


needs_namespace = pytest.mark.skipif(not has_namespaces(), reason="no network namespaces here (unshare -n)")


def environment(**more):
    """As it is, with this clone in front, and quiet."""
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": paths, "TF_CPP_MIN_LOG_LEVEL": "3", **more}


def alone(lines, folder, seconds=SECONDS, **more):
    """Runs lines of a shell in a namespace of their own; returns the finished process."""
    script = "ip link set lo up\n" + "\n".join(lines)
    process = subprocess.Popen(
        [*NAMESPACE, script],
        cwd=folder,
        env=environment(**more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    return subprocess.CompletedProcess(lines, process.returncode, out, err)


def cluster(index, count, first_port=23450):
    """The TF_CONFIG of one worker."""
    addresses = [f"127.0.0.1:{first_port + number}" for number in range(count)]
    return json.dumps({"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}})


def started(words, count):
    """Shell lines that start one command as `count` workers, $p0, $p1 and so on; `said` has what they say."""
    command = shlex.join([sys.executable, *map(str, words)])
    return [
        f"TF_CONFIG={shlex.quote(cluster(i, count))} {command} > worker{i}.out 2> worker{i}.err & p{i}=$!"
        for i in range(count)
    ]


def said(count):
    """Shell lines that tell what workers said, one after the other: through one pipe their lines would mix."""
    return [f"cat worker{i}.out; cat worker{i}.err >&2" for i in range(count)]


def together(words, count):
    """Shell lines that run one command as `count` workers at the same time, and fail if one of them fails."""
    waited = [f"wait $p{i} || code=$?" for i in range(count)]
    return [*started(words, count), "code=0", *waited, *said(count), "exit $code"]


def flags(config, output, *more):
    """The command of train.py with two workers on this machine."""
    words = [ROOT / "train.py", "--config", config, "--folds", "1", "--deterministic", "--output", output]
    words += ["--set", f"epochs={EPOCHS}", "model.operator=hgao", "--workers", "2", *more]
    return [sys.executable, *map(str, words)]


def weights(folder):
    """The bytes of a run's trained weights."""
    with zipfile.ZipFile(folder / "fold-01" / "model.keras") as file:
        return file.read("model.weights.h5")
