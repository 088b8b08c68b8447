"""How far a call makes the resident memory of this process grow."""

import ctypes
import gc
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
    _trim()
    resettable = _reset_high_water()
    before = _status("VmRSS") if resettable else _high_water()
    call()
    return max(_high_water() - before, 0)


def _trim():
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
