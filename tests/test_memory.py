"""Resident growth: what a call holds at its fullest moment, whatever was there before; what becomes of freed memory."""

import platform
import subprocess
import sys

import numpy as np
import pytest

from ganet_tf import memory

linux = pytest.mark.skipif(sys.platform != "linux", reason="the high-water mark can be set back on Linux only")
glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the settings are glibc's")
MEGABYTE = 2**20


def grow(megabytes):
    return np.ones(megabytes * MEGABYTE, np.uint8)


@linux
def test_growth_is_what_the_call_holds():
    assert 60 * MEGABYTE <= memory.peak_growth(lambda: grow(64)) < 80 * MEGABYTE


@linux
def test_an_earlier_larger_call_hides_nothing():
    grow(256)
    assert 28 * MEGABYTE <= memory.peak_growth(lambda: grow(32)) < 48 * MEGABYTE


@linux
def test_memory_freed_within_the_call_still_counts():
    def call():
        grow(96)
        grow(8)

    assert memory.peak_growth(call) >= 90 * MEGABYTE


@linux
def test_without_the_mark_the_growth_of_the_mark_is_given(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "CLEAR_REFS", tmp_path / "none" / "clear_refs")
    grow(64)
    assert 0 <= memory.peak_growth(lambda: grow(1)) < 64 * MEGABYTE


# Allocates and frees ten times what a step of a few thousand nodes does, and counts the pages that were mapped anew.
PROBE = """
import resource, sys
import numpy as np
from ganet_tf.memory import keep_memory
applied = keep_memory()
def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(10):
        np.ones(12_000_000, np.float32)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
faults()
print(applied, faults())
"""


def probe(monkeypatch, setting):
    monkeypatch.setenv(memory.ENVIRONMENT, setting)
    # Loads the module alone: without TensorFlow this takes a tenth of a second.
    source = PROBE.replace("from ganet_tf.memory import", "sys.path.insert(0, sys.argv[1])\nfrom memory import")
    folder = str(memory.__file__).rsplit("/", 1)[0]
    done = subprocess.run([sys.executable, "-c", source, folder], capture_output=True, text=True, check=True)
    applied, faults = done.stdout.split()
    return applied == "True", int(faults)


@glibc
def test_blocks_are_reused_without_new_pages(monkeypatch):
    applied, faults = probe(monkeypatch, "1")
    assert applied
    assert faults < 100
    declined, more = probe(monkeypatch, "0")
    assert not declined
    assert more > faults + 100  # few, because NumPy asks for huge pages


def test_other_systems_are_left_alone(monkeypatch):
    monkeypatch.setattr(platform, "libc_ver", lambda: ("", ""))
    assert memory.keep_memory() is False


# A graph's call is watched three times, as profile_ops.py does it: the growth is that of the first time.
WATCHED = """
import sys
import tensorflow as tf
from ganet_tf import memory
assert memory.return_memory()
product = tf.function(lambda x: tf.reduce_sum(tf.matmul(x, x, transpose_b=True)))
x = tf.ones((1500, 8))
product(x)
print(*[memory.peak_growth(lambda: product(x)) for _ in range(3)])
"""


@linux
@glibc
def test_no_allocator_hides_the_growth_of_a_process_that_returns_memory():
    done = subprocess.run([sys.executable, "-c", WATCHED], capture_output=True, text=True, check=True)
    for growth in map(int, done.stdout.split()):
        assert 0.9 * 4 * 1500**2 < growth < 1.3 * 4 * 1500**2
