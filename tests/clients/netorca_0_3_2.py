"""Typical uses of the unmodified public Python client `netorca-sdk` 0.3.2 against this system.

The client differs from 1.x:

- A list is one page, as the server's dict. An object is a dict.
- The team's name comes from `account/teams`.
- The status and `is_valid` of a reply show the result of a repository's submission.

Each check starts without declarations and is named after its claim. `tests/clients/run` starts the system and runs all
checks:

    python netorca_0_3_2.py BASE_URL [PART_OF_A_NAME ...]

Dovetail has no passwords, so a login with a name and a password fails.
"""

import contextlib
import functools
import io
import json
import os
import tempfile
import xml.etree.ElementTree

import checks
import git
from checks import (
    CHANGE_INSTANCE,
    CONSUMER_KEY,
    DEPLOYED_ITEM,
    GITOPS_BANK,
    GITOPS_CONFIG,
    GITOPS_SHOP,
    INTEGER,
    LB_OWNER_KEY,
    NP_OWNER_KEY,
    OBJECT,
    OTHER_CONSUMER_KEY,
    PROBE,
    SERVICE,
    SERVICE_ITEM,
    TEAM,
    TEXT,
    TRUTH,
    UNCONFIRMED,
    VM_OWNER_KEY,
    check,
    confirmed_removals,
    declaration,
    expect,
    expect_fields,
    expect_that,
    intervals,
    probe,
    refused,
    repository,
    schema_of,
    settle,
    vm,
)
from netorca_sdk.auth import NetorcaAuth
from netorca_sdk.consumer import ConsumerSubmission
from netorca_sdk.exceptions import (
    NetorcaAPIError,
    NetorcaAuthenticationError,
    NetorcaException,
    NetorcaInvalidContextError,
    NetorcaNotFoundError,
    NetorcaValueError,
    NetOrcaWrongYAMLFormat,
)
from netorca_sdk.netorca import Netorca
from netorca_sdk.serviceowner import ServiceOwnerSubmission
from netorca_sdk.validations import ContextIn

CONSUMER = ContextIn.CONSUMER.value
OWNER_KEYS = (VM_OWNER_KEY, LB_OWNER_KEY, NP_OWNER_KEY)


# --- Clients and helpers -----------------------------------------------------------------------------------


@functools.cache
def netorca(key=VM_OWNER_KEY):
    """Returns a client. Each call selects the role. The default is the service owner."""
    return Netorca(fqdn=checks.BASE_URL, api_key=key)


def declare(*vms, application="Shop"):
    """Submits a declaration and returns its change instances."""
    wanted = declaration(*vms, application=application)
    return netorca(CONSUMER_KEY).submission_submit(wanted, context=CONSUMER)["change_instances"]


def move(change_id, *states):
    """Moves a change instance through these states, as the owner of VM."""
    for state in states:
        change = netorca().update_change_instance(change_id, {"state": state})
    return change


def deliver(*vms):
    """Declares virtual machines and completes their change instances. Returns their service items."""
    for change in declare(*vms):
        move(change["id"], "APPROVED", "COMPLETED")
    return items(runtime_state="IN_SERVICE", ordering="name")


def items(**filters):
    """Returns one page of the consumer's service items, without decommissioned ones."""
    filters = {"runtime_state": "REQUESTED,IN_SERVICE", "limit": 100, **filters}
    return netorca(CONSUMER_KEY).get_service_items(filters, context=CONSUMER)["results"]


def names_of(rows):
    """Returns the sorted names of rows."""
    return sorted(row["name"] for row in rows)


def carry_out_everything():
    """Closes all rejected and failed change instances of every owner, and completes the others."""
    settle()
    for owner in map(netorca, OWNER_KEYS):
        waiting = {"state": "REJECTED,ERRORED,PENDING,APPROVED", "limit": 100}
        # Completed change instances leave the list, so the first page is read until it is empty.
        while changes := owner.get_change_instances(waiting)["results"]:
            for change in changes:
                steps = {"PENDING": ["APPROVED", "COMPLETED"], "APPROVED": ["COMPLETED"]}
                for state in steps.get(change["state"], ["CLOSED"]):
                    owner.update_change_instance(change["id"], {"state": state})


def withdraw_everything():
    """Removes all items and open change instances, so that all checks start alike."""
    carry_out_everything()
    netorca(CONSUMER_KEY).submission_submit({TEAM: {}}, context=CONSUMER)
    carry_out_everything()


def bad_request(resource, call):
    """Fails unless `call` gets a 400. Returns its body from the text of the exception."""
    return checks.reason(refused(NetorcaAPIError, f"Bad request for {resource}. Reason: ", call))


@contextlib.contextmanager
def inside(folder):
    """Enters a folder, because the client writes its report there, and captures the output."""
    before, printed = os.getcwd(), io.StringIO()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(printed):
            yield printed
    finally:
        os.chdir(before)


def gitops(folder, key=CONSUMER_KEY, **options):
    """Loads the team's repository like the pipeline of a merge request."""
    submission = ConsumerSubmission(netorca_api_key=key, repository_url=folder, **options)
    submission.load_from_repository()
    return submission


# --- Keys --------------------------------------------------------------------------------------------------


@check
def a_client_is_made_from_an_address_and_a_key():
    for address in (checks.BASE_URL, f"{checks.BASE_URL}/", f"{checks.BASE_URL}/v1", f"{checks.BASE_URL}/v1/"):
        client = Netorca(fqdn=address, api_key=VM_OWNER_KEY)
        expect("its address", f"{checks.BASE_URL}/v1", client.auth.fqdn)
        expect("its services", ["VM"], names_of(client.get_services({"name": "VM"})["results"]))


@check
def a_client_is_made_from_its_own_authentication():
    auth = NetorcaAuth(fqdn=checks.BASE_URL, api_key=VM_OWNER_KEY, verify_ssl=False)
    expect("the services", ["VM"], names_of(Netorca(auth).get_services({"name": "VM"})["results"]))
    refused(NetorcaException, "Either `auth` or `fqdn` must be provided!", Netorca)
    refused(NetorcaException, "Failed to authenticate.", lambda: Netorca(fqdn=checks.BASE_URL))


@check
def a_key_tells_its_team():
    expect("the consumer's teams", [TEAM], names_of(netorca(CONSUMER_KEY).auth.get_teams_info()))
    (team,) = netorca().auth.get_teams_info()
    expect_fields("the owner's team", {"id": INTEGER, "name": TEXT, "metadata": OBJECT}, team)
    expect("its name", "VMOwnerTeam", team["name"])


@check
def a_bad_key_is_refused_at_the_first_call():
    client = netorca("no-such-key")
    refused(NetorcaAuthenticationError, "Authentication failed.", client.auth.get_teams_info)
    refused(NetorcaAuthenticationError, "Authentication failed.", client.get_services)
    refused(NetorcaAuthenticationError, "Authentication failed.", lambda: client.get_change_instance(1))
    refused(NetorcaAuthenticationError, "Authentication failed.",
            lambda: client.submission_submit({TEAM: {}}, context=CONSUMER))
    refused(NetorcaAuthenticationError, "Authentication failed.",
            lambda: client.update_change_instance(1, {"state": "APPROVED"}))


@check
def logging_in_with_a_name_and_a_password_is_refused():
    refused(NetorcaException, "Authentication failed due response status_code: 404",
            lambda: Netorca(fqdn=checks.BASE_URL, username="somebody", password="secret"))


@check
def a_users_token_is_refused_even_if_it_is_a_key():
    for token in ("no-such-token", VM_OWNER_KEY):
        auth = NetorcaAuth(fqdn=checks.BASE_URL, api_key=VM_OWNER_KEY)
        auth.headers["Authorization"] = f"Token {token}"
        refused(NetorcaAuthenticationError, "Authentication failed.", auth.get_teams_info)
        refused(NetorcaAuthenticationError, "Authentication failed.", Netorca(auth).get_change_instances)


# --- The two points of view --------------------------------------------------------------------------------


@check
def a_call_is_the_service_owners_unless_it_says_consumer():
    (born,) = declare(vm())
    for context in (None, "serviceowner", ContextIn.SERVICEOWNER.value):
        (change,) = netorca().get_change_instances({"state": "PENDING"}, context=context)["results"]
        expect("what the owner sees", born["id"], change["id"])
        expect_that("the url is the owner's", "/v1/orcabase/serviceowner/" in change["url"], change["url"])
    (change,) = netorca(CONSUMER_KEY).get_change_instances({"state": "PENDING"}, context="consumer")["results"]
    expect("what the consumer sees", born["id"], change["id"])
    expect_that("the url is the consumer's", "/v1/orcabase/consumer/" in change["url"], change["url"])
    as_owner = netorca(CONSUMER_KEY).get_change_instances({"state": "PENDING"})
    expect("what the consumer sees as an owner", (0, []), (as_owner["count"], as_owner["results"]))


@check
def one_object_is_read_from_both_points_of_view():
    (born,) = declare(vm())
    for context, key in (("serviceowner", VM_OWNER_KEY), ("consumer", CONSUMER_KEY)):
        call = netorca(key).caller
        expect("the change", born["id"], call("change_instances", "get", id=born["id"], context=context)["id"])
        item = call("service_items", "get", id=born["service_item"]["id"], context=context)
        expect("the item", "web", item["name"])
        service = call("services", "get", id=born["service"]["id"], context=context)
        expect("the service", "VM", service["name"])


@check
def the_client_refuses_what_it_does_not_know():
    for context in ("nobody", ContextIn.CONSUMER):
        refused(NetorcaInvalidContextError, "is not a valid ContextIn value",
                lambda context=context: netorca().get_service_items(context=context))
    refused(NetorcaValueError, "Invalid endpoint", lambda: netorca().caller("nothing", "get"))
    refused(NetorcaValueError, "Invalid operation", lambda: netorca().caller("service_items", "create"))


# --- Validating and submitting -----------------------------------------------------------------------------


@check
def a_valid_declaration_is_found_valid_and_changes_nothing():
    for partial in (False, True):
        answer = netorca(CONSUMER_KEY).submission_validate(declaration(vm(cpu=8)), partial, context=CONSUMER)
        expect("is_valid and errors", (True, {}), (answer["is_valid"], answer["errors"]))
    expect("the service items afterwards", [], items())


@check
def an_invalid_declaration_is_told_field_by_field():
    wrong = declaration(vm("web", cpu="eight"), vm("db", colour="red"))
    client = netorca(CONSUMER_KEY)
    for resource, call in (("validate", client.submission_validate), ("submit", client.submission_submit)):
        body = bad_request(f"submission_{resource}", lambda call=call: call(wrong, context=CONSUMER))
        expect("is_valid", False, body["is_valid"])
        errors = body["errors"][TEAM]["Shop"]["VM"]
        expect("the wrong fields", {"web": ["cpu"], "db": ["colour"]}, {name: [*errors[name]] for name in errors})
    expect("the service items afterwards", [], items())


@check
def a_declaration_becomes_change_instances():
    submission = netorca(CONSUMER_KEY).submission_submit(declaration(vm("web", cpu=8), vm("db")), context=CONSUMER)
    expect_fields("a submission", {"id": INTEGER, "created": TEXT, "changed": TRUTH}, submission)
    changes = submission["change_instances"]
    expect("their items", ["db", "web"], names_of(change["service_item"] for change in changes))
    for change in changes:
        expect_fields("a change instance", CHANGE_INSTANCE, change)
        expect("type and state", ("CREATE", "PENDING"), (change["change_type"], change["state"]))
    again = netorca(CONSUMER_KEY).submission_submit(declaration(vm("web", cpu=8), vm("db")), context=CONSUMER)
    expect("the same again", (False, []), (again["changed"], again["change_instances"]))


@check
def a_part_of_the_declaration_can_be_submitted_alone():
    declare(vm("web"))
    client = netorca(CONSUMER_KEY)
    client.submission_submit(declaration(vm("ledger"), application="Bank"), partial=True, context=CONSUMER)
    expect("the items", ["ledger", "web"], names_of(items()))
    withdrawn = client.submission_submit({TEAM: {"Bank": {"services": {}}}}, partial=True, context=CONSUMER)
    told = [(change["service_item"]["name"], change["change_type"]) for change in withdrawn["change_instances"]]
    expect("what is withdrawn", [("ledger", "DELETE")], told)


@check
def an_empty_body_is_an_empty_declaration():
    body = bad_request("submission_submit", lambda: netorca(CONSUMER_KEY).submission_submit({}, context=CONSUMER))
    expect_that("the body has errors", body["is_valid"] is False and body["errors"], body)


@check
def what_was_rejected_blocks_the_same_declaration_and_not_another():
    (born,) = declare(vm(cpu=8))
    rejected = netorca().update_change_instance(born["id"], {"state": "REJECTED", "log": "too many CPUs"})
    expect("state and log", ("REJECTED", "too many CPUs"), (rejected["state"], rejected["log"]))
    body = bad_request("submission_submit", lambda: declare(vm(cpu=8)))
    expect("the same is", (False, ["web"]), (body["is_valid"], list(body["errors"][TEAM]["Shop"]["VM"])))
    (again,) = declare(vm(cpu=4))
    expect("another is", ("CREATE", "PENDING"), (again["change_type"], again["state"]))
    expect("the rejected one is", "CLOSED", netorca().get_change_instance(born["id"])["state"])


# --- A team's repository -----------------------------------------------------------------------------------


@check
def a_repository_is_validated_and_submitted_for_the_team_of_the_key():
    # The client takes the team's name from account/teams, not from the file.
    config = GITOPS_CONFIG.format(url=checks.BASE_URL).replace("AwesomeConsumer", "Somebody")
    with repository(config__yaml=config, shop__yaml=GITOPS_SHOP.format(cpu=8), bank__yml=GITOPS_BANK) as folder:
        submission = gitops(folder)
        expect("the team", TEAM, submission.get_team()["name"])
        expect("validating", (True, {}), submission.validate())
        expect("the items afterwards", [], items())
        expect("submitting", (True, "Submitted successfully."), submission.submit())
        again = "Submitted successfully, no changes detected"
        expect("submitting again", (True, again), gitops(folder).submit())
    told = sorted((item["application"]["name"], item["name"]) for item in items())
    expect("the items", [("Bank", "ledger"), ("Shop", "web")], told)
    (shop,) = netorca(CONSUMER_KEY).get_applications({"name": "Shop"}, context=CONSUMER)["results"]
    expect("the application's metadata", {"env": "dev"}, shop["metadata"])
    (team,) = netorca(CONSUMER_KEY).auth.get_teams_info()
    expect("the team's metadata", {"team_name": "Somebody", "budget_code": 12345}, team["metadata"])


@check
def a_repository_may_name_its_team_itself():
    for name, is_valid in ((TEAM, True), ("AwesomeConsumer2", False)):
        config = GITOPS_CONFIG.format(url=checks.BASE_URL).replace(TEAM, name)
        with repository(config__yml=config, bank__yaml=GITOPS_BANK) as folder:
            outcome, errors = gitops(folder, use_config=True).validate()
        expect(f"validating for {name}", (is_valid, [] if is_valid else [name]), (outcome, list(errors)))


@check
def a_part_of_a_repository_leaves_other_applications_alone():
    declare(vm("web"))
    with repository(config__yaml=GITOPS_CONFIG.format(url=checks.BASE_URL), bank__yaml=GITOPS_BANK) as folder:
        expect("validating", (True, {}), gitops(folder).validate(partial=True))
        expect("submitting", (True, "Submitted successfully."), gitops(folder).submit(partial=True))
        expect("the items", ["ledger", "web"], names_of(items()))
        gitops(folder).submit()
    deletions = netorca().get_change_instances({"change_type": "DELETE", "state": "PENDING"})["results"]
    expect("what the whole of it removes", ["web"], names_of(change["service_item"] for change in deletions))


@check
def a_repository_without_an_application_of_the_team_is_refused_while_removals_need_a_confirmation():
    declare(vm("web"))
    with repository(config__yaml=GITOPS_CONFIG.format(url=checks.BASE_URL), bank__yaml=GITOPS_BANK) as folder:
        with confirmed_removals():
            expect("validating", (True, {}), gitops(folder).validate())
            is_valid, answer = gitops(folder).submit()
        expect("submitting", (False, "removal_not_confirmed"), (is_valid, answer["code"]))
        expect("its errors", UNCONFIRMED, answer["errors"])
        expect("the items", ["web"], names_of(items()))
        expect("submitting without the setting", (True, "Submitted successfully."), gitops(folder).submit())


@check
def an_invalid_repository_is_reported_as_a_table_and_for_junit():
    config, shop = GITOPS_CONFIG.format(url=checks.BASE_URL), GITOPS_SHOP.format(cpu="eight")
    with repository(config__yaml=config, shop__yaml=shop) as folder:
        submission = gitops(folder)
        with inside(folder) as printed:
            is_valid, errors = submission.validate(pretty_print=True)
            outcome = submission.submit()
            report = xml.etree.ElementTree.parse("junit.xml").getroot()
    expect("is_valid", False, is_valid)
    expect("the wrong fields", ["cpu"], list(errors[TEAM]["Shop"]["VM"]["web"]))
    for word in ("Application: Shop validation errors", "VM", "web", "cpu"):
        expect_that(f"the table shows {word}", word in printed.getvalue(), printed.getvalue())
    expect("the failures in the report", "1", report.get("failures"))
    expect("submitting", (False, "Consumer request is invalid and cannot be submitted."), outcome)
    expect("the items afterwards", [], items())


@check
def a_repositorys_commit_is_told_to_the_owner():
    with repository(config__yaml=GITOPS_CONFIG.format(url=checks.BASE_URL), bank__yaml=GITOPS_BANK) as folder:
        author = git.Actor("Somebody", "somebody@example.org")
        with git.Repo.init(folder) as repo:
            repo.git.add(all=True)
            commit = repo.index.commit("Declare a ledger", author=author, committer=author).hexsha
        expect("submitting", (True, "Submitted successfully."), gitops(folder).submit())
    (change,) = netorca().get_change_instances({"commit_id": commit})["results"]
    expect("item and commit", ("ledger", commit), (change["service_item"]["name"], change["submission"]["commit_id"]))


@check
def a_pipeline_validates_unless_it_is_told_to_submit():
    with repository(config__yaml=GITOPS_CONFIG.format(url=checks.BASE_URL), bank__yaml=GITOPS_BANK) as folder:
        for validate_only, expected, found in (("True", (True, {}), []),
                                               ("False", (True, "Submitted successfully."), ["ledger"])):
            submission = ConsumerSubmission(CONSUMER_KEY, netorca_validate_only=validate_only, repository_url=folder)
            expect(f"the answer to {validate_only}", expected, submission.get_response())
            expect("the items afterwards", found, names_of(items()))


@check
def a_repository_with_a_bad_key_is_refused():
    with repository(config__yaml=GITOPS_CONFIG.format(url=checks.BASE_URL), bank__yaml=GITOPS_BANK) as folder:
        for use_config in (False, True):
            submission = gitops(folder, key="no-such-key", use_config=use_config)
            refused(NetorcaAuthenticationError, "Authentication failed.", submission.validate)


@check
def a_repository_that_is_not_one_is_refused_by_the_client():
    with repository(bank__yaml=GITOPS_BANK) as folder:
        refused(NetorcaException, "No config file in the repository.", lambda: gitops(folder))
        config = {"netorca_global": {"base_url": checks.BASE_URL}}
        submission = ConsumerSubmission(CONSUMER_KEY)
        submission.load_from_repository(folder, repository_config=config)
        expect("with the config given by hand", (True, {}), submission.validate())
    config = GITOPS_CONFIG.format(url=checks.BASE_URL)
    with repository(config__yaml=config, bank__yaml="Bank: {}\nBank: {}\n") as folder:
        refused(NetOrcaWrongYAMLFormat, "Duplicate key found.", lambda: gitops(folder))


@check
def submissions_are_listed_light_and_whole():
    for cpu in (1, 2, 3):
        declare(vm(cpu=cpu))
    with repository(config__yaml=GITOPS_CONFIG.format(url=checks.BASE_URL)) as folder:
        submission = gitops(folder)
        shape = {"id": INTEGER, "url": TEXT, "created": TEXT, "team.name": TEXT}
        for light in (True, False):
            page = submission.get_submissions(limit=2, ordering="-created", light=light)
            expect("the rows of the page", 2, len(page["results"]))
            for row in page["results"]:
                expect_fields("a submission", shape, row)
        oldest = submission.get_submissions(limit=1)["results"][0]
    newest = netorca(CONSUMER_KEY).get_submissions({"ordering": "-created", "light": "true"}, context=CONSUMER)
    expect_that("the oldest is older", oldest["id"] < newest["results"][0]["id"], (oldest, newest["results"][0]))
    read = netorca(CONSUMER_KEY).caller("submissions", "get", id=page["results"][0]["id"], context=CONSUMER)
    expect("one read alone has its change instances", ["web"],
           names_of(change["service_item"] for change in read["change_instances"]))


# --- An owner's repository ---------------------------------------------------------------------------------


@contextlib.contextmanager
def owners_repository(title, schema):
    """Loads an owner's repository with one service."""
    config = json.dumps({"netorca_global": {"base_url": checks.BASE_URL}})
    with repository(config__json=config, **{f"{title}__json": json.dumps(schema)}) as folder:
        submission = ServiceOwnerSubmission(netorca_api_key=VM_OWNER_KEY)
        submission.load_from_repository(folder)
        with inside(folder) as printed:
            yield submission, printed


@check
def an_owners_repository_publishes_its_services():
    with owners_repository("OLD_GITOPS", schema_of("OLD_GITOPS")) as (submission, printed):
        expect("validating", (True, "Services validated successfully."), submission.validate())
        expect("the services after it", [], netorca().get_services({"name": "OLD_GITOPS"})["results"])
        is_submitted, message = submission.submit()
        (service,) = netorca().get_services({"name": "OLD_GITOPS"})["results"]
        expect("its id by its name", service["id"], submission.get_service_id_by_name("OLD_GITOPS"))
        expect("submitting again", (False, "No services were submitted."), submission.submit())
    expect_that("it is submitted", is_submitted and "OLD_GITOPS" in message, message)
    output = printed.getvalue()
    expect_that("the output reports no change", "No updates to service detected" in output, output)


@check
def an_owners_invalid_repository_is_reported_as_a_table():
    with owners_repository("OLD_BROKEN", {"title": "OLD_BROKEN", "type": 5}) as (submission, printed):
        validated = submission.validate(pretty_print=True)
        submitted = submission.submit()
    expect("validating", (False, "Invalid services: OLD_BROKEN"), validated)
    expect_that("the table is printed", "OLD_BROKEN validation errors" in printed.getvalue(), printed.getvalue())
    expect("submitting", (False, "Some of your submissions are invalid and were not submitted."), submitted)


# --- Services ----------------------------------------------------------------------------------------------


@check
def a_service_is_validated_created_and_published_again():
    client = netorca()
    expect("validating", True, client.validate_service(schema_of("OLD_DNS"))["is_valid"])
    body = bad_request("services_validate", lambda: client.validate_service({"title": "OLD_BAD", "type": 5}))
    expect_that("errors are a dict", body["is_valid"] is False and isinstance(body["errors"], dict), body)
    created = client.create_service(schema_of("OLD_DNS"))
    expect_fields("a service", SERVICE, created)
    newer = client.create_service(schema_of("OLD_DNS", address={"type": "string"}))
    expect("the service", created["id"], newer["id"])
    expect("its fields", ["address", "name"], sorted(newer["schema"]["schema"]["properties"]))


@check
def a_services_settings_are_changed():
    service = netorca().create_service(schema_of("OLD_SETTINGS"))
    for operation, setting in (("update", False), ("patch", True), ("update", False)):
        changed = netorca().caller("services", operation, id=service["id"], data={"approval_required": setting})
        expect("the setting", setting, changed["approval_required"])
    updated = netorca().update_service(service["id"], {"approval_required": False, "colour": "red"})
    expect("an unknown key changes nothing", False, updated["approval_required"])
    wanted = {TEAM: {"Shop": {"services": {"OLD_SETTINGS": [{"name": "x"}]}}}}
    submitted = netorca(CONSUMER_KEY).submission_submit(wanted, context=CONSUMER)
    expect("a change instance is born", ["APPROVED"], [change["state"] for change in submitted["change_instances"]])


# --- Lists -------------------------------------------------------------------------------------------------


@check
def a_list_is_one_page_of_twenty_rows():
    declare(*(vm(f"vm{number:02}") for number in range(25)))
    page = netorca(CONSUMER_KEY).get_service_items({"runtime_state": "REQUESTED"}, context=CONSUMER)
    expect("the fields", ["count", "next", "previous", "results"], sorted(page))
    expect("count and rows", (25, 20), (page["count"], len(page["results"])))
    second = netorca(CONSUMER_KEY).auth.get(page["next"]).json()
    expect("the rows of the next", (5, None), (len(second["results"]), second["next"]))
    both = {row["id"] for row in page["results"] + second["results"]}
    expect("different rows", 25, len(both))
    rest = netorca().get_service_items({"runtime_state": "REQUESTED", "offset": 22, "limit": 100})
    expect("the rows after the first 22", 3, len(rest["results"]))


@check
def service_items_have_what_users_read():
    declare(vm("bare", cpu=8))
    for client, context in ((netorca(), None), (netorca(CONSUMER_KEY), CONSUMER)):
        (item,) = client.get_service_items({"name": "bare", "runtime_state": "REQUESTED"}, context=context)["results"]
        expect_fields("a service item", SERVICE_ITEM, item)
        expect("its declaration", vm("bare", cpu=8), item["declaration"])
        expect("its deployed item", {}, item["deployed_item"])
        expect("read alone", item, client.caller("service_items", "get", id=item["id"], context=context))


@check
def service_items_are_filtered():
    wanted = {TEAM: {"Shop": {"services": {"VM": [vm("web", cpu=64), vm("db")]}}}}
    wanted[TEAM]["Bank"] = {"services": {"VM": [vm("ledger")]}}
    netorca(CONSUMER_KEY).submission_submit(wanted, context=CONSUMER)
    (ledger,) = items(name="ledger")
    expect("by several names", ["db", "web"], names_of(items(name="web,db")))
    expect("by service", ["db", "ledger", "web"], names_of(items(service_id=ledger["service"]["id"])))
    expect("by service name", [], items(service_name="LoadBalancer"))
    expect("by application", ["ledger"], names_of(items(application_id=ledger["application"]["id"])))
    expect("by part of its name", ["ledger"], names_of(items(application_name_contains="an")))
    expect("by state", ["db", "ledger", "web"], names_of(items(change_state="CHANGES_PENDING")))
    expect("by a field of the declaration", ["web"], names_of(items(declaration={"cpu": 64})))
    expect("by name backwards", ["web", "ledger", "db"], [item["name"] for item in items(ordering="-name")])
    body = bad_request("service_items", lambda: items(colour="red"))
    expect("by an unknown parameter", ["Filter param not found."], body)


@check
def change_instances_are_filtered():
    deliver(vm("web", cpu=8), vm("db"))
    changes = declare(vm("web", cpu=16), vm("new"))
    submission = changes[0]["submission"]["id"]
    def find(**filters):
        return sorted(
            (change["service_item"]["name"], change["change_type"])
            for change in netorca().get_change_instances({"submission_id": submission, **filters})["results"]
        )
    everything = [("db", "DELETE"), ("new", "CREATE"), ("web", "MODIFY")]
    expect("by submission", everything, find())
    expect("by several states", everything, find(state="APPROVED,PENDING"))
    expect("by another state", [], find(state="COMPLETED"))
    expect("by several types", everything[:2], find(change_type="CREATE,DELETE"))
    expect("by service", everything, find(service_id=changes[0]["service"]["id"]))
    expect("by application", everything, find(application_id=changes[0]["application"]["id"]))
    expect("by declaration", [("web", "MODIFY")], find(declaration={"cpu": 16}))
    expect("without referenced ones", everything, find(exclude_referenced="true"))
    (web,) = items(name="web")
    expect("by item", [("web", "MODIFY")], find(service_item_id=web["id"]))
    bad_request("change_instances", lambda: find(state="NO_SUCH_STATE"))
    expect("by an unknown parameter", ["Filter param not found."],
           bad_request("change_instances", lambda: find(colour="red")))


# --- Change instances --------------------------------------------------------------------------------------


@check
def the_owner_approves_and_completes_with_log_and_deployed_item():
    (born,) = declare(vm("old-finished"))
    approved = netorca().update_change_instance(born["id"], {"state": "APPROVED", "log": "on it"})
    expect("state and log", ("APPROVED", "on it"), (approved["state"], approved["log"]))
    result = {"state": "COMPLETED", "log": "done", "deployed_item": {"ip": "10.0.0.1"}}
    completed = netorca().update_change_instance(born["id"], result)
    expect("state and log", ("COMPLETED", "done"), (completed["state"], completed["log"]))
    expect("what is deployed", {"ip": "10.0.0.1"}, completed["service_item"]["deployed_item"])
    (item,) = items(name="old-finished")
    expect("the item", ("IN_SERVICE", "ALL_CHANGES_COMPLETED"), (item["runtime_state"], item["change_state"]))
    expect("its deployed item", {"data": {"ip": "10.0.0.1"}, "version": 1}, item["deployed_item"])


@check
def the_owner_of_a_verified_service_completes_with_its_own_values():
    network = {"name": "Blue", "hosts": 100, "zone": "eu"}
    wanted = {TEAM: {"Shop": {"services": {"Network": [network]}}}}
    (born,) = netorca(CONSUMER_KEY).submission_submit(wanted, context=CONSUMER)["change_instances"]
    client = netorca(NP_OWNER_KEY)
    client.update_change_instance(born["id"], {"state": "APPROVED"})
    complete = {"state": "COMPLETED"}
    body = bad_request("change_instances", lambda: client.update_change_instance(born["id"], complete))
    expect("the reason", ["/range"], [problem["pointer"] for problem in body["problems"]])
    complete = {"state": "COMPLETED", "deployed_item": {"range": "10.1.0.0/25"}}
    completed = client.update_change_instance(born["id"], complete)
    whole = {**network, "range": "10.1.0.0/25"}
    expect("what is deployed", whole, completed["service_item"]["deployed_item"])
    expect("read alone", "COMPLETED", client.get_change_instance(born["id"])["state"])
    listed = client.get_change_instances({"state": "COMPLETED", "service_name": "Network"})["results"]
    expect("listed", [born["id"]], [change["id"] for change in listed])
    (item,) = items(name="Blue")
    expect("its deployed item", {"data": whole, "version": 1}, item["deployed_item"])


@check
def the_owner_deploys_before_it_completes():
    (born,) = declare(vm("old-deployed"))
    bad_request("change_instances", lambda: netorca().create_deployed_item(born["id"], {"ip": "10.0.0.1"}))
    move(born["id"], "APPROVED")
    changed = netorca().create_deployed_item(born["id"], {"ip": "10.0.0.1"})
    expect("state and what is deployed", ("APPROVED", {"ip": "10.0.0.1"}),
           (changed["state"], changed["service_item"]["deployed_item"]))
    expect("after completing", "COMPLETED", move(born["id"], "COMPLETED")["state"])


@check
def an_update_of_nothing_changes_nothing():
    (born,) = declare(vm())
    before = netorca().get_change_instance(born["id"])
    expect("after an empty body", before, netorca().update_change_instance(born["id"], {}))
    posted = netorca().auth.post(before["url"], {"state": "APPROVED"})
    expect("POST updates as well", (200, "APPROVED"), (posted.status_code, posted.json()["state"]))
    put = netorca().auth.put(before["url"], {"state": "COMPLETED"})
    expect("and so does PUT", (200, "COMPLETED"), (put.status_code, put.json()["state"]))


@check
def a_state_that_cannot_follow_is_refused_with_the_state_it_is_in():
    (born,) = declare(vm())
    body = bad_request("change_instances", lambda: move(born["id"], "COMPLETED"))
    expect_that("the body has the reason", "cannot switch from state PENDING to COMPLETED directly" in str(body), body)
    expect("the state it is in", "PENDING", body["state"])
    bad_request("change_instances", lambda: move(born["id"], "NO_SUCH_STATE"))
    expect("the state afterwards", "PENDING", netorca().get_change_instance(born["id"])["state"])


@check
def the_history_tells_who_did_what_newest_first():
    (born,) = declare(vm())
    move(born["id"], "APPROVED", "COMPLETED")
    for client, context in ((netorca(), None), (netorca(CONSUMER_KEY), CONSUMER)):
        history = client.change_instance_history(born["id"], context=context)
        expect("count and next", (3, None), (history["count"], history["next"]))
        told = [(entry["state"], entry["changed_by_team"]) for entry in history["results"]]
        expected = [("COMPLETED", "VMOwnerTeam"), ("APPROVED", "VMOwnerTeam"), ("PENDING", TEAM)]
        expect("states and teams", expected, told)


# --- Replacements ------------------------------------------------------------------------------------------


def publish_probe(**settings):
    """Publishes the service Probe with these settings."""
    service = netorca().create_service(PROBE)
    updated = netorca().update_service(service["id"], {"update_strategy": "MODIFY", **settings})
    expect("the settings", settings, {name: updated[name] for name in settings})


def declare_probe(interval):
    """Submits a declaration of a probe and returns its change instance."""
    (change,) = netorca(CONSUMER_KEY).submission_submit(probe(interval), context=CONSUMER)["change_instances"]
    return change


def probe_in(state):
    """Returns the only change instance of the service Probe in this state, from the list of its owner."""
    (change,) = netorca().get_change_instances({"state": state, "service_name": "Probe"})["results"]
    expect_fields("a change instance", CHANGE_INSTANCE, change)
    return change


@check
def an_owner_completes_a_replacement_without_knowing_it():
    publish_probe(update_strategy="REPLACE")
    first = declare_probe(interval=1)["id"]
    move(first, "APPROVED", "COMPLETED")
    netorca().create_deployed_item(first, {"ip": "10.0.0.1"})
    declare_probe(interval=2)
    removal = probe_in("PENDING")
    expect("the first half", ("DELETE", True, 1, 2),
           (removal["change_type"], removal["replacement"], *intervals(removal)))
    expect("the item", "DECOMMISSIONED", move(removal["id"], "APPROVED")["service_item"]["runtime_state"])
    expect("the removal", "COMPLETED", move(removal["id"], "COMPLETED")["state"])
    creation = probe_in("APPROVED")
    expect("the second half", ("CREATE", "REPLACEMENT", None, 2),
           (creation["change_type"], creation["kind"], *intervals(creation)))
    expect("no deployed item of the removed object", {}, creation["service_item"]["deployed_item"])
    # This call sends no state, so the completion is a call of its own.
    changed = netorca().create_deployed_item(creation["id"], {"ip": "10.0.0.2"})
    expect("what is deployed", {"ip": "10.0.0.2"}, changed["service_item"]["deployed_item"])
    expect("after completing", "COMPLETED", move(creation["id"], "COMPLETED")["state"])
    (item,) = items(service_name="Probe")
    expect("the item", ("IN_SERVICE", "ALL_CHANGES_COMPLETED", {"name": "web", "interval": 2}),
           (item["runtime_state"], item["change_state"], item["declaration"]))
    expect("its deployed item", {"data": {"ip": "10.0.0.2"}, "version": 2}, item["deployed_item"])


@check
def a_change_that_is_created_as_completed_leaves_no_work():
    publish_probe(complete_unneeded=True)
    move(declare_probe(interval=1)["id"], "APPROVED", "COMPLETED")
    declare_probe(interval=2)
    returned = declare_probe(interval=1)
    expect_fields("a change instance", CHANGE_INSTANCE, returned)
    expect("type and state", ("MODIFY", "COMPLETED"), (returned["change_type"], returned["state"]))
    left = netorca().get_change_instances({"state": "PENDING,APPROVED", "service_name": "Probe"})["results"]
    expect("what is left", [], left)
    expect("a repetition changes nothing", "COMPLETED", move(returned["id"], "COMPLETED")["state"])
    (item,) = items(service_name="Probe")
    expect("the item", ("IN_SERVICE", "ALL_CHANGES_COMPLETED", {"name": "web", "interval": 1}),
           (item["runtime_state"], item["change_state"], item["declaration"]))


# --- Deployed items ----------------------------------------------------------------------------------------


@check
def deployed_items_are_created_read_and_merged():
    (item,) = deliver(vm("old-merged"))
    def create(data):
        return netorca().caller("deployed_items", "create", data={"service_item": item["url"], "data": data})
    first = create({"ip": "10.0.0.1", "disk": {"size": 10, "kind": "ssd"}})
    expect_fields("a deployed item", DEPLOYED_ITEM, first)
    same = create({"ip": "10.0.0.1", "disk": {"size": 10, "kind": "ssd"}})
    expect("the same again", (first["id"], "no change detected"), (same["id"], same.get("message")))
    def patch(of, data):
        return netorca().caller("deployed_items", "patch", id=of["id"], data={"data": data})
    second = patch(first, {"disk": {"size": 20}})
    merged = {"ip": "10.0.0.1", "disk": {"size": 20, "kind": "ssd"}}
    expect("data and version", (merged, 2), (second["data"], second["version"]))
    expect("the first stays", first, netorca().get_deployed_item(first["id"]))
    bad_request("deployed_items", lambda: patch(first, {"ip": "10.0.0.2"}))
    page = netorca(CONSUMER_KEY).get_deployed_items({"service_item_id": item["id"]}, context=CONSUMER)
    expect("the versions that the consumer sees", [1, 2], sorted(row["version"] for row in page["results"]))


@check
def deployed_items_cannot_be_deleted():
    (item,) = deliver(vm("old-kept"))
    data = {"service_item": item["url"], "data": {"ip": "10.0.0.1"}}
    deployed = netorca().caller("deployed_items", "create", data=data)
    refused(NetorcaAPIError, "Unexpected error 405 for deployed_items.",
            lambda: netorca().caller("deployed_items", "delete", id=deployed["id"]))
    expect("it is still there", deployed["id"], netorca().get_deployed_item(deployed["id"])["id"])


# --- Rejections and the client's exceptions ----------------------------------------------------------------


@check
def what_does_not_exist_is_not_found():
    client = netorca()
    for resource, call in (
        ("change_instances", client.get_change_instance),
        ("service_items", client.get_service_item),
        ("deployed_items", client.get_deployed_item),
        ("change_instance_history", client.change_instance_history),
        ("change_instances", lambda number: client.update_change_instance(number, {"state": "APPROVED"})),
        ("services", lambda number: client.update_service(number, {"approval_required": False})),
        ("submissions", lambda number: client.caller("submissions", "get", id=number, context=CONSUMER)),
    ):
        refused(NetorcaNotFoundError, f"{resource} not found.", lambda call=call: call(987654321))


@check
def what_is_another_teams_is_not_found_or_denied():
    (born,) = declare(vm())
    other, stranger = netorca(OTHER_CONSUMER_KEY), netorca(LB_OWNER_KEY)
    refused(NetorcaNotFoundError, "change_instances not found.", lambda: stranger.get_change_instance(born["id"]))
    refused(NetorcaNotFoundError, "change_instances not found.",
            lambda: stranger.update_change_instance(born["id"], {"state": "APPROVED"}))
    refused(NetorcaNotFoundError, "change_instance_history not found.",
            lambda: other.change_instance_history(born["id"], context=CONSUMER))
    expect("what another consumer lists", [], other.get_service_items(context=CONSUMER)["results"])
    refused(NetorcaAPIError, "Access denied for change_instances.",
            lambda: netorca(CONSUMER_KEY).update_change_instance(born["id"], {"state": "APPROVED"}))
    refused(NetorcaAPIError, "Access denied for services.", lambda: stranger.create_service(schema_of("VM")))
    expect("the state afterwards", "PENDING", netorca().get_change_instance(born["id"])["state"])


@check
def a_service_has_documentation_tags_and_configs():
    client, service = netorca(), netorca().get_services({"name": "VM"})["results"][0]
    with tempfile.NamedTemporaryFile("w", suffix=".md") as readme:
        readme.write("# VM\n")
        readme.flush()
        client.create_service_docs(service["id"], readme.name, "vm")
    expect("the documentation", "# VM\n", client.get_service_docs(service["id"])["md_file"])
    client.update_service(service["id"], {"tags": ["compute"]})
    expect("the tags", ["compute"], client.get_service_tags()["results"])
    made = client.create_service_config({"service": service["id"], "config": {"ip": "10.0.0.1"}})
    newest = client.get_service_configs({"service_id": service["id"], "ordering": "-version", "limit": 1})
    expect("the newest config", [made], newest["results"])
    expect("the config", {"ip": "10.0.0.1"}, client.get_service_config(made["id"])["config"])
    expect("other owners' configs", [], netorca(LB_OWNER_KEY).get_service_configs()["results"])


@check
def a_healthcheck_is_made_and_triggered():
    client = netorca()
    service = client.get_services({"name": "VM"})["results"][0]["id"]
    # The port has no listener, so the health is UNKNOWN.
    made = client.create_healthcheck({"service": service, "target_url": "http://127.0.0.1:1/"})
    expect("its service", service, made["service"])
    caller = functools.partial(client.caller, "healthchecks")
    expect("all of them", [made["id"]], [one["id"] for one in caller("get")["results"]])
    expect("the run that was asked for", service, client.healthcheck_trigger_service(service)["service"])
    (item,) = deliver(vm("checked"))
    told = client.healthcheck_trigger_service_item(item["id"])
    expect("how the item is", ("UNKNOWN", "unreachable"), (told["healthcheck_status"], told["error"]))


@check
def what_has_a_price_is_charged_and_billed():
    client = netorca()
    client.create_service({**schema_of("OldMeter"), "metadata": {"cost_per_change": 0.1, "monthly_cost": 50}})
    wanted = {TEAM: {"Shop": {"services": {"OldMeter": [{"name": "one"}]}}}}
    submitted = netorca(CONSUMER_KEY).submission_submit(wanted, context=CONSUMER)
    (born,) = submitted["change_instances"]
    move(born["id"], "APPROVED")
    of_item = {"service_item_id": born["service_item"]["id"]}
    charges = client.get_charges(of_item)["results"]
    expect("the charges", [("cost_per_change", 0.1, False), ("monthly_cost", 50, False)],
           sorted((one["charge_type"], one["price"], one["processed"]) for one in charges))
    seen = netorca(CONSUMER_KEY).get_charges({**of_item, "charge_type": "cost_per_change"}, context=CONSUMER)
    (fee,) = seen["results"]
    expect("its amount", 0.1, fee["total_charge"])
    expect("whether it is processed", True, client.update_charges(fee["id"], {"processed": True})["processed"])
    refused(NetorcaAPIError, "Access denied for charges.",
            lambda: netorca(CONSUMER_KEY).update_charges(fee["id"], {"processed": True}))
    accumulated = client.caller("charges_accumulated", "get", filters=of_item)["results"]
    expect("what is processed", [0.1], [one["processed_charge"] for one in accumulated])


@check
def a_webhook_is_made_read_changed_and_removed():
    client = netorca()
    service = client.get_services({"name": "VM"})["results"][0]["id"]
    # The port has no listener.
    made = client.create_webhook({"name": "w", "service": service, "target_url": "http://127.0.0.1:1/"})
    expect("its service", service, made["service"])
    # This version of the client drops the id, and sends no request.
    refused(NetorcaValueError, "id is required for endpoint: webhook_trigger",
            lambda: client.webhook_trigger(made["id"]))
    caller = functools.partial(client.caller, "webhooks")
    expect("all of them", [made["id"]], [one["id"] for one in caller("get")["results"]])
    expect("the name", "v", caller("patch", id=made["id"], data={"name": "v"})["name"])
    expect("the last reply", None, caller("get", id=made["id"])["last_reply"])
    caller("delete", id=made["id"])
    expect("what is left", [], caller("get")["results"])


# --- Generated change instances ----------------------------------------------------------------------------


def declare_a_load_balancer(cpu=8):
    """Declares a machine and a load balancer with a reference to it, and waits for the generation."""
    services = {"VM": [vm(cpu=cpu)], "LoadBalancer": [{"name": "front", "related_vms": ["web"]}]}
    submission = netorca(CONSUMER_KEY).submission_submit({TEAM: {"Shop": {"services": services}}}, context=CONSUMER)
    settle()
    return submission


def owner_and_item(changes):
    """Returns the sorted owners and items of change instances."""
    return sorted((change["owner"]["name"], change["service_item"]["name"]) for change in changes)


def of_submission(submission, key, context=None):
    """Returns the dependent change instances of a submission. The list has no filter for it."""
    url = netorca(key).create_url("change_instances_dependant", context)
    rows = []
    while url:
        page = netorca(key).check_status(netorca(key).auth.get(url), "change_instances_dependant")
        rows += [change for change in page["results"] if change["submission"]["id"] == submission["id"]]
        url = page["next"]
    return rows


@check
def a_dependent_team_finds_what_it_has_a_part_in():
    submission = declare_a_load_balancer()
    client = netorca(NP_OWNER_KEY)
    page = client.get_change_instances_dependant()
    expect("the fields", ["count", "next", "previous", "results"], sorted(page))
    (change,) = of_submission(submission, NP_OWNER_KEY)
    expect_fields("a change instance", CHANGE_INSTANCE, change)
    expect("whose it is", [("NPOwnerTeam", "front")], owner_and_item([change]))
    expect("is_dependant and state", (True, "PENDING"), (change["is_dependant"], change["state"]))
    listed = {item["id"]: item for item in client.get_service_items_dependant({"limit": 100})["results"]}
    expect_that("its item is listed", change["service_item"]["id"] in listed, listed)
    expect_fields("a service item", SERVICE_ITEM, listed[change["service_item"]["id"]])
    (service,) = client.get_service_dependant()["results"]
    expect_fields("a service", SERVICE, service)
    expect("the service", "LoadBalancer", service["name"])
    expect("the list of a team that is not a dependent team", [], netorca().get_change_instances_dependant()["results"])


@check
def a_consumer_finds_the_dependent_change_instances_of_its_items():
    submission = declare_a_load_balancer()
    dependent = of_submission(submission, CONSUMER_KEY, CONSUMER)
    expect("whose they are", [("NPOwnerTeam", "front")], owner_and_item(dependent))
    expect("another consumer's", [], of_submission(submission, OTHER_CONSUMER_KEY, CONSUMER))


@check
def a_dependent_team_sees_what_is_deployed_for_its_items():
    submission = declare_a_load_balancer()
    (main,) = (change for change in submission["change_instances"] if change["service"]["name"] == "LoadBalancer")
    netorca(LB_OWNER_KEY).update_change_instance(main["id"], {"state": "APPROVED"})
    netorca(LB_OWNER_KEY).create_deployed_item(main["id"], {"vip": "10.0.0.1"})
    listed = netorca(NP_OWNER_KEY).get_deployed_items_dependant({"service_item_id": main["service_item"]["id"]})
    newest = max(listed["results"], key=lambda row: row["version"])
    expect_fields("a deployed item", DEPLOYED_ITEM, newest)
    expect("its data", {"vip": "10.0.0.1"}, newest["data"])


@check
def a_modified_machine_asks_for_the_load_balancer_that_refers_to_it():
    declare_a_load_balancer(cpu=8)
    carry_out_everything()
    submission = declare_a_load_balancer(cpu=16)
    filters = {"submission_id": submission["id"]}
    (change,) = netorca(LB_OWNER_KEY).caller("change_instances_referenced", "get", filters=filters)["results"]
    expect("whose it is", [("LBOwnerTeam", "front")], owner_and_item([change]))
    expect("kind and type", ("REFERENCED", "MODIFY"), (change["kind"], change["change_type"]))
    client = netorca(CONSUMER_KEY)
    seen = client.caller("change_instances_referenced", "get", filters=filters, context=CONSUMER)["results"]
    expect_that("the consumer finds it", change["id"] in [row["id"] for row in seen], seen)
    without = netorca(LB_OWNER_KEY).get_change_instances({**filters, "exclude_referenced": "true"})
    expect("without referenced ones", [], without["results"])


@check
def a_service_item_is_read_by_its_id():
    declare(vm("single"))
    (item,) = netorca().get_service_items({"name": "single"})["results"]
    expect("the item", item, netorca().get_service_item(item["id"]))


@check
def an_owners_repository_knows_its_team_and_what_a_definition_would_break():
    declare(vm("kept"))
    with owners_repository("VM", schema_of("VM", image={"type": "string"})) as (submission, _):
        expect("its team", "VMOwnerTeam", submission.get_team()["name"])
        expect("a dry run", (True, "Services validated successfully."), submission.validate(dry_run=True))


if __name__ == "__main__":
    checks.main("0.3.2", withdraw_everything)
