"""What a user sees: the greeting, a bar for folds, Keras' bar within a fold, tables at the end; and `--list`."""

import shutil
import sys
import time

import keras
from rich import box
from rich.console import Console
from rich.progress_bar import ProgressBar
from rich.table import Table

from experiments import paper, selection
from experiments.config import all_configs, fold_numbers, is_folder, label
from experiments.objective import METRICS, OBJECTIVES
from ganet_tf import data
from ganet_tf.layers import operator_names


class Reporter:
    """Prints the course of a run; on a terminal with bars, elsewhere one line per epoch.

    Args:
        folds: how many folds (or repetitions) this process is asked for.
        epochs: epochs of each.
        word: "fold" or "run".
        quiet: whether to print nothing but warnings (to stderr) and the last line.
        terminal: whether to draw bars; by default whether stdout is one.
        silent: whether to print nothing at all, as of several workers all but one do.
    """

    def __init__(self, folds, epochs, word="fold", quiet=False, terminal=None, silent=False):
        self.silent = silent
        quiet = quiet or silent
        self.folds = folds
        self.epochs = epochs
        self.word = word
        self.quiet = quiet
        self.terminal = sys.stdout.isatty() if terminal is None else terminal
        self.console = Console(highlight=False, soft_wrap=not self.terminal, force_terminal=self.terminal or None)
        self.done = 0
        self.current = None
        self._steps = 1
        self._first = 0
        self._times = []

    def say(self, text):
        """One line for the reader, unless --quiet."""
        if not self.quiet:
            self.console.print(text, markup=False)

    def note(self, text):
        """Something the reader should know in any case."""
        if self.silent:
            return
        if self.quiet:
            print(text, file=sys.stderr)
        else:
            self.console.print(text, markup=False, style="yellow")

    def skip(self, count):
        """Counts folds that were finished before."""
        self.done += count

    def fold_start(self, number, steps):
        """Announces a fold, with the time that is left for all of them."""
        self.current, self._steps, self._first = number, steps, 0
        if self.quiet:
            return
        left = ""
        if self._times:
            seconds = sum(self._times) / len(self._times) * (self.folds - self.done)
            left = f"about {clock(seconds)} left"
        title = f"{self.word} {number} ({self.done} of {self.folds} done)"
        if not self.terminal:
            self.say(f"{title}{', ' if left else ''}{left}")
            return
        row = Table.grid(padding=(0, 1))
        row.add_row(title, ProgressBar(self.folds, self.done, width=30), left)
        self.console.print(row)

    def at(self, epoch):
        """Tells at which epoch the fold resumes."""
        self._first = epoch

    def epoch(self, row):
        """One line for a finished epoch where there is no bar."""
        if not self.quiet and not self.terminal:
            self.say(f"{self.word} {self.current} epoch {row['epoch']}/{self.epochs}  {values(row)}")

    def fold_end(self, number, result, seconds):
        """Says what a fold gave."""
        self.done += 1
        self._times.append(seconds)
        if "failed" not in result:
            rules = ", ".join(f"{rule} {figure(values)}" for rule, values in result["rules"].items())
            self.say(f"{self.word} {number}: {rules} ({clock(seconds)})")

    def callbacks(self):
        """Keras callbacks of one fold: the bar, on a terminal."""
        if self.quiet or not self.terminal:
            return []
        return [FoldBar(self.epochs, self._steps, self._first)]

    def table(self, summary):
        """The table at the end: one row per fold, the mean, the paper."""
        rules = [rule for rule in selection.LABELS if rule in summary]
        metric = summary.get("metric", "accuracy")
        title = f"{summary['dataset']}, {summary['label']}, protocol {summary['protocol']}: test "
        title += METRICS[metric].title
        table = Table(title=title, box=box.SIMPLE_HEAD, show_footer=False)
        table.add_column(self.word)
        for rule in rules:
            table.add_column(rule, justify="right")
        for i, fold in enumerate(summary["folds"]):
            table.add_row(str(fold), *(_cell(summary[rule], i, metric) for rule in rules))
        table.add_section()
        table.add_row("mean ± std", *(mean_and_std(summary[rule], metric) for rule in rules))
        if summary["paper_text"]:
            table.add_row("paper", *(summary["paper_text"] for _ in rules))
        self.console.print(table)
        for rule in rules:
            self.say(f"  {rule}: {selection.LABELS[rule]}")


class FoldBar(keras.callbacks.Callback):
    """One line for a whole fold: it moves with every batch, shows the last epoch's values, and never wraps.

    Args:
        epochs, steps: of the fold.
        first: the epoch that it resumes after.
        out: where to write.
    """

    def __init__(self, epochs, steps, first=0, out=None):
        super().__init__()
        self._epochs, self._steps, self._epoch = epochs, steps, first
        self._done = self._begun = first * steps
        self._out = sys.stdout if out is None else out
        self._start = self._last = time.monotonic()
        self._values = ""

    def on_train_batch_end(self, batch, logs=None):
        if time.monotonic() - self._last > 0.1:
            self._last = time.monotonic()
            self._draw(self._epoch * self._steps + batch + 1)

    def on_epoch_end(self, epoch, logs=None):
        self._epoch = epoch + 1
        self._values = short_values(logs or {})
        self._draw(self._epoch * self._steps)

    def on_train_end(self, logs=None):
        self._draw(self._epoch * self._steps)
        self._out.write("\n")

    def _draw(self, done):
        self._out.write("\r" + self.line(done, shutil.get_terminal_size().columns - 1) + "\x1b[K")
        self._out.flush()

    def line(self, done, width):
        """What stands there after `done` steps: epochs, a bar in the room that is left, values, and the time to go."""
        spent = time.monotonic() - self._start
        steps = done - self._begun
        left = f"{clock(spent / steps * (self._epochs * self._steps - done))} left" if steps else ""
        parts = [f"epoch {self._epoch}/{self._epochs}", "", self._values, left]
        room = min(24, width - sum(map(len, parts)) - 2 * len(parts))
        if room >= 4:
            full = round(room * done / max(self._epochs * self._steps, 1))
            parts[1] = "━" * full + "─" * (room - full)
        return "  ".join(part for part in parts if part)[:width]


def short_values(row):
    """An epoch's values in little room: "train 0.512 86.2%  test 0.603 83.3%"."""
    found = []
    for part in ("train", "val", "test"):
        numbers = [f"{row[f'{part}_loss']:.3f}"] if f"{part}_loss" in row else []
        for name, metric in METRICS.items():
            if (value := row.get(f"{part}_{name}")) is not None:
                numbers.append(f"{metric.scale * value:.1f}{metric.unit.strip()}" if metric.unit else f"{value:.3g}")
        found += [" ".join([part, *numbers])] if numbers else []
    return "  ".join(found)


VALUES = tuple(f"{part}_{what}" for part in ("train", "val", "test") for what in ("loss", *METRICS))


def values(row):
    """An epoch's values as text."""
    return "  ".join(f"{name} {row[name]:.4f}" for name in VALUES if name in row)


def clock(seconds):
    """Seconds as 5 s, 1:05 or 2:01:05."""
    seconds = round(seconds)
    if seconds < 60:
        return f"{seconds} s"
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"


def many(count, word):
    """1 fold, 2 folds."""
    return f"{count} {word}{'' if count == 1 else 's'}"


def figure(values):
    """A fold's figure as text: the first metric that it has."""
    name = next(name for name in METRICS if name in values)
    if values[name] is None:
        return "undefined"
    return f"{number(METRICS[name].scale * values[name], name)}{METRICS[name].unit}"


def number(value, metric="accuracy"):
    """A figure as text: percent with two digits behind the point, others with four that count."""
    return "-" if value is None else f"{value:.2f}" if METRICS[metric].unit else f"{value:.4g}"


def mean_and_std(rule, metric="accuracy"):
    """Mean and standard deviation of a rule as text, "90.00 ± 1.20"."""
    return f"{number(rule['mean'], metric)} ± {number(rule['std'], metric)}"


def _cell(rule, i, metric):
    epoch = rule["epochs"][i]
    return f"{number(rule['per_fold'][i], metric)} ({epoch})"


def greet(report, config, dataset, folder, numbers, notes=()):
    """Says what is going to happen, and what has happened before."""
    for number in fold_numbers(config):
        if problem := folder.damage(number):
            report.note(
                f"{folder.fold(number).name}: {problem}; it counts as not finished and has to be trained again."
            )
    finished = folder.results(numbers)
    report.skip(len(finished))
    what = f"{label(config)} on {config.dataset} ({dataset!r})"
    report.say(
        f"{what}: {many(len(numbers), folder.word)} of at most {config.epochs} epochs, protocol "
        f"{config.protocol}, into {folder.path}"
    )
    for note in notes:
        report.note(note)
    if config.task == "graph":
        report.say(f"folds: {config.splits}")
    if is_folder(config.dataset) or dataset.target.kind != "classes":
        report.say(f"targets: {targets(dataset.target)}")
    if finished and len(finished) == len(numbers):
        report.say(
            f"This run is finished: here is its result. To run it again, delete {folder.path} or choose "
            "another folder with --output."
        )
    elif finished:
        report.say(f"Already finished: {folder.word} {', '.join(map(str, finished))}.")


def targets(target):
    """A target's kind, outputs and metrics as text."""
    names = " and ".join(METRICS[name].text for name in OBJECTIVES[target.kind].metrics)
    labels = [str(label) for label in target.labels[:6]] + (["..."] if len(target.labels) > 6 else [])
    outputs = ", ".join(labels) if labels else f"{target.width} for each"
    return f"{target.kind} ({outputs}), measured by {names}"


def conclude(report, summary, folder, elsewhere):
    """Prints the result; returns the exit code."""
    for number, holder in elsewhere.items():
        report.note(f"{folder.word} {number} is being trained by {holder}, which will write the summary.")
    for number, reason in summary["failed"].items():
        report.note(f"{folder.word} {number} failed: {reason}.")
    if not report.quiet and summary["folds"]:
        report.table(summary)
        if summary["missing"]:
            report.say(f"Not finished yet: {folder.word} {', '.join(map(str, summary['missing']))}.")
        report.say(f"{folder.path / 'summary.md'}, summary.json and curves.png have it all.")
    print(last_line(summary, folder))
    return 1 if summary["failed"] else 0


def last_line(summary, folder):
    """The whole result in a line."""
    rules = [rule for rule in selection.LABELS if rule in summary]
    metric = summary.get("metric", "accuracy")
    named = f" {METRICS[metric].text}" if "metric" in summary else ""
    figures = [f"{rule}{named} {mean_and_std(summary[rule], metric)}" for rule in rules]
    if summary["paper_text"]:
        figures.append(f"paper {summary['paper_text']}")
    count = many(len(summary["folds"]), folder.word)
    return f"{summary['dataset']} {summary['label']} ({count}): {', '.join(figures) or 'nothing finished'}"


def list_rows():
    """[(task, data set, model, file, the paper's figure)] of all shipped configs."""
    found = []
    for _, config, path in all_configs():
        cell = paper.cell(config.dataset, config.model.name, getattr(config.model, "operator", None))
        found.append((config.task, config.dataset, config.model.name, path.name, cell.text if cell else "-"))
    return sorted(found, key=lambda row: (row[0], row[1].lower()))


def show_list():
    """Prints the table of shipped configs; returns the exit code."""
    table = Table(box=box.SIMPLE_HEAD)
    for column in ("--task", "--dataset", "--model", "configs/", "paper, %"):
        table.add_column(column)
    for row in list_rows():
        table.add_row(*row)
    console = Console(highlight=False)
    console.print(table)
    others = sorted(set(data.names()) - {row[1] for row in list_rows()})
    if others:
        console.print(f"Also, with settings made from the data: {', '.join(others)}, and your own data.")
    console.print(f"Operators for --set model.operator=: {', '.join(operator_names())}.")
    return 0
