"""Small pieces of the look inside's text: shares, names, links."""

from experiments.attention.measures import ASLEEP, is_asleep
from experiments.report.writing import NONE, listing


def percent(value):
    """A share in percent: 0 only where there is nothing, two digits where there is little."""
    value = 100 * value
    return f"{value:.1f}" if value >= 1 else f"{value:.2g}"


def code(cell):
    """A cell's name as Markdown."""
    return f"`{cell['cell']}`"


def names_of(cells):
    """The names of some cells in a sentence."""
    return listing(code(cell) for cell in cells)


def value_of(module, *keys):
    """The number in a module's JSON that is found key after key, or None."""
    for key in keys:
        module = None if module is None else module.get(key)
    return module


def key_norm(module):
    """The norm of W_K, relative to what it was before training, or None."""
    now, start = value_of(module, "key_norm"), value_of(module, "start", "key_norm")
    return now / start if now is not None and start else None


def figures(cell, *keys, digits=3):
    """A number of each module, one after another; what `keys` lead to, or what a function finds."""
    values = [keys[0](module) if callable(keys[0]) else value_of(module, *keys) for module in cell["modules"]]
    if all(value is None for value in values):
        return NONE
    return " ".join(NONE if value is None else f"{value:.{digits}f}" for value in values)


def state(cell):
    """Asleep, or in how many modules attention is awake."""
    if is_asleep(cell["modules"]):
        return "asleep"
    entropies = [module["entropy"]["mean"] for module in cell["modules"] if module["entropy"]]
    awake = sum(entropy <= ASLEEP for entropy in entropies)
    return f"awake in {awake} of {len(entropies)}"


def link(results, name, text):
    """The Markdown of a figure below results/inside, if it is there."""
    if not (results / "inside" / name).exists():
        return []
    return [f"![{text}]({results.name}/inside/{name})", ""]
