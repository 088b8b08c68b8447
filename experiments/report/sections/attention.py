"""What the attention of the trained networks does, from results/attention: tables, figures and a reading.

Every sentence is made from the numbers, so that it changes with them. An *entry* is what `python -m
experiments.attention` found in one run: module by module the entropy of its attention, its gates and its choices.
"""

from experiments.report import writing
from experiments.report.results import ATTENTION
from experiments.report.runs import K_SETS, K_VALUES, TUNING
from experiments.report.sections.tuning import best_first
from experiments.report.writing import NONE, listing, table

# Attention is uniform where its entropy is above this share of the largest possible one in every module: it then is
# a plain mean, whatever the features are.
UNIFORM = 0.99
SHOWN = 2  # drawings of choices


def attention(results):
    """The whole page.

    Args:
        results: a `Results`.
    """
    entries, selection = results.attention(), results.selection()
    reported = [entry for entry in entries if not entry["run"].startswith(f"{TUNING}/")]
    return [
        "# What the attention does",
        "",
        "Measured by `python -m experiments.attention` in the trained models of `runs/`.",
        "",
        *(selection_lines(selection) if selection else ()),
        *(entropy_lines(results, reported) if reported else ()),
        *(choice_lines(results, reported) if reported else ()),
        *tuning_lines(results, [entry for entry in entries if entry not in reported]),
        *([] if entries or selection else ["Not run yet.", ""]),
    ]


def selection_lines(selection):
    """How often there is anything to select."""
    rows = []
    for name, facts in selection.items():
        shares = (percent(share(facts, k)) for k in K_VALUES)
        rows.append([writing.dataset(name), f"{facts['nodes']:,}", facts["max_degree"], *shares])
    return [
        "## How often the hard selection is active",
        "",
        "Percent of nodes with more than k candidates (neighbours and the node itself). All others attend to all of "
        "their candidates, and hGAO is GAO with a gate.",
        "",
        *table(["data set", "nodes", "largest degree", *(f"k = {k}" for k in K_VALUES)], rows),
        *selection_reading(selection),
        "",
    ]


def share(facts, k):
    """Share of nodes with more than k candidates."""
    return facts["active"][str(k)] / facts["nodes"]


def selection_reading(selection):
    """What the table of shares means for k."""
    lines = []
    never = [name for name, facts in selection.items() if share(facts, 8) == 0]
    if never:
        lines.append(
            f"On {listing(map(writing.dataset, never))} no node has more than 8 candidates: k = 8, 16, 32 and 64 are "
            "one model there."
        )
    lines += [
        f"The paper's Figure 3 shows a curve over k on {name}; from k = 8 on it cannot come from k."
        for name in K_SETS
        if name in never
    ]
    some = {name: share(facts, 8) for name, facts in selection.items() if name not in never}
    if some:
        ranked = sorted(some.items(), key=lambda item: item[1])
        parts = [f"{percent(value)} % on {writing.dataset(name)}" for name, value in ranked]
        lines.append(f"At k = 8 the selection is active for this share of the nodes: {listing(parts)}.")
    return [" ".join(lines)]


def entropy_lines(results, entries):
    """Entropy, gates and W_K of each module."""
    rows = [
        [
            code(entry),
            entry["operator"],
            figures(entry, "start", "entropy", "mean"),
            figures(entry, "entropy", "mean"),
            state(entry),
            figures(entry, "gate", "mean"),
            figures(entry, key_norm, digits=2),
        ]
        for entry in entries
    ]
    head = ["run", "operator", "before training", "entropy / log n", "attention", "mean gate", "norm of W_K"]
    return [
        "## Entropy of the attention and gates",
        "",
        f"One figure per module, from the first to the last, of the model that {which(entries)} trained, on its test "
        "graphs (on nodes: all nodes), without dropout. Entropy is divided by the logarithm of how many are attended "
        "to: 1 is a plain mean; *before training* is the same for the initial weights, and the norm of W_K is divided "
        "by its own before training. GAT: the mean over heads; cGAO: of the softmax over channels; SampledGAO: of the "
        "probabilities to be drawn. The gate sigmoid(y) cannot be below 0.5, because y is not negative. "
        f"Attention is called uniform where this ratio is above {UNIFORM} in every module.",
        "",
        *table(head, rows, left=len(head)),
        *entropy_reading(entries),
        *link(results, "layers.png", "Entropy and gates of each module"),
    ]


def which(entries):
    """The folds that were looked at."""
    numbers = sorted({entry["fold"] for entry in entries})
    word = "fold" if len(numbers) == 1 else "folds"
    return f"{word} {listing(map(str, numbers))} (on nodes: {word.replace('fold', 'seed')} of that number)"


def uniform_reading(entries):
    """What it means that attention is uniform, and how that came."""
    lines = [
        f"Attention is uniform in {names_of(entries)}: its weights there are those of a plain mean, so whatever these "
        "runs reach, they reach without it."
    ]
    before = [entry for entry in entries if is_uniform([module["start"] for module in entry["modules"]])]
    after = [entry for entry in entries if entry not in before]
    if before:
        lines.append(f"It was so before training in {names_of(before)}.")
    if after:
        lines.append(f"It was not uniform before training in {names_of(after)}, but became so in training.")
    norms = [norm for entry in entries for norm in map(key_norm, entry["modules"]) if norm is not None]
    if norms:
        low, high = percent(min(norms)), percent(max(norms))
        lines.append(f"The norm of W_K is {low} to {high} % of its initial value in the modules of these runs.")
    return lines


def entropy_reading(entries):
    """Where attention is uniform, what became of W_K there, and what the gates do."""
    uniform = [entry for entry in entries if is_uniform(entry["modules"])]
    lines = uniform_reading(uniform) if uniform else []
    others = [entry for entry in entries if entry not in uniform]
    if others:
        lines.append(f"It is not uniform in at least one module of {names_of(others)}.")
    gates = [module["gate"] for entry in entries for module in entry["modules"] if module["gate"]]
    if gates:
        low, high = min(gate["p5"] for gate in gates), max(gate["p95"] for gate in gates)
        middle = sum(gate["mean"] for gate in gates) / len(gates)
        lines.append(
            f"Gates lie between {low:.2f} and {high:.2f} (5th and 95th percentiles of the extreme modules), "
            f"{middle:.2f} on average over modules."
        )
    return [" ".join(lines), ""]


def choice_lines(results, entries):
    """What the hard selection takes, beside degree and chance."""
    choosing = [entry for entry in entries if entry["k"] is not None]
    if not choosing:
        return []
    active = [entry for entry in choosing if any(module["choice"] for module in entry["modules"])]
    idle = [entry for entry in choosing if entry not in active]
    lines = ["## What is selected", ""]
    if active:
        lines += [*choice_table(active), *choice_reading(active), ""]
    if idle:
        lines += [f"The selection was never active in {names_of(idle)}: nothing is left out there.", ""]
    drawn = sorted((entry for entry in choosing if entry["figure"]), key=lambda entry: -entry["modules"][0]["active"])
    for entry in drawn[:SHOWN]:
        text = f"Choices of {entry['run']}: thick lines are selected neighbours, dashed ones were left out"
        lines += link(results, entry["figure"], text)
    return lines


def choice_table(entries):
    """Overlaps, module by module."""
    rows = [
        [
            code(entry),
            entry["k"],
            percent(entry["modules"][0]["active"]),
            figures(entry, "choice", "degree", digits=2),
            figures(entry, "choice", "random", digits=2),
            figures(entry, "choice", "degree_most", digits=2),
            figures(entry, "choice", "tied", digits=2),
        ]
        for entry in entries
    ]
    head = ["run", "k", "active nodes, %", "degree", "by chance", "at most", "tied"]
    return [
        "*Degree*: among nodes with n > k candidates, the share of the k selected that a ranking of the same "
        "candidates by degree takes too, equal degrees in random order. *By chance*: that share for k drawn at random, "
        "k/n. *At most*: that share for a selection by degree itself, which equal degrees keep below 1. *Tied*: the "
        "share of these nodes where a neighbour left out has the same score, up to rounding, as one selected: the "
        "model does not tell them apart, and the node number decides. One figure per module.",
        "",
        *table(head, rows, left=1),
    ]


def choice_reading(entries):
    """For each entry, in words: high degrees, low degrees, or neither."""
    lines = []
    for entry in entries:
        choices = {number: module["choice"] for number, module in enumerate(entry["modules"], 1) if module["choice"]}
        leanings = {number: leaning(choice) for number, choice in choices.items()}
        parts = []
        for word in dict.fromkeys(leanings.values()):
            numbers = [str(number) for number in leanings if leanings[number] == word]
            parts.append(f"{word} in module{'s' if len(numbers) > 1 else ''} {listing(numbers)}")
        text = f"- {code(entry)}: the selection {'; it '.join(parts)}"
        tied = max(choice.get("tied") or 0 for choice in choices.values())
        if tied > 0.1:
            text += f". For up to {percent(tied)} % of its nodes a neighbour left out ties with one selected"
        lines.append(text + ".")
    return lines


def leaning(choice):
    """How a module's choice stands to degree, by its way from chance (0) to the ranking by degree (1)."""
    room = choice["degree_most"] - choice["random"]
    way = (choice["degree"] - choice["random"]) / room if room > 0 else 0
    if way > 0.8:
        return "is nearly the one by degree"
    if way > 0.2:
        return "leans to high degrees"
    return "is as near to one by degree as chance" if way > -0.2 else "leans to low degrees"


def tuning_lines(results, entries):
    """A table of all settings that were looked at, and with which of them attention is more than a mean."""
    if not entries:
        return []
    rows = []
    for entry in entries:
        scores = validation(results, entry)
        loss = writing.loss(scores["val_loss"]) if scores else NONE
        accuracy = f"{scores['val_accuracy']:.2f}" if scores else NONE
        columns = (figures(entry, "entropy", "mean"), state(entry), figures(entry, "gate", "mean"))
        rows.append([writing.dataset(entry["dataset"]), setting(entry), *columns, loss, accuracy])
    head = ["data set", "setting", "entropy / log n", "attention", "mean gate", "val. loss", "val. accuracy, %"]
    return [
        "## Settings that were tried",
        "",
        "On validation data only; the losses and accuracies are means over the folds (on nodes: seeds) of each run.",
        "",
        *table(head, rows, left=5),
        *tuning_reading(results, entries),
        "",
        *link(results, "layers_tuning.png", "Entropy and gates of each module, settings tried"),
    ]


def setting(entry):
    """The last part of an entry's name, what `--set` changed, as Markdown."""
    return f"`{entry['run'].rpartition('/')[2]}`"


def validation(results, entry):
    """The run's figures at the epochs that validation chose, or None."""
    rule = (results.summary(entry["run"]) or {}).get("validation") or {}
    return rule if "val_loss" in rule else None


def tuning_reading(results, entries):
    """For each data set: where attention is not uniform, and what it is with the highest validation accuracy."""
    lines = []
    for dataset in dict.fromkeys(entry["dataset"] for entry in entries):
        mine = [entry for entry in entries if entry["dataset"] == dataset]
        found = [setting(entry) for entry in mine if not is_uniform(entry["modules"])]
        text = f"not uniform in at least one module with {listing(found)}" if found else "uniform with every setting"
        known = [entry for entry in mine if validation(results, entry)]
        if known:
            best = min(known, key=lambda entry: best_first(validation(results, entry)))
            so_far = " so far" if len(known) < len(mine) else ""
            text += f"; the highest validation accuracy{so_far} is that of {setting(best)}"
            text += f", where attention is {state(best)}"
        lines.append(f"- {writing.dataset(dataset)}: {text}.")
    return lines


def is_uniform(modules):
    """Whether the attention of every module (of an entry, or before training) is as good as uniform."""
    entropies = [module["entropy"]["mean"] for module in modules if module["entropy"]]
    return bool(entropies) and min(entropies) > UNIFORM


def percent(value):
    """A share in percent: 0 only where there is nothing, two digits where there is little."""
    value = 100 * value
    return f"{value:.1f}" if value >= 1 else f"{value:.2g}"


def code(entry):
    """An entry's name as Markdown."""
    return f"`{entry['run']}`"


def names_of(entries):
    """The names of some entries in a sentence."""
    return listing(code(entry) for entry in entries)


def value_of(module, *keys):
    """The number in a module's JSON that is found key after key, or None."""
    for key in keys:
        module = None if module is None else module.get(key)
    return module


def key_norm(module):
    """The norm of W_K, relative to what it was before training, or None."""
    now, start = value_of(module, "key_norm"), value_of(module, "start", "key_norm")
    return now / start if now is not None and start else None


def figures(entry, *keys, digits=3):
    """A number of each module, one after another; what `keys` lead to, or what a function finds."""
    values = [keys[0](module) if callable(keys[0]) else value_of(module, *keys) for module in entry["modules"]]
    if all(value is None for value in values):
        return NONE
    return " ".join(NONE if value is None else f"{value:.{digits}f}" for value in values)


def state(entry):
    """Uniform, or in how many modules attention is not."""
    if is_uniform(entry["modules"]):
        return "uniform"
    entropies = [module["entropy"]["mean"] for module in entry["modules"] if module["entropy"]]
    others = sum(entropy <= UNIFORM for entropy in entropies)
    return f"not uniform in {others} of {len(entropies)}"


def link(results, name, text):
    """The Markdown of a figure below results/attention, if it is there."""
    if not (results.folder / ATTENTION / name).exists():
        return []
    return [f"![{text}](results/{ATTENTION}/{name})", ""]
