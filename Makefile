# make demo: the main job.  make test: the whole suite.  make bench: ours beside other libraries.
# make results: trains what RESULTS.md still misses (hours).  make report: writes RESULTS.md and docs/results from results/.
# make docs: the documentation site, in build/site.
# make mutants: plants bugs in a copy, one at a time, and demands that tests see them (MUTANTS="--sample 5 --seed 1").
# make soak: the long round of tests/attacks (an hour of one core), written to results/reliability.md (SOAK="kill=100 --minutes 30").
# All set up .venv on first use.
PYTHON ?= python3
VENV   := .venv
PY     := $(VENV)/bin/python
READY  := $(VENV)/.ready
# What is tested a second time with the native kernels switched off: all that they compute.
WITHOUT_NATIVE := $(addprefix tests/layers/test_,gao.py hgao.py topk_gao.py gcn.py sage_conv.py pooling.py set2set.py)

.PHONY: demo test lint docs bench results report mutants soak clean

demo: $(READY)
	@$(PY) train.py

test: $(READY) lint
	@$(PY) -m pytest -n 2 --dist worksteal -q
	@GANET_NATIVE=0 $(PY) -m pytest -n 2 --dist worksteal -q $(WITHOUT_NATIVE)

docs: $(READY)
	@$(PY) -m sphinx -W --keep-going -q -j auto docs build/site && echo "build/site/index.html"

bench: $(READY)
	@$(PY) benchmarks/run.py

results: $(READY)
	@$(PY) -m experiments.report.run

report: $(READY)
	@$(PY) -m experiments.report

mutants: $(READY)
	@$(PY) -m tests.mutants $(MUTANTS)

soak: $(READY)
	@$(PY) -m tests.attacks.soak $(SOAK)

lint: $(READY)
	@$(PY) -m ruff check . && $(PY) -m ruff format --check --quiet .

$(READY): setup.py constraints.txt $(wildcard ganet_tf/native/src/*)
	@$(PYTHON) -c 'import sys; ok = (3, 10) <= sys.version_info[:2] <= (3, 13); \
	  sys.exit(None if ok else f"Python 3.10 to 3.13 is needed, this is {sys.version.split()[0]}: make PYTHON=python3.11 ...")'
	@echo "Setting up $(VENV): a few minutes the first time"
	@$(PYTHON) -m venv $(VENV)
	@$(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev,experiments]"
	@touch $(READY)

clean:
	rm -rf $(VENV) *.egg-info .pytest_cache .ruff_cache
