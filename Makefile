# `make demo` and `make test` work on a fresh clone with Python 3.11+ and make; nothing else.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test test-all lint clean

demo: $(READY)
	$(BIN)/python -m randori.cli.demo

test: $(READY) lint
	$(BIN)/python -m pytest -m "not slow" -n 2 --dist loadfile --no-loadscope-reorder --max-worker-restart 0

test-all: $(READY) lint
	$(BIN)/python -m pytest

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Randori needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[openvino,dev]'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
		--only-binary :all: open_spiel || echo "OpenSpiel is not to be had here: its tests are skipped"
	@touch $(READY)

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache
