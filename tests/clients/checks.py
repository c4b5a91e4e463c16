"""The framework of the clients' checks: expectations, helpers and the runner.

A check is a function named after its claim. It starts without declarations, and raises AssertionError on a difference.
"""

import contextlib
import importlib.metadata
import json
import os
import re
import sys
import tempfile
import traceback

import requests
from methods import Methods

# Address of the system. `main` sets it.
BASE_URL = ""
CHECKS = []

# Maximum time until the system is idle, in seconds.
SETTLING_SECONDS_MAX = 60

# Exit status if no check matches the arguments. Another client may have a matching check.
NO_SUCH_CHECK = 3


def check(function):
    """Registers a function as a check."""
    CHECKS.append(function)
    return function


# --- Expecting ---------------------------------------------------------------------------------------------


def expect(what, expected, came):
    """Fails unless `came` equals `expected`."""
    if came != expected:
        raise AssertionError(f"{what}:\n    expected {expected!r}\n    came     {came!r}")


def expect_members(what, expected, came):
    """Fails unless `came` has the members of `expected`. An object read alone may have more than a row of a list."""
    expect(what, expected, {name: came.get(name) for name in expected})


def expect_that(what, holds, came):
    """Fails unless the statement in `what` holds. The message shows `came`."""
    if not holds:
        raise AssertionError(f"expected that {what}\n    came     {came!r}")


def refused(exception, text, call):
    """Fails unless `call` raises exactly this exception with this text. Returns the whole text."""
    expected = f"{exception.__name__} with {text!r}"
    try:
        returned = call()
    except Exception as raised:
        came = f"{type(raised).__name__}: {raised}"
        if type(raised) is not exception or text not in str(raised):
            raise AssertionError(f"a refusal:\n    expected {expected}\n    came     {came}") from raised
        return str(raised)
    raise AssertionError(f"a refusal:\n    expected {expected}\n    came     {returned!r}")


def reason(text):
    """Returns the body of a 400. Both clients put it into the text of their exception."""
    return json.loads(text.split("Reason: ", 1)[1])


def settle():
    """Waits until the system is idle: it has generated and published everything."""
    settled = requests.get(f"{BASE_URL}/_local/settled", timeout=SETTLING_SECONDS_MAX)
    expect("the idle system", (200, {"settled": True}), (settled.status_code, settled.json()))


# --- Fields of the clients' objects ------------------------------------------------------------------------

TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
OBJECT, TEXT, INTEGER, TRUTH, LIST, NULL = dict, str, int, bool, list, type(None)

CHANGE_INSTANCE = {
    "id": INTEGER,
    "url": TEXT,
    "state": TEXT,
    "change_type": TEXT,
    "log": TEXT,
    "created": TEXT,
    "modified": TEXT,
    "is_dependant": TRUTH,
    "owner.id": INTEGER,
    "owner.name": TEXT,
    "service_item.id": INTEGER,
    "service_item.name": TEXT,
    "service_item.runtime_state": TEXT,
    "service_item.declaration": OBJECT,
    "service_item.deployed_item": OBJECT,
    "submission.id": INTEGER,
    "submission.commit_id": (TEXT, NULL),
    "new_declaration": (OBJECT, NULL),
    "old_declaration": (OBJECT, NULL),
    "service_owner_team.id": INTEGER,
    "service_owner_team.name": TEXT,
    "service_owner_team.metadata": OBJECT,
    "consumer_team.id": INTEGER,
    "consumer_team.name": TEXT,
    "consumer_team.metadata": OBJECT,
    "service.id": INTEGER,
    "service.name": TEXT,
    "service.allow_manual_approval": TRUTH,
    "service.allow_manual_completion": TRUTH,
    "application.id": INTEGER,
    "application.name": TEXT,
    "application.metadata": OBJECT,
}

SERVICE_ITEM = {
    "id": INTEGER,
    "url": TEXT,
    "name": TEXT,
    "created": TEXT,
    "modified": TEXT,
    "runtime_state": TEXT,
    "change_state": TEXT,
    "service.id": INTEGER,
    "service.name": TEXT,
    "service.owner.id": INTEGER,
    "service.owner.name": TEXT,
    "service.state": TEXT,
    "service.healthcheck": TRUTH,
    "application.id": INTEGER,
    "application.name": TEXT,
    "application.metadata": OBJECT,
    "application.owner": INTEGER,
    "service_owner_team.id": INTEGER,
    "service_owner_team.name": TEXT,
    "consumer_team.id": INTEGER,
    "consumer_team.name": TEXT,
    "consumer_team.metadata": OBJECT,
    "deployed_item": OBJECT,
    "declaration": OBJECT,
    "related": (TEXT, NULL),
    "healthcheck_status": (TEXT, NULL),
    "is_validated_minimum_schema": TRUTH,
    "is_deprecated_service_schema": TRUTH,
    "is_service_private": TRUTH,
}

DEPLOYED_ITEM = {
    "id": INTEGER,
    "url": TEXT,
    "version": INTEGER,
    "data": OBJECT,
    "service_item": TEXT,
    "change_instance": (TEXT, NULL),
    "consumer_team.id": INTEGER,
    "consumer_team.name": TEXT,
    "service_owner_team.id": INTEGER,
    "service_owner_team.name": TEXT,
    "created": TEXT,
    "modified": TEXT,
}

SERVICE = {
    "id": INTEGER,
    "url": TEXT,
    "name": TEXT,
    "state": TEXT,
    "owner.id": INTEGER,
    "owner.name": TEXT,
    "schema.schema": OBJECT,
    "tags": LIST,
    "has_md": (TRUTH, TEXT),
    "minimum_version": (INTEGER, NULL),
    "enabled_notifications": TRUTH,
    "allowed_teams": LIST,
    "approval_required": TRUTH,
    "allow_manual_approval": TRUTH,
    "allow_manual_completion": TRUTH,
}

def expect_fields(what, shape, came):
    """Fails unless `came` has at least these fields, with values of these types."""
    for path, types in shape.items():
        value = came
        for name in path.split("."):
            expect_that(f"{what} has {path}", isinstance(value, dict) and name in value, came)
            value = value[name]
        kinds = types if isinstance(types, tuple) else (types,)
        names = " or ".join(kind.__name__ for kind in kinds)
        expect_that(f"{path} of {what} is {names}", type(value) in kinds, value)
        if path in ("created", "modified"):
            expect_that(f"{path} of {what} has six digits and Z", TIMESTAMP.fullmatch(value), value)
        if path == "url":
            expect_that(f"the url of {what} is absolute", value.startswith(f"{BASE_URL}/v1/"), value)


# --- Declaring ---------------------------------------------------------------------------------------------

# Teams and API keys of the demo world, without `confirm_removals`. The first team is the consumer.
TEAM = "AwesomeConsumer"
CONSUMER_KEY = "awesome-key"
OTHER_CONSUMER_KEY = "awesome2-key"
VM_OWNER_KEY = "vm-owner-key"
LB_OWNER_KEY = "lb-owner-key"
NP_OWNER_KEY = "np-owner-key"


def declaration(*vms, application="Shop"):
    """Returns a declaration of these virtual machines in one application."""
    return {TEAM: {application: {"services": {"VM": list(vms)}}}}


def vm(name="web", **fields):
    """Returns the declaration of a virtual machine.

    An item with an earlier name is the same item, with its earlier deployed items. So each check of deployed items has
    separate names.
    """
    return {"name": name, **fields}


def schema_of(title, **fields):
    """Returns a service definition: a JSON Schema with the service's name as its title."""
    properties = {"name": {"type": "string"}, **fields}
    return {"title": title, "type": "object", "properties": properties, "required": ["name"]}


# The service of the checks of replacements. Its settings decide how a change becomes change instances.
PROBE = schema_of("Probe", interval={"type": "integer"})


def probe(interval):
    """Returns a declaration of one item of the service Probe."""
    return {TEAM: {"Shop": {"services": {"Probe": [{"name": "web", "interval": interval}]}}}}


def intervals(change):
    """Returns the intervals of the old and the new declaration of a change instance. A missing declaration is None."""
    declarations = (change["old_declaration"], change["new_declaration"])
    return tuple(each and each["declaration"]["interval"] for each in declarations)


@contextlib.contextmanager
def repository(**files):
    """Creates a folder with a `.netorca` directory, like a team's git repository. `__` in a name becomes a dot."""
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, ".netorca"))
        for name, text in files.items():
            with open(os.path.join(folder, ".netorca", name.replace("__", ".")), "w") as file:
                file.write(text)
        yield folder


# The error of a whole submission without the application Shop, which has one item, as both clients return it.
UNCONFIRMED = {TEAM: {"Shop": {"application": [
    "must be present, or its removal confirmed: it would lose its items (1)",
]}}}


@contextlib.contextmanager
def confirmed_removals():
    """Sets `confirm_removals` of the consumer's team, and resets it afterwards."""
    session = requests.Session()
    session.headers["Authorization"] = f"Api-Key {CONSUMER_KEY}"
    (team,) = session.get(f"{BASE_URL}/v1/account/teams/").json()["results"]

    def set_to(value):
        patched = session.patch(f"{BASE_URL}/v1/account/teams/{team['id']}/", json={"confirm_removals": value})
        expect("the setting", value, patched.json()["confirm_removals"])

    set_to(True)
    try:
        yield
    finally:
        set_to(False)


GITOPS_CONFIG = (
    "netorca_global:\n  base_url: {url}\n  metadata:\n    team_name: AwesomeConsumer\n    budget_code: 12345\n"
)
GITOPS_SHOP = "Shop:\n  metadata:\n    env: dev\n  services:\n    VM:\n      - name: web\n        cpu: {cpu}\n"
GITOPS_BANK = "Bank:\n  services:\n    VM:\n      - name: ledger\n"


# --- Running -----------------------------------------------------------------------------------------------


def succeeds(function, prepare):
    """Runs one check from the initial state and prints its result."""
    name = function.__name__.replace("_", " ")
    try:
        prepare()
        function()
    except AssertionError as failure:
        print(f"FAILED  {name}\n  {failure}", flush=True)
        return False
    except Exception as raised:
        lines = [line for frame, line in traceback.walk_tb(raised.__traceback__)
                 if frame.f_code.co_filename == function.__code__.co_filename]
        came = f"{type(raised).__name__}: {raised}\n    at line {lines[-1] if lines else 'unknown'}"
        print(f"FAILED  {name}\n    expected no exception\n    came     {came}", flush=True)
        return False
    print(f"ok      {name}", flush=True)
    return True


def main(version, prepare, usage="BASE_URL [PART_OF_A_NAME ...]"):
    """Runs the checks with one of the arguments in their names, or all. Exits with 1 if one fails."""
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} {usage}")
    global BASE_URL
    BASE_URL = sys.argv[1].rstrip("/")
    parts = sys.argv[2:]
    expect("the client's version", version, importlib.metadata.version("netorca-sdk"))
    own = [each for each in CHECKS if each.__module__ == "__main__"]
    chosen = [each for each in own if not parts or any(part in each.__name__ for part in parts)]
    if not chosen:
        sys.exit(NO_SUCH_CHECK)
    methods = Methods("netorca_sdk")
    outcomes = []
    for each in chosen:
        outcomes.append(succeeds(each, prepare))
        methods.judge(outcomes[-1])
    script = os.path.splitext(os.path.basename(sys.argv[0]))[0]
    if not parts and "FOUND" in os.environ:
        contract = requests.get(f"{BASE_URL}/v1/openapi.json", timeout=SETTLING_SECONDS_MAX).json()
        found = {"version": version, "methods": methods.told(), "contract": contract}
        with open(os.path.join(os.environ["FOUND"], f"{script}.json"), "w") as file:
            json.dump(found, file)
    print(f"{script}: {outcomes.count(True)} passed, {outcomes.count(False)} failed", flush=True)
    sys.exit(0 if all(outcomes) else 1)
