# `make demo` and `make test` set up everything they need in .venv, on a machine with Python >= 3.11.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
JOBS ?= 2

.PHONY: demo test test-all lint types docs harness bench clean

demo: $(READY)
	$(BIN)/memenvs compare demo --out demo
	rm -rf demo/run
	$(BIN)/memenvs train readable --set steps=60000 --out demo/run
	$(BIN)/memenvs compare --material readable --materials 100 --policy random --policy fifo \
	  --policy trust --policy demo/run --policy optimal --baseline trust --out demo/readable
	@echo "The tables above as CSV and JSON, and plots: demo/frontier.png, demo/readable/frontier.png"

test: $(READY)
	$(BIN)/python -m pytest -n $(JOBS)

test-all: $(READY)
	$(BIN)/python -m pytest -n $(JOBS) -m "slow or not slow"

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	MYPYPATH=.:docs $(BIN)/mypy -p memenvs -p generator -m generate

# Its generated pages are written anew by: python docs/generate.py
docs: $(READY)
	$(BIN)/python docs/generate.py --check
	$(BIN)/sphinx-build -q -W --keep-going -E -b html docs build/docs

# 20,000 mutated files, and 1,000 killed writers: half an hour.
harness: $(READY)
	$(BIN)/python tests/harness/fuzz.py 20000
	$(BIN)/python -W ignore tests/harness/kills.py 1000

bench: $(READY)
	for script in tests/benchmarks/bench_*.py; do $(BIN)/python $$script; done

$(READY): pyproject.toml constraints.txt
	@echo "Setting up $(VENV): this takes a few minutes the first time."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --upgrade pip
	$(BIN)/pip install -q -c constraints.txt -e ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) build demo
