"""Freed memory stays in the process, unless the user says no."""

import platform
import subprocess
import sys

import pytest

from ganet_tf import allocator

# Allocates and frees ten times what a step of a few thousand nodes does, and counts the pages that were mapped anew.
PROBE = """
import resource, sys
import numpy as np
from ganet_tf.allocator import keep_memory
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
    monkeypatch.setenv(allocator.ENVIRONMENT, setting)
    # Loads the module alone: without TensorFlow this takes a tenth of a second.
    source = PROBE.replace("from ganet_tf.allocator import", "sys.path.insert(0, sys.argv[1])\nfrom allocator import")
    folder = str(allocator.__file__).rsplit("/", 1)[0]
    done = subprocess.run([sys.executable, "-c", source, folder], capture_output=True, text=True, check=True)
    applied, faults = done.stdout.split()
    return applied == "True", int(faults)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the settings are glibc's")
def test_blocks_are_reused_without_new_pages(monkeypatch):
    applied, faults = probe(monkeypatch, "1")
    assert applied
    assert faults < 100
    declined, more = probe(monkeypatch, "0")
    assert not declined
    assert more > faults + 100  # few, because NumPy asks for huge pages


def test_other_systems_are_left_alone(monkeypatch):
    monkeypatch.setattr(platform, "libc_ver", lambda: ("", ""))
    assert allocator.keep_memory() is False
