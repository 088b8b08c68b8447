"""The one place that names the package's version (setup.py reads it as text)."""

__version__ = "0.1.0"
