"""What a result depends on: versions, hardware, threads, load, date, state of the code; and writing it down."""

import json
import os
import platform
import subprocess
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def record(hellos, threads):
    """The circumstances of a run, as a dict for JSON.

    Args:
        hellos: {side: answer of its `hello`}.
        threads: that every side was given.
    """
    return {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "git_revision": git_revision(),
        "python": platform.python_version(),
        "versions": {side: hello["versions"] for side, hello in hellos.items()},
        "threads": threads,
        "omp_wait_policy": os.environ.get("OMP_WAIT_POLICY", "default"),
        "hardware": hardware(),
        "load_average": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
    }


def hardware():
    """Processor, cores and memory."""
    return {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gib": memory_gib(),
        "machine": platform.machine(),
        "system": platform.system(),
    }


def processor():
    """The processor's name, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or None
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), None)


def memory_gib():
    """Memory of the machine."""
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (AttributeError, ValueError, OSError):
        return None


def git_revision():
    """The commit, "-dirty" behind it when the package differs from it; None outside a clone."""
    try:
        commit = git("rev-parse", "HEAD")
        changed = git("status", "--porcelain", "--untracked-files=no", "--", "ganet_tf", "benchmarks")
    except (OSError, subprocess.SubprocessError):
        return None
    return commit + ("-dirty" if changed else "")


def git(*arguments):
    """A git command's answer."""
    done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, timeout=10, check=True)
    return done.stdout.strip()


def write(folder, section, circumstances, content):
    """Writes results/<section>.json whole or not at all."""
    path = Path(folder) / f"{section}.json"
    draft = path.with_suffix(".tmp")
    draft.write_text(json.dumps({"record": circumstances, **content}, indent=1) + "\n", encoding="utf-8")
    draft.replace(path)


def read(folder, section):
    """What was written; None if it was not."""
    path = Path(folder) / f"{section}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
