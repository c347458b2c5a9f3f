# The one door. `make help` lists what is behind it.
.DEFAULT_GOAL := help
.PHONY: help tools build demo demo-cluster quick test test-python test-busy test-one-core fresh lint lint-crates lint-python format docs paper dist bench clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUST := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock

# Tools that are installed but not on the PATH, or older there: links made by scripts/install-tools.sh.
export PATH := $(CURDIR)/.make/bin:$(PATH)

help: ## this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

tools:
	@PYTHON=$(PYTHON) sh scripts/install-tools.sh

$(VENV)/.installed: requirements.lock | tools
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	@touch $@

$(VENV)/.package: $(VENV)/.installed pyproject.toml README.md $(RUST) | tools
	PIP_QUIET=1 VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release --locked --quiet
	@touch $@

build: $(VENV)/.package ## create .venv, build the engine, install bakeoff into it; installs compilers by apt where they are missing

demo: build ## two built-in servers, one known difference: verdict and report in two minutes
	$(BIN)/bakeoff demo

demo-cluster: build ## many load machines on one: head, three agents, two servers with one known difference; in about a minute
	$(BIN)/python -m scripts.demo_cluster

test: build ## all tests, with real servers on loopback, which it installs by apt
	sh scripts/install-packages.sh
	$(BIN)/python scripts/run_tests.py

quick: build ## a useful part of the tests, in less than a minute
	$(BIN)/python scripts/run_tests.py --quick

test-busy: build ## all tests, beside two busy loops of normal priority
	sh scripts/beside-busy-loops.sh $(MAKE) test

test-one-core: build ## all tests, on one core
	taskset --cpu-list "$$($(BIN)/python -c 'import os; print(min(os.sched_getaffinity(0)))')" $(MAKE) test

fresh: ## demo and tests of the committed tree in a bare system, from clone to green; needs root, removes all of it
	sh scripts/fresh.sh

test-python: build ## the Python tests alone
	$(BIN)/python -m pytest

lint: lint-crates lint-python ## formatting, clippy, ruff, mypy, architecture rules

lint-crates: tools
	@PYTHON=$(PYTHON) sh scripts/install-tools.sh lint
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings

lint-python: build
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: build ## format everything
	cargo fmt --all
	$(BIN)/ruff check --fix --quiet .
	$(BIN)/ruff format .

docs: build ## write docs/reference/ from the code: commands, settings, run file, JSON
	$(BIN)/python -m scripts.reference

paper: build ## the example paper in docs/examples/: three boxes of real servers under three suites; needs root, about twelve minutes
	sh scripts/install-packages.sh
	$(BIN)/python -m scripts.paper

dist: build ## what others install, in dist/: a wheel and the built-in servers; tried in an empty environment
	sh scripts/dist.sh

bench: export PATH := $(CURDIR)/.servers/peers/bin:$(PATH)
bench: build ## bakeoff beside other load generators, which it installs; rewrites the tables in docs/performance.md
	sh scripts/install-packages.sh
	sh scripts/install-peers.sh
	cargo build --release --locked -p bakeoff-targets -p bakeoff-platform --bins --examples
	$(BIN)/python benchmarks/web.py --write
	$(BIN)/python benchmarks/open_loop.py --write
	$(BIN)/python benchmarks/httperf.py --write
	$(BIN)/python benchmarks/app.py --write
	$(BIN)/python benchmarks/mail.py --write
	$(BIN)/python benchmarks/files.py --write
	$(BIN)/python benchmarks/soak.py --write
	$(BIN)/python benchmarks/large_report.py --write
	$(BIN)/python benchmarks/absolute.py
	$(BIN)/python benchmarks/forecasts.py --long

clean: ## remove what was built
	rm -rf $(VENV) target dist
