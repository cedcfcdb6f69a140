# `make demo` and `make test` set themselves up: python3 with venv is all that they need, and for
# the tests Java 17 or later, which is installed where that may be, as is the browser for a few.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Modules are compiled when they are first imported: most of what is installed never is.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

# The tests start many Pythons, each of which would else compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

# What waits for clocks, servers and other processes is much of the tests: three workers more than cores.
WORKERS := $(shell n=$$(getconf _NPROCESSORS_ONLN); echo $$((n < 4 ? n + 3 : 6)))
SHARED_OUT := --numprocesses $(WORKERS) --dist loadgroup
# What each worker would compile else, all at the same time.
COMPILED = $(BIN)/python -m pytest --quiet --collect-only > /dev/null

# What is drawn, and the order of sets: the same in each test run, of a random seed by `make fuzz`.
# XSCL_SEED=N draws again what a run with that seed has drawn.
RANDOM_SEED := $(shell od -An -N4 -tu4 /dev/urandom | tr -d ' ')
HASHED = PYTHONHASHSEED=$(or $(XSCL_SEED),1)

.PHONY: demo test lowest package docs pictures fuzz mutants bench endurance bench-quick dist clean

demo: $(VENV)/.run
	$(BIN)/xscl demo

test: $(VENV)/.dev
	.ci/java $(BIN)/python
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	.ci/browser & $(COMPILED) & $(BIN)/mypy --strict; types=$$?; wait; exit $$types
	$(HASHED) $(BIN)/python -m pytest $(SHARED_OUT)

# The tests that touch each dependency, with the least versions that pyproject.toml allows
LOWEST := build/lowest
TOUCHING := tests/artefacts/test_deployment.py tests/conformance/test_conformance.py \
	tests/documentation/test_python_page.py tests/documentation/test_serve_page.py \
	tests/join_stage/test_sql.py tests/mistakes tests/xpath_stage/test_functions.py \
	tests/xscl/durable/test_earlier_versions.py tests/xscl/feeds/test_conformance.py \
	tests/xscl/feeds/test_parsing.py tests/xscl/matches tests/xscl/serve/test_events.py \
	tests/xscl/serve/test_queries.py tests/xscl/web/test_retrieval.py

lowest: | $(BIN)/python
	$(PIP) uv
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(LOWEST)
	$(BIN)/uv pip install --quiet --python $(LOWEST) --resolution lowest-direct \
		--extra serve --requirement pyproject.toml
	$(BIN)/uv pip install --quiet --python $(LOWEST) elementpath hypothesis playwright pytest \
		pytest-xdist pyyaml
	$(HASHED) $(LOWEST)/bin/python -m pytest -p no:cacheprovider $(TOUCHING)

# Lint, types, doctests and tests of one package or module: make package PACKAGE=xscl/feeds, or
# PACKAGE=xscl/feeds/dates.py
PACKAGE ?= templates
HERE = $(PACKAGE) $(wildcard tests/$(PACKAGE) tests/$(dir $(PACKAGE))test_$(notdir $(PACKAGE)))

package: $(VENV)/.dev
	$(BIN)/ruff check $(HERE)
	$(BIN)/ruff format --check $(HERE)
	$(BIN)/mypy --strict
	$(HASHED) $(BIN)/python -m pytest --quiet $(HERE)

# The pages of docs/ and the Python reference as a site: build/docs/index.html
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx --fail-on-warning --quiet docs build/docs

# The pictures of the page of `xscl serve` in docs/page; wants a Chromium
pictures: $(VENV)/.dev
	$(BIN)/python -m tests.xscl.serve.pictures

# All tests that draw their examples, with DRAW times as many; then hostile bytes for each reader of
# a stranger's input, each for as long as asked: make fuzz DRAW=50 SECONDS=600.  They are others each
# time; its first line is what draws the same again.
SECONDS ?= 60
DRAW ?= 10
FUZZED := queries envelopes feeds

fuzz: XSCL_SEED ?= $(RANDOM_SEED)
fuzz: $(VENV)/.dev $(VENV)/.fuzz
	@echo "make fuzz XSCL_SEED=$(XSCL_SEED) DRAW=$(DRAW) SECONDS=$(SECONDS)"
	$(HASHED) XSCL_SEED=$(XSCL_SEED) XSCL_DRAW=$(DRAW) $(BIN)/python -m pytest $(SHARED_OUT) tests
	for name in $(FUZZED); do \
		mkdir -p build/fuzz/$$name && \
		$(BIN)/python -m fuzz.$$name build/fuzz/$$name fuzz/corpus/$$name -dict=fuzz/$$name.dict \
			-seed=$(XSCL_SEED) -max_total_time=$(SECONDS) -timeout=20 -rss_limit_mb=2048 \
			-artifact_prefix=build/fuzz/$$name- || exit 1; \
	done

# Bugs planted one at a time in a copy, each of which the tests nearest to it must find
mutants: $(VENV)/.dev
	$(BIN)/python -m tests.mutants

# The book of figures, on a machine with nothing else to do, in some hours: what is not recorded yet
# for this commit of the product, so that it may be ended and gone on with. make bench MINUTES=60
# begins no section after an hour; one alone is `.venv/bin/python -m benchmarks figure_6_08`.
MINUTES ?= 0

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks --minutes $(MINUTES)

# Long runs that are asserted, not recorded: memory, crashes, load
endurance: $(VENV)/.dev
	$(BIN)/python benchmarks/sliding_window.py
	$(BIN)/python benchmarks/ingestion.py
	$(BIN)/python benchmarks/ingestion_kills.py
	$(BIN)/python benchmarks/join_kills.py
	$(BIN)/python benchmarks/crashes.py
	$(BIN)/python benchmarks/serve_kills.py
	$(BIN)/python benchmarks/serve_load.py
	$(BIN)/python benchmarks/serve_load.py --state

# The artefacts of a release, checked: dist/*.tar.gz and dist/*.whl
dist: $(VENV)/.dev
	rm -rf dist
	$(PIP) twine
	$(BIN)/python -m build --no-isolation --outdir dist
	$(BIN)/python -m twine check --strict dist/*

# A guard: fails where something takes 1.5 times as long as recorded, beside the same by hand
bench-quick: $(VENV)/.dev
	$(BIN)/python -m benchmarks --quick

clean:
	rm -rf $(VENV) .editable build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# Python brings a pip that may not know dependency groups.
$(VENV)/.pip: | $(BIN)/python
	$(PIP) --upgrade 'pip>=25.1'
	touch $@

# What a group of pyproject.toml needs beyond itself: the extras whose tests it runs, or whose pages.
EXTRAS_dev := [serve,spark]
EXTRAS_docs := [serve]

$(VENV)/.run: pyproject.toml | $(BIN)/python
	$(PIP) --editable .
	touch $@

# One dependency group of pyproject.toml, such as .dev
$(VENV)/.%: pyproject.toml | $(VENV)/.pip
	$(PIP) --editable '.$(EXTRAS_$*)' --group $*
	touch $@
