"""Checks service definitions of the tests against the dialect that a system serves, with an independent implementation.

    definitions.py BASE_URL

Valid are the definitions of the worlds, and those that a scenario publishes with success. The definitions below with a
wrong word are invalid. So an editor with the dialect as schema reports the same words as the system.
"""

import json
import pathlib
import re
import sys
import urllib.request

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

WORLDS = ["infra/daemon/src/demo.world.json", "tests/contract/world.json"]
# Wrong values of words, at the root and in subschemas of all kinds.
WRONG = [
    {"x-verified": "yes"},
    {"x-from": {"PENDING": {}}},
    {"x-from": {"APPROVED": {"properties": {"a": {"type": "thing"}}}}},
    {"properties": {"a": {"x-on-change": "maybe"}}},
    {"$defs": {"a": {"items": {"readOnly": 1}}}},
    {"anyOf": [{"x-derived": True}]},
    {"x-upgrade": [{"op": "test", "path": "/a", "value": 1}]},
]


def of_worlds():
    for world in WORLDS:
        for service in json.loads(pathlib.Path(world).read_text())["services"]:
            yield world, service["schema"]


def of_scenarios():
    published = re.compile(r"^\S+ publishes\n((?:  .*\n)+)-> 20", re.MULTILINE)
    for scenario in sorted(pathlib.Path("tests/scenarios").glob("*.txt")):
        for match in published.finditer(scenario.read_text()):
            yield str(scenario), json.loads(match[1])


def main(base):
    url = f"{base}/v1/definition.schema.json"
    with urllib.request.urlopen(url) as response:
        dialect = json.load(response)
    Draft202012Validator.check_schema(dialect)
    # As in an editor, the definition names the dialect by its URL.
    registry = Registry().with_resource(url, Resource.from_contents(dialect))
    validator = Draft202012Validator({"$ref": url}, registry=registry)
    definitions = [*of_worlds(), *of_scenarios()]
    for source, definition in definitions:
        errors = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(definition)]
        assert not errors, (source, errors)
    for wrong in WRONG:
        assert not validator.is_valid({"type": "object"} | wrong), wrong
    print(f"{len(definitions)} definitions are valid, and {len(WRONG)} wrong ones are not")


if __name__ == "__main__":
    main(*sys.argv[1:])
