# Two commands matter: `make book` and `make test`. Each sets up what it needs.
PYTHON ?= python3
PORT ?= 8000
JOBS ?= 2
BIN := .venv/bin
LOCKED := .venv/.locked
READY := .venv/.ready
CFF_READY := .venv-cff/.ready
RELEASE_READY := .venv-release/.ready
# The compiler of what pages compute with, and what runs it in the tests.
WASM_READY := .venv-wasm/.ready
# Of `make oldest`: the versions there have wheels for this Python alone.
OLDEST_PYTHON ?= python3.11
OLDEST_READY := .venv-oldest/.ready

# Pages hold static figures.
STATIC := WFMLIB_DISPLAY=static
# numba compiles once for all of these commands. It notices an edit of the file of a kernel, but not
# of a file that the kernel calls into: `make book` and `make test` begin anew after any edit.
export NUMBA_CACHE_DIR ?= $(CURDIR)/_build/numba
# A claim is computed once, for its chapter and for the scorecard.
ANSWERS := WFMLIB_ANSWERS="$(CURDIR)/_build/answers"
# Processes share what there is to test, a file each at a time and in the order given; threads of
# OpenBLAS that wait for each other would only spin.
PYTEST := $(STATIC) OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder
# Of `make elsewhere`: pages and settings to execute; all of them unless told.
PAGES :=
SETTINGS :=
# Of `make marks`: where the notebooks are.
FOLDER :=
# Of `make mutants`: how many a group. Of it and of `make attack`: drawn with which seed.
COUNT := 20
SEED :=
# Of `make attack`: how long.
MINUTES := 10

.DEFAULT_GOAL := help
.PHONY: help setup book test site-test elsewhere mutants attack unit coverage oldest lab serve students \
	marks slides pdf site release bench speed references lock clean

help:  ## list these commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1|/' \
		| awk -F'|' '{ printf "  make %-12s %s\n", $$1, $$2 }'

setup: $(READY)  ## create .venv with the pinned dependencies, and compile the kernels
	@$(BIN)/wfm compile --jobs $(JOBS)

$(LOCKED): requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
		|| { echo "This needs Python 3.11, 3.12 or 3.13; $(PYTHON) is $$($(PYTHON) -V)." \
		"Try: make PYTHON=python3.12 ..."; exit 1; }
	@echo "Setting up .venv from requirements.txt: about two minutes and 1.1 GB."
	$(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes \
		-r requirements.txt
	@touch $@

$(READY): $(LOCKED) pyproject.toml
	$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps \
		--no-build-isolation -e .
	@touch $@

$(CFF_READY): tools/requirements-cff.txt
	$(PYTHON) -m venv --clear .venv-cff
	.venv-cff/bin/python -m pip install -qq --disable-pip-version-check --require-hashes -r $<
	@touch $@

$(WASM_READY): tools/requirements-wasm.txt
	@echo "Setting up .venv-wasm, the compiler of the pages' kernels: 0.5 GB."
	$(PYTHON) -m venv --clear .venv-wasm
	.venv-wasm/bin/python -m pip install -qq --disable-pip-version-check --require-hashes -r $<
	@touch $@

$(RELEASE_READY): tools/requirements-release.txt
	$(PYTHON) -m venv --clear .venv-release
	.venv-release/bin/python -m pip install -qq --disable-pip-version-check --require-hashes -r $<
	@touch $@

$(OLDEST_READY): tools/requirements-oldest.txt
	$(OLDEST_PYTHON) -m venv --clear .venv-oldest
	.venv-oldest/bin/python -m pip install -qq --disable-pip-version-check --require-hashes -r $<
	.venv-oldest/bin/python -m pip install -qq --disable-pip-version-check --no-deps \
		--no-build-isolation -e .
	@touch $@

book: $(READY) $(WASM_READY)  ## execute the chapters and build the pages
	@$(BIN)/python tools/notebooks.py fresh
	@echo "Chapters that changed are executed: all of them take some ten minutes."
	@$(ANSWERS) $(STATIC) $(BIN)/python -m tools.execute --jobs $(JOBS)
	@$(BIN)/python -m tools.wasm
	$(ANSWERS) $(STATIC) $(BIN)/jupyter-book build . --quiet
	@echo "The book: file://$(CURDIR)/_build/html/index.html (or: make serve)"

test: $(READY) $(CFF_READY) $(WASM_READY)  ## check everything: style, units, chapters, pages, browser
	@$(BIN)/python -m tools.check --jobs $(JOBS)

site-test: book  ## install from the built pages elsewhere, and execute notebooks there
	$(BIN)/python -m pytest tests/site

elsewhere: $(READY)  ## execute the chapters as three other processors would, and compare
	@$(BIN)/python -m tools.elsewhere $(PAGES) --jobs $(JOBS) $(if $(SETTINGS),--settings $(SETTINGS))

mutants: $(READY)  ## draw small errors in the sources, and see whether a test notices each
	@$(BIN)/python -m tools.mutants --count $(COUNT) $(if $(SEED),--seed $(SEED))

attack: $(READY)  ## call the package with drawn arguments, and look for what cannot be right
	@$(BIN)/python -m tests.attack --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

unit: $(READY)  ## check the package alone
	$(PYTEST) --doctest-modules tests/unit wfmlib

coverage: $(READY)  ## count the lines and branches that the unit tests reach; at least 95 %
	$(PYTEST) --cov --cov-report=term tests/unit

oldest: $(OLDEST_READY)  ## check the package with the oldest versions that pyproject.toml allows
	$(STATIC) OPENBLAS_NUM_THREADS=1 .venv-oldest/bin/python -m pytest -n $(JOBS) --dist loadfile \
		$$(grep -L '^from tools' tests/unit/test_*.py)

lab: $(READY)  ## open the chapters as notebooks in JupyterLab on 127.0.0.1
	@$(BIN)/wfm compile --jobs $(JOBS)
	JUPYTER_CONFIG_PATH="$(CURDIR)/tools/jupyter" $(BIN)/jupyter lab --ip 127.0.0.1 --notebook-dir book \
		--LabApp.default_url=/lab/tree/01_binary_perceptron.md

serve:  ## serve the built book on 127.0.0.1 (PORT=8000)
	@test -f _build/html/index.html || { echo "Nothing to serve yet: run 'make book'."; exit 1; }
	@echo "http://127.0.0.1:$(PORT)/ (Ctrl-C stops)"
	@$(PYTHON) -m http.server --bind 127.0.0.1 --directory _build/html $(PORT)

students: book  ## write notebooks without solutions to _build/students
	$(BIN)/python -m tools.students

marks: $(READY)  ## execute the notebooks that students handed in, and mark them (FOLDER=handed_in)
	@test -n "$(FOLDER)" || { echo "Say where they are: make marks FOLDER=handed_in"; exit 1; }
	@$(BIN)/python -m tools.marks "$(FOLDER)" --jobs $(JOBS)

slides: book  ## write slides of all figures to _build/slides
	@$(BIN)/python -m tools.slides

pdf: book  ## print the book to _build/wide-flat-minima.pdf with Chromium
	@$(BIN)/python -m tools.pdf

site: slides pdf  ## the book with all downloads, as it is published (WFMLIB_SITE=its address)
	cd _build && rm -f slides.zip && $(abspath $(BIN))/python -m zipfile -c slides.zip slides
	$(ANSWERS) $(STATIC) $(BIN)/jupyter-book build . --quiet

release: $(READY) $(RELEASE_READY)  ## build wheel and sources into dist, check and install them
	rm -rf dist _build/release
	$(BIN)/python -m hatchling build
	.venv-release/bin/twine check --strict dist/*
	.venv-release/bin/check-wheel-contents dist/*.whl
	$(BIN)/python -m pip wheel -qq --no-deps --no-build-isolation -w _build/release dist/*.tar.gz
	cmp dist/*.whl _build/release/*.whl
	$(PYTHON) -m venv --clear _build/release/empty
	_build/release/empty/bin/python -m pip install -qq --disable-pip-version-check dist/*.whl
	cd _build/release && empty/bin/wfm --version

bench: $(READY)  ## measure speed, side by side with SciPy
	$(BIN)/python -m pytest benchmarks -o python_files='bench_*.py' \
		-o python_functions='test_* bench_*' --benchmark-only

speed: $(READY)  ## measure what the page "What things cost" shows, and write its tables
	$(BIN)/python -m tools.speed

references: $(READY)  ## execute the chapters and store the outputs of their checked cells
	$(BIN)/python tools/notebooks.py prepare --without-references
	$(BIN)/python -m tools.validate --jobs $(JOBS)
	$(BIN)/python tools/notebooks.py references

lock:  ## renew the locked versions from pyproject.toml (needs uv)
	uv pip compile --universal --fork-strategy fewest --no-annotate --no-strip-extras \
		--python-version 3.11 --generate-hashes --all-extras pyproject.toml -o requirements.txt
	uv pip compile --universal --resolution lowest-direct --no-annotate --no-header --no-strip-extras \
		--python-version 3.11 --generate-hashes --extra notebook --extra test --extra editable pyproject.toml \
		-o tools/requirements-oldest.txt

clean:  ## remove what was built (keeps .venv)
	rm -rf _build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .benchmarks
