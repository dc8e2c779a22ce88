# Two commands matter: `make book` and `make test`. Each sets up what it needs.
PYTHON ?= python3
PORT ?= 8000
JOBS ?= 2
BIN := .venv/bin
LOCKED := .venv/.locked
READY := .venv/.ready
# Of `make oldest`: the versions there have wheels for this Python alone.
OLDEST_PYTHON ?= python3.11
OLDEST_READY := .venv-oldest/.ready

# numba compiles once for all of these commands. It notices an edit of the file of a kernel, but not
# of a file that the kernel calls into: `make book` and `make test` begin anew after any edit.
export NUMBA_CACHE_DIR ?= $(CURDIR)/_build/numba
# Pages hold static figures. Processes share the processors: threads of OpenBLAS that wait for each
# other would spin.
SHARED := WFMLIB_DISPLAY=static OPENBLAS_NUM_THREADS=1
# A claim is computed once, for its chapter and for the scorecard.
ANSWERS := WFMLIB_ANSWERS="$(CURDIR)/_build/answers"
# A process takes a file at a time, in the order given.
PYTEST := $(SHARED) $(BIN)/python -m pytest -ra -n $(JOBS) --dist loadfile --no-loadscope-reorder
# What an edit of the package makes stale: jupyter-cache looks at the cells only.
CURRENT := _build/.current
STALE := $(addprefix _build/,.jupyter_cache answers .doctrees numba elsewhere)
# Of `make elsewhere`: pages and settings to execute; all of them unless told.
PAGES :=
SETTINGS :=
# Of `make pdf`: a chapter's number, or nothing. Of `make students`: some of them.
CHAPTER :=
# Of `make students`: "yes" for a copy with solutions, "no" for pages without them, too.
SOLUTIONS :=
# Of `make marks`: where the notebooks are.
FOLDER :=

# Of `make bench`: in the order of the page.
BENCHMARKS := first_calls gaussian typical surroundings messages learning enumeration landscape since_then

.DEFAULT_GOAL := help
.PHONY: help setup book test style chapters sensitive pages site-test elsewhere properties unit coverage \
	oldest lab serve students marks slides article pdf site release bench references lock clean

help:  ## list these commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1|/' \
		| awk -F'|' '{ printf "  make %-12s %s\n", $$1, $$2 }'

setup: $(READY)  ## create .venv with the pinned dependencies

# Without dependencies: the lock names all, and puts a newer Sphinx in place of what others ask for.
$(LOCKED): tools/requirements-build.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] < (3, 11))' \
		|| { echo "This needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V)." \
		"Try: make PYTHON=python3.12 ..."; exit 1; }
	@echo "Setting up .venv from $<: about two minutes and 1.8 GB."
	$(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --require-hashes -r $<
	@touch $@

$(READY): $(LOCKED) pyproject.toml
	$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps \
		--no-build-isolation -e .
	@touch $@

$(OLDEST_READY): tools/requirements-oldest.txt
	$(OLDEST_PYTHON) -m venv --clear .venv-oldest
	.venv-oldest/bin/python -m pip install -qq --disable-pip-version-check --require-hashes -r $<
	.venv-oldest/bin/python -m pip install -qq --disable-pip-version-check --no-deps \
		--no-build-isolation -e .
	@touch $@

$(CURRENT): tools/requirements-build.txt $(shell find wfmlib -name '*.py' -o -name '*.toml' -o -name '*.mplstyle')
	@rm -rf $(STALE)
	@mkdir -p _build
	@touch $@

book: $(READY) $(CURRENT)  ## execute the chapters and build the pages
	@echo "Chapters that changed are executed: all of them take some ten minutes."
	@$(ANSWERS) $(SHARED) $(BIN)/python -m tools.notebooks book --jobs $(JOBS)
	@$(BIN)/python -m wfmlib.book.lab.build
	$(ANSWERS) $(SHARED) $(BIN)/jupyter-book build . --quiet
	@echo "The book: file://$(CURDIR)/_build/html/index.html (or: make serve)"

test: $(READY)  ## check everything: style, chapters, units, pages, browser
	@failed=; for part in style chapters sensitive pages; do \
		echo "==== $$part"; $(MAKE) --no-print-directory $$part || failed="$$failed $$part"; done; \
		test -z "$$failed" || { echo "==== failed:$$failed"; exit 1; }

style: $(READY)
	@$(BIN)/python -m tools.notebooks style
	@status=0; for check in "ruff check ." "ruff format --check ." mypy \
		"ruff check --config line-length=84 $$(echo _build/notebooks/*.ipynb)"; do \
		$(BIN)/$$check || status=1; done; exit $$status

# Executed once: these outputs are compared with those stored, and are what the pages show.
chapters: $(READY) $(CURRENT)
	@$(ANSWERS) $(SHARED) $(BIN)/python -m tools.notebooks test --jobs $(JOBS)

# The chapters that train networks before the reader's eyes, on the processor least like this one.
sensitive: $(READY) $(CURRENT)
	@$(SHARED) $(BIN)/python -m tools.elsewhere 08_ 09_ --settings oldest --jobs $(JOBS)

# The first file builds the pages; the other process has units to test meanwhile. No argument holds
# another, or pytest would take the outer one alone, in its place.
REST := $(filter-out tests/book/test_execution.py,$(wildcard tests/book/test_*.py))

pages: $(READY)
	@$(BIN)/python -m wfmlib.book.lab.build
	@rm -rf _build/html _build/.doctrees
	@$(PYTEST) --doctest-modules tests/book/test_execution.py tests/unit wfmlib tests/browser tests/lab $(REST)

site-test: book  ## install from the built pages elsewhere, and execute notebooks there
	$(BIN)/python -m pytest tests/site

elsewhere: $(READY) $(CURRENT)  ## execute the chapters as three other processors would, and compare
	@$(SHARED) $(BIN)/python -m tools.elsewhere $(PAGES) --jobs $(JOBS) $(if $(SETTINGS),--settings $(SETTINGS))

properties: $(READY)  ## draw some hundred times more arguments for the properties that the tests hold
	$(PYTEST) --hypothesis-profile long $(wildcard tests/unit/test_properties_*.py)

unit: $(READY)  ## check the package alone
	$(PYTEST) --doctest-modules tests/unit wfmlib

coverage: $(READY)  ## count the lines and branches that the unit tests reach; at least 95 %
	$(PYTEST) --cov --cov-report=term tests/unit

# Packages of then use what packages of now deprecate.
oldest: $(OLDEST_READY)  ## check the package with the oldest versions that pyproject.toml allows
	$(SHARED) .venv-oldest/bin/python -m pytest -n $(JOBS) --dist loadfile -W ignore::DeprecationWarning \
		$$(grep -L '^from tools' tests/unit/test_*.py)

lab: $(READY)  ## open the chapters as notebooks in JupyterLab on 127.0.0.1
	JUPYTER_CONFIG_PATH="$(CURDIR)/tools/jupyter" $(BIN)/jupyter lab --ip 127.0.0.1 --notebook-dir book \
		--LabApp.default_url=/lab/tree/01_binary_perceptron.md

serve:  ## serve the built book on 127.0.0.1 (PORT=8000)
	@test -f _build/html/index.html || { echo "Nothing to serve yet: run 'make book'."; exit 1; }
	@echo "http://127.0.0.1:$(PORT)/ (Ctrl-C stops)"
	@$(PYTHON) -m http.server --bind 127.0.0.1 --directory _build/html $(PORT)

students: book  ## write handouts to _build/students (CHAPTER="1 6"; SOLUTIONS=yes or no)
	$(BIN)/python -m tools.students $(CHAPTER)
ifeq ($(SOLUTIONS),yes)
	$(BIN)/python -m tools.students $(CHAPTER) --solutions --output _build/lecturers
endif
ifeq ($(SOLUTIONS),no)
	WFMLIB_SOLUTIONS=no $(SHARED) $(BIN)/jupyter-book build . --quiet --path-output _build/unsolved
	@echo "Pages without solutions: file://$(CURDIR)/_build/unsolved/_build/html/index.html"
endif

marks: $(READY)  ## execute the notebooks that students handed in, and mark them (FOLDER=handed_in)
	@test -n "$(FOLDER)" || { echo "Say where they are: make marks FOLDER=handed_in"; exit 1; }
	@$(BIN)/python -m tools.marks "$(FOLDER)" --jobs $(JOBS)

slides: book  ## write the slides of the courses to _build/slides
	@$(BIN)/python -m tools.slides

article: book  ## print the article on the reproduction to _build/article.pdf
	@$(BIN)/python -m tools.article

pdf: book  ## print the book to _build/wide-flat-minima.pdf with Chromium (CHAPTER=3: that alone)
	@$(BIN)/python -m tools.pdf $(if $(CHAPTER),--chapter $(CHAPTER) --output _build/chapter-$(CHAPTER).pdf)

site: slides article pdf  ## the book with all downloads, as it is published (WFMLIB_SITE=its address)
	cd _build && rm -f slides.zip && $(abspath $(BIN))/python -m zipfile -c slides.zip slides
	$(ANSWERS) $(SHARED) $(BIN)/jupyter-book build . --quiet

release: $(READY)  ## build wheel and sources into dist, and install the wheel
	rm -rf dist _build/release
	$(BIN)/python -m hatchling build
	$(BIN)/python -m pip wheel -qq --no-deps --no-build-isolation -w _build/release dist/*.tar.gz
	cmp dist/*.whl _build/release/*.whl
	$(PYTHON) -m venv --clear _build/release/empty
	_build/release/empty/bin/python -m pip install -qq --disable-pip-version-check dist/*.whl
	cd _build/release && empty/bin/wfm --version
	-@$(BIN)/python -m tools.release

bench: $(READY)  ## measure speed, and print the tables of the page "What things cost"
	mkdir -p _build
	$(BIN)/python -m pytest -q -n0 $(BENCHMARKS:%=benchmarks/bench_%.py) -ra \
		-o python_functions='bench_*' --benchmark-only --benchmark-json=_build/speed.json
	$(BIN)/python -m tools.speed _build/speed.json

references: $(READY) $(CURRENT)  ## execute the chapters and store the outputs of their checked cells
	$(ANSWERS) $(SHARED) $(BIN)/python -m tools.notebooks references --jobs $(JOBS)

# Of readers, of builders, and of the lower bounds.
LOCK := uv pip compile --universal --no-annotate --no-header --no-strip-extras --python-version 3.11 \
	--generate-hashes pyproject.toml

# Of everything but torch, which no page and no test needs.
EXTRAS := book sklearn cluster

lock:  ## renew the locked versions from pyproject.toml (needs uv)
	$(LOCK) --fork-strategy fewest --extra hub --group editable -o requirements.txt
	$(LOCK) --fork-strategy fewest $(EXTRAS:%=--extra %) --group dev -o tools/requirements-build.txt
	$(LOCK) --resolution lowest-direct --extra notebook --extra sklearn --group test --group editable \
		-o tools/requirements-oldest.txt

clean:  ## remove what was built (keeps .venv)
	rm -rf _build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .benchmarks
