"""What a result depends on: versions, hardware, threads, load, date, state of the code; and writing it down."""

import json
import os
import platform
from datetime import datetime, timezone
from pathlib import Path

from experiments import environment
from ganet_tf.files import write_whole


def record(hellos, threads):
    """The circumstances of a run, as a dict for JSON.

    Args:
        hellos: {side: answer of its `hello`}.
        threads: that every side was given.
    """
    return {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "git_revision": environment.git_revision("ganet_tf", "benchmarks"),
        "python": platform.python_version(),
        "versions": {side: hello["versions"] for side, hello in hellos.items()},
        "implementation": hellos["ours"].get("implementation"),
        "threads": threads,
        "omp_wait_policy": os.environ.get("OMP_WAIT_POLICY", "default"),
        "hardware": hardware(),
        "load_average": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
    }


def hardware():
    """Processor, cores and memory."""
    return {
        "processor": environment.processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gib": environment.memory_gib(),
        "machine": platform.machine(),
        "system": platform.system(),
    }


def write(folder, section, circumstances, content):
    """Writes results/<section>.json whole or not at all."""
    text = json.dumps({"record": circumstances, **content}, indent=1) + "\n"
    write_whole(Path(folder) / f"{section}.json", text)


def read(folder, section):
    """What was written; None if it was not."""
    path = Path(folder) / f"{section}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
