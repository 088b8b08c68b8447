"""Our operators and training side by side with those of other libraries; `benchmarks/run.py` is the command.

This package never imports another graph library: each runs in a process of its own (`workers`), in a virtual
environment of its own (`environments`), and is told over a pipe what to run next (`side`).
"""
