"""A model's answers as a CSV table, and what they say about single classes.

Training writes one for the test samples of each fold, `test.csv`; predict.py writes one for new data.
"""

import csv
import io

import numpy as np

from ganet_tf.files import write_whole

TRUE, ANSWER = "true class", "class"
MOST_CLASSES = 12  # of a confusion matrix that still fits a page


def write_answers(path, sample, names, objective, answers, y=None):
    """Writes a line for each sample: its name, what is true where that is known, and the answer.

    Args:
        path: the file.
        sample: "graph" or "node".
        names: of the samples.
        objective: what was learned.
        answers: [n, T] from `objective.answers`, or the mean of several models'.
        y: targets, or None.
    """
    header, rows = answer_columns(objective.target, answers)
    truth, known = ([], [[] for _ in rows]) if y is None else true_columns(objective.target, y)
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([sample, *truth, *header])
    for name, true, row in zip(names, known, rows, strict=True):
        writer.writerow([name, *true, *row])
    write_whole(path, buffer.getvalue())


def answer_columns(target, answers):
    """(names, rows) of the answers: the class and all probabilities; the values; or each label's probability."""
    numbers = np.asarray(answers, np.float64).tolist()
    if target.kind == "classes":
        best = np.argmax(answers, axis=1)
        names = [ANSWER, *(f"p({label})" for label in target.labels)]
        return names, [[target.labels[i], *row] for i, row in zip(best, numbers, strict=True)]
    return output_names({"regression": "value", "multilabel": "p"}[target.kind], target), numbers


def true_columns(target, y):
    """The same of targets; a missing one is empty."""
    if target.kind == "classes":
        return [TRUE], [[target.labels[number] if number >= 0 else ""] for number in y]
    rows = [["" if value != value else value for value in row] for row in np.asarray(y, np.float64).tolist()]
    return output_names("true", target), rows


def output_names(word, target):
    """["value"]; of several outputs ["value(logp)", "value(mass)"], or ["value 1", "value 2"] if they have no names."""
    if target.width == 1:
        return [word]
    return [f"{word}({name})" for name in target.names] or [f"{word} {n}" for n in range(1, target.width + 1)]


def class_figures(paths):
    """What the answers in some tables say about each class.

    Args:
        paths: files from `write_answers` with true classes; others, and missing ones, are passed over.

    Returns:
        (confusion [C, C] with true classes in the rows, figures: one dict for each class), or None without tables.
    """
    tables = [table for path in paths if (table := read_answers(path))]
    labels = tables[0][0] if tables else []
    if not labels or any(table[0] != labels for table in tables):
        return None
    true, answer, p = (np.concatenate([table[i] for table in tables]) for i in (1, 2, 3))
    confusion = np.zeros((len(labels), len(labels)), np.int64)
    np.add.at(confusion, (true, answer), 1)
    return confusion, [_figures(label, confusion, i, true, p[:, i]) for i, label in enumerate(labels)]


def _figures(label, confusion, i, true, p):
    from sklearn.metrics import average_precision_score, roc_auc_score

    right, actual, said = confusion[i, i], confusion[i].sum(), confusion[:, i].sum()
    both = 0 < actual < len(true)
    return {
        "class": label,
        "samples": int(actual),
        "precision": right / said if said else None,
        "recall": right / actual if actual else None,
        "f1": 2 * right / (actual + said) if actual + said else None,
        "roc_auc": float(roc_auc_score(true == i, p)) if both else None,
        "average_precision": float(average_precision_score(true == i, p)) if both else None,
    }


def read_answers(path):
    """(labels, true numbers, answered numbers, probabilities) of a table of classes, or None for another file."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
        labels = [name[2:-1] for name in header[3:]]
        place = {label: number for number, label in enumerate(labels)}
        if header[1:3] != [TRUE, ANSWER] or len(place) != len(labels) or not rows:
            return None
        numbers = [[place[row[1]], place[row[2]]] for row in rows]
        return labels, *np.array(numbers).T, np.array([row[3:] for row in rows], np.float64)
    except (OSError, ValueError, KeyError, IndexError, csv.Error):
        return None


def class_pages(confusion, figures):
    """(lines of summary.md, text of confusion.csv)."""
    labels = [row["class"] for row in figures]
    names = ["class", "samples", "precision", "recall", "F1", "ROC AUC", "average precision"]
    lines = ["## Class by class", "", f"| {' | '.join(names)} |", "|---|" + "---:|" * (len(names) - 1)]
    for row in figures:
        label, samples, *rest = row.values()
        cells = ["-" if value is None else f"{100 * value:.2f}" for value in rest]
        lines.append(f"| {label} | {samples} | {' | '.join(cells)} |")
    if len(labels) <= MOST_CLASSES:
        lines += ["", f"| true class, answers: | {' | '.join(labels)} |", "|---|" + "---:|" * len(labels)]
        lines += [f"| {label} | {' | '.join(map(str, row))} |" for label, row in zip(labels, confusion, strict=True)]
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(
        [["true class", *labels], *([label, *row] for label, row in zip(labels, confusion.tolist(), strict=True))]
    )
    return lines, buffer.getvalue()
