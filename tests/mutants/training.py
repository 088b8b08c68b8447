"""Bugs in training that would change what the figures mean, or lose them."""

from tests.mutants.run import Mutant

TASKS, TRAINING = "experiments/tasks.py", "experiments/training.py"
TEST_TASKS, TEST_TRUST = "tests/experiments/test_tasks.py", "tests/experiments/test_trust.py"
RESUMED = "tests/experiments/test_kill_and_resume.py::test_killed_and_resumed_equals_uninterrupted"
FOLDER, LOCK, CHECKPOINT = "experiments/run_folder.py", "experiments/lock.py", "experiments/checkpoint.py"
TEST_FOLDER, TEST_LOCK = "tests/experiments/test_run_folder.py", "tests/experiments/test_lock.py"
SELECTION, TEST_SELECTION = "experiments/selection.py", "tests/experiments/test_selection.py"

MUTANTS = [
    Mutant(
        "trains on the test graphs",
        TASKS,
        "            made = train.numpy_batches(",
        "            made = self.dataset.numpy_batches(",
        f"{TEST_TASKS}::test_paper_trains_on_all_but_the_test_fold",
    ),
    Mutant(
        "the validation epoch is chosen on the test fold",
        TASKS,
        "            train, held_out = train.split(VALIDATION_SHARE, seed=config.seed + number)",
        "            train, held_out = train.split(VALIDATION_SHARE, seed=config.seed + number)[0], test",
        f"{TEST_TASKS}::test_validation_is_cut_from_the_training_graphs",
    ),
    Mutant(
        "validation reads the test fold before the epoch is chosen",
        TASKS,
        "held_out=self._batches(held_out),",
        'held_out=self._batches(test if "val" in parts else held_out),',
        f"{TEST_TASKS}::test_validation_reads_the_test_fold_once_after_the_last_step",
    ),
    Mutant(
        "folds follow --seed",
        TASKS,
        "splits=config.splits, seed=0,",
        "splits=config.splits, seed=config.seed,",
        f"{TEST_TASKS}::test_the_test_folds_are_a_partition_and_the_same_for_every_seed",
    ),
    Mutant(
        "every fold starts from the same seed",
        TRAINING,
        "random.seed(self.config.seed + number)",
        "random.seed(self.config.seed)",
        f"{TEST_TRUST}::test_fold_n_is_trained_with_seed_plus_n",
    ),
    Mutant(
        "training is shuffled alike in every epoch",
        TASKS,
        "seed=config.seed + number, epoch=epoch, share=self.share)",
        "seed=config.seed + number, epoch=0, share=self.share)",
        f"{TEST_TASKS}::test_the_seed_and_the_epoch_shuffle_training",
    ),
    Mutant(
        "validation cut alike for every --seed",
        TASKS,
        "train.split(VALIDATION_SHARE, seed=config.seed + number)",
        "train.split(VALIDATION_SHARE, seed=number)",
        f"{TEST_TASKS}::test_the_seed_chooses_which_training_graphs_validate",
    ),
    Mutant(
        "the node figure is the last epoch's",
        TASKS,
        '"validation": _chosen(row, row, metrics),',
        '"validation": _chosen(row, rows[-1], metrics),',
        f"{TEST_TASKS}::test_the_node_figure_is_test_at_the_epoch_that_validation_chose",
    ),
    Mutant(
        "the graph figure is validation's",
        TASKS,
        '{metric: test[f"test_{metric}"] for metric in metrics}',
        '{metric: row[f"val_{metric}"] for metric in metrics}',
        f"{TEST_TASKS}::test_the_graph_figure_under_validation_is_the_final_test",
    ),
    Mutant(
        "the last weights are saved instead of the best",
        TRAINING,
        "            states.assign(self.model.weights, recorder.best_weights)\n",
        "",
        f"{TEST_TRUST}::test_the_saved_weights_are_those_of_the_chosen_epoch",
    ),
    Mutant(
        "resume loses the best weights",
        TRAINING,
        'self.best_weights = arrays.get("best")',
        "self.best_weights = states.values(model.weights)",
        RESUMED,
    ),
    Mutant(
        "resume loses the patience counter",
        TRAINING,
        "            for row in self.history.rows:\n                self.selection.update(row)\n",
        "            for row in self.history.rows:\n                self.selection.update(row)\n"
        "            self.selection._waited = 0\n",
        RESUMED,
    ),
    Mutant(
        "resume without the optimizer's state",
        TRAINING,
        '            states.assign(model.optimizer.variables, arrays["optimizer"])\n',
        "",
        RESUMED,
    ),
    Mutant(
        "the lock is not checked again",
        TRAINING,
        "        self._check_finite(row)\n        self.alive()\n",
        "        self._check_finite(row)\n",
        f"{TEST_TRUST}::test_a_run_that_lost_its_lock_stops_at_the_next_epoch",
    ),
    Mutant(
        "standard deviation over n",
        "experiments/summary.py",
        "statistics.stdev(known)",
        "statistics.pstdev(known)",
        "tests/experiments/test_summary.py::test_graph_figures_by_hand",
    ),
    Mutant(
        "patience is one epoch too long",
        SELECTION,
        "self._waited >= self.patience",
        "self._waited > self.patience",
        f"{TEST_SELECTION}::test_patience_waits_for_loss_and_accuracy",
    ),
    Mutant(
        "the last of equal epochs is chosen",
        SELECTION,
        "value <= self._best",
        "value < self._best",
        f"{TEST_SELECTION}::test_the_first_best_epoch_is_chosen",
    ),
    Mutant(
        "a damaged checkpoint is believed",
        CHECKPOINT,
        'if not data.startswith(MAGIC) or hashlib.sha256(body).hexdigest().encode("ascii") != digest:',
        "if not data.startswith(MAGIC):",
        "tests/experiments/test_checkpoint.py::test_a_corrupt_newest_falls_back",
    ),
    Mutant(
        "the newer checkpoint is overwritten",
        CHECKPOINT,
        "        self._turn = 1 - turn\n",
        "        self._turn = turn\n",
        "tests/experiments/test_checkpoint.py::test_the_newest_is_loaded_and_the_oldest_overwritten",
    ),
    Mutant(
        "a finished fold is believed whatever its files are",
        FOLDER,
        "return None if result is None or _damage(self.fold(number), result) else result",
        "return result",
        f"{TEST_FOLDER}::test_a_fold_whose_files_are_damaged_is_not_finished",
    ),
    Mutant(
        "a changed figure in result.json is believed",
        FOLDER,
        'if checked and result.get("sha256") != _digest(result):',
        "if False:",
        f"{TEST_FOLDER}::test_a_changed_figure_is_noticed",
    ),
    Mutant(
        "a result whose checksum has lost its name is believed",
        FOLDER,
        'checked = {"files", "sha256"} & set(result)',
        'checked = {"sha256"} & set(result)',
        "tests/attacks/test_flipped_bits.py::test_no_flipped_bit_passes",
    ),
    Mutant(
        "the result is written before its files are on the disk",
        FOLDER,
        "        for path in files:\n            sync(path)\n",
        "",
        f"{TEST_FOLDER}::test_a_result_is_written_after_its_files_are_on_the_disk",
    ),
    Mutant(
        "a cut line of history.csv counts",
        FOLDER,
        'whole = text[: text.rfind("\\n") + 1]',
        "whole = text",
        f"{TEST_FOLDER}::test_a_cut_off_line_is_left_out",
    ),
    Mutant(
        "a process number that was given out again holds a lock for ever",
        LOCK,
        'return _born(self.holder["pid"]) != self.holder.get("born")',
        'return _born(self.holder["pid"]) is None',
        f"{TEST_LOCK}::test_a_process_number_that_was_given_out_again",
    ),
    Mutant(
        "a container's process number is looked up here",
        LOCK,
        'return {"host": socket.gethostname(), "boot": _boot(), "space": _space()}',
        'return {"host": socket.gethostname()}',
        f"{TEST_LOCK}::test_another_machine_or_container_by_age",
    ),
    Mutant(
        "the lock of the new owner is removed",
        LOCK,
        "        if self.owned():\n            self.path.unlink(missing_ok=True)\n",
        "        self.path.unlink(missing_ok=True)\n",
        f"{TEST_LOCK}::test_losing_the_lock_is_noticed_and_the_new_owner_keeps_it",
    ),
    Mutant(
        "a search looks at the test accuracy",
        "experiments/search.py",
        '["validation"]["val_loss"]',
        '["validation"]["mean"]',
        "tests/experiments/test_search.py::test_the_loss_on_validation_is_what_counts",
    ),
    Mutant(
        "workers with different settings train together",
        "experiments/cluster.py",
        "                if first.get(name) != other.get(name):",
        "                if False:",
        "tests/experiments/test_cluster.py::test_different_versions",
    ),
]
