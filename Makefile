# What a person types. Every target first sets up what is missing; a second run finds nothing to do.
#
#   make extract URL=examples/pages/invoice.html SCHEMA=Invoice ARGS="--evidence"
#   make test        the tests that fit into a coffee break, real model and browser included
#   make check       lint, types, imports
#   make check-all   check, and every test there is; adds a dated line to docs/check-all.md
#   make check-oldest   the default tests with the oldest versions that pyproject.toml accepts
#   make install     the set-up alone

SHELL := /bin/bash
BIN := .venv/bin
PYTHON3 := $(firstword $(foreach name,python3 python3.13 python3.12 python3.11 python,$(shell command -v $(name))))
SET_UP = @$(if $(PYTHON3),$(PYTHON3) scripts/install.py,echo "Python 3.11 or newer is needed, and there is none on PATH: install one and run make again." >&2; exit 1;)

# Through the environment, and unexpanded: a URL may hold any of the characters that mean something to make or a shell.
override URL := $(value URL)
override SCHEMA := $(value SCHEMA)
export URL SCHEMA

.PHONY: help install extract test check check-all check-oldest
.DEFAULT_GOAL := help

help:
	@sed -n '/^$$/q; s/^# \{0,1\}//p' Makefile

install:
	$(SET_UP)

# Standard output is the record and nothing else.
extract:
	@if [ -z "$$URL" ] || [ -z "$$SCHEMA" ]; then echo 'Say what to read and what as: make extract URL=https://... SCHEMA=Invoice [ARGS="--evidence"]' >&2; exit 2; fi
	$(SET_UP) --quiet >&2
	@$(BIN)/extract --url "$$URL" --schema "$$SCHEMA" $(ARGS)

test:
	$(SET_UP) --quiet
	@$(BIN)/python -m pytest -m "not slow" $(ARGS)

check:
	$(SET_UP) --quiet
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy scripts
	$(BIN)/lint-imports

check-all: check
	@set -o pipefail; $(BIN)/python -m pytest --timeout 3600 --durations 20 $(ARGS) 2>&1 | tee $(BIN)/../check-all.log; result=$$?; \
	echo "| $$(date -u +%F) | $$(git rev-parse --short HEAD) | $$(uname -sm), $$(getconf _NPROCESSORS_ONLN) cores | $$(tail -n 1 $(BIN)/../check-all.log) |" >> docs/check-all.md; \
	exit $$result

check-oldest:
	$(SET_UP) --quiet
	rm -rf .venv-oldest && $(BIN)/python -m venv .venv-oldest
	.venv-oldest/bin/pip install -q "$$(grep ^torch== constraints.txt)"
	.venv-oldest/bin/pip install -q -r <($(BIN)/python scripts/oldest.py)
	.venv-oldest/bin/pip install -q --no-deps -e .
	.venv-oldest/bin/python -m pytest -m "not model and not browser and not slow" $(ARGS)
