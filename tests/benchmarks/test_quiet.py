"""A turn in which somebody else was running is repeated."""

from benchmarks.peers.quiet import Watch, machine_ticks, ticks_of


class Machine:
    """A clock, and counters of processor time that advance with each measurement of one second."""

    def __init__(self, others):
        self.others, self.now, self.total, self.mine = iter(others), 0.0, 0, 0

    def measure(self):
        self.now += 1.0
        self.mine += 100
        self.total += 100 + next(self.others)
        return self.now

    def sleep(self, seconds):
        self.now += seconds

    def watch(self, patience):
        return Watch(patience, lambda: self.now, self.sleep, lambda: self.total, lambda pid: self.mine)


def test_a_quiet_turn_counts():
    machine = Machine([5])
    assert machine.watch(10).quietly(1, machine.measure) == (1.0, False)


def test_a_disturbed_turn_is_repeated_and_costs_patience():
    machine = Machine([80, 60, 0])
    watch = machine.watch(10)
    result, disturbed = watch.quietly(1, machine.measure)
    assert not disturbed
    assert result > 3.0  # the third turn
    assert watch.patience < 8


def test_without_patience_a_disturbed_turn_counts_and_is_marked():
    machine = Machine([80])
    assert machine.watch(0).quietly(1, machine.measure) == (1.0, True)


def test_this_machine_can_be_asked():
    assert machine_ticks() >= 0
    assert ticks_of(1 << 30) == 0
