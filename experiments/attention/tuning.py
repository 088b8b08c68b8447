"""The part of the look inside on settings that were tried: do they wake attention up, and do they help?

Settings are compared by validation figures only; none of these runs says anything about test.
"""

from experiments.attention.measures import is_asleep
from experiments.attention.words import figures, link, state
from experiments.report import names, summaries
from experiments.report import writing as numbers
from experiments.report.markdown import table
from experiments.report.tuning import best_first


def tuning_lines(cells, results):
    """A table of all settings that were looked at, and which of them woke attention up."""
    if not cells:
        return []
    rows = []
    for cell in cells:
        scores = validation(cell, results)
        loss = numbers.loss(scores["val_loss"]) if scores else numbers.NONE
        accuracy = f"{scores['val_accuracy']:.2f}" if scores else numbers.NONE
        columns = (figures(cell, "entropy", "mean"), state(cell), figures(cell, "gate", "mean"))
        rows.append([names.dataset(cell["dataset"]), setting(cell), *columns, loss, accuracy])
    head = ["data set", "setting", "entropy / log n", "attention", "mean gate", "val. loss", "val. accuracy, %"]
    return [
        "### Waking attention up",
        "",
        "Settings that were tried, on validation data only; the losses and accuracies are means over the folds (on "
        "nodes: seeds) of each run.",
        "",
        *table(head, rows, left=5),
        *reading(cells, results),
        "",
        *link(results, "layers_tuning.png", "Entropy and gates of each module, settings tried"),
    ]


def setting(cell):
    """The last part of a cell's name, what `--set` changed, as Markdown."""
    return f"`{cell['cell'].rpartition('/')[2]}`"


def validation(cell, results):
    """The run's figures at the epochs that validation chose, or None."""
    summary = summaries.read(results / cell["cell"])
    rule = (summary or {}).get("validation") or {}
    return rule if "val_loss" in rule else None


def reading(cells, results):
    """For each data set: what is awake, and whether the setting with the highest validation accuracy is."""
    lines = []
    for dataset in dict.fromkeys(cell["dataset"] for cell in cells):
        mine = [cell for cell in cells if cell["dataset"] == dataset]
        awake = [setting(cell) for cell in mine if not is_asleep(cell["modules"])]
        text = f"awake in at least one module with {numbers.listing(awake)}" if awake else "asleep with every setting"
        known = [cell for cell in mine if validation(cell, results)]
        if known:
            best = min(known, key=lambda cell: best_first(validation(cell, results)))
            so_far = " so far" if len(known) < len(mine) else ""
            text += f"; the highest validation accuracy{so_far} is that of {setting(best)}"
            text += f", where attention is {state(best)}"
        lines.append(f"- {names.dataset(dataset)}: {text}.")
    return lines
