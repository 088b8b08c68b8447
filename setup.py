"""Packaging of ganet_tf; tool settings live in pyproject.toml."""

import re
import sys
from pathlib import Path

from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext

here = Path(__file__).parent
version = re.search(r'__version__ = "(.+?)"', (here / "ganet_tf" / "version.py").read_text(encoding="utf-8"))[1]

NATIVE = "ganet_tf/native/src"
# What the kernels are linked against: TensorFlow's own library brings the functions when Python has loaded it.
FRAMEWORK = "libtensorflow_framework.so.2"

kernels = Extension(
    "ganet_tf.native._kernels",
    sources=[f"{NATIVE}/{name}.cc" for name in ("core", "dispatch", "kernels_avx2", "kernels_base", "ops")],
    depends=sorted(str(p.relative_to(here)) for pattern in ("*.h", "*.inc") for p in (here / NATIVE).glob(pattern)),
    extra_compile_args=[
        *("-std=c++17", "-O2", "-ftree-vectorize", "-fvect-cost-model=dynamic", "-ffp-contract=fast"),
        *("-fvisibility=hidden", "-Wno-psabi", "-g0"),
    ],
    language="c++",
    optional=True,
)


class BuildKernels(build_ext):
    """Builds the native kernels where there is a compiler; a package without them is complete as well."""

    def build_extension(self, ext):
        """Builds `ext`, or says in one line why it is left out."""
        try:
            self._link_to_tensorflow(ext)
            super().build_extension(ext)
        except Exception as error:  # whatever a compiler can do wrong
            reason = " ".join(str(error).split())
            print(f"ganet_tf: native kernels are not built, the package works without them ({reason})", file=sys.stderr)

    def _link_to_tensorflow(self, ext):
        """An empty library of the same name to link against, so that no TensorFlow is needed to build."""
        if not sys.platform.startswith("linux"):
            raise RuntimeError(f"they are for Linux, this is {sys.platform}")
        stub = Path(self.build_temp) / "stub.c"
        stub.parent.mkdir(parents=True, exist_ok=True)
        stub.write_text("")
        objects = self.compiler.compile([str(stub)])
        self.compiler.link_shared_object(
            objects, FRAMEWORK, output_dir=self.build_temp, extra_postargs=[f"-Wl,-soname,{FRAMEWORK}"]
        )
        ext.extra_link_args = [f"-L{self.build_temp}", "-Wl,--no-as-needed", f"-l:{FRAMEWORK}"]


explain = ["bokeh>=3.4", "matplotlib>=3.8"]
# make docs, and the notebooks in it.
docs = ["sphinx>=8", "myst-nb>=1.2", "furo>=2024.8", "matplotlib>=3.8"]
docs += ["ipykernel>=6.29", "nbclient>=0.10", "optuna>=4"]

setup(
    name="ganet-tf",
    version=version,
    description="Hard and channel-wise graph attention (hGAO, cGAO, GANet) as Keras 3 layers on TensorFlow",
    long_description=(here / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="MIT",
    packages=find_packages(include=["ganet_tf", "ganet_tf.*"]),
    package_data={"ganet_tf": ["py.typed", "**/*.json", "explain/*.html"]},
    ext_modules=[kernels],
    cmdclass={"build_ext": BuildKernels},
    python_requires=">=3.10,<3.14",
    install_requires=[
        "tensorflow>=2.18",
        "keras>=3.6",
        "numpy>=1.26",
        "scipy>=1.12",
        "networkx>=3.2",
        "scikit-learn>=1.4",
        "requests>=2.31",
        "platformdirs>=4.0",
        "tqdm>=4.66",
    ],
    extras_require={
        "gpu": ["tensorflow[and-cuda]>=2.18"],
        # What train.py, profile_ops.py and experiments/ need beside the library.
        "experiments": ["PyYAML>=6.0.1", "rich>=13.7", "matplotlib>=3.8"],
        # ganet_tf.explain: plot_attention and explore.
        "explain": explain,
        "tensorboard": ["tensorboard>=2.18"],
        # python -m experiments.search
        "search": ["optuna>=4.0"],
        "docs": docs,
        "dev": ["pytest>=8", "pytest-xdist>=3.5", "hypothesis>=6.98", "ruff>=0.6", "selenium>=4.20", *explain, *docs],
    },
    classifiers=[
        "Intended Audience :: Science/Research",
        "Programming Language :: Python :: 3.10",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
    ],
)
