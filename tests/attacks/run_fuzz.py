"""Kills train.py at every file operation and damages the files of its run folders: run as a script.

    python tests/attacks/run_fuzz.py SEED kill=100 damage=200 disk=10 spaces=5 [--seconds N] [--first TRIAL]

One process imports TensorFlow, trains every case once, and forks: every start of train.py is a fork, so that a trial
costs a moment and not seconds of import. What is attacked is the files, not the arithmetic: nothing is compiled, and a
training step that the parent did already, from the same weights on the same batch, is looked up (rehearsal.py). The
file system is in memory: a killed process loses nothing that the system has.
"Same" means: an uninterrupted run's files, all of them, but for times and revision.

- kill: SIGKILL before an operation in the run folder, with half of a write done, or at a random time, up to three in a
  row; then the same command to its end.
- damage: one file of a finished or an unfinished run is emptied, cut, zeroed, overwritten, removed, or has a bit
  flipped; then the same command.
- disk: the disk is full at a random moment (a small tmpfs, so it needs leave to mount); then, with room, the same.
- spaces: two processes in PID namespaces of their own, both with number 1, in one folder (needs leave as well).

It prints a JSON object, by kind: how many were tried, ended the "same", in one "sentence" with exit code 2, "lost"
(other files than the uninterrupted run's), in a "traceback", or by a "signal"; and the first few that are not right.
"""

import argparse
import builtins
import contextlib
import ctypes
import gc
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import zipfile
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import h5py  # noqa: E402
import numpy as np  # noqa: E402
import yaml  # noqa: E402

from tests.attacks import rehearsal  # noqa: E402

OUTCOMES = ("same", "sentence", "lost", "traceback", "signal")
GOOD = {"kill": ("same",), "damage": ("same", "sentence"), "disk": ("same",), "spaces": ("same",)}
TRACEBACK = 70  # exit code of a start that raised
STAGES = 8  # of unfinished runs
SECONDS_A_START = 200  # one that hangs is ended by the alarm signal
# What disk and spaces need where one is not root: be root in a namespace of one's own.
CONTAINER = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc"]
STRICT = ["--deterministic", "--threads", "1", "--quiet", "--output", "run"]
CASES = {
    "paper": ["--config", "tiny.yaml", "--folds", "1-2"],
    "validation": ["--config", "tiny.yaml", "--protocol", "validation", "--folds", "1-2", "--set", "patience=2"],
    "node": ["--dataset", "Karate", "--model", "gcn", "--runs", "2", "--set", "epochs=4", "patience=2"],
}
# Beside the CONFIG of tests/experiments: few variables, dropout's seed among them; two steps an epoch; of the folds
# under validation one goes through all epochs, the other runs out of patience.
LIGHT = {
    "model": {"name": "graphsage", "units": [4], "dropout": 0.3, "implementation": "sparse"},
    "batch_size": 8,
    "epochs": 5,
    "optimizer": {"learning_rate": 0.2, "weight_decay": 1e-3, "amsgrad": True},
}
MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None  # a file system without a disk


def contained():
    """Whether `CONTAINER` and a mount within it are allowed here."""
    with tempfile.TemporaryDirectory() as folder:
        command = [*CONTAINER, "mount", "-t", "tmpfs", "tmpfs", folder]
        try:
            return subprocess.run(command, capture_output=True, timeout=20).returncode == 0
        except (OSError, subprocess.TimeoutExpired):
            return False


def prepare():
    """Imports all that a start needs, and makes it quick; a fork has it then."""
    import train

    with train.silence():
        import tensorflow  # noqa: F401

        from experiments import checkpoint, console, lock, run_folder, summary, tasks, training  # noqa: F401

    checkpoint.Checkpoint.due = lambda self: True  # a checkpoint after every epoch, however quick it was
    lock.UNREADABLE_SECONDS = 0.05
    run_folder.RunFolder.prepare.__defaults__ = (2**12,)  # the proof that there is room, in small
    rehearsal.install()


class Operations:
    """Counts what a process does to files in a folder, and kills it before, or in the middle of, the n-th time.

    Args:
        folder: absolute path; what is elsewhere does not count.
        last: the operation to die in, from 0, or None.
        half: whether to do half of it before, if it is a write.
    """

    def __init__(self, folder, last=None, half=False):
        self.folder, self.last, self.half = str(folder), last, half
        self.seen = []

    def install(self):
        """From now on; for the rest of the process."""
        opened, synced = io.open, os.fsync

        def watched_open(file, mode="r", *arguments, **options):
            result = opened(file, mode, *arguments, **options)
            return Watched(result, self) if set(mode) & set("wax+") and self._inside(result.fileno()) else result

        def watched_fsync(handle):
            if self._inside(handle):
                self.count("fsync")
            synced(handle)

        io.open = builtins.open = watched_open
        os.fsync = watched_fsync
        sys.addaudithook(self._audit)

    def count(self, what, half=None):
        """One more operation; `half` does half of it."""
        if len(self.seen) == self.last:
            if half and self.half:
                half()
            os.kill(os.getpid(), signal.SIGKILL)
        self.seen.append(what)

    def _audit(self, event, arguments):
        if event not in ("open", "os.rename", "os.remove", "os.link", "os.mkdir", "os.utime"):
            return
        if event == "open" and not (arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            return
        path = arguments[0]
        if isinstance(path, (str, bytes, os.PathLike)) and self._below(os.fsdecode(path)):
            self.count(event)

    def _inside(self, handle):
        try:
            return self._below(os.readlink(f"/proc/self/fd/{handle}"))
        except OSError:
            return False

    def _below(self, path):
        return os.path.abspath(path).startswith(self.folder)


class Watched:
    """An open file whose writes are operations."""

    def __init__(self, file, operations):
        self._file, self._operations = file, operations

    def write(self, data):
        def half():
            self._file.write(data[: len(data) // 2])
            self._file.flush()

        self._operations.count("write", half)
        return self._file.write(data)

    def __getattr__(self, name):
        return getattr(self._file, name)

    def __enter__(self):
        self._file.__enter__()
        return self

    def __exit__(self, *error):
        return self._file.__exit__(*error)

    def __iter__(self):
        return iter(self._file)


class Started:
    """train.py in a fork of this process, with its output in a file beside the run folder.

    Args:
        case: a name in `CASES`.
        place: folder to work in; it gets the run folder `run`.
        operations: `Operations` to watch, or None.
        inside: called in the fork before anything else, for example to enter a namespace.
    """

    def __init__(self, case, place, operations=None, inside=None):
        self.output = Path(tempfile.mkstemp(dir=place.parent, prefix=f"{place.name}-")[1])
        sys.stdout.flush(), sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            os._exit(self._run([*CASES[case], *STRICT], place, operations, inside))

    def _run(self, flags, place, operations, inside):
        """What the fork does; its exit code."""
        handle = os.open(self.output, os.O_WRONLY | os.O_TRUNC)
        os.dup2(handle, 1), os.dup2(handle, 2)
        signal.alarm(SECONDS_A_START)
        try:
            os.chdir(place)
            if inside:
                inside()
            if operations:
                operations.install()
            import train

            code = train.main(flags)
            if operations and operations.last is None:
                (place / "operations.json").write_text(json.dumps(operations.seen))
        except BaseException:
            traceback.print_exc()
            code = TRACEBACK
        sys.stdout.flush(), sys.stderr.flush()
        return code

    def wait(self):
        """The exit code, negative for a signal."""
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def said(self):
        return self.output.read_text(errors="replace")


def files_of(run):
    """Everything in a run folder that must not depend on when or how often it was interrupted: {path: content}."""
    paths = [path for path in sorted(run.rglob("*")) if path.is_file() and path.name != ".guard"]  # of a takeover
    return {str(path.relative_to(run)): content(path) for path in paths}


def content(path):
    """A file without times and revision."""
    if path.name == "result.json":
        result = without(json.loads(path.read_text()), "seconds", "git_revision", "sha256")
        return {**result, "files": without(result["files"], "model.keras")}  # whose zip has times in it
    if path.name == "summary.json":
        return without(json.loads(path.read_text()), "written", "duration_seconds", "git_revision")
    if path.name == "summary.md":
        return [line for line in path.read_text().splitlines() if not line.startswith("Seed ")]
    if path.name == "config.yaml":
        return yaml.safe_load(path.read_text())
    if path.name == "model.keras":
        return weights(path)
    return path.read_bytes()


def without(entries, *names):
    return {key: value for key, value in entries.items() if key not in names}


def weights(path):
    """All arrays of a saved model, as bytes; not its config, where Keras numbers the layers of a process through."""
    arrays = {}
    with zipfile.ZipFile(path) as archive, h5py.File(io.BytesIO(archive.read("model.weights.h5"))) as file:
        file.visititems(lambda name, item: arrays.update({name: item[()].tobytes()} if hasattr(item, "dtype") else {}))
    return arrays


def difference(run, expected):
    """The first file that is not as in the uninterrupted run, or None."""
    try:
        found = files_of(run)
    except Exception as error:  # whatever a damaged file makes of its reader
        return repr(error)
    wrong = [name for name in sorted({*found, *expected}) if found.get(name) != expected.get(name)]
    return wrong[0] if wrong else None


class Attack:
    """The trials of one kind, each drawn from the seed and its number.

    Args:
        seed: of all random choices.
        place: an empty folder to work in.
    """

    def __init__(self, seed, place):
        self.seed, self.place = seed, place
        self.references = {}
        from tests.experiments.conftest import CONFIG, write_tu

        settings = {**CONFIG, **LIGHT, "dataset": str(write_tu(place / "TINY")), "folds": 3}
        (place / "tiny.yaml").write_text(yaml.safe_dump(settings))
        os.environ["GANET_CACHE"] = str(place / "cache")
        (place / "temporary").mkdir()
        tempfile.tempdir = str(place / "temporary")  # what TensorFlow leaves there when it is killed goes with the rest
        self.rehearsed = {case: self.rehearse(case) for case in CASES}
        gc.collect(), gc.freeze()  # forks do not look at what they share, and so do not copy it

    def rehearse(self, case):
        """The files of a run in this process, which from now on knows its steps."""
        import train

        place, said = self.fresh("rehearsal"), io.StringIO()
        here = os.getcwd()
        os.chdir(place)
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = train.main([*CASES[case], *STRICT])
        os.chdir(here)
        assert code == 0, said.getvalue()
        return files_of(place / "run")

    def trial(self, kind, number):
        """(outcome, what happened) of one trial."""
        kinds = list(GOOD)
        rng = np.random.default_rng([self.seed, kinds.index(kind), number])
        case = list(CASES)[number % len(CASES)]
        place = self.fresh("trial")
        outcome, note = getattr(self, kind)(rng, case, place, number // len(CASES))
        return outcome, f"{kind} {number} ({case}): {note}"

    def fresh(self, name):
        """An empty place to work in."""
        place = self.place / name
        shutil.rmtree(place, ignore_errors=True)
        for path in self.place.glob(f"{name}-*"):
            path.unlink()
        place.mkdir()
        shutil.copyfile(self.place / "tiny.yaml", place / "tiny.yaml")
        return place

    def reference(self, case):
        """(files, operations, seconds, folder) of the uninterrupted run."""
        if case not in self.references:
            place = self.fresh(f"reference-{case}")
            begin = time.monotonic()
            done = Started(case, place, Operations(place / "run"))
            assert done.wait() == 0, done.said()
            operations = json.loads((place / "operations.json").read_text())
            seconds = time.monotonic() - begin
            self.references[case] = files_of(place / "run"), operations, seconds, place / "run"
            wrong = difference(place / "run", self.rehearsed[case])
            assert wrong is None, f"{case}: two uninterrupted runs differ in {wrong}"
        return self.references[case]

    def again(self, case, place):
        """The same command to its end: (outcome, note)."""
        done = Started(case, place)
        code = done.wait()
        if code == 0:
            wrong = difference(place / "run", self.reference(case)[0])
            return ("lost", f"{wrong} differs") if wrong else ("same", "")
        said = done.said()
        if code == 2 and "Traceback" not in said and "train.py: " in said:
            return "sentence", said.strip()[-300:]
        if code < 0:
            return "signal", signal.Signals(-code).name
        return ("traceback" if "Traceback" in said else "lost"), f"exit code {code}: {said.strip()[-600:]}"

    def kill(self, rng, case, place, step):
        """Every operation once in a random order, half done if it is a write; one in four at any time."""
        _, operations, seconds, _ = self.reference(case)
        order = np.random.default_rng([self.seed, 9]).permutation(len(operations))
        turn, index = divmod(step, len(order))
        note = "at a random time"
        if rng.random() >= 0.25 or not self.kill_once(case, place, None, False, rng.uniform(0, seconds)):
            place = self.fresh(place.name)  # also where the random time was too late
            note = f"at operation {order[index]} ({operations[order[index]]})"
            if not self.kill_once(case, place, int(order[index]), turn % 2 == 0, None):
                return "late", note
        for _ in range(rng.choice([0, 0, 1, 2])):
            if self.kill_once(case, place, int(rng.integers(len(operations))), True, None):
                note += ", then again"
        outcome, more = self.again(case, place)
        return outcome, f"killed {note} {more}"

    def kill_once(self, case, place, operation, half, seconds):
        """Whether a start was killed before its end."""
        watched = None if operation is None else Operations(place / "run", operation, half)
        victim = Started(case, place, watched)
        if operation is None:
            time.sleep(seconds)
            os.kill(victim.pid, signal.SIGKILL)  # still there, or a zombie: nobody else has this number
        return victim.wait() == -signal.SIGKILL

    def damage(self, rng, case, place, step):
        """One file of a finished run, or of one that was killed somewhere."""
        source = self.reference(case)[3] if rng.random() < 0.5 else self.unfinished(case, int(rng.integers(STAGES)))
        shutil.copytree(source, place / "run", copy_function=shutil.copyfile)
        files = sorted(path for path in (place / "run").rglob("*") if path.is_file() and path.name != ".guard")
        path = files[int(rng.integers(len(files)))]
        how = spoil(path, rng)
        outcome, more = self.again(case, place)
        return outcome, f"{path.relative_to(place)} of {source.parent.name} {how} {more}"

    def unfinished(self, case, stage):
        """A run folder as a killed process left it, by how far it had come."""
        place = self.place / f"unfinished-{case}-{stage}"
        if not place.exists():
            self.fresh(place.name)
            operations = self.reference(case)[1]
            assert self.kill_once(case, place, len(operations) * (2 * stage + 1) // (2 * STAGES), True, None)
        return place / "run"

    def disk(self, rng, case, place, step):
        """The disk is full: a sentence, and with room the same result."""
        used = sum(path.stat().st_size for path in self.reference(case)[3].rglob("*"))
        with small_disk(place, 64 * 2**20) as disk:
            (place / "run").symlink_to(disk)
            free = int(rng.integers(2**13, 2 * used))
            fill(disk.parent / "ballast", free)
            first, note = self.again(case, place)
            if first not in ("sentence", "same"):
                return first, f"{free} bytes of room: {note}"
            (disk.parent / "ballast").unlink()
            outcome, more = self.again(case, place)
            return outcome, f"{free} bytes of room: {note} {more}"

    def spaces(self, rng, case, place, step):
        """Two processes with number 1: neither throws the other out."""
        self.reference(case)
        first = Started(case, place, inside=own_process_numbers)
        time.sleep(float(rng.uniform(0, 1.5)))
        second = Started(case, place, inside=own_process_numbers)
        codes = [first.wait(), second.wait()]
        if codes != [0, 0]:
            said = (first.said() + second.said()).strip()
            return ("signal" if min(codes) < 0 else "lost"), f"exit codes {codes}: {said[-600:]}"
        return self.again(case, place)


def spoil(path, rng):
    """Damages a file; returns how."""
    data = bytearray(path.read_bytes())
    how = str(rng.choice(["emptied", "cut", "zeroed", "flipped", "flipped", "overwritten", "removed"]))
    if how == "removed":
        path.unlink()
        return how
    place = int(rng.integers(len(data))) if data else 0
    if how == "emptied":
        data = b""
    elif how == "cut":
        place = [place, len(data) // 2][int(rng.integers(2))]
        del data[place:]
    elif how == "zeroed":
        data = bytes(len(data))
    elif how == "flipped" and data:
        data[place] ^= 1 << int(rng.integers(8))
    elif how == "overwritten":
        data[place : place + 16] = rng.bytes(len(data[place : place + 16]))
    path.write_bytes(data)
    return f"{how} at {place}"


@contextlib.contextmanager
def small_disk(place, size):
    """A folder on a tmpfs of its own."""
    disk = place / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)], check=True)
    try:
        (disk / "run").mkdir()
        yield disk / "run"
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def fill(path, free):
    """Writes a file that leaves so many bytes of its disk."""
    disk = os.statvfs(path.parent)
    with open(path, "wb") as file:
        file.write(bytes(max(0, disk.f_bavail * disk.f_bsize - free)))


def own_process_numbers():
    """Makes this process number 1 of a PID namespace; the process outside waits for it and ends as it does."""
    libc = ctypes.CDLL(None, use_errno=True)
    new_mounts, new_numbers, private = 0x20000, 0x20000000, 0x44000
    if libc.unshare(new_mounts | new_numbers) or libc.mount(b"none", b"/", None, private, None):
        raise OSError(ctypes.get_errno(), "unshare")
    child = os.fork()
    if child:
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os._exit(code if code >= 0 else 128 - code)
    if libc.mount(b"proc", b"/proc", b"proc", 0, None):
        raise OSError(ctypes.get_errno(), "mount /proc")
    assert os.getpid() == 1


def run(attack, kind, trials, deadline, first=0):
    """Counts of outcomes of one kind, and the first few that are not right."""
    counts = {"tried": 0, **dict.fromkeys(OUTCOMES, 0), "late": 0, "bad": []}
    for number in range(first, first + trials):
        if time.monotonic() > deadline:
            break
        outcome, note = attack.trial(kind, number)
        counts[outcome] += 1
        counts["tried"] += outcome != "late"  # a run that was over before it was killed
        if outcome not in (*GOOD[kind], "late"):
            counts["bad"].append(f"{outcome}: {note}")
            print(counts["bad"][-1], file=sys.stderr, flush=True)
        if number % 20 == 19:
            print(f"{kind}: {without(counts, 'bad')}", file=sys.stderr, flush=True)
    return {**counts, "bad": counts["bad"][:20]}


def main(argv=None):
    """Runs the kinds that are asked for, one after another."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("seed", type=int)
    parser.add_argument("kinds", nargs="+", metavar="KIND=TRIALS")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="for each kind; no trial begins later")
    parser.add_argument("--first", type=int, default=0, help="number of the first trial, to do one again")
    arguments = parser.parse_args(argv)
    prepare()
    found = {}
    with tempfile.TemporaryDirectory(prefix="run-fuzz-", dir=MEMORY) as place:
        attack = Attack(arguments.seed, Path(place).resolve())
        for word in arguments.kinds:
            kind, _, trials = word.partition("=")
            deadline = time.monotonic() + arguments.seconds
            found[kind] = run(attack, kind, int(trials), deadline, arguments.first)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
