"""The memory of this process: what is free, how far a call makes it grow, and what becomes of freed blocks.

The standard library alone, so that a process without TensorFlow can load this file too.

TensorFlow takes each tensor from the C library and gives it back when it is done. glibc returns large blocks to the
system at once, so the next step maps, clears and faults in the same pages again: that was half of the processor time of
a training step of hGANet on DD. After `keep_memory` a step reuses what the step before has freed. The process then
holds on to its peak, which may be some fifth higher; its results do not change. `return_memory` is the opposite, for a
process whose growth is measured.
"""

import ctypes
import gc
import os
import platform
import sys
from pathlib import Path

try:
    import resource
except ImportError:  # Windows
    resource = None

ENVIRONMENT = "GANET_KEEP_MEMORY"
LIMIT = "GANET_MEMORY_LIMIT"
STATUS = Path("/proc/self/status")
CLEAR_REFS = Path("/proc/self/clear_refs")

# glibc's names for the settings, from malloc.h.
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD, _MMAP_MAX = -1, -2, -3, -4
_KEEP = ((_TRIM_THRESHOLD, -1), (_TOP_PAD, 64 * 2**20), (_MMAP_MAX, 0))
_RETURN = ((_TRIM_THRESHOLD, 0), (_TOP_PAD, 0), (_MMAP_MAX, 65536), (_MMAP_THRESHOLD, 128 * 2**10))


def keep_memory() -> bool:
    """Keeps freed memory in this process; `import ganet_tf` does it unless GANET_KEEP_MEMORY is 0.

    Returns:
        Whether it is kept: not where the variable says no, and not without glibc (macOS, Windows, musl).
    """
    return os.environ.get(ENVIRONMENT, "1") != "0" and _mallopt(_KEEP)


def return_memory() -> bool:
    """Gives every large block back to the system as soon as it is freed: slow, but `peak_growth` is exact.

    To be called before TensorFlow computes anything. On processors with VNNI instructions TensorFlow has a pool of its
    own (oneDNN's) that keeps all it ever had, so that a second call grows by nothing: that is switched off, too.

    Returns:
        Whether the C library could be told.
    """
    os.environ["TF_ONEDNN_USE_SYSTEM_ALLOCATOR"] = "1"
    return _mallopt(_RETURN)


def _mallopt(settings):
    if platform.libc_ver()[0] != "glibc":
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and all(mallopt(name, value) == 1 for name, value in settings)


def peak_growth(call) -> int:
    """Bytes by which the resident memory of this process grows, at its highest, during a call.

    Freed memory is handed back to the system first and the kernel's high-water mark is set back, so that
    neither imports nor an earlier, larger call hide the growth. Where the mark cannot be set back, the growth
    of the mark itself is given: too small if there was an earlier, larger call. Too small it is as well by what an
    allocator has kept of an earlier call: exact is a fresh process that has called `return_memory`.
    """
    hand_back()
    resettable = _reset_high_water()
    before = _status("VmRSS") if resettable else _high_water()
    call()
    return max(_high_water() - before, 0)


def hand_back() -> None:
    """Gives what is free now back to the system, so that an earlier call does not hide what the next one needs."""
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


def available_memory() -> int:
    """Bytes of memory that a process can still have here: free memory, or less if a container limits it.

    GANET_MEMORY_LIMIT, a number of bytes, makes it no more than that: for machines that others need, too.
    """
    free = _meminfo() or os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        limit, used = _read_int(limit), _read_int(used)
        if limit is not None and used is not None:
            free = min(free, max(limit - used, 0))
    if os.environ.get(LIMIT, "").isdecimal():
        free = min(free, int(os.environ[LIMIT]))
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
