"""Writes docs/reference/compatibility.md from what the checks of the clients have found, or compares it with that.

    python compatibility.py DIRECTORY PAGE [update]

DIRECTORY holds what each script of checks found (`checks.main`). Ends with 1 when a method is neither called nor argued
in `left_out.py`, when something there is out of date, or when the page differs.
"""

import fnmatch
import json
import os
import pathlib
import re
import sys

from left_out import ARGUED, NOT_SERVED
from routes import ROUTES_OF_OTHERS

SCRIPTS = ["netorca_1_0_14", "netorca_0_3_2"]

# How the Go program calls a reply that satisfies the client.
AGREE = "types and values agree"

# A role in a path.
ROLE = re.compile("/(serviceowner|consumer)/")

INTRODUCTION = """\
# Compatibility

This page lists the parts of the public clients and whether they work with Dovetail. `tests/clients/run` runs the
clients and compares the page (`UPDATE_COMPATIBILITY=1` updates it).

| Section | Compares |
|---|---|
| [Types and values](#types-and-values) | \
each reply with the types of the Go client, the Terraform provider and public payloads |
| [Differences on purpose](#differences-on-purpose) | replies that differ from the expectations of these two clients |
| [netorca-sdk 1.0.14](#netorca-sdk-1014), [0.3.2](#netorca-sdk-032) | \
results of the published clients' methods, unmodified |
| [Routes and fields by name](#routes-and-fields-by-name) | names only, with the contract |

These clients submit whole teams and cannot confirm a removal. So the teams of the checks have `confirm_removals` set to
false, the default of existing teams. A [world file](configuration.md#world-file) sets it for new ones, and
[a request](http/teams.md#settings) changes it. With true, a submission without an application is 400
`removal_not_confirmed`, and both versions of netorca-sdk return its errors. Their validation still succeeds, because a
preview is a confirmation for other clients. An application with `"services": {}` needs it, too.

These clients know CREATE, MODIFY and DELETE, but no [replacement](../how-to/replace-or-modify.md). The checks of each
client complete one: the DELETE, and then the CREATE of the kind REPLACEMENT. They also handle a change instance that
starts as COMPLETED.
"""

PYTHON = """\
**pass**: a check called the method of the published client and got the expected result. The table has all methods of
public classes, with inherited ones, without properties, constants and errors.
"""

TYPES = """\
## Types and values

[A Go program](../../tests/clients/go) sends the requests of the Go client and the Terraform provider. It decodes each
reply into the client's type, with the client's decoder. For the other routes, the types come from public payloads.
**types and values agree** means:

- The status is the expected one.
- Every field is present and has the client's type. It is null only where the client accepts null.
- Constants are documented ones, times have six fraction digits and a `Z`, and URLs lead to this system.
- Lists have rows, and filters select the right ones.
"""

DIFFERENCES = """\
## Differences on purpose

The same program checks each reply. The third column has the reply of the clients' own platform, as far as it is public.
Requests may use ERROR as another name of ERRORED.

| Request | Client | Their platform | Dovetail |
|---|---|---|---|
"""

NAMES = """\
## Routes and fields by name

All public routes and fields of the Go client and the Terraform provider. This table compares names only with
[the contract](../../infra/openapi.yaml). The third column marks routes of the first section.

| Method | Path | Comparison | Missing fields |
|---|---|---|---|
"""


def argued(method):
    """Why a method is not called: the pattern that it fits, and the words for the page."""
    for reason, patterns in ARGUED:
        for pattern in patterns:
            if fnmatch.fnmatchcase(method, pattern):
                return pattern, reason
    return None, None


def section(found, used, problems):
    """The table of one client."""
    told = {"pass": "pass", "refuses": "the client refuses it and sends no request"}
    lines, counts = [], {}
    for method, outcome in found["methods"].items():
        words = told.get(outcome)
        if words is None:
            pattern, words = argued(method)
            used.add(pattern)
            if pattern is None:
                problems.append(f"{found['version']} {method} is neither called nor explained in left_out.py")
        lines.append(f"| `{method}` | {words} |")
        kind = outcome if outcome in told else "left out"
        counts[kind] = counts.get(kind, 0) + 1
    summary = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items(), reverse=True))
    head = f"## netorca-sdk {found['version']}\n\n{len(lines)} methods: {summary}.\n\n{PYTHON}\n"
    return head + "\n".join(["| Method | Result |", "|---|---|", *lines]) + "\n"


def served(contract, method, path):
    """The operation of the contract, if it has it."""
    return contract["paths"].get(path, {}).get(method.lower())


def fields_of(contract, schema):
    """The names of a schema's fields, those of what it is made of included."""
    schema = resolved(contract, schema)
    names = set(schema.get("properties", {}))
    for part in schema.get("allOf", []) + schema.get("anyOf", []) + schema.get("oneOf", []):
        names |= fields_of(contract, part)
    return names


def resolved(contract, schema):
    while "$ref" in schema:
        value = contract
        for name in schema["$ref"].removeprefix("#/").split("/"):
            value = value[name]
        schema = value
    return schema


def read(directory, script):
    """What a script of checks found."""
    with open(os.path.join(directory, f"{script}.json")) as file:
        return json.load(file)


def types(found, problems):
    """The calls of the Go program, once for each client, route and type, and how their replies compare."""
    calls = {tuple(call[name] for name in ("path", "method", "client", "type", "outcome")) for call in found["calls"]}
    lines = ["| Method | Path | Client | Type | Result |", "|---|---|---|---|---|"]
    for path, method, client, name, outcome in sorted(calls):
        if outcome != AGREE:
            problems.append(f"{method} {path}, {client}: {outcome}")
        lines.append(f"| {method} | `{path}` | {client} | {name} | {outcome} |")
    return TYPES + "\n" + "\n".join(lines) + "\n"


def differences(found):
    """Replies that refuse a wish of the Go client or the Terraform provider, or differ from it."""
    names = ("what", "client", "platform", "reply")
    lines = [f"| {' | '.join(refusal[name] for name in names)} |" for refusal in found["refusals"]]
    return DIFFERENCES + "\n".join(lines) + "\n"


def compared(go):
    """The routes whose replies the Go program compares, with the name of a role and with its placeholder."""
    calls = {(call["method"], call["path"]) for call in go["calls"]}
    return calls | {(method, ROLE.sub("/{pov}/", path, count=1)) for method, path in calls}


def others(contract, go, problems):
    """What the Go client and the Terraform provider call and read, compared by name with the contract."""
    lines, typed = [], compared(go)
    for methods, path, schema, fields in ROUTES_OF_OTHERS:
        for method in methods.split():
            is_there = served(contract, method, path) is not None
            known = fields_of(contract, {"$ref": f"#/components/schemas/{schema}"}) if schema and is_there else set()
            missing = [f"`{name}`" for name in fields if is_there and name not in known]
            if not is_there and path not in NOT_SERVED:
                problems.append(f"{method} {path} is neither served nor explained in left_out.py")
            state = "types and values" if (method, path) in typed else "name only"
            state = state if is_there else NOT_SERVED.get(path)
            lines.append(f"| {method} | `{path}` | {state} | {', '.join(missing)} |")
    return NAMES + "\n".join(lines) + "\n"


def page(directory, problems):
    """The whole page."""
    found = [read(directory, script) for script in SCRIPTS]
    go = read(directory, "go")
    used = set()
    methods = [section(each, used, problems) for each in found]
    contract = found[0]["contract"]
    for route in NOT_SERVED:
        if route in contract["paths"]:
            problems.append(f"left_out.py: {route} is not served, it says, and the contract has it")
    for pattern in (pattern for _, patterns in ARGUED for pattern in patterns):
        if pattern not in used:
            problems.append(f"left_out.py: nothing is left out by {pattern}")
    return "\n".join([INTRODUCTION, types(go, problems), differences(go), *methods, others(contract, go, problems)])


def main(directory, path, update=None):
    problems = []
    text = page(directory, problems)
    if update:
        with open(path, "w") as file:
            file.write(text)
    committed = pathlib.Path(path).read_text() if os.path.exists(path) else ""
    if text != committed:
        problems.append(f"{path} differs from what was found: update it with UPDATE_COMPATIBILITY=1 tests/clients/run")
    for problem in problems:
        print(f"FAILED  {problem}", flush=True)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
