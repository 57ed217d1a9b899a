# Two commands do everything on a fresh machine: `make serve` and `make test`.
# `make help` lists the rest.
SHELL := /bin/bash
PYTHON ?= $(shell command -v python3.11 || command -v python3)
PIP := .venv/bin/pip --disable-pip-version-check --quiet
EXTRAS := embed,eval,test,lint

.PHONY: help serve test test-fakes lint bench bench-full peers train setup models llm clean

help: ## what there is
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | column -t -s "$$(printf '\t')"

serve: setup ## set up what is missing, then start the page on this machine
	@.venv/bin/tablelaw models fetch embedder
	@.venv/bin/tablelaw models fetch llm || echo "Without the language model answers quote the law; run it again for the model."
	@.venv/bin/tablelaw serve $(ARGS)

test: setup system ## set up what is missing, then run all tests
	@.venv/bin/tablelaw models fetch embedder small
	.venv/bin/python -m pytest $(ARGS)

test-fakes: ## the tests with fakes on other Pythons: make test-fakes PYTHONS="3.10 3.12 3.13"
	tests/other-pythons $(PYTHONS)

lint: setup ## ruff and mypy
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy

bench: setup ## speed and memory, then search and answers on the dev split (under 20 minutes); report in eval/reports/dev
	@.venv/bin/tablelaw models fetch embedder llm
	.venv/bin/python -m eval.bench
	.venv/bin/tablelaw eval --mode all --llm none --out eval/reports/dev

bench-full: setup ## answers of the language model on the whole dev split; goes on where it stopped (hours on 2 cores)
	@.venv/bin/tablelaw models fetch embedder llm
	.venv/bin/tablelaw eval --mode all --llm llm --out eval/reports/full

peers: setup ## answers of LlamaIndex, Haystack and the model alone on 30 dev questions; goes on where it stopped
	@$(PIP) install -c constraints.txt -e ".[peers]"
	@.venv/bin/tablelaw models fetch embedder llm
	.venv/bin/python -m eval.peers

setup: .venv/.installed .venv/.llm

.venv/.installed: pyproject.toml constraints.txt
	@echo "Setting up .venv (some minutes, once)"
	@test -x .venv/bin/python || $(PYTHON) -m venv .venv
	@$(PIP) install --upgrade "pip>=26" "setuptools>=77"
	@$(PIP) install -c constraints.txt torch
	@$(PIP) install -c constraints.txt -e ".[$(EXTRAS)]" 2>.venv/setup.log || { cat .venv/setup.log >&2; exit 1; }
	@touch $@

# Tried once; a failed build is reported in one line and leaves search, law cards and quotes working. `make llm` tries again.
.venv/.llm: .venv/.installed
	@echo "Building llama-cpp-python (about 5 minutes on 2 cores, once; log: .venv/llama-build.log)"
	@CMAKE_BUILD_PARALLEL_LEVEL=$${CMAKE_BUILD_PARALLEL_LEVEL:-$$(nproc 2>/dev/null || echo 2)} \
	  .venv/bin/pip install -c constraints.txt -e ".[llm]" >.venv/llama-build.log 2>&1 \
	  || echo "llama-cpp-python did not build: answers quote the law instead of phrasing it (see .venv/llama-build.log; retry: make llm)"
	@touch $@

llm: ## try again to build llama-cpp-python
	@rm -f .venv/.llm
	@$(MAKE) --no-print-directory .venv/.llm

# What the browser tests need from Debian: chromium, strace (to see every address tried), iproute2 and util-linux (namespaces).
.PHONY: system
system:
	@tests/install-system-packages

train: setup ## train the embedder on our own texts (up to an hour and a half on 2 cores, resumable)
	@$(PIP) install -c constraints.txt -e ".[train]"
	@.venv/bin/tablelaw models fetch embedder
	.venv/bin/python -m rag.train

models: setup ## fetch all models
	@.venv/bin/tablelaw models fetch

clean: ## remove the virtual environment and caches of the tools (models and indexes stay)
	rm -rf .venv .pytest_cache .ruff_cache .mypy_cache .hypothesis *.egg-info
