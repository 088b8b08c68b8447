"""Small bugs, each with a test that must see it: `python -m tests.mutants` plants them one at a time."""
