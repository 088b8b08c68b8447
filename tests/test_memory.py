"""Resident growth: what a call holds at its fullest moment, whatever was there before."""

import sys

import numpy as np
import pytest

from ganet_tf import memory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the high-water mark can be set back on Linux only")
MEGABYTE = 2**20


def grow(megabytes):
    return np.ones(megabytes * MEGABYTE, np.uint8)


def test_growth_is_what_the_call_holds():
    assert 60 * MEGABYTE <= memory.peak_growth(lambda: grow(64)) < 80 * MEGABYTE


def test_an_earlier_larger_call_hides_nothing():
    grow(256)
    assert 28 * MEGABYTE <= memory.peak_growth(lambda: grow(32)) < 48 * MEGABYTE


def test_memory_freed_within_the_call_still_counts():
    def call():
        grow(96)
        grow(8)

    assert memory.peak_growth(call) >= 90 * MEGABYTE


def test_without_the_mark_the_growth_of_the_mark_is_given(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "CLEAR_REFS", tmp_path / "none" / "clear_refs")
    grow(64)
    assert 0 <= memory.peak_growth(lambda: grow(1)) < 64 * MEGABYTE
