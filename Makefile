# make run     start Footnote with the sample course; with no token: a chat in the browser
# make test    every test · make check    style, types, import rules
# make screenshots    the pictures of README and documents, taken anew in a real browser
# make env     just .venv, with `footnote` in it
# make bench   measurements, printed and written to docs/benchmarks.md · make bench-idle    one of them
# make ablation    what each part of answering is worth on a question set

# The first Python from 3.11 to 3.13 that can make an environment; PYTHON=… chooses another.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
	2>/dev/null && echo $$python && break; done)
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps
PACKAGES := bot adapters rag_core

.PHONY: run env test test-full check fuzz bench ablation docs screenshots lock clean faults faults-full
.DEFAULT_GOAL := run

run: .venv/.run
	@books=$$($(BIN)/footnote books --json) || exit $$?; \
	case "$$books" in *'"book_id"'*) ;; *) for book in course handbook; do \
		$(BIN)/footnote ingest examples/$$book --book $$book --title "Sample $$book" || exit $$?; \
	done; books='"course"' ;; esac; \
	case "$$books" in *'"course"'*) grep -qs '^FOOTNOTE_DEFAULT_BOOK=.' .env \
		|| export FOOTNOTE_DEFAULT_BOOK=$${FOOTNOTE_DEFAULT_BOOK:-course} ;; esac; \
	exec $(BIN)/footnote run --open

env: .venv/.run

test: .venv/.dev
	@$(BIN)/python -m pytest -q -n 3 --dist worksteal

test-full: .venv/.dev
	@FOOTNOTE_TESTS=full $(BIN)/python -m pytest -q -n 3 --dist worksteal

check: .venv/.dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/python -m pytest -q tests/unit/test_house.py

# Ten minutes of atheris (Apache-2.0; not locked, because it is built for few Pythons) at the door
# that strangers reach: `pip install atheris` into .venv first.
FUZZ_SECONDS ?= 600
fuzz: .venv/.dev
	@$(BIN)/python -c "import atheris" 2>/dev/null || \
		{ echo "make fuzz needs atheris: $(BIN)/python -m pip install atheris"; exit 2; }
	@PYTHONPATH=. $(BIN)/python tests/fuzz/slack_http.py --corpus build/fuzz/slack
	@PYTHONPATH=. $(BIN)/python tests/fuzz/slack_http.py -max_total_time=$(FUZZ_SECONDS) \
		-rss_limit_mb=2048 build/fuzz/slack

# Rows of the table of faults; each prints its seed, its time and its figures.
faults: .venv/.dev
	@$(BIN)/python -m tests.faults --share 0.1 --together

faults-full: .venv/.dev
	@$(BIN)/python -m tests.faults

fault-%: .venv/.dev
	@$(BIN)/python -m tests.faults $* --share $${SHARE:-1} --seed $${SEED:-1}

bench: .venv/.dev
	@$(BIN)/python -m benchmarks

bench-%: .venv/.dev
	@$(BIN)/python -m benchmarks $*

# What each part of answering is worth on a question set, as `footnote eval` takes it:
# make ablation PAGES=path/to/pages QUESTIONS=questions.jsonl
PAGES ?= examples/questions
ablation: .venv/.dev
	@$(BIN)/python -m benchmarks.ablation $(PAGES) $(if $(QUESTIONS),--questions $(QUESTIONS))

screenshots: .venv/.dev
	@$(BIN)/python -m docs.screenshots

docs: .venv/.run
	@$(BIN)/python -m bot.settings_reference

.venv/.run: requirements.lock pyproject.toml | .venv/bin/python
	@echo "Installing Footnote into .venv; the first time this takes a minute or two."
	@$(INSTALL) --require-hashes --requirement requirements.lock
	@$(INSTALL) --no-build-isolation --editable .
	@touch $@

.venv/.dev: requirements-dev.lock .venv/.run
	@echo "Installing what the tests need."
	@$(INSTALL) --require-hashes --requirement requirements-dev.lock
	@touch $@

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "Footnote needs Python 3.11, 3.12 or 3.13 with venv."; exit 2; }
	@$(PYTHON) -m venv .venv

# Names, versions and hashes only: no address of any index.
LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-annotate --no-header --no-emit-index-url --no-emit-find-links pyproject.toml \
	--extra documents --extra postgres --group build
lock:
	$(LOCK) --output-file requirements.lock
	$(LOCK) --group dev --constraint requirements.lock --output-file requirements-dev.lock

clean:
	rm -rf .venv build *.egg-info .mypy_cache .pytest_cache .ruff_cache
