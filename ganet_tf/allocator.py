"""Keep freed memory in the process instead of giving it back to the system after every step.

TensorFlow takes each tensor from the C library and gives it back when it is done. glibc returns large blocks to the
system at once, so the next step maps, clears and faults in the same pages again: that was half of the processor time of
a training step of hGANet on DD. With the settings below a step reuses what the step before has freed. The process then
holds on to its peak, which may be some fifth higher; its results do not change.
"""

import ctypes
import os
import platform

ENVIRONMENT = "GANET_KEEP_MEMORY"

# glibc's names for the settings, from malloc.h.
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_MAX = -1, -2, -4
_SETTINGS = ((_TRIM_THRESHOLD, -1), (_TOP_PAD, 64 * 2**20), (_MMAP_MAX, 0))


def keep_memory():
    """Apply the settings to this process; `import ganet_tf` does it unless GANET_KEEP_MEMORY is 0.

    Returns:
        Whether they were applied: not where the variable says no, and not without glibc (macOS, Windows, musl).
    """
    if os.environ.get(ENVIRONMENT, "1") == "0" or platform.libc_ver()[0] != "glibc":
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and all(mallopt(name, value) == 1 for name, value in _SETTINGS)
