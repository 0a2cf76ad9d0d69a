# Everything a newcomer needs, from nothing but Python 3.11 or later, make and git. `make` lists it.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Which of pyproject.toml's extras the set-up installs, separated by spaces.
EXTRAS ?= test
# What `make play` plays, and what is passed on: make play GAME=uno ARGS="--seed 7"
GAME ?= hour_of_need
ARGS ?=
# What is agreed for a first game, unless ARGS says otherwise: one hero, the easiest, against the first villain.
FIRST_hour_of_need := --set team=Majesty

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.ONESHELL:
# Two pips in one environment get in each other's way.
.NOTPARALLEL:

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo '  Variables: PYTHON=$(PYTHON) VENV=$(VENV) EXTRAS="$(EXTRAS)" GAME=$(GAME) ARGS="$(ARGS)"'

.PHONY: play
play: setup ## play a game in the terminal (GAME=uno for another, ARGS for options)
	$(BIN)/longbox play $(GAME) $(or $(ARGS),$(FIRST_$(GAME)))

.PHONY: setup
setup: $(EXTRAS:%=$(VENV)/.with-%) ## an environment in .venv, installed from this folder (EXTRAS="test lint peers")

.PHONY: test
test: setup ## every test (ARGS="-k name" for some of them)
	$(BIN)/python -m pytest $(ARGS)

.PHONY: lint
lint: $(VENV)/.with-test $(VENV)/.with-lint ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/mypy

.PHONY: bench
bench: $(VENV)/.with-test $(VENV)/.with-peers ## speed, beside hand-written Python and the peers
	$(BIN)/python tests/bench/run.py $(ARGS)

.PHONY: fmt
fmt: setup ## put every .box and .scene file into the one format
	$(BIN)/longbox fmt expansions docs/examples $(ARGS)

.PHONY: check
check: setup ## read every pack and report its problems; runs nothing
	$(BIN)/longbox check expansions docs/examples $(ARGS)

# The sdist is built from the folder, the wheel from the sdist, so both are known to be complete.
.PHONY: wheel
wheel: $(BIN)/python ## build sdist and wheel, and try the wheel in a clean environment elsewhere
	rm -rf build dist
	tmp=$$(mktemp -d)
	trap 'rm -rf "$$tmp"' EXIT
	$(BIN)/python -m venv "$$tmp/build"
	"$$tmp/build/bin/python" -m pip install --quiet build
	"$$tmp/build/bin/python" -m build --outdir dist .
	$(BIN)/python -m venv "$$tmp/clean"
	"$$tmp/clean/bin/python" -m pip install --quiet "$$(echo "$$PWD"/dist/longbox-*.whl)[test]"
	mkdir "$$tmp/elsewhere"
	cd "$$tmp/elsewhere"
	export PATH="$$tmp/clean/bin:$$PATH" XDG_DATA_HOME="$$tmp/data" XDG_CACHE_HOME="$$tmp/cache"
	set -x
	longbox --help
	longbox games
	longbox play tic_tac_toe --auto --seed 1
	longbox sim uno --games 5 --seed 1
	pytest --quiet --pyargs longbox.expansions

.PHONY: clean
clean: ## remove what builds and tools leave behind; keeps .venv
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './$(VENV)/*' -not -path './.git/*' -prune -exec rm -rf {} +

.PHONY: distclean
distclean: clean ## remove the environment too
	rm -rf $(VENV)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'Longbox needs Python 3.11 or later: make PYTHON=/path/to/python3.11'; exit 1; } >&2
	$(PYTHON) -m venv $(VENV)

$(VENV)/.with-%: pyproject.toml setup.py | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	touch $@
