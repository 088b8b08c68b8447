"""Several processes that train one model together, on TensorFlow's MultiWorkerMirroredStrategy.

`launch` starts N of them on this machine and watches over them. `join` makes this process one of a cluster that
TF_CONFIG or Slurm describes, and gives the `Cluster` with which the training talks to the others. All of them run the
same program and come to every exchange in the same order; worker 0 alone writes.
"""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

from experiments import environment
from ganet_tf.errors import ConfigError, RunError

JOIN_SECONDS = 300  # how long the others may take to start; GANET_JOIN_SECONDS sets another number
NOTE_SECONDS = 15  # after which one is told who is being waited for
ANSWER_SECONDS = 2  # a live worker accepts a connection at once
LOCAL = ("127.0.0.1", "localhost")
GRACE_SECONDS = 3  # between asking a process to stop and making it
SETTLE_SECONDS = 1  # when one worker has failed, others fail of it, or it of another: who began is seen a moment later
STOP = "the others stop, too"  # in what a worker says that fails of another
LAUNCHED = "GANET_LAUNCHED"  # number of the process that started this one and watches over it: a launcher, a search
WARNING = (
    "Note: TensorFlow's servers, one for each worker, listen on all interfaces of this machine without authentication, "
    "whatever address they are given: run --workers only on a network that you trust, or in a namespace of its own "
    "(docs/distributed.md)."
)


class Alone:
    """One process: everything stays here."""

    index, count, chief, strategy, share = 0, 1, True, None, None

    def agree(self, decide):
        """What `decide()` gives on worker 0, which all others get, too; must be JSON."""
        return decide()

    def told(self, content):
        """Bytes of worker 0."""
        return content

    def gathered(self, array):
        """Arrays [n, C] float32 of all workers, in their order."""
        return [array]

    def end(self, code):
        """Ends the work of this process with an exit code."""
        return code


class Cluster(Alone):
    """This process as one of several; see `join`.

    Args:
        strategy: the `MultiWorkerMirroredStrategy`, of one replica a process.
        index: the worker's number, from 0.
        addresses: "host:port" of each.
    """

    def __init__(self, strategy, index, addresses):
        import tensorflow as tf

        self.strategy, self.index, self.addresses = strategy, index, addresses
        self.count, self.chief, self.share = len(addresses), index == 0, (index, len(addresses))

        def gather(values):
            return tf.distribute.get_replica_context().all_gather(tf.identity(values), axis=0)

        def gathering(spec):
            return tf.function(lambda values: strategy.run(gather, args=(values,)), input_signature=[spec])

        self._gather = {
            np.dtype("int32"): gathering(tf.TensorSpec([None], tf.int32)),
            np.dtype("float32"): gathering(tf.TensorSpec([None], tf.float32)),
        }

    def everyone(self, content):
        """The bytes of every worker, in their order."""
        padded = np.frombuffer(content + b"\0" * (-len(content) % 4), np.int32)
        sizes = self._all(np.array([len(content)], np.int32))
        return [part.tobytes()[:size] for part, size in zip(self._parts(padded), sizes.tolist(), strict=True)]

    def _parts(self, values):
        """The vectors of every worker."""
        # One entry more, because TensorFlow 2.21 dies of a segmentation fault where nobody has any.
        sizes = self._all(np.array([len(values) + 1], np.int32))
        everything = self._all(np.append(values, values.dtype.type(0)))
        return [part[:-1] for part in np.split(everything, np.cumsum(sizes)[:-1])]

    def _all(self, values):
        return self._gather[values.dtype](values).numpy()

    def agree(self, decide):
        text = json.dumps(decide()).encode() if self.chief else b""
        return json.loads(self.told(text))

    def told(self, content):
        return self.everyone(content if self.chief else b"")[0]

    def gathered(self, array):
        width = int(self._all(np.array([array.shape[1] if len(array) else 0], np.int32)).max())
        parts = self._parts(np.ascontiguousarray(array, np.float32).reshape(-1))
        return [part.reshape(-1, max(width, 1)) for part in parts]

    def check_alike(self, settings):
        """Raises ConfigError, on every worker, unless all came with the same settings.

        Args:
            settings: {name: value} of whatever must be the same: config, versions, data.
        """
        mine = {name: json.dumps(value, default=str) for name, value in settings.items()}
        first, *others = (json.loads(text) for text in self.everyone(json.dumps(mine).encode()))
        for number, other in enumerate(others, 1):
            for name in sorted(first.keys() | other.keys()):
                if first.get(name) != other.get(name):
                    self._all_know()
                    raise ConfigError(
                        f"{self.name(number)} does not fit {self.name(0)}: {name} is {other.get(name)} there and "
                        f"{first.get(name)} here; give all workers the same command, data and versions."
                    )

    def _all_know(self):
        """Waits until all have what was exchanged last: whoever left at once would be taken for dead by the others."""
        import tensorflow as tf

        with contextlib.suppress(tf.errors.OpError):  # who is through first is gone while others are still at it
            self._all(np.zeros(1, np.int32))

    def blame(self, error):
        """A sentence on a broken connection: who is gone, or does not answer any more."""
        time.sleep(0.5)  # a process that was killed just now may still hold its port
        named = self.silent(str(error))
        lost = {number: self.answers(number) for number in named or range(self.count) if number != self.index}
        lost = {number: there for number, there in lost.items() if named or not there}
        names = " and ".join(map(self.name, lost))
        if not lost:
            what = f"The connection broke ({' '.join(str(error).split())[:200]})"
        elif any(lost.values()):  # its machine still has the port, but the worker stands still
            what = f"{names} {'does' if len(lost) == 1 else 'do'} not answer any more"
        else:
            what = f"{names} {'is' if len(lost) == 1 else 'are'} gone"
        return (
            f"worker {self.index}: {what}; {STOP}. What was done is kept: give all workers the same command again to "
            "resume."
        )

    def silent(self, text):
        """Numbers of the workers without a heartbeat, of whom an error of TensorFlow tells."""
        reason = text.partition("aborted by: ")[2]
        named = {int(number) for number in re.findall(r"/task:(\d+)", reason)} - {self.index}
        # All heartbeats go to worker 0: who hears nothing of it hears nothing of the others.
        return sorted(named) or ([0] if self.index and "CoordinationService" in reason else [])

    def name(self, number):
        """'worker 1 (host:port)'."""
        return f"worker {number} ({self.addresses[number]})"

    def answers(self, number):
        """Whether a worker's port accepts connections."""
        return answers(self.addresses[number])

    def end(self, code):
        """Waits for the others, then leaves without TensorFlow's goodbye, which takes a worker's end for a crash."""
        self._all(np.zeros(1, np.int32))
        self._all_know()
        leave(code)


def leave(code):
    """Ends this process at once."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def answers(address):
    """Whether something accepts connections at "host:port"."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), ANSWER_SECONDS).close()
    except OSError:
        return False
    return True


# One worker joins


def described(workers=None):
    """(index, addresses) of this process in a cluster, from TF_CONFIG or Slurm; None where there is no cluster.

    Args:
        workers: what --workers says, or None.

    Raises:
        ConfigError: when they contradict each other.
    """
    if os.environ.get("TF_CONFIG"):
        index, addresses = _from_tf_config(os.environ["TF_CONFIG"])
    elif workers and workers > 1 and int(os.environ.get("SLURM_NTASKS", 1)) > 1:
        index, addresses = _from_slurm()
    else:
        return None
    if workers is not None and workers != len(addresses):
        raise ConfigError(f"--workers is {workers}, but the cluster has {len(addresses)}: {', '.join(addresses)}.")
    return (index, addresses) if len(addresses) > 1 else None


def _from_tf_config(text):
    try:
        config = json.loads(text)
        addresses, task = config["cluster"]["worker"], config["task"]
        index = int(task["index"])
        good = task["type"] == "worker" and 0 <= index < len(addresses) and set(config["cluster"]) == {"worker"}
        good = good and all(isinstance(address, str) and ":" in address for address in addresses)
    except (ValueError, KeyError, TypeError):
        good = False
    if not good:
        raise ConfigError(
            'TF_CONFIG must look like {"cluster": {"worker": ["host:port", ...]}, "task": {"type": "worker", "index": '
            f"0}}}}, with workers alone; it is {text[:300]}"
        )
    return index, list(addresses)


def _from_slurm():
    import tensorflow as tf

    try:
        count = int(os.environ["SLURM_NTASKS"])
        # It gives out ports by graphics cards: as if there were one for each task.
        cards = {"gpus_per_node": count, "gpus_per_task": 1, "auto_set_gpu": False}
        resolver = tf.distribute.cluster_resolver.SlurmClusterResolver({"worker": count}, **cards)
        addresses = resolver.cluster_spec().as_dict()["worker"]
        return int(resolver.get_task_info()[1]), list(addresses)
    except (KeyError, ValueError, RuntimeError, OSError) as error:
        raise ConfigError(
            f"Slurm's variables do not describe the workers ({error}): start them with srun, one task each."
        ) from error


def join(index, addresses, note):
    """Makes this process a worker; returns its `Cluster` as soon as all of them are there.

    To be called before TensorFlow computes anything.

    Raises:
        RunError: when its port is in use, or the others do not come.
    """
    import tensorflow as tf

    meet(index, addresses, note)
    os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}})
    others = " and ".join(f"worker {i} ({address})" for i, address in enumerate(addresses) if i != index)
    sentence = (
        f"train.py: worker {index} ({addresses[index]}) met {others}, but they did not begin together within "
        f"{join_seconds():.0f} s: one of them has died since, or is none of ours; start all workers again."
    )
    try:
        with in_time(join_seconds(), sentence):
            cluster = Cluster(tf.distribute.MultiWorkerMirroredStrategy(), index, addresses)
            cluster.everyone(b"here")
    except (tf.errors.OpError, RuntimeError) as error:
        raise RunError(f"worker {index} ({addresses[index]}) cannot join the others: {error}") from error
    return cluster


def join_seconds():
    """How long workers wait for each other."""
    text = os.environ.get("GANET_JOIN_SECONDS", str(JOIN_SECONDS))
    try:
        return float(text)
    except ValueError:
        raise ConfigError(f"GANET_JOIN_SECONDS must be a number of seconds, but is {text!r}.") from None


GUARD = """
import os, select, signal, sys
seconds, parent, sentence = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
if not select.select([sys.stdin], [], [], seconds)[0]:  # which ends with the block, or with the process
    print(sentence, file=sys.stderr, flush=True)
    os.kill(parent, signal.SIGKILL)
"""


@contextlib.contextmanager
def in_time(seconds, sentence):
    """Ends this process with a sentence unless the block ends in time.

    TensorFlow, if it waits in there, holds Python's lock: no thread of this process could do it, nor could a signal.
    """
    words = [sys.executable, "-I", "-S", "-c", GUARD, str(seconds), str(os.getpid()), sentence]
    guard = subprocess.Popen(words, stdin=subprocess.PIPE)
    try:
        yield
    finally:
        guard.stdin.close()
        guard.wait()


def meet(index, addresses, note):
    """Waits until every other worker has answered once.

    TensorFlow would wait for ever, and hold Python's lock meanwhile, so that nobody could say for whom. Whoever has
    seen all others closes its door here, and TensorFlow opens it again: those that come later are answered by that.
    """
    limit = join_seconds()
    missing, start, told = [number for number in range(len(addresses)) if number != index], time.monotonic(), False
    with _door(index, addresses):
        while missing := [number for number in missing if not answers(addresses[number])]:
            waited, who = time.monotonic() - start, " and ".join(f"worker {i} ({addresses[i]})" for i in missing)
            if waited > limit:
                raise RunError(
                    f"worker {index} ({addresses[index]}) cannot reach {who} after {limit:.0f} s: start all workers, "
                    "and look at names, ports and firewalls."
                )
            if waited > NOTE_SECONDS and not told:
                told = True
                note(f"Waiting for {who}.")
            time.sleep(0.1)


def _door(index, addresses):
    """A socket at this worker's address, where the others see that it is there."""
    host, _, port = addresses[index].rpartition(":")
    door = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind((host if host in LOCAL else "", int(port)))
        door.listen(len(addresses) + 1)
    except OSError as error:
        door.close()
        raise RunError(
            f"worker {index} cannot listen at {addresses[index]}: port {port} is in use ({error.strerror}); "
            "choose another, or end the program that has it."
        ) from error
    return door


def launched():
    """Whether another process of ours started this one and speaks for it."""
    return os.environ.get(LAUNCHED, "").isdecimal()


def watch_parent():
    """Ends this process when the one that launched it is gone: it could not be stopped any more."""

    def watch():
        while os.getppid() == int(os.environ[LAUNCHED]):
            time.sleep(1)
        leave(2)

    if launched():
        threading.Thread(target=watch, daemon=True).start()


def threads(addresses, index):
    """Threads for each of the workers of one machine: its cores, shared."""
    host = addresses[index].rpartition(":")[0]
    here = sum(address.rpartition(":")[0] == host for address in addresses)
    return max(1, environment.cores() // here)


# Several workers on this machine


def bind(index, count):
    """Keeps one of `count` workers that were launched here on its share of the cores, as mpirun does.

    Two that compute without a break then never meet on one core. To be called before TensorFlow has threads.
    """
    if launched() and hasattr(os, "sched_setaffinity") and environment.cores() >= count:
        available = sorted(os.sched_getaffinity(0))
        first, end = (number * len(available) // count for number in (index, index + 1))
        os.sched_setaffinity(0, available[first:end])


def launch(script, argv, count):
    """Runs a script as `count` workers on this machine; returns the exit code of the whole.

    When one of them dies, the others are stopped, and a sentence says which one it was.

    Args:
        script: its path.
        argv: its arguments.
        count: number of workers.
    """
    print(WARNING, file=sys.stderr)
    addresses = [f"127.0.0.1:{port}" for port in _free_ports(count)]
    with tempfile.TemporaryDirectory(prefix="ganet-workers-") as folder:
        children = [_start(script, argv, index, addresses, folder) for index in range(count)]
        try:
            return _watch(children, folder)
        finally:
            _stop(children)


def _free_ports(count):
    """Ports that nobody has at this moment."""
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            probe.close()


def _start(script, argv, index, addresses, folder):
    config = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}}
    variables = {**os.environ, "TF_CONFIG": json.dumps(config), LAUNCHED: str(os.getpid()), "TF_CPP_MIN_LOG_LEVEL": "3"}
    with open(os.path.join(folder, f"{index}.err"), "wb") as errors:
        child = subprocess.Popen(
            [sys.executable, script, *argv],
            env=variables,
            stdout=None if index == 0 else subprocess.DEVNULL,
            stderr=errors if index else subprocess.PIPE,
        )
    if index == 0:
        child.teller = threading.Thread(target=_tell, args=(child.stderr, errors.name), daemon=True)
        child.teller.start()
    return child


def _tell(pipe, path):
    """Passes on what worker 0 says, and keeps it, so that nobody says it once more."""
    with pipe, open(path, "wb", buffering=0) as file:
        while said := pipe.read1():
            with contextlib.suppress(OSError):  # a full disk may be just what it tells of
                file.write(said)
            sys.stderr.write(said.decode(errors="replace"))
            sys.stderr.flush()


def _watch(children, folder):
    """Waits until all are done, or one of them has failed."""
    while True:
        codes = [child.poll() for child in children]
        if any(codes):
            if min(filter(None, codes)) > 0:  # nobody was killed, which would be the reason
                time.sleep(SETTLE_SECONDS)
            return _explain([child.poll() for child in children], children, folder)
        if None not in codes:
            return 0
        time.sleep(0.1)


def _explain(codes, children, folder):
    """Says why workers ended, of those that failed of each other who began; returns the exit code of the whole."""
    failed = [index for index, code in enumerate(codes) if code]
    for index in failed:
        if codes[index] < 0:
            print(
                f"train.py: worker {index} (process {children[index].pid}) was killed by "
                f"{signal.Signals(-codes[index]).name}; the others were stopped. What was done is kept: give the same "
                "command again to resume.",
                file=sys.stderr,
            )
            return 2
    if failed[0] == 0:
        children[0].teller.join(GRACE_SECONDS)
    said = {index: _said(index, codes[index], folder) for index in failed}
    began = {index: text for index, text in said.items() if STOP not in text}
    news = [text for text in began.values() if text != said[0]] if 0 in said else list((began or said).values())
    if news:  # else worker 0 has said itself what there was to say
        print(*dict.fromkeys(news), sep="\n", file=sys.stderr)
    return codes[failed[0]]


def _said(index, code, folder):
    """The last words of a worker."""
    with open(os.path.join(folder, f"{index}.err"), encoding="utf-8", errors="replace") as file:
        lines = [line for line in file.read().splitlines() if line.strip()]
    said = [line for line in lines if line.startswith("train.py: ")] or lines[-20:]
    return "\n".join(said) or f"train.py: worker {index} ended with exit code {code}."


def _stop(children):
    """Ends whatever is still running: politely, then for certain."""
    for child in children:
        if child.poll() is None:
            child.terminate()
    deadline = time.monotonic() + GRACE_SECONDS
    for child in children:
        try:
            child.wait(max(0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
