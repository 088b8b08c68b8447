"""What the attention of trained networks looks like: `python -m experiments.attention`."""
