"""Forgiving names: what a user types, and what was probably meant."""

import difflib
import re


def plain(name):
    """A name in small letters, without spaces and punctuation."""
    return re.sub(r"[^a-z0-9]", "", str(name).lower())


def closest(name, known, cutoff=0.5):
    """The known name that is most like `name`, whatever its case and punctuation; None where none is.

    Args:
        name: what was typed.
        known: the names that there are.
        cutoff: how much alike they must be, from 0 (the closest in any case) to 1.
    """
    by_plain = {plain(candidate): candidate for candidate in known}
    match = difflib.get_close_matches(plain(name), list(by_plain), n=1, cutoff=cutoff)
    return by_plain[match[0]] if match else None


def nearest(name, known):
    """The words " (did you mean X?)" for the closest of the known names, or ""."""
    match = closest(name, known)
    return "" if match is None else f" (did you mean {match!r}?)"
