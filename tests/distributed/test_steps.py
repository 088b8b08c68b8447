"""Two and three real processes against one: gradients, optimizer steps and dropout."""

import json

import numpy as np
import pytest

from tests.distributed import steps
from tests.distributed.processes import ROOT, alone, needs_namespace, together

pytestmark = needs_namespace


@pytest.fixture(scope="module", params=[2, 3])
def workers(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("workers")
    done = alone(together([ROOT / "tests" / "distributed" / "steps.py", folder], request.param), folder)
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads((folder / f"worker-{i}.json").read_text()) for i in range(request.param)]


@pytest.mark.parametrize("optimizer", steps.OPTIMIZERS)
def test_several_workers_are_one(optimizer, workers):
    first, *others = (found[optimizer] for found in workers)
    expected = steps.run(optimizer)
    for ours, theirs in zip(first["gradients"], expected["gradients"], strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-5 * np.abs(theirs).max())
    assert all(other["weights"] == first["weights"] for other in others)  # to the last bit: nobody drifts
    for ours, theirs in zip(first["weights"], expected["weights"], strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)
    masks = {tuple(found["mask"]) for found in (first, *others)}
    assert len(masks) == len(workers) and set(first["mask"]) == {0.0, 2.0}
