# Lists the recipes.
default:
    @just --list

# Checks formats and lints, in a minute if little changed.
check:
    .ci/run format scripts python recipes lints

# Runs tests of the rules in `domain`: all, or those with a part of a name, such as r31.
rules filter="":
    cargo test --locked -p domain --test rules {{ filter }}

# Runs the scenarios with a part of a name, such as references.
scenario name:
    cargo test --locked --test dovetail scenarios::{{ name }}

# Runs the crash sweep with all deaths: of all scenarios, or of those with a part of a name.
crashes name="":
    DOVETAIL_TEST_DEATHS=all cargo test --locked --workspace --test dovetail scenarios::crashing::{{ name }}

# Lets tests write their expected results: all, or those with a part of a name. Read the diff.
accept filter="":
    UPDATE_EXPECT=1 cargo test --locked {{ filter }}

# Runs all tests, or those with a part of a name.
test filter="":
    cargo test --locked {{ filter }}

# Checks the documentation of the code, the documents, their links and their language.
docs:
    .ci/run docs repository

# Checks licenses, sources, duplicate and unused dependencies.
deps:
    .ci/run locks dependencies

# Runs the public clients, or those checks with a part of a name.
clients *names:
    tests/clients/run {{ names }}

# Checks the files of the console in dist, and runs its browser tests.
console:
    .ci/run console

# Runs the first stage of CI.
fast:
    .ci/run fast

# Builds a release in target: all parts, or some of functions, programs, sbom.
release *parts:
    .ci/release {{ parts }}

# Renews the figures of the documents: all, or some of costs, capacity, instructions, goals. --check only prints them.
figures *parts:
    cargo bench --locked -p bench -p dovetail-cli -p dovetail-daemon --bench figures -- {{ parts }}

# Runs everything that CI runs.
ci:
    .ci/run

# Runs everything, also what CI leaves out because other checks cover it: before a release.
all:
    .ci/run all
