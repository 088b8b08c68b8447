"""Training as train.py does it: configs, run folders, folds, summaries."""
