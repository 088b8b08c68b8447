"""The learning curve on disk."""

from experiments.history import History, read

ROWS = [{"epoch": e, "train_loss": 0.1 / e, "test_accuracy": e / 7} for e in (1, 2, 3)]


def test_rows_come_back_to_the_last_digit(tmp_path):
    history = History(tmp_path / "h.csv")
    for row in ROWS:
        history.add(row)
    assert read(tmp_path / "h.csv") == ROWS == history.rows
    assert history.column("epoch") == [1, 2, 3]


def test_a_cut_off_line_is_left_out(tmp_path):
    path = tmp_path / "h.csv"
    history = History(path)
    for row in ROWS:
        history.add(row)
    path.write_bytes(path.read_bytes()[:-4])
    assert read(path) == ROWS[:2]


def test_going_on_gives_the_same_file(tmp_path):
    whole, resumed = History(tmp_path / "a.csv"), History(tmp_path / "b.csv", ROWS[:2])
    for row in ROWS:
        whole.add(row)
    resumed.add(ROWS[2])
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_an_empty_history(tmp_path):
    History(tmp_path / "h.csv")
    assert read(tmp_path / "h.csv") == []
