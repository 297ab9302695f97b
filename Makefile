# Two commands: `make demo` shows the product, `make test` runs everything that must pass.
# Both need only Python 3.10 or newer and a Rust toolchain.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BUILDER := $(VENV)/.builder
TOOLS := $(VENV)/.tools
RUST := Cargo.toml Cargo.lock $(shell find rust -name '*.rs' -o -name Cargo.toml)
BUILT := $(VENV)/.built

.PHONY: demo test build fmt clean structure rust-checks docs python-checks pytest packages bench

demo: $(BUILT)
	@$(BIN)/python examples/compare_strategies.py

test: structure rust-checks docs python-checks pytest packages
	@echo "everything passed"

## Commands for development

build: $(BUILT)

# Takes minutes; writes benches/RESULTS.md and the plot. `OKF_BENCH_BUNDLE=DIR make bench` also measures your bundle.
bench: $(BUILDER)
	$(BIN)/maturin develop --release --locked --quiet --extras cli,bench
	$(BIN)/python -m benches.report $(BENCH_OPTIONS)

fmt: $(TOOLS)
	cargo fmt --all
	$(BIN)/ruff check --fix python tests benches examples scripts
	$(BIN)/ruff format python tests benches examples scripts

clean:
	rm -rf target dist $(VENV)

## The steps of `make test`, fastest first

structure:
	$(PYTHON) scripts/check_structure.py

rust-checks:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	@if cargo tree -p okf-engine --edges all --prefix none --locked | grep -i '^pyo3'; then \
		echo "the engine must not depend on pyo3" >&2; exit 1; fi
	cargo test -p okf-engine --locked

docs:
	RUSTDOCFLAGS="-D warnings" cargo doc -p okf-engine --no-deps --locked

python-checks: $(BUILT) $(TOOLS)
	$(BIN)/ruff format --check python tests benches examples scripts
	$(BIN)/ruff check python tests benches examples scripts
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/python -m mypy.stubtest okf_catalog._engine

pytest: $(BUILT) $(TOOLS)
	$(BIN)/python -m pytest

packages: $(TOOLS)
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python scripts/check_packages.py dist

## Installed tools and the built package

$(BUILDER):
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1' 'maturin>=1.9,<2'
	@touch $@

$(TOOLS): $(BUILDER) pyproject.toml
	$(BIN)/python -m pip install --quiet --group tools
	@touch $@

$(BUILT): $(BUILDER) $(RUST) pyproject.toml
	$(BIN)/maturin develop --release --locked --quiet --extras cli > /dev/null
	@touch $@
