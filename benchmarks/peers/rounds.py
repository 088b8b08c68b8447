"""Contenders in turns: round after round, every one runs once, so that a noisy minute is noisy for all."""

import time
from dataclasses import dataclass, field

from .quiet import Watch
from .side import SideError
from .statistics import repeats, spread

MODES = ("forward", "forward+backward")
SLOW_ROUNDS = 3  # of a contender that would use up the others' time


@dataclass
class Contender:
    """One operator of one side in one mode, and what was measured of it.

    Args:
        side: its `Side`.
        operator: as its worker names it.
        mode: one of `MODES`.
    """

    side: object
    operator: str
    mode: str
    warm_seconds: float | None = None
    peak_bytes: int | None = None
    seconds: dict = field(default_factory=dict)  # round -> seconds
    processor_seconds: dict = field(default_factory=dict)  # the same, of all threads together
    disturbed: int = 0  # rounds in which others were running
    skipped: str | None = None

    @property
    def key(self):
        """What identifies it: (side, operator, mode)."""
        return self.side.name, self.operator, self.mode

    def prepare(self, timeout, brief=False):
        """Compiles, warms up and measures memory; a failure is kept as the reason why there are no times."""
        try:
            answer = self.side.call("prepare", timeout, operator=self.operator, mode=self.mode, brief=brief)
            self.warm_seconds, self.peak_bytes = answer["seconds"], answer["bytes"]
        except SideError as error:
            self.skipped = str(error)

    def run(self, number, timeout, watch):
        """One round, again and again until nobody else was running, as long as the watch has patience."""

        def once():
            count = repeats(self.warm_seconds)
            return self.side.call("run", timeout, operator=self.operator, mode=self.mode, repeat=count)

        try:
            answer, disturbed = watch.quietly(self.side.pid, once)
        except SideError as error:
            self.skipped = str(error)
            return
        self.seconds[number] = answer["seconds"]
        self.processor_seconds[number] = answer["processor_seconds"]
        self.disturbed += disturbed
        self.warm_seconds = min(self.warm_seconds, self.seconds[number])

    def row(self):
        """The measurements as a dict for JSON."""
        return {
            "side": self.side.name,
            "operator": self.operator,
            "mode": self.mode,
            "seconds": spread(list(self.seconds.values())),
            "rounds": {str(number): seconds for number, seconds in self.seconds.items()},
            "processor_seconds": spread(list(self.processor_seconds.values())),
            "disturbed_rounds": self.disturbed,
            "peak_bytes": self.peak_bytes,
            "skipped": self.skipped,
        }


def measure(contenders, path, budget, least, most, brief=False, watch=None, timeout=300, clock=time.monotonic):
    """Runs contenders on a graph in turns until the budget is spent.

    Args:
        contenders: list of `Contender`; those with a `skipped` reason are left out.
        path: the graph's file.
        budget: seconds for the rounds; preparing comes on top.
        least, most: numbers of rounds.
        brief: warm up with one call instead of three.
        watch: the `Watch` over who else is running; the time it waits is not charged to the budget.
        timeout: seconds for one answer.
    """
    watch = watch or Watch()
    load(contenders, path, timeout)
    for contender in active(contenders):
        contender.prepare(timeout, brief)
    start, number, patience = clock(), 0, watch.patience
    while number < least or (number < most and clock() - start - (patience - watch.patience) < budget):
        total = sum(contender.warm_seconds for contender in active(contenders))
        # Every other round runs backwards, so that nobody always has the same neighbour.
        for contender in active(contenders)[:: 1 if number % 2 == 0 else -1]:
            if number < SLOW_ROUNDS or not slow(contender, total, budget):
                contender.run(number, timeout, watch)
        number += 1


def load(contenders, path, timeout):
    """Gives every side the graph."""
    for side in {id(c.side): c.side for c in active(contenders)}.values():
        try:
            side.call("graph", timeout, path=str(path))
        except SideError as error:
            for contender in contenders:
                if contender.side is side:
                    contender.skipped = contender.skipped or str(error)


def active(contenders):
    """Those that take part."""
    return [contender for contender in contenders if contender.skipped is None]


def slow(contender, total, budget):
    """Whether its turns take a quarter of a round, and a tenth of the budget for the first three rounds."""
    return contender.warm_seconds > total / 4 and contender.warm_seconds * SLOW_ROUNDS > budget / 10
