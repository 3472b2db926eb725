# Every target makes or updates the environment in .venv first, if need be (see bootstrap.py).
# Works with GNU make 3.81. PYTHON=python3.12 picks an interpreter; ARGS="..." passes options on.

ifneq ($(origin PYTHON),undefined)
export PINWAY_KEEP_PYTHON := 1
endif
PYTHON ?= python3
BOOTSTRAP = $(PYTHON) bootstrap.py

.PHONY: help run test test-all drill check bench docs lock dist pythons stack-up stack-down stack-status graphiql web pictures demo

help:
	@echo "make run         start Pinway with demo content on http://127.0.0.1:8000"
	@echo "make test        run every test, the real servers included (installs them on Debian)"
	@echo "make test-all    also what takes long: other Pythons, thousands of random cases"
	@echo "make drill       kill, stop and slow real servers under load (ARGS=--quick: a few minutes)"
	@echo "make check       formatter, linter, types and unit tests: quick"
	@echo "make bench       NAME=execution [QUICK=1]: a benchmark beside its peers, see bench/README.md"
	@echo "make docs        build the book and serve it on http://127.0.0.1:8001/docs/"
	@echo "make stack-up    start the real servers: MariaDB, Redis, memcached, ZooKeeper, HBase, OpenSearch"
	@echo "make stack-down  stop them (stack-status says what runs)"
	@echo "make lock        write requirements/*.lock anew (ARGS=--upgrade for newer versions)"
	@echo "make dist        build the wheel and the source distribution, try them on every Python"
	@echo "make pythons     run the tests of units and the executor on every other Python (ARGS=3.14)"
	@echo "make graphiql    build gateway/static/graphiql anew from graphiql"
	@echo "make web         build gateway/static/web anew from web"
	@echo "make demo        pack the demo content anew, which a first start unpacks"
	@echo "make pictures    photograph the web client for the README, in Chromium"

run:
	@$(BOOTSTRAP) run $(ARGS)

test:
	@$(BOOTSTRAP) test $(ARGS)

test-all:
	@$(BOOTSTRAP) exec python -m tests --all $(ARGS)

drill:
	@$(BOOTSTRAP) exec python -m bench.drills $(ARGS)

check:
	@$(BOOTSTRAP) check

bench:
	@$(BOOTSTRAP) exec python -m bench.$(NAME) $(if $(QUICK),--quick) $(ARGS)

lock:
	@$(BOOTSTRAP) lock $(ARGS)

docs:
	@NO_MKDOCS_2_WARNING=1 $(BOOTSTRAP) exec mkdocs serve --strict $(ARGS)

stack-up:
	@$(BOOTSTRAP) exec pinway stack up $(ARGS)

stack-down:
	@$(BOOTSTRAP) exec pinway stack down $(ARGS)

stack-status:
	@$(BOOTSTRAP) exec pinway stack status $(ARGS)

dist:
	@$(BOOTSTRAP) exec python -m tests.packaging

pythons:
	@$(BOOTSTRAP) exec python -m tests.packaging.suites $(ARGS)

graphiql:
	@$(BOOTSTRAP) exec python -m tests.outside.node_tools graphiql

web:
	@$(BOOTSTRAP) exec python -m tests.outside.node_tools web

pictures:
	@$(BOOTSTRAP) exec python -m tests.outside.pictures

demo:
	@$(BOOTSTRAP) exec python -m tests.importing.demo_archive
