# Two commands matter: `make demo` shows iostrata at work, `make test` runs all that CI runs.
.DEFAULT_GOAL := help
.PHONY: help setup setup-storage hooks gen fmt check lint build unit e2e verified test soak fuzz bench overhead peers demo dist docs clean

MVN := mvn -B -q --no-transfer-progress -f java/pom.xml

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1|/p' $(MAKEFILE_LIST) | column -t -s '|'

setup: ## make the environment (.venv); says what this machine lacks
	@scripts/setup

setup-storage: ## install MooseFS and CephFS from Debian's packages, for `iostrata lab up`; asks first
	@scripts/setup-storage

hooks: setup ## let git run the fast checks before each commit
	@.venv/bin/pre-commit install

gen: setup ## write the generated files: from schema/events.toml, java/points and types of answers
	@python3 schema/generate.py
	@.venv/bin/python scripts/json_schema.py
	@cd report && npm run --silent generate

fmt: setup ## format all languages
	.venv/bin/ruff format .
	.venv/bin/ruff check --fix .
	cargo fmt --all
	cd report && npm run --silent format
	$(MVN) process-sources -Piostrata-format

check: setup ## what to run before a commit, 3 minutes: lints, unit tests of what changed, one JVM
	@scripts/check

lint: ## formatters and linters of all languages, as errors
	@scripts/test lint

build: setup ## build the collector, the agent and the page of the report
	@scripts/test build

unit: ## unit tests of all languages
	@scripts/test unit

e2e: ## the whole way, on real JVMs and real clusters
	@scripts/test e2e

verified: ## write src/iostrata/schema/verified.json from what the e2e tests saw fire
	VERIFIED_WRITE=1 scripts/test e2e

test: ## everything above: what .ci/run runs
	@scripts/test

soak: ## every case of every matrix and the larger sizes, with logs in bench/runs: hours
	SOAK=1 scripts/test build unit-rust unit-python fuzz e2e

fuzz: build ## hostile bytes against all that reads them; FUZZ_SECONDS for each, else 60
	@.venv/bin/python scripts/fuzz

bench: build ## figures about speed, written to bench/runs/<date>-<machine>
	@bench/run

overhead: build ## the account of what tracing costs: hours, on a machine that does nothing else
	@.venv/bin/python bench/overhead/overhead.py bench/runs/$$(date +%F)-overhead

peers: build ## other tracers on the same jobs: hours; writes the tables of docs/peers.md
	@.venv/bin/python bench/peers/peers.py bench/runs/$$(date +%F)-peers
	@.venv/bin/python bench/peers/peers.py bench/runs/$$(date +%F)-peers --page

docs: setup ## the documentation as a site, in site/
	@scripts/test docs

dist: build ## both wheels and the tarball for nodes, in dist/
	@.venv/bin/python scripts/dist.py

demo: build ## record a real Hadoop job and show what it did
	@.venv/bin/iostrata demo

clean: ## delete what was built (not the environment)
	cargo clean -q
	rm -rf src/iostrata/show/_report src/iostrata/analyse/_compiled.json
	$(MVN) clean
	find src lab tests schema -name __pycache__ -type d -prune -exec rm -rf {} +
