# The one door. `make help` lists what is behind it.
.DEFAULT_GOAL := help
.PHONY: help build demo test test-python lint format bench clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUST := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock

help: ## this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(VENV)/.installed: requirements.lock
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { \
	  echo "Python's venv module is missing. On Debian: apt-get install python3-venv"; exit 2; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	@touch $@

$(VENV)/.package: $(VENV)/.installed pyproject.toml README.md $(RUST)
	@command -v cargo >/dev/null || { echo "Rust is missing: install the stable toolchain (rustup)."; exit 2; }
	PIP_QUIET=1 VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release --locked --quiet
	@touch $@

build: $(VENV)/.package ## create .venv, build the engine, install bakeoff into it

demo: build ## two built-in servers, one known difference: verdict and report in two minutes
	$(BIN)/bakeoff demo

test: build ## all tests, with real servers on loopback
	sh scripts/install-packages.sh
	$(BIN)/python scripts/run_tests.py

test-python: build ## the Python tests alone
	$(BIN)/python -m pytest

lint: build ## formatting, clippy, ruff, mypy, architecture rules
	@cargo fmt --version >/dev/null 2>&1 || rustup component add rustfmt
	@cargo clippy --version >/dev/null 2>&1 || rustup component add clippy
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: build ## format everything
	cargo fmt --all
	$(BIN)/ruff check --fix --quiet .
	$(BIN)/ruff format .

bench: build ## bakeoff beside other load generators; rewrites the tables in docs/performance.md
	sh scripts/install-packages.sh
	cargo build --release --locked -p bakeoff-targets -p bakeoff-platform --bins --examples
	$(BIN)/python benchmarks/web.py --write
	$(BIN)/python benchmarks/app.py --write
	$(BIN)/python benchmarks/mail.py --write
	$(BIN)/python benchmarks/files.py --write

clean: ## remove what was built
	rm -rf $(VENV) target
