"""Forgiving names: what a user types, and what was probably meant."""

import difflib
import re


def plain(name):
    """Returns a name in small letters, without spaces and punctuation."""
    return re.sub(r"[^a-z0-9]", "", str(name).lower())


def nearest(name, known):
    """Returns " (did you mean X?)" for the nearest of the known names, or ""."""
    by_plain = {plain(candidate): candidate for candidate in known}
    match = difflib.get_close_matches(plain(name), list(by_plain), n=1, cutoff=0.5)
    return f" (did you mean {by_plain[match[0]]!r}?)" if match else ""
