"""Was the machine ours? How much processor time others used during a measurement, and waiting until they stop.

A benchmark on a shared machine is only worth something where nobody else was running. PyTorch shows it most: its
threads spin while they wait for each other, and one other busy process makes them ten times slower.
"""

import os
import time
from pathlib import Path

STAT = Path("/proc/stat")
SHARE = 0.1  # of one core: what others may use during a measurement that counts
GRAIN = 3  # ticks: the kernel counts in hundredths of a second, so a short measurement has to be allowed some


class Watch:
    """Compares the whole machine's busy time with that of one process; of no effect where /proc is missing.

    Args:
        patience: seconds that may be spent, in all, on waiting for quiet. Then everything counts, and is marked.
        clock, sleep, busy, own: for tests.
    """

    def __init__(self, patience=0.0, clock=time.monotonic, sleep=time.sleep, busy=None, own=None):
        self.patience = patience
        self.clock, self.sleep = clock, sleep
        self.busy, self.own = busy or machine_ticks, own or process_ticks

    def quietly(self, pid, measure):
        """Runs `measure()` until nobody else was running meanwhile.

        Returns:
            (its result, whether others disturbed it all the same)
        """
        while True:
            start, busy, own = self.clock(), self.busy(), self.own(pid)
            result = measure()
            elapsed = self.clock() - start
            others = (self.busy() - busy) - (self.own(pid) - own)
            if others <= GRAIN + SHARE * elapsed * ticks_a_second():
                return result, False
            if self.patience <= 0:
                return result, True
            self.wait()
            self.patience -= self.clock() - start

    def wait(self, window=0.25):
        """Waits until the machine has been idle for a moment, or patience runs out."""
        start = self.clock()
        while self.clock() - start < self.patience:
            busy = self.busy()
            self.sleep(window)
            if self.busy() - busy <= GRAIN + SHARE * window * ticks_a_second():
                return


def ticks_a_second():
    """The kernel's unit of processor time."""
    return os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


def machine_ticks():
    """Processor time that all cores have been busy since the start of the machine."""
    try:
        fields = STAT.read_text(encoding="ascii").splitlines()[0].split()[1:]
    except OSError:
        return 0
    user, nice, system, _idle, _waiting, *rest = map(int, fields[:8])
    return user + nice + system + sum(rest)


def process_ticks(pid):
    """Processor time of a process and of the children it has waited for, and of this one, which only waits."""
    return sum(ticks_of(p) for p in [pid, os.getpid(), *children(pid)])


def ticks_of(pid):
    """Processor time of one process."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(map(int, fields[11:15]))


def children(pid):
    """The processes that a process has started (a loader, for instance)."""
    try:
        return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]
    except OSError:
        return []
