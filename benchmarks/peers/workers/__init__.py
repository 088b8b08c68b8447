"""What runs inside a side's own process; only `protocol` and `memory` are shared by all of them.

`python -m peers.workers.<side>` starts one; it imports nothing of the others' libraries.
"""
