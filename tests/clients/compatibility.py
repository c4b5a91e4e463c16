"""Writes docs/compatibility.md from what the checks of the clients have found, or compares it with that.

    python compatibility.py DIRECTORY PAGE [update]

DIRECTORY holds what each script of checks found (`checks.main`). Ends with 1 when a method is neither called nor argued
in `left_out.py`, when something there is out of date, or when the page differs.
"""

import fnmatch
import json
import os
import sys

from left_out import ARGUED, NOT_SERVED
from routes import ROUTES_OF_OTHERS

SCRIPTS = ["netorca_1_0_14", "netorca_0_3_2"]

INTRODUCTION = """\
# Compatibility

Which methods of the public Python clients work against this system, unmodified, and how replies decode into the types of
the public Go client. `tests/clients/run` writes this page from what its checks called, and fails when it differs (`UPDATE_COMPATIBILITY=1` writes it anew). **pass**: called, and it worked.
Methods are those of the classes that users get, inherited ones included; properties, words and errors are left out.
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
    told = {"pass": "pass", "refuses": "the client refuses it by itself: no request leaves it"}
    lines, counts = [], {}
    for method, outcome in found["methods"].items():
        words = told.get(outcome)
        if words is None:
            pattern, words = argued(method)
            used.add(pattern)
            if pattern is None:
                problems.append(f"{found['version']} {method} is neither called nor argued in left_out.py")
        lines.append(f"| `{method}` | {words} |")
        kind = outcome if outcome in told else "left out"
        counts[kind] = counts.get(kind, 0) + 1
    summary = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items(), reverse=True))
    head = f"## netorca-sdk {found['version']}\n\n{len(lines)} methods: {summary}.\n\n| method | |\n|---|---|\n"
    return head + "\n".join(lines) + "\n"


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


def typed(directory, problems):
    """What the program with the types of the Go client called, and how each reply decoded."""
    with open(os.path.join(directory, "go.json")) as file:
        found = json.load(file)
    rows = sorted({(call["path"], call["method"], call["type"], call["outcome"]) for call in found["calls"]})
    problems += [f"{method} {path}: {outcome}" for path, method, _, outcome in rows if outcome != "types agree"]
    lines = ["## The Go client's types\n",
             "A Go program calls these routes as the Go client and the Terraform provider do, and decodes each reply into the",
             "types of the Go client. **types agree**: the status is the expected one, every field is there and has its type.\n",
             "| method | path | type | |", "|---|---|---|---|"]
    lines += [f"| {method} | `{path}` | `{name}` | {outcome} |" for path, method, name, outcome in rows]
    lines += ["", "Refused on purpose, or answered otherwise than these clients may expect; the program checks each:\n",
              "| what | reply |", "|---|---|"]
    lines += [f"| {refusal['what']} | {refusal['reply'].replace('|', '')} |" for refusal in found["refusals"]]
    return "\n".join(lines) + "\n"


def others(contract, problems):
    """What the Go client and the Terraform provider call and read, compared by name with the contract."""
    lines = ["## Routes and fields by name\n",
             "All public routes and fields of the Go client and the Terraform provider. This table compares names alone with",
             "[the contract](../infra/openapi.yaml); the section before compares types and values.\n",
             "| method | path | | missing fields |", "|---|---|---|---|"]
    for methods, path, schema, fields in ROUTES_OF_OTHERS:
        for method in methods.split():
            is_there = served(contract, method, path) is not None
            known = fields_of(contract, {"$ref": f"#/components/schemas/{schema}"}) if schema and is_there else set()
            missing = [f"`{name}`" for name in fields if is_there and name not in known]
            if not is_there and path not in NOT_SERVED:
                problems.append(f"{method} {path} is neither served nor argued in left_out.py")
            state = "in the contract" if is_there else NOT_SERVED.get(path)
            lines.append(f"| {method} | `{path}` | {state} | {', '.join(missing)} |")
    return "\n".join(lines) + "\n"


def page(directory, problems):
    """The whole page."""
    found = []
    for script in SCRIPTS:
        with open(os.path.join(directory, f"{script}.json")) as file:
            found.append(json.load(file))
    used = set()
    parts = [INTRODUCTION, *(section(each, used, problems) for each in found)]
    contract = found[0]["contract"]
    for route in NOT_SERVED:
        if route in contract["paths"]:
            problems.append(f"left_out.py: {route} is not served, it says, and the contract has it")
    for pattern in (pattern for _, patterns in ARGUED for pattern in patterns):
        if pattern not in used:
            problems.append(f"left_out.py: nothing is left out by {pattern}")
    return "\n".join([*parts, typed(directory, problems), others(contract, problems)])


def main(directory, path, update=None):
    problems = []
    text = page(directory, problems)
    if update:
        with open(path, "w") as file:
            file.write(text)
    committed = open(path).read() if os.path.exists(path) else ""
    if text != committed:
        problems.append(f"{path} differs from what was found: write it anew with UPDATE_COMPATIBILITY=1 tests/clients/run")
    for problem in problems:
        print(f"FAILED  {problem}", flush=True)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
