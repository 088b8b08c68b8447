"""What goes wrong with several machines: a worker that stands still, a network that is gone, a disk that fills."""

import shlex
import subprocess

import pytest

from tests.distributed.processes import ROOT, alone, flags, has_namespaces, needs_namespace, said, started, weights

pytestmark = needs_namespace

# Waits for some rows of a history, but not for ever.
WAIT = """
n=0
while [ $n -lt 2000 ] && ( [ ! -f "{0}" ] || [ "$(wc -l < "{0}")" -lt 3 ] ); do sleep 0.05; n=$((n + 1)); done
"""
BOUND = 60  # seconds; on a quiet machine it takes 9 to 14


def mounts_allowed():
    """Whether a small disk can be made here; the shell stays in the namespace of `alone`."""
    script = "mount -t tmpfs -o size=1m none /mnt && umount /mnt"
    return (
        has_namespaces() and subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True).returncode == 0
    )


def endless(config, output, count):
    """Shell lines that start the workers of an endless run, and one that waits until they train."""
    words = [ROOT / "train.py", "--config", config, "--folds", "1", "--output", output, "--quiet"]
    lines = started([*words, "--set", "epochs=100000", "model.operator=hgao"], count)
    return lines, WAIT.format(output / "fold-01" / "history.csv")


def test_a_worker_of_three_stands_still(tiny_config, tmp_path):
    """It keeps its connections and its port; nothing but its heartbeat is missing."""
    lines, wait = endless(tiny_config, tmp_path / "run", 3)
    ends = ["for p in $p0 $p2; do wait $p; echo code $?; done", "kill -KILL $p1"]
    done = alone([*lines, wait, "kill -STOP $p1", "date +%s", *ends, "date +%s", *said(3)], tmp_path)
    begin, *codes, end = done.stdout.split("\n")[:-1]
    assert codes == ["code 2"] * 2, done.stderr[-3000:]
    for index in (0, 2):
        assert f"train.py: worker {index}: worker 1 (127.0.0.1:23451) does not answer any more; " in done.stderr
    assert int(end) - int(begin) < BOUND


def test_the_network_is_gone(tiny_config, tmp_path):
    """Nobody closes a connection: packets do not arrive any more."""
    lines, wait = endless(tiny_config, tmp_path / "run", 2)
    ends = "for p in $p0 $p1; do wait $p; echo code $?; done"
    done = alone([*lines, wait, "ip link set lo down", "date +%s", ends, "date +%s", *said(2)], tmp_path)
    begin, *codes, end = done.stdout.split("\n")[:-1]
    assert codes == ["code 2"] * 2, done.stderr[-3000:]
    for index in (0, 1):
        other = f"worker {1 - index} (127.0.0.1:{23450 + 1 - index})"
        assert f"train.py: worker {index}: {other} is gone; the others stop, too." in done.stderr
    assert int(end) - int(begin) < BOUND


@pytest.mark.skipif(not mounts_allowed(), reason="no mounts here (unshare -m)")
def test_a_disk_that_fills_in_the_middle(tiny_config, whole, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    command = shlex.join(flags(tiny_config, disk / "run"))
    inside = [
        f"mount -t tmpfs -o size=40m none {disk} || exit 13",  # train.py asks for 32
        f"{command} & p=$!",
        WAIT.format(disk / "run" / "fold-01" / "history.csv"),
        f"cat /dev/zero > {disk}/filler 2> /dev/null",
        "wait $p; echo code $?",
        f"rm {disk}/filler",
        f"{command} || exit 12",
        f"cp -r {disk}/run {tmp_path}/resumed",
    ]
    done = alone([f"unshare -m sh -c {shlex.quote(chr(10).join(inside))}"], tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "code 2" in done.stdout
    said = [line for line in done.stderr.splitlines() if "the disk is full" in line]
    assert len(said) == 1 and said[0].startswith(f"train.py: {disk}/run/"), done.stderr[-3000:]
    assert said[0].endswith("cannot be written: the disk is full; make room and give the same command again.")
    resumed = tmp_path / "resumed"
    assert "continuing after epoch" in done.stdout
    history = "fold-01/history.csv"
    assert (resumed / history).read_text() == (whole / history).read_text()
    assert weights(resumed) == weights(whole)  # to the last bit


def test_two_tasks_of_slurm(tiny_config, tmp_path):
    """The variables that srun sets, and TensorFlow's resolver: two processes on one node."""
    names = {"NTASKS": 2, "STEP_NUM_TASKS": 2, "STEP_NODELIST": "localhost", "STEP_TASKS_PER_NODE": 2}
    shared = " ".join(f"SLURM_{name}={value}" for name, value in names.items())
    command = shlex.join(flags(tiny_config, tmp_path / "run"))
    lines = [f"SLURM_PROCID={index} {shared} {command} & p{index}=$!" for index in range(2)]
    done = alone([*lines, "for p in $p0 $p1; do wait $p; echo code $?; done"], tmp_path)
    assert done.stdout.count("code 0") == 2, done.stderr[-3000:]
    assert "listen on all interfaces" not in done.stderr  # nobody was launched
    assert done.stdout.count("last_epoch") >= 1 and (tmp_path / "run" / "fold-01" / "result.json").exists()
