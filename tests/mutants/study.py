"""Bugs in the teacher, the new data sets and the contests that would make their figures worth nothing."""

from tests.mutants.run import Mutant

TEACHER, TEST_TEACHER = "ganet_tf/models/mean_teacher.py", "tests/models/test_mean_teacher.py"
DATA, TEST_DATA = "ganet_tf/data/generated.py", "tests/data/test_generated.py"
TASKS, TEST_TASKS = "experiments/tasks.py", "tests/experiments/test_tasks.py"
CONTEST, TEST_CONTEST = "experiments/study/contest.py", "tests/experiments/study/test_contest.py"
ADVICE, TEST_ADVICE = "experiments/report/sections/advice.py", "tests/experiments/report/test_advice.py"
TABLES, TEST_TABLES = "experiments/report/sections/contests.py", "tests/experiments/report/test_contests.py"

MUTANTS = [
    Mutant(
        "the student is evaluated, not the teacher",
        TEACHER,
        "model = self.student if training else self.teacher",
        "model = self.student",
        f"{TEST_TEACHER}::test_the_teacher_is_the_moving_average",
    ),
    Mutant(
        "the teacher's weight is there from the first step",
        TEACHER,
        "grown = tf.minimum(1.0, updates / self.ramp) if self.ramp else 1.0",
        "grown = 1.0 + 0.0 * updates",
        f"{TEST_TEACHER}::test_the_loss_of_a_step",
    ),
    Mutant(
        "ordinary nodes show their class",
        DATA,
        "rng.integers(classes, size=len(y)), y)] = 1",
        "y, y)] = 1",
        f"{TEST_DATA}::test_experts",
    ),
    Mutant(
        "every run has the same graph",
        TASKS,
        'return {**asked, "seed": config.seed + number} if is_resampled(config) else asked',
        'return {**asked, "seed": config.seed} if is_resampled(config) else asked',
        f"{TEST_TASKS}::test_a_generated_graph_for_each_run",
    ),
    Mutant(
        "every run has the first published split",
        TASKS,
        "self.dataset.published_split((number - 1) % self.dataset.num_splits + 1)",
        "self.dataset.published_split(1)",
        f"{TEST_TASKS}::test_a_published_split_for_each_run",
    ),
    Mutant(
        "settings are chosen on test",
        CONTEST,
        """return summary["validation"][f"val_{summary.get('metric', 'accuracy')}"],""",
        'return summary["validation"]["mean"],',
        f"{TEST_CONTEST}::test_validation_chooses",
    ),
    Mutant(
        "tuned on the seeds that are reported",
        CONTEST,
        'TUNING_SEED = "100"',
        'TUNING_SEED = "0"',
        f"{TEST_CONTEST}::test_flags",
    ),
    Mutant(
        "the best score of hGAO is chosen on test",
        ADVICE,
        "return max(there, key=lambda cell: validation_figure(cell.summary)) if there else None",
        'return max(there, key=lambda cell: cell.rule["mean"]) if there else None',
        f"{TEST_ADVICE}::test_best_of_the_scores_is_chosen_on_validation",
    ),
    Mutant(
        "above the linear map in one wiring is enough",
        TABLES,
        "return signs.pop() if len(signs) == 1 else 0",
        "return max(signs, default=0)",
        f"{TEST_TABLES}::test_marks_are_of_both_wirings",
    ),
    Mutant(
        "graph classification is corrected set by set",
        TABLES,
        'family = [contest] if contest.task == "node" else [other for other in contests() if other.task == "graph"]',
        "family = [contest]",
        f"{TEST_TABLES}::test_graph_classification_is_one_family",
    ),
]
