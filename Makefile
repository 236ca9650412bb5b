# make serve | test | check | conformance | bench | soak      (make install is implied by each)
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: serve test check format install install-test conformance bench soak clean

# The server, ready to answer: the built-in demo, or `make serve ARGS="--port 9000 app:suite"`.
serve: install
	$(BIN)/python -m genmcp serve $(ARGS)

test: install-test
	$(BIN)/python -m pytest $(ARGS)

check: install-test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/python -m pytest -q tests/test_house.py

format: install-test
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

conformance: install-test
	$(BIN)/python -m tests.interop.conformance $(ARGS)

bench: install-test
	$(BIN)/python -m benchmarks $(ARGS)

soak: install-test
	$(BIN)/python -m pytest -m soak $(ARGS)

install: $(VENV)/.installed
install-test: $(VENV)/.installed-test

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(VENV)/.installed-test: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[test,check]"
	touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
