"""Chooses the scenarios for deployed stacks, or checks that a run had the uses that they were chosen for.

    choose.py GRANTED DECISIONS LOGS SCENARIOS
    UPDATE_EXPECT=1 choose.py GRANTED DECISIONS LOGS SCENARIOS      writes SCENARIOS after a run of all scenarios

A use is a permission that a function uses, an operation of the API that a request calls, or a type of event. The choice
has the fewest scenarios, found greedily, with all uses that only scenarios have.
"""

import os
import pathlib
import sys

import logs
import permissions

PREFIX = "scenarios::deployed::"
HEADER = """\
# The scenarios that tests/deploy/run plays, each with its uses that no test in features.rs and console.rs has. Together
# they have all uses of all scenarios. UPDATE_EXPECT=1 tests/deploy/run all writes this file.
"""


def uses_of_tests(granted_file, decisions_file, logs_file):
    """Returns the uses of each test, with their texts."""
    granted = permissions.lines(granted_file)
    requests, _ = permissions.requests_of(granted, permissions.lines(decisions_file))
    uses = {}
    for role in granted:
        of_role = permissions.used_by(role, requests)
        uses.setdefault(role["test"], {}).update({one: f"{one.function} may {one.action}" for one in of_role})
    for test, kind, name in logs.calls_and_events(logs_file):
        uses[test][kind, name] = f"{kind} {name}"
    return uses


def choose(scenarios, missing):
    """Returns scenarios with all missing uses: those with the most uses first, then without superfluous ones."""
    chosen, left = [], set(missing)
    while left:
        chosen.append(max(sorted(scenarios), key=lambda name: len(scenarios[name].keys() & left)))
        left -= scenarios[chosen[-1]].keys()
    for name in list(chosen):
        others = set().union(*(scenarios[other] for other in chosen if other != name))
        if missing <= others:
            chosen.remove(name)
    return sorted(chosen)


def write(path, uses):
    assert "main" not in uses, "a test has no name: use at least two threads"
    scenarios = {test.removeprefix(PREFIX): uses[test] for test in uses if test.startswith(PREFIX)}
    always = set().union(*(uses[test] for test in uses if not test.startswith(PREFIX)))
    missing = set().union(*scenarios.values()) - always
    text = HEADER
    for name in choose(scenarios, missing):
        texts = {use_text for use, use_text in scenarios[name].items() if use in missing}
        text += f"{name}\n" + "".join(f"    {use_text}\n" for use_text in sorted(texts))
    path.write_text(text)


def main(granted_file, decisions_file, logs_file, scenarios_file):
    uses, path = uses_of_tests(granted_file, decisions_file, logs_file), pathlib.Path(scenarios_file)
    if os.environ.get("UPDATE_EXPECT"):
        write(path, uses)
    listed = {line.strip() for line in path.read_text().splitlines() if line.startswith(" ")}
    had = {text for of_test in uses.values() for text in of_test.values()}
    for text in sorted(listed - had):
        print(f"without a use: {text}")
    print(f"{len(uses)} tests use {len(had)} permissions, operations and event types; {len(listed)} need scenarios.")
    return 1 if listed - had else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
