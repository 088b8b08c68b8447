"""How far a call makes the resident memory of a worker grow (Linux; None elsewhere).

`ganet_tf.memory` does the same, but importing it loads TensorFlow, which PyTorch's workers do not have.
"""

import ctypes
import gc
import sys
from pathlib import Path

STATUS = Path("/proc/self/status")
CLEAR_REFS = Path("/proc/self/clear_refs")


def peak_growth(call):
    """Bytes by which resident memory grows, at its highest, during `call()`; None where it cannot be told."""
    hand_back()
    try:
        CLEAR_REFS.write_text("5", encoding="ascii")  # sets the kernel's high-water mark back to the present
    except OSError:
        call()
        return None
    before = status("VmRSS")
    call()
    return max(status("VmHWM") - before, 0)


def hand_back():
    """Gives freed memory back to the system, so that an earlier call does not hide what the next one needs."""
    gc.collect()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc only
        if trim is not None:
            trim(0)


def status(field):
    """A figure of /proc/self/status in bytes."""
    for line in STATUS.read_text(encoding="ascii").splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    return 0
