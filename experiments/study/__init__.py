"""When attention pays: contests of operators, wirings and scores, `python -m experiments.study`."""
