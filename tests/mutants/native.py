"""Bugs in the way to the native kernels, of those that show without a compiled library: a copy of the tree has none."""

from tests.mutants.run import Mutant

LIBRARY, TESTS = "ganet_tf/native/library.py", "tests/native/test_safety.py"

MUTANTS = [
    Mutant(
        "GANET_NATIVE=0 is not heard",
        LIBRARY,
        'if os.environ.get(ENVIRONMENT, "1") == "0":',
        "if False:",
        f"{TESTS}::test_the_switch_says_why",
    ),
    Mutant(
        "a reason counts as a yes",
        LIBRARY,
        "    def __bool__(self):\n        return False\n",
        "    def __bool__(self):\n        return True\n",
        f"{TESTS}::test_the_switch_says_why",
    ),
    Mutant(
        "a damaged library is an error instead of a reason",
        LIBRARY,
        "except (OSError, tf.errors.OpError, AttributeError) as error:",
        "except AttributeError as error:",
        f"{TESTS}::test_without_a_library_the_reason_names_the_way_to_one",
    ),
]
