"""Packaging of ganet_tf; tool settings live in pyproject.toml."""

import re
from pathlib import Path

from setuptools import find_packages, setup

here = Path(__file__).parent
version = re.search(r'__version__ = "(.+?)"', (here / "ganet_tf" / "version.py").read_text(encoding="utf-8"))[1]

setup(
    name="ganet-tf",
    version=version,
    description="Hard and channel-wise graph attention (hGAO, cGAO, GANet) as Keras 3 layers on TensorFlow",
    long_description=(here / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="MIT",
    packages=find_packages(include=["ganet_tf", "ganet_tf.*"]),
    package_data={"ganet_tf": ["py.typed", "**/*.json"]},
    python_requires=">=3.10,<3.14",
    install_requires=[
        "tensorflow>=2.18",
        "keras>=3.6",
        "numpy>=1.26",
        "scipy>=1.12",
        "networkx>=3.2",
        "scikit-learn>=1.4",
        "pooch>=1.8",
        "requests>=2.31",  # pooch's downloader
        "platformdirs>=4.0",
        "tqdm>=4.66",  # pooch's progress bar
    ],
    extras_require={
        "gpu": ["tensorflow[and-cuda]>=2.18"],
        # What train.py, profile_ops.py and experiments/ need beside the library.
        "experiments": ["PyYAML>=6.0.1", "rich>=13.7", "matplotlib>=3.8"],
        "tensorboard": ["tensorboard>=2.18"],
        "dev": ["pytest>=8", "pytest-xdist>=3.5", "hypothesis>=6.98", "ruff>=0.6"],
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
