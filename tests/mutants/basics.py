"""Bugs in the library's own tools: files, spelling, the optimizer."""

from tests.mutants.run import Mutant

FILES, SPELLING, OPTIMIZERS = "ganet_tf/files.py", "ganet_tf/spelling.py", "ganet_tf/optimizers.py"

MUTANTS = [
    Mutant(
        "a failed write leaves its draft behind",
        FILES,
        "        temporary.unlink(missing_ok=True)",
        "        pass",
        "tests/test_files.py::test_a_failed_write_changes_nothing",
    ),
    Mutant(
        "a file is written in place",
        FILES,
        'temporary = path.with_name(f"{UNFINISHED}{uuid.uuid4().hex[:12]}-{path.name}")',
        "temporary = path",
        "tests/test_files.py::test_a_failed_write_changes_nothing",
    ),
    Mutant(
        "the draft has another ending",
        FILES,
        "-{path.name}",
        "",
        "tests/test_files.py::test_a_draft_stands_beside_its_file_and_ends_like_it",
    ),
    Mutant(
        "the draft is not synced before it takes the file's place",
        FILES,
        "sync(temporary)",
        "str(temporary)",
        "tests/test_files.py::test_content_is_on_the_disk_before_it_takes_the_files_place",
    ),
    Mutant(
        "the folder is not made",
        FILES,
        "    path.parent.mkdir(parents=True, exist_ok=True)\n",
        "",
        "tests/test_files.py::test_the_folder_is_made",
    ),
    Mutant(
        "text in the machine's own encoding",
        FILES,
        'content.encode("utf-8")',
        'content.encode("latin-1")',
        "tests/test_files.py::test_text_bytes_and_a_function",
    ),
    Mutant(
        "other files are removed with the drafts",
        FILES,
        'glob(f"{UNFINISHED}*")',
        'glob("*")',
        "tests/test_files.py::test_only_drafts_are_removed",
    ),
    Mutant(
        "case counts in a name",
        SPELLING,
        "str(name).lower()",
        "str(name)",
        "tests/test_spelling.py::test_plain",
    ),
    Mutant(
        "a suggestion in any case",
        SPELLING,
        "n=1, cutoff=cutoff",
        "n=1, cutoff=0",
        "tests/test_spelling.py::test_nearest",
    ),
    Mutant(
        "Adam without its bias correction",
        OPTIMIZERS,
        "alpha = rate * tf.sqrt(1 - self.beta_2**step) / (1 - self.beta_1**step)",
        "alpha = rate",
        "tests/test_optimizers.py::test_the_numbers_of_keras_adam",
    ),
    Mutant(
        "AMSGrad forgets its largest value",
        OPTIMIZERS,
        "            largest.assign(square)\n",
        "",
        "tests/test_optimizers.py::test_the_numbers_of_keras_adam",
    ),
    Mutant(
        "the step is not counted",
        OPTIMIZERS,
        "        self.iterations.assign_add(1)\n",
        "",
        "tests/test_optimizers.py::test_the_numbers_of_keras_adam",
    ),
    Mutant(
        "L2 on weights that are exempt",
        OPTIMIZERS,
        "gradient += self.l2 * self._decays * weights",
        "gradient += self.l2 * weights",
        "tests/test_optimizers.py::test_l2_is_added_to_the_gradient_as_pytorch_does",
    ),
    Mutant(
        "twice the L2 term",
        OPTIMIZERS,
        "gradient += self.l2 * self._decays",
        "gradient += 2 * self.l2 * self._decays",
        "tests/test_optimizers.py::test_l2_is_added_to_the_gradient_as_pytorch_does",
    ),
    Mutant(
        "decay without the learning rate",
        OPTIMIZERS,
        "weights -= rate * self.shrink",
        "weights -= self.shrink",
        "tests/test_optimizers.py::test_decoupled_decay_with_exceptions",
    ),
    Mutant(
        "gradients are not clipped",
        OPTIMIZERS,
        "gradient = flat([tf.clip_by_norm(part, self.max_norm) for part in parts])",
        "pass",
        "tests/test_optimizers.py::test_clipping_and_a_schedule",
    ),
    Mutant(
        "the first step counts as the second",
        OPTIMIZERS,
        "step = tf.cast(self.iterations.value + 1, tf.float32)",
        "step = tf.cast(self.iterations.value, tf.float32) + 2",
        "tests/test_optimizers.py::test_clipping_and_a_schedule",
    ),
    Mutant(
        "a setting missing from the saved config",
        OPTIMIZERS,
        "own.update(weight_decay=self.shrink, no_decay=list(self.no_decay), clipnorm=self.max_norm)",
        "own.update(weight_decay=self.shrink, clipnorm=self.max_norm)",
        "tests/test_optimizers.py::test_config_round_trip_and_state",
    ),
]
