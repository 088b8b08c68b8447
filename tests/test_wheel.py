"""The wheel: the library alone, and enough of it to run the README's Python in an environment without the clone."""

import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
# What only the experiments may import: see `extras_require` in setup.py.
REFUSED = ("experiments", "yaml", "matplotlib")

REFUSE = f"""
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {REFUSED!r}:
            raise ImportError(name + " is not among the library's requirements")
sys.meta_path.insert(0, Refuse())
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of this tree, built without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    copy = folder / "source"  # setuptools leaves a build folder beside the sources
    shutil.copytree(ROOT / "ganet_tf", copy / "ganet_tf", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.py", "pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, copy / name)
    command = ["-m", "pip", "wheel", ".", "--no-deps", "--no-build-isolation", "--quiet", "--wheel-dir", str(folder)]
    subprocess.run([sys.executable, *command], cwd=copy, check=True, timeout=300)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """The interpreter of a new environment: the wheel, and beside it the packages of this one, but not the clone."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=120)
    interpreter = folder / "bin" / "python"
    command = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = subprocess.check_output([str(interpreter), "-c", command], text=True).strip()
    zipfile.ZipFile(wheel).extractall(packages)
    # A line in a .pth file adds a folder, but does not follow the .pth files there: no editable ganet_tf.
    Path(packages, "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return interpreter


def test_it_holds_the_library_alone(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"ganet_tf"}
    assert {"ganet_tf/py.typed", "ganet_tf/explain/explorer.html"} <= set(names)


def test_nothing_in_it_knows_the_clone(wheel):
    archive = zipfile.ZipFile(wheel)
    for name in archive.namelist():
        if name.endswith(".py"):
            text = archive.read(name).decode("utf-8")
            assert not re.search(r"\bconfigs/|\bresults/|import experiments|from experiments", text), name


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_the_readme_runs_without_the_clone(python, number, tmp_path):
    code = REFUSE + BLOCKS[number] + "\nimport ganet_tf; print(ganet_tf.__file__)"
    done = subprocess.run([str(python), "-I", "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    assert str(python.parents[1]) in done.stdout.splitlines()[-1]
