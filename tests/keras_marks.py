"""Marks for warnings that Keras itself gives, which are no failure of ours."""

import pytest

# Keras 3.15 reads TensorFlow variables for a .keras file in a way that NumPy 2 deprecates.
saves = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
