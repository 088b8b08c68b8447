"""The package builds where there is no compiler, and the kernels are clean under the sanitizers."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "ganet_tf" / "native" / "src"
compiler = shutil.which(os.environ.get("CXX", "g++"))


@pytest.fixture
def package(tmp_path):
    """A copy of what is needed to build, without compiled files."""
    for name in ("setup.py", "README.md", "MANIFEST.in", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(SOURCES, tmp_path / "ganet_tf" / "native" / "src")
    for name in ("__init__.py", "version.py", "native/__init__.py"):
        shutil.copy(ROOT / "ganet_tf" / name, tmp_path / "ganet_tf" / name)
    return tmp_path


def build(package, *command, **environment):
    return subprocess.run(
        [sys.executable, "setup.py", "--quiet", *command], cwd=package, text=True, capture_output=True, timeout=300,
        env={**os.environ, **environment},
    )  # fmt: skip


def test_without_a_compiler_one_line_says_so_and_the_build_succeeds(package):
    done = build(package, "build", CC="false", CXX="false")
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if "native kernels" in line]
    assert len(lines) == 1 and "are not built" in lines[0]
    assert not list(package.glob("build/lib*/**/*.so"))
    assert list(package.glob("build/lib*/ganet_tf/version.py"))


@pytest.mark.slow
@pytest.mark.skipif(compiler is None, reason="no C++ compiler")
def test_with_a_compiler_the_library_asks_for_tensorflows_own(package):
    done = build(package, "build_ext", "--inplace")
    assert done.returncode == 0, done.stderr
    (made,) = package.glob("ganet_tf/native/_kernels*.so")
    assert b"libtensorflow_framework.so.2\0" in made.read_bytes()
    assert all(p.relative_to(package).parts[0] == "build" for p in package.glob("**/*.o"))


@pytest.mark.slow
@pytest.mark.skipif(compiler is None, reason="no C++ compiler")
@pytest.mark.parametrize("sanitizers", ["address,undefined", "thread"])
def test_kernels_are_clean_under_the_sanitizers(tmp_path, sanitizers):
    """Random, malformed and hub graphs against plain loops; a bad access, undefined behaviour or a race is an error."""
    program = tmp_path / "driver"
    sources = [SOURCES / f"{name}.cc" for name in ("core", "dispatch", "kernels_avx2", "kernels_base")]
    flags = ["-std=c++17", "-O0", "-g1", "-ffp-contract=fast", "-Wno-psabi", f"-I{SOURCES}", "-pthread"]
    checks = [f"-fsanitize={sanitizers}", "-fno-sanitize-recover=all"]
    made = subprocess.run(
        [compiler, *flags, *checks, *sources, Path(__file__).with_name("driver.cc"), "-o", program],
        text=True, capture_output=True, timeout=300,
    )  # fmt: skip
    if "cannot find" in made.stderr and "san" in made.stderr:
        pytest.skip("the compiler has no sanitizers")
    assert made.returncode == 0, made.stderr
    done = subprocess.run([program, "0", "50"], text=True, capture_output=True, timeout=300)
    if "unexpected memory mapping" in done.stderr:
        pytest.skip("this kernel's address layout is too new for the compiler's ThreadSanitizer")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "50 rounds\n"
