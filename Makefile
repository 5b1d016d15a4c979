# Each target sets up .venv by itself. Needs Python 3.11 or newer, and make.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: setup demo demo-all test test-demo test-rest test-slurm torture bench pictures lint clean

setup: $(READY)

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else f"Python 3.11 or newer is needed, {sys.executable} is {v.major}.{v.minor}. Name another: make PYTHON=python3.12 ...")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	touch $(READY)

demo: $(READY)
	$(BIN)/snakemake --cores 2 --config study=demo
	@echo "Open results/demo/report/report.html or results/demo/report/report.pdf."

demo-all: $(READY)
	$(BIN)/snakemake --cores 2 --config study=demo-all
	@echo "Open results/demo-all/report/report.html or results/demo-all/report/report.pdf."

# Two halves at once, of equal length: what reads the finished demo and compares forms of
# models, and the rest; beside them Slurm, which mostly waits.
test: $(READY)
	@$(MAKE) --no-print-directory --jobs=3 --output-sync=target test-demo test-rest test-slurm

ELSEWHERE := --ignore=tests/test_slurm.py --ignore=tests/test_same_function.py

test-demo: $(READY)
	$(BIN)/python -m pytest -m demo --durations=10
	$(BIN)/python -m pytest tests/test_same_function.py

test-rest: $(READY)
	$(BIN)/python -m pytest -m "not demo" $(ELSEWHERE) --durations=10

test-slurm: $(READY)
	$(BIN)/python -m pytest tests/test_slurm.py

torture: $(READY)
	$(BIN)/python tests/torture.py

bench: $(READY)
	$(BIN)/python -m reattn bench --study paper --csv bench.csv

# The README's pictures; needs chromium and pdftoppm.
STUDY ?= demo
pictures: $(READY)
	$(BIN)/snakemake take_pictures --cores 2 --config study=$(STUDY)
	cp results/$(STUDY)/pictures/*.png docs/pictures/

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint --config study=demo

clean:
	rm -rf .venv results/demo results/demo-all
