"""What the attention of trained networks does: `python -m experiments.attention`."""
