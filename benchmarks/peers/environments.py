"""The virtual environments of the other libraries, made on first use under benchmarks/.venv-peers (or GANET_PEERS).

Versions are pinned, so that a figure can be repeated. `torch==2.13.0` is PyPI's build, which brings CUDA libraries
on Linux; where that is too large, point pip at PyTorch's CPU index with its usual settings (PIP_EXTRA_INDEX_URL).
"""

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(os.environ.get("GANET_PEERS") or Path(__file__).resolve().parents[1] / ".venv-peers").resolve()

TENSORFLOW = ("tensorflow==2.21.0", "tf-keras==2.21.0")

# Spektral and tf_geometric get on with each other; DGL's last release for any torch wants NumPy 1.
REQUIREMENTS = {
    "pyg": ("torch==2.13.0", "torch_geometric==2.8.1", "numpy"),
    "tf": (*TENSORFLOW, "spektral==1.3.1", "tf_geometric==0.1.7"),
    "k3": ("tensorflow==2.21.0", "k3-node==1.0.0", "torch==2.13.0"),  # which it imports without asking for it
    "dgl": ("torch==2.13.0", "dgl==1.1.3", "numpy<2", "packaging", "setuptools<81"),
}
LEGACY_KERAS = {"TF_USE_LEGACY_KERAS": "1"}


@dataclass(frozen=True)
class Library:
    """One of the libraries: its title in tables, the module of its worker, its environment.

    Args:
        title: as tables name it.
        module: of `peers.workers`.
        environment: key of `REQUIREMENTS`, or None for the interpreter that runs the benchmark.
        variables: environment variables of its process.
    """

    title: str
    module: str
    environment: str | None = None
    variables: dict | None = None


LIBRARIES = {
    "ours": Library("ganet_tf", "ours"),
    "pyg": Library("PyG", "pyg", "pyg"),
    "spektral": Library("Spektral", "spektral_side", "tf", LEGACY_KERAS),
    "tf_geometric": Library("tf_geometric", "tf_geometric_side", "tf", LEGACY_KERAS),
    "k3_node": Library("k3-node", "k3_node_side", "k3", {"KERAS_BACKEND": "tensorflow"}),
    "dgl": Library("DGL", "dgl_side", "dgl", {"DGLBACKEND": "pytorch"}),
}


def interpreter(name):
    """The Python of an environment; of this process for None."""
    if name is None:
        return Path(sys.executable)
    return FOLDER / name / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def stamp(name):
    """A digest of what is asked for: an environment with another one is made anew."""
    return hashlib.sha256(json.dumps(REQUIREMENTS[name]).encode()).hexdigest()


def make(name, note=print):
    """Makes an environment unless it is there as asked for.

    Returns:
        None, or why it could not be made, in a sentence.
    """
    if name is None:
        return None
    ready = FOLDER / name / "ready"
    if ready.exists() and ready.read_text(encoding="ascii") == stamp(name):
        return None
    note(f"making the environment '{name}' ({', '.join(REQUIREMENTS[name])}): a few minutes the first time")
    pip = [interpreter(name), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for command in ([sys.executable, "-m", "venv", FOLDER / name], [*pip, *REQUIREMENTS[name]]):
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if "ERROR" in line] or done.stderr.splitlines()
            return f"the environment '{name}' could not be made: {lines[-1] if lines else 'pip gave no reason'}"
    ready.write_text(stamp(name), encoding="ascii")
    return None
