"""Memory readings: what is free on this machine, and how far a call makes this process grow.

The standard library alone, so that a process without TensorFlow can load this file too.
"""

import ctypes
import gc
import os
import sys
from pathlib import Path

try:
    import resource
except ImportError:  # Windows
    resource = None

STATUS = Path("/proc/self/status")
CLEAR_REFS = Path("/proc/self/clear_refs")


def peak_growth(call):
    """Bytes by which the resident memory of this process grows, at its highest, during a call.

    Freed memory is handed back to the system first and the kernel's high-water mark is set back, so that
    neither imports nor an earlier, larger call hide the growth. Where the mark cannot be set back, the growth
    of the mark itself is given: too small if there was an earlier, larger call.
    """
    hand_back()
    resettable = _reset_high_water()
    before = _status("VmRSS") if resettable else _high_water()
    call()
    return max(_high_water() - before, 0)


def hand_back():
    """Gives freed memory back to the system, so that an earlier call does not hide what the next one needs."""
    gc.collect()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc only
        if trim is not None:
            trim(0)


def _reset_high_water():
    try:
        CLEAR_REFS.write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


def _high_water():
    if STATUS.exists():
        return _status("VmHWM")
    if resource is None:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _status(field):
    for line in STATUS.read_text(encoding="ascii").splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    return 0


def available_memory():
    """Bytes of memory that a process can still have here: free memory, or less if a container limits it."""
    free = _meminfo() or os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        limit, used = _read_int(limit), _read_int(used)
        if limit is not None and used is not None:
            free = min(free, max(limit - used, 0))
    return free


def _meminfo():
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return None


def _read_int(path):
    try:
        with open(path, encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):  # no such file, or the word "max"
        return None
