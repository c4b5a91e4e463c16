"""Typical uses of the unmodified public Python client `netorca-sdk` 1.0.14 against this system.

Each check is also an example. It starts without declarations and is named after its claim. `tests/clients/run` starts
the system and runs all checks:

    python netorca_1_0_14.py BASE_URL [PART_OF_A_NAME ...]

The Pack (AI processors, documents, models) has no checks, because Dovetail has no such routes.
"""

import contextlib
import functools
import io
import json
import os
import tempfile
import warnings
import xml.etree.ElementTree
from datetime import UTC, datetime, timedelta

import checks
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
    UNCONFIRMED,
    VM_OWNER_KEY,
    check,
    confirmed_removals,
    declaration,
    expect,
    expect_fields,
    expect_members,
    expect_that,
    intervals,
    probe,
    refused,
    repository,
    schema_of,
    settle,
    vm,
)
from netorca_sdk import (
    ConsumerSubmission,
    ErrorFormatter,
    NetorcaAPIError,
    NetorcaAuth,
    NetorcaAuthenticationError,
    NetOrcaClient,
    NetorcaException,
    NetorcaInvalidContextError,
    NetorcaNotFoundError,
    NetorcaValueError,
    RepositoryLoader,
    ServiceItemRuntimeState,
    ServiceOwnerSubmission,
)
from netorca_sdk.netorca import Netorca

# --- Clients and helpers -----------------------------------------------------------------------------------


@functools.cache
def consumer(key=CONSUMER_KEY):
    """Returns a client in the role of a consumer."""
    return NetOrcaClient(fqdn=checks.BASE_URL, api_key=key, context="consumer")


@functools.cache
def owner(key=VM_OWNER_KEY):
    """Returns a client in the role of a service owner."""
    return NetOrcaClient(fqdn=checks.BASE_URL, api_key=key, context="serviceowner")


def old_style(key=VM_OWNER_KEY):
    """Returns a client with the interface of the 0.x releases. Version 1.x still offers it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return Netorca(fqdn=checks.BASE_URL, api_key=key)


def declare(*vms, application="Shop"):
    """Submits a declaration and returns its change instances."""
    submission = consumer().submissions.submit(declaration(*vms, application=application))
    return submission.data["change_instances"]


def move(change_id, *states):
    """Moves a change instance through these states, as the owner of VM."""
    for state in states:
        change = owner().change_instances.update(change_id, {"state": state})
    return change


def deliver(*vms):
    """Declares virtual machines and completes their change instances. Returns their service items."""
    for change in declare(*vms):
        move(change["id"], "APPROVED", "COMPLETED")
    return list(consumer().service_items.list(ordering="name"))


def carry_out_everything():
    """Closes all rejected and failed change instances of every owner, and completes the others."""
    settle()
    for each in (owner(key) for key in (VM_OWNER_KEY, LB_OWNER_KEY, NP_OWNER_KEY)):
        for change in each.change_instances.filter(state="REJECTED,ERRORED,PENDING,APPROVED"):
            steps = {"PENDING": ["APPROVED", "COMPLETED"], "APPROVED": ["COMPLETED"]}
            for state in steps.get(change.state, ["CLOSED"]):
                each.change_instances.update(change.id, {"state": state})


def withdraw_everything():
    """Removes all items and open change instances, so that all checks start alike."""
    carry_out_everything()
    consumer().submissions.submit({TEAM: {}})
    carry_out_everything()


def bad_request(resource, call):
    """Fails unless `call` gets a 400. Returns its body from the text of the exception."""
    text = refused(NetorcaAPIError, f"Bad request for {resource}. Reason: ", call)
    return checks.reason(text)


def names_of(rows):
    """Returns the sorted names of service items."""
    return sorted(row.name for row in rows)


def ids_of(rows):
    """Returns the sorted ids of rows."""
    return sorted(row.id for row in rows)


# --- Keys --------------------------------------------------------------------------------------------------


@check
def a_valid_key_makes_a_client_that_knows_its_team():
    expect("the consumer's teams", [TEAM], [team["name"] for team in consumer().auth.get_teams_info()])
    (team,) = owner().auth.get_teams_info()
    expect_fields("the owner's team", {"id": INTEGER, "name": TEXT, "metadata": OBJECT}, team)
    expect("its name", "VMOwnerTeam", team["name"])


@check
def a_bad_key_is_refused_when_a_client_is_made():
    for make in (consumer, owner):
        refused(NetorcaAuthenticationError, "Invalid or expired API key.", lambda make=make: make("no-such-key"))


@check
def a_bad_key_that_was_not_verified_is_refused_at_the_first_call():
    client = NetOrcaClient(fqdn=checks.BASE_URL, api_key="no-such-key", verify_auth=False)
    refused(NetorcaAuthenticationError, "Authentication failed.", client.services.filter)
    refused(NetorcaAuthenticationError, "Authentication failed.", lambda: client.change_instances.get(1))
    refused(NetorcaException, "Authentication failed while fetching team info.", client.auth.get_teams_info)


@check
def links_begin_with_the_address_that_was_called():
    address = checks.BASE_URL.replace("127.0.0.1", "localhost")
    client = NetOrcaClient(fqdn=address, api_key=VM_OWNER_KEY)
    for service in client.services.list():
        expect_that("the url begins with it", service.url.startswith(f"{address}/v1/"), service.url)


# --- Validating --------------------------------------------------------------------------------------------


@check
def a_valid_declaration_is_found_valid_and_changes_nothing():
    answer = consumer().submissions.validate(declaration(vm(cpu=8, memory=2)))
    expect("is_valid", True, answer["is_valid"])
    expect("errors", {}, answer["errors"])
    expect("the service items afterwards", [], consumer().service_items.filter())


@check
def an_invalid_declaration_is_told_field_by_field():
    wrong = declaration(vm("web", cpu="eight"), vm("db", colour="red", memory=[]))
    body = bad_request("submissions", lambda: consumer().submissions.validate(wrong))
    expect("is_valid", False, body["is_valid"])
    errors = body["errors"][TEAM]["Shop"]["VM"]
    expect("the items with errors", ["db", "web"], sorted(errors))
    expect("the wrong fields of web", ["cpu"], sorted(errors["web"]))
    expect("the wrong fields of db", ["colour", "memory"], sorted(errors["db"]))
    for message in (*errors["web"]["cpu"], *errors["db"]["colour"], *errors["db"]["memory"]):
        expect_that("an error is a text", isinstance(message, str) and message, message)
    table = ErrorFormatter.format_consumer_errors(body["errors"])
    for word in ("Shop", "VM", "web", "cpu", "db", "colour", "memory"):
        expect_that(f"the client's table of errors shows {word}", word in table, table)


@check
def a_missing_field_is_told_at_its_item():
    wrong = {TEAM: {"Shop": {"services": {"VM": [{"cpu": 8}]}}}}
    body = bad_request("submissions", lambda: consumer().submissions.validate(wrong))
    expect_that("VM has the error", body["errors"][TEAM]["Shop"]["VM"], body)


@check
def a_service_that_does_not_exist_is_told():
    wrong = {TEAM: {"Shop": {"services": {"NO_SUCH_SERVICE": [{"name": "x"}]}}}}
    body = bad_request("submissions", lambda: consumer().submissions.validate(wrong))
    expect("the services with errors", ["NO_SUCH_SERVICE"], list(body["errors"][TEAM]["Shop"]))


@check
def a_reference_to_what_is_not_declared_is_told():
    load_balancer = {"name": "front", "related_vms": ["nowhere"]}
    wrong = {TEAM: {"Shop": {"services": {"LoadBalancer": [load_balancer]}}}}
    body = bad_request("submissions", lambda: consumer().submissions.validate(wrong))
    expect("the items with errors", ["front"], list(body["errors"][TEAM]["Shop"]["LoadBalancer"]))


@check
def an_invalid_declaration_is_not_taken_either():
    wrong = declaration(vm(cpu="eight"))
    body = bad_request("submissions", lambda: consumer().submissions.submit(wrong))
    expect("is_valid", False, body["is_valid"])
    expect("the wrong fields", ["cpu"], list(body["errors"][TEAM]["Shop"]["VM"]["web"]))
    expect("the service items afterwards", [], consumer().service_items.filter())


@check
def another_teams_declaration_is_refused():
    body = bad_request("submissions", lambda: consumer().submissions.submit({"AwesomeConsumer2": {}}))
    expect("the teams with errors", ["AwesomeConsumer2"], list(body["errors"]))
    expect_that("the error is a dict", isinstance(body["errors"]["AwesomeConsumer2"], dict), body)


# --- Submitting --------------------------------------------------------------------------------------------

@check
def a_declaration_becomes_change_instances():
    submission = consumer().submissions.submit(declaration(vm("web", cpu=8), vm("db", memory=2)))
    expect_that("a submission has an id", isinstance(submission.id, int), submission.data)
    changes = submission.data["change_instances"]
    expect("their items", ["db", "web"], sorted(change["service_item"]["name"] for change in changes))
    for change in changes:
        expect_fields("a change instance", CHANGE_INSTANCE, change)
        expect("its type", "CREATE", change["change_type"])
        expect("its state", "PENDING", change["state"])
        expect("its submission", submission.id, change["submission"]["id"])
        expect("what was declared before", None, change["old_declaration"])
        expect("its version", 1, change["new_declaration"]["version"])


@check
def the_same_declaration_again_changes_nothing():
    declare(vm(cpu=8))
    again = consumer().submissions.submit(declaration(vm(cpu=8)))
    expect("the new change instances", [], again.data["change_instances"])


@check
def another_declaration_of_an_item_modifies_it():
    deliver(vm(cpu=8))
    (change,) = declare(vm(cpu=16))
    expect("its type", "MODIFY", change["change_type"])
    expect("before", {"version": 1, "declaration": vm(cpu=8)}, change["old_declaration"])
    expect("after", {"version": 2, "declaration": vm(cpu=16)}, change["new_declaration"])


@check
def what_is_no_longer_declared_is_deleted():
    deliver(vm("web", cpu=8), vm("db"))
    (change,) = declare(vm("db"))
    expect("its type", "DELETE", change["change_type"])
    expect("its item", "web", change["service_item"]["name"])
    expect("what was declared", vm("web", cpu=8), change["old_declaration"]["declaration"])
    expect("what is declared now", None, change["new_declaration"])
    move(change["id"], "APPROVED", "COMPLETED")
    expect("the items left", ["db"], names_of(consumer().service_items.list()))
    gone = consumer().service_items.get(change["service_item"]["id"])
    expect("the item's state", True, gone.is_decommissioned())


@check
def a_part_of_the_declaration_can_be_submitted_alone():
    declare(vm("web"))
    netorca = old_style(CONSUMER_KEY)
    netorca.submission_submit(declaration(vm("ledger"), application="Bank"), partial=True, context="consumer")
    expect("the items", ["ledger", "web"], names_of(consumer().service_items.list()))
    withdrawn = {TEAM: {"Bank": {"services": {}}}}
    answer = netorca.submission_submit(withdrawn, partial=True, context="consumer")
    expect("the items withdrawn", ["ledger"], [c["service_item"]["name"] for c in answer["change_instances"]])


@check
def submissions_are_listed_and_read():
    sent = consumer().submissions.submit(declaration(vm()))
    newest = next(consumer().submissions.list(limit=5, ordering="-created"))
    expect("the newest submission", sent.id, newest.id)
    expect_that("created is a point in time", newest.created.tzinfo is not None, newest.created)
    read = consumer().submissions.get(sent.id)
    expect("the submission read", (sent.id, sent.created), (read.id, read.created))
    everything = ids_of(consumer().submissions.list())
    expect("the same by pages of two", everything, ids_of(consumer().submissions.list(limit=2)))
    expect_that("the list has the submission", sent.id in everything, everything)


# --- GitOps ------------------------------------------------------------------------------------------------

@check
def a_repository_is_validated_and_submitted():
    files = {"config__yaml": GITOPS_CONFIG.format(url=checks.BASE_URL)}
    files |= {"shop__yaml": GITOPS_SHOP.format(cpu=8), "bank__yml": GITOPS_BANK}
    commit = "51e53e0c4f1f0a1b2c3d4e5f60718293a4b5c6d7"
    with repository(**files) as folder:
        gitops = ConsumerSubmission(consumer(), repository_path=folder)
        expect("the applications", ["Bank", "Shop"], sorted(gitops.submissions))
        expect("validating", (True, {}), gitops.validate())
        expect("submitting", (True, {}), gitops.submit(commit_id=commit))
        expect("submitting again", (True, {}), gitops.submit(commit_id=commit))
    changes = owner().change_instances.filter(commit_id=commit)
    items = sorted((c.data["application"]["name"], c.data["service_item"]["name"]) for c in changes)
    expect("the changes of the commit", [("Bank", "ledger"), ("Shop", "web")], items)
    expect("their commit", {commit}, {change.data["submission"]["commit_id"] for change in changes})
    shop = next(consumer().applications.list(name="Shop"))
    expect("the application's metadata", {"env": "dev"}, shop.data["metadata"])
    (team,) = consumer().auth.get_teams_info()
    expect("the team's metadata", {"team_name": TEAM, "budget_code": 12345}, team["metadata"])


@check
def a_repository_that_names_no_team_is_the_teams_of_the_key():
    config = f"netorca_global:\n  base_url: {checks.BASE_URL}\n"
    with repository(config__yaml=config, shop__yaml=GITOPS_SHOP.format(cpu=8)) as folder:
        expect("submitting", (True, {}), ConsumerSubmission(consumer(), folder).submit(commit_id=""))
    expect("the items", ["web"], names_of(consumer().service_items.list()))


@check
def an_invalid_repository_is_reported_as_a_table_and_for_junit():
    config, shop = GITOPS_CONFIG.format(url=checks.BASE_URL), GITOPS_SHOP.format(cpu="eight")
    with repository(config__yaml=config, shop__yaml=shop) as folder:
        gitops = ConsumerSubmission(consumer(), repository_path=folder)
        before, printed = os.getcwd(), io.StringIO()
        # The client writes its report into the working directory.
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(printed):
                is_valid, errors = gitops.validate(pretty_print=True)
            report = xml.etree.ElementTree.parse("junit.xml").getroot()
        finally:
            os.chdir(before)
        expect("is_valid", False, is_valid)
        expect("the wrong fields", ["cpu"], list(errors[TEAM]["Shop"]["VM"]["web"]))
        expect_that("the table names the field", "cpu" in printed.getvalue(), printed.getvalue())
        expect("the failures in the report", "1", report.get("failures"))
        expect("submitting", (False, errors), gitops.submit(commit_id=""))


@check
def a_repository_without_an_application_of_the_team_is_refused_while_removals_need_a_confirmation():
    declare(vm("web"))
    with repository(config__yaml=GITOPS_CONFIG.format(url=checks.BASE_URL), bank__yaml=GITOPS_BANK) as folder:
        gitops = ConsumerSubmission(consumer(), repository_path=folder)
        with confirmed_removals():
            expect("validating", (True, {}), gitops.validate())
            expect("submitting", (False, UNCONFIRMED), gitops.submit(commit_id=""))
        expect("the items", ["web"], names_of(consumer().service_items.list()))
        expect("submitting without the setting", (True, {}), gitops.submit(commit_id=""))


@check
def a_repository_without_its_config_is_refused_by_the_client():
    with repository(shop__yaml=GITOPS_BANK) as folder:
        def load():
            return RepositoryLoader.load_consumer_repository(folder)
        refused(NetorcaException, "No config.yaml or config.yml file found in repository.", load)


@check
def an_owners_repository_publishes_its_services():
    config = json.dumps({"netorca_global": {"base_url": checks.BASE_URL}})
    good, bad = schema_of("GITOPS_SERVICE"), {"title": "GITOPS_BROKEN", "type": 5}
    with repository(config__json=config, GITOPS_SERVICE__json=json.dumps(good)) as folder:
        gitops = ServiceOwnerSubmission(owner(), folder)
        expect("validating", (True, {}), gitops.validate())
        expect("a dry run", "validated", gitops.submit(dry_run=True)["GITOPS_SERVICE"]["status"])
        expect("the services after it", [], owner().services.filter(name="GITOPS_SERVICE"))
        result = gitops.submit()["GITOPS_SERVICE"]
        expect("submitting", ("submitted", None), (result["status"], result["error"]))
        expect("the service", "GITOPS_SERVICE", owner().services.get(result["service_id"]).name)
    with repository(config__json=config, GITOPS_BROKEN__json=json.dumps(bad)) as folder:
        is_valid, errors = ServiceOwnerSubmission(owner(), folder).validate()
        expect("is_valid", False, is_valid)
        text = errors["GITOPS_BROKEN"]
        expect_that("the error contains the reply", "Bad request for services. Reason: {" in text, text)


# --- Service items -----------------------------------------------------------------------------------------

@check
def a_service_item_has_what_the_client_reads():
    declare(vm("bare", cpu=8))
    for client in (consumer(), owner()):
        item = next(client.service_items.list(name="bare"))
        expect_fields("a service item", SERVICE_ITEM, item.data)
        expect("its service", "VM", item.service_name)
        expect("its application", "Shop", item.application_name)
        expect("its owner", "VMOwnerTeam", item.service_owner_team_name)
        expect("its consumer", TEAM, item.consumer_team_name)
        expect("its declaration", vm("bare", cpu=8), item.data["declaration"])
        expect("its deployed item", {}, item.data["deployed_item"])
        expect("the item read alone", item.data, client.service_items.get(item.id).data)
        expect("the item read by its url", item.data, client.auth.get(item.url).json())


@check
def a_long_list_is_read_page_by_page():
    names = [f"vm{number:02}" for number in range(45)]
    declare(*(vm(name) for name in names))
    by_name = [item.name for item in consumer().service_items.list(ordering="name")]
    expect("the items by name", names, by_name)
    backwards = [item.name for item in owner().service_items.list(ordering="-name", service_name="VM")]
    expect("the items backwards, for the owner", names[::-1], backwards)
    expect("the items as they are stored", names, names_of(consumer().service_items.list()))
    changes = owner().change_instances.filter(state="PENDING", limit=7)
    expect("the changes by pages of seven", 45, len(set(ids_of(changes))))


@check
def a_page_has_twenty_rows_and_an_absolute_link_to_the_next():
    declare(*(vm(f"vm{number:02}") for number in range(25)))
    page = old_style(CONSUMER_KEY).get_service_items({"runtime_state": "REQUESTED"}, context="consumer")
    expect("the fields", ["count", "next", "previous", "results"], sorted(page))
    expect("count and rows", (25, 20), (page["count"], len(page["results"])))
    expect_that("next is absolute", page["next"].startswith(f"{checks.BASE_URL}/v1/"), page["next"])
    second = consumer().auth.get(page["next"]).json()
    expect("the rows of the page after", 5, len(second["results"]))
    expect("the link after the last page", None, second["next"])
    rest = old_style(CONSUMER_KEY).get_service_items(
        {"runtime_state": "REQUESTED", "offset": 22, "limit": 100}, context="consumer"
    )
    expect("the rows after the first 22", 3, len(rest["results"]))


@check
def service_items_are_filtered():
    data = {TEAM: {"Shop": {"services": {"VM": [vm("web"), vm("db")]}}}}
    data[TEAM]["Bank"] = {"services": {"VM": [vm("ledger")], "LoadBalancer": [{"name": "front"}]}}
    consumer().submissions.submit(data)
    items = consumer().service_items
    ledger, front = next(items.list(name="ledger")), next(items.list(name="front"))
    expect("by name", ["db"], names_of(items.list(name="db")))
    expect("by several names", ["db", "web"], names_of(items.list(name="web,db")))
    expect("by_service", ["db", "ledger", "web"], names_of(items.by_service(ledger.service_id)))
    expect("by service name", ["front"], names_of(items.list(service_name="LoadBalancer")))
    services = [ledger.service_id, front.service_id]
    expect("by several services", 4, len(items.filter(service_id=services)))
    expect("by_application", ["front", "ledger"], names_of(items.by_application(ledger.application_id)))
    expect("by application name", ["db", "web"], names_of(items.list(application_name="Shop")))
    expect("by part of it", ["front", "ledger"], names_of(items.list(application_name_contains="an")))
    owner_id = front.service_owner_team_id
    expect("by owner team", ["front"], names_of(items.list(service_owner_team_id=owner_id)))
    expect("by owner", ["front"], names_of(items.list(service_owner_id=owner_id)))
    team = ledger.consumer_team_id
    expect("by consumer team", 3, len(owner().service_items.filter(consumer_team_id=team)))
    expect("by both", ["ledger"], names_of(items.list(service_name="VM", application_name="Bank")))
    expect("by neither", [], items.filter(service_name="VM", name="front"))


@check
def service_items_are_found_by_their_state():
    deliver(vm("web"), vm("old"))
    declare(vm("web"), vm("new"))
    (deletion,) = owner().change_instances.filter(state="PENDING", change_type="DELETE")
    move(deletion.id, "APPROVED", "COMPLETED")
    items = consumer().service_items
    expect("in service", ["web"], names_of(items.in_service()))
    expect("requested", ["new"], names_of(items.requested()))
    expect("what list leaves out", ["new", "web"], names_of(items.list()))
    gone = items.list(runtime_state=ServiceItemRuntimeState.DECOMMISSIONED.value, name="old")
    expect_that("the deleted one is found", deletion.service_item_id in ids_of(gone), deletion.data)
    everything = names_of(items.list(exclude_decommissioned=False))
    expect_that("all of them can be listed", {"web", "old", "new"} <= set(everything), everything)
    expect("pending", ["new"], names_of(items.list(change_state="CHANGES_PENDING")))
    expect("done", ["web"], names_of(items.list(change_state="ALL_CHANGES_COMPLETED")))


@check
def an_items_declaration_can_be_searched():
    declare(vm("small", cpu=1), vm("large", cpu=64))
    def find(**filters):
        return [
            row["name"] for row in old_style().get_service_items({"runtime_state": "REQUESTED", **filters})["results"]
        ]
    expect("by a field", ["large"], find(declaration={"cpu": 64}))
    expect("by a part", ["small"], find(declaration_contains='"small"'))
    expect("by a pattern", ["large"], find(declaration_regex="lar.e"))


@check
def a_filter_that_nobody_knows_is_refused():
    for list_of in (owner().change_instances, owner().deployed_items, owner().services, owner().applications):
        body = bad_request(list_of.endpoint, lambda list_of=list_of: list_of.filter(colour="red"))
        expect("the reason", ["Filter param not found."], body)
    refused(ValueError, "Unsupported filter 'colour'.", lambda: owner().service_items.filter(colour="red"))
    body = bad_request("service_items", lambda: old_style().get_service_items({"colour": "red"}))
    expect("the reason", ["Filter param not found."], body)


# --- Change instances --------------------------------------------------------------------------------------


@check
def the_owner_finds_what_is_pending():
    declare(vm("web"), vm("db"))
    pending = owner().change_instances.filter(state="PENDING")
    expect("how many", 2, len(pending))
    for change in pending:
        expect_fields("a change instance", CHANGE_INSTANCE, change.data)
        read = owner().change_instances.get(change.id).data
        expect_members("the change instance read alone", change.data, read)
        item = owner().service_items.get(change.service_item_id)
        expect("its item", change.data["service_item"]["name"], item.name)
        expect("its service", item.service_id, change.service_id)
        expect_that("created is a point in time", change.created.tzinfo is not None, change.created)
    expect("what the consumer sees", ids_of(pending), ids_of(consumer().change_instances.list(state="PENDING")))
    expect("what another owner sees", [], owner(LB_OWNER_KEY).change_instances.filter(state="PENDING"))


@check
def the_owner_approves_and_completes_with_log_and_deployed_item():
    (born,) = declare(vm("finished"))
    approved = owner().change_instances.update(born["id"], {"state": "APPROVED", "log": "on it"})
    expect("state and log", ("APPROVED", "on it"), (approved.state, approved.data["log"]))
    expect("the item", "IN_SERVICE", approved.data["service_item"]["runtime_state"])
    result = {"state": "COMPLETED", "log": "done", "deployed_item": {"ip": "10.0.0.1"}}
    completed = owner().change_instances.update(born["id"], result)
    expect("state and log", ("COMPLETED", "done"), (completed.state, completed.data["log"]))
    expect("what is deployed", {"ip": "10.0.0.1"}, completed.data["service_item"]["deployed_item"])
    item = consumer().service_items.get(completed.service_item_id)
    expect("the item", (True, "ALL_CHANGES_COMPLETED"), (item.is_in_service(), item.change_state))
    expect("its deployed item", {"data": {"ip": "10.0.0.1"}, "version": 1}, item.data["deployed_item"])


@check
def the_owner_of_a_verified_service_completes_with_its_own_values():
    network = {"name": "Blue", "hosts": 100, "zone": "eu"}
    submission = consumer().submissions.submit({TEAM: {"Shop": {"services": {"Network": [network]}}}})
    (born,) = submission.data["change_instances"]
    changes = owner(NP_OWNER_KEY).change_instances
    changes.update(born["id"], {"state": "APPROVED"})
    body = bad_request("change_instances", lambda: changes.update(born["id"], {"state": "COMPLETED"}))
    expect("the reason", ["/range"], [problem["pointer"] for problem in body["problems"]])
    result = {"state": "COMPLETED", "deployed_item": {"range": "10.1.0.0/25"}}
    completed = changes.update(born["id"], result)
    whole = {**network, "range": "10.1.0.0/25"}
    expect("what is deployed", whole, completed.data["service_item"]["deployed_item"])
    expect("read alone", "COMPLETED", changes.get(born["id"]).state)
    expect("listed", [born["id"]], ids_of(changes.filter(state="COMPLETED", service_name="Network")))
    (item,) = consumer().service_items.filter(name="Blue", runtime_state="IN_SERVICE")
    expect("its deployed item", {"data": whole, "version": 1}, item.data["deployed_item"])


@check
def a_log_or_a_deployed_item_can_come_alone():
    (born,) = declare(vm("alone"))
    update = owner().change_instances.update
    logged = update(born["id"], {"log": "seen"})
    expect("state and log", ("PENDING", "seen"), (logged.state, logged.data["log"]))
    expect("an empty log leaves it", "seen", update(born["id"], {"log": "", "state": "APPROVED"}).data["log"])
    deployed = update(born["id"], {"log": "seen", "deployed_item": {"ip": "10.0.0.1"}})
    expect("the state", "APPROVED", deployed.state)
    expect("what is deployed", {"ip": "10.0.0.1"}, deployed.data["service_item"]["deployed_item"])
    expect("an unknown key", "APPROVED", update(born["id"], {"log": "seen", "colour": "red"}).state)
    bad_request("change_instances", lambda: update(born["id"], {"colour": "red"}))
    expect("nothing at all", deployed.data, update(born["id"], {}).data)


@check
def put_and_post_update_as_well():
    (born,) = declare(vm())
    put = owner().change_instances.update(born["id"], {"state": "APPROVED"}, partial=False)
    expect("after PUT", "APPROVED", put.state)
    posted = owner().auth.post(put.url, {"state": "COMPLETED"})
    expect("after POST", (200, "COMPLETED"), (posted.status_code, posted.json()["state"]))


@check
def a_rejected_change_waits_for_another_declaration():
    (born,) = declare(vm(cpu=8))
    rejected = owner().change_instances.update(born["id"], {"state": "REJECTED", "log": "too many CPUs"})
    expect("state and log", ("REJECTED", "too many CPUs"), (rejected.state, rejected.data["log"]))
    item = next(consumer().service_items.list(name="web"))
    expect("the item", "CHANGES_REJECTED", item.change_state)
    body = bad_request("submissions", lambda: consumer().submissions.submit(declaration(vm(cpu=8))))
    expect("the same declaration is", (False, ["web"]), (body["is_valid"], list(body["errors"][TEAM]["Shop"]["VM"])))
    (again,) = declare(vm(cpu=4))
    expect("another one is", ("CREATE", "PENDING"), (again["change_type"], again["state"]))
    expect("the rejected one is", "CLOSED", owner().change_instances.get(born["id"]).state)


@check
def a_change_that_failed_is_closed_by_its_owner():
    (born,) = declare(vm())
    move(born["id"], "APPROVED")
    failed = owner().change_instances.update(born["id"], {"state": "ERRORED", "log": "no capacity"})
    expect("state and log", ("ERRORED", "no capacity"), (failed.state, failed.data["log"]))
    expect("the item", "CHANGES_ERRORED", next(consumer().service_items.list(name="web")).change_state)
    expect("after closing", "CLOSED", move(born["id"], "CLOSED").state)


@check
def a_state_that_cannot_follow_is_refused():
    (born,) = declare(vm())
    body = bad_request("change_instances", lambda: move(born["id"], "COMPLETED"))
    expect_that("the body has the reason", "cannot switch from state PENDING to COMPLETED directly" in str(body), body)
    move(born["id"], "APPROVED", "COMPLETED")
    body = bad_request("change_instances", lambda: move(born["id"], "PENDING"))
    expect_that("the body has the reason", "cannot switch from state COMPLETED to PENDING directly" in str(body), body)
    bad_request("change_instances", lambda: move(born["id"], "NO_SUCH_STATE"))


@check
def a_deployed_item_that_is_null_or_too_early_is_refused():
    (born,) = declare(vm())
    def update(value):
        return owner().change_instances.update(born["id"], {"deployed_item": value})
    body = bad_request("change_instances", lambda: update(None))
    expect("the reason", ["This field may not be null."], body["deployed_item"])
    bad_request("change_instances", lambda: update("a text"))
    bad_request("change_instances", lambda: update({"ip": "10.0.0.1"}))


@check
def the_history_tells_who_did_what_newest_first():
    (born,) = declare(vm())
    owner().change_instances.update(born["id"], {"log": "seen"})
    move(born["id"], "APPROVED", "COMPLETED")
    history = owner().change_instances.get_history(born["id"])
    entries = history["results"]
    expect("how many", (4, 4, None), (history["count"], len(entries), history["next"]))
    told = [(entry["state"], entry["reason"]) for entry in entries]
    expected = [("COMPLETED", "state"), ("APPROVED", "state"), ("PENDING", "log"), ("PENDING", "state")]
    expect("states and reasons", expected, told)
    shape = {"id": INTEGER, "state": TEXT, "log": TEXT, "modified": TEXT, "reason": TEXT}
    shape |= {"changed_by": TEXT, "changed_by_team": TEXT}
    for entry in entries:
        expect_fields("a history entry", shape, entry)
        expect("its id", born["id"], entry["id"])
        expect_that("it names the key", entry["changed_by"].endswith(" (Api Key)"), entry)
    teams = [entry["changed_by_team"] for entry in entries]
    expect("the teams", ["VMOwnerTeam"] * 3 + [TEAM], teams)
    logs = [entry["log"] for entry in entries]
    expect("the logs", ["seen", "seen", "seen", ""], logs)
    expect("what the consumer reads", entries, consumer().change_instances.get_history(born["id"])["results"])


@check
def change_instances_are_filtered():
    deliver(vm("web", cpu=8), vm("db"))
    submission = consumer().submissions.submit(declaration(vm("web", cpu=16), vm("new")))
    items = {item.name: item for item in consumer().service_items.list()}
    changes = owner().change_instances
    def find(**filters):
        return sorted(
            (change.data["service_item"]["name"], change.change_type)
            for change in changes.list(submission_id=submission.id, **filters)
        )
    everything = [("db", "DELETE"), ("new", "CREATE"), ("web", "MODIFY")]
    web = items["web"]
    expect("by submission", everything, find())
    expect("by state", everything, find(state="PENDING"))
    expect("by several states", everything, find(state="APPROVED,PENDING"))
    expect("by another state", [], find(state="COMPLETED"))
    expect("by type", [("new", "CREATE")], find(change_type="CREATE"))
    expect("by several types", everything[:2], find(change_type="CREATE,DELETE"))
    expect("by item", [("web", "MODIFY")], find(service_item_id=web.id))
    expect("by service", everything, find(service_id=web.service_id))
    expect("by service name", [], find(service_name="LoadBalancer"))
    expect("by application", everything, find(application_id=web.application_id))
    expect("by consumer", everything, find(consumer_team_id=web.consumer_team_id))
    expect("by owner", everything, find(service_owner_team_id=web.service_owner_team_id))
    expect("by declaration", [("web", "MODIFY")], find(declaration={"cpu": 16}))
    expect("by a part of it", [("new", "CREATE")], find(declaration_contains='"new"'))
    expect("by a pattern", [("web", "MODIFY")], find(declaration_regex="w.b"))
    expect("without referenced ones", everything, find(exclude_referenced=True))
    expect("newest first", sorted((c.id for c in changes.list(submission_id=submission.id)), reverse=True),
           [change.id for change in changes.list(submission_id=submission.id, ordering="-created")])
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).strftime("%Y-%m-%d")
    yesterday = (datetime.now(UTC) - timedelta(days=1)).strftime("%Y-%m-%d")
    expect("between two days", everything, find(start_date=yesterday, end_date=tomorrow))
    expect("from tomorrow on", [], find(start_date=tomorrow))
    bad_request("change_instances", lambda: find(state="NO_SUCH_STATE"))


# --- Deployed items ----------------------------------------------------------------------------------------

@check
def what_is_deployed_is_recorded_for_a_service_item():
    (item,) = deliver(vm("by-item"))
    deployed = owner().deployed_items.create(service_item_id=item.id, data={"ip": "10.0.0.1"})
    expect_fields("a deployed item", DEPLOYED_ITEM, deployed.data)
    expect("data and version", ({"ip": "10.0.0.1"}, 1), (deployed.data_field, deployed.data["version"]))
    expect("its item", owner().service_items.get(item.id).url, deployed.data["service_item"])
    expect("read alone", deployed.data, owner().deployed_items.get(deployed.id).data)
    expect("for the consumer", {"ip": "10.0.0.1"}, consumer().deployed_items.get(deployed.id).data_field)


@check
def what_is_deployed_is_recorded_for_a_change_instance():
    (born,) = declare(vm("by-change"))
    move(born["id"], "APPROVED")
    deployed = owner().deployed_items.create(change_instance_id=born["id"], data={"ip": "10.0.0.1"})
    expect("its change instance", owner().change_instances.get(born["id"]).url, deployed.data["change_instance"])
    by_url = owner().deployed_items.create(change_instance_id=deployed.data["change_instance"], data={"ip": "10.0.0.2"})
    expect("data and version", ({"ip": "10.0.0.2"}, 2), (by_url.data_field, by_url.data["version"]))


@check
def the_same_data_again_is_no_new_version():
    (item,) = deliver(vm("same"))
    first = owner().deployed_items.create(service_item_id=item.id, data={"ip": "10.0.0.1"})
    again = owner().deployed_items.create(service_item_id=item.id, data={"ip": "10.0.0.1"})
    expect("id and version", (first.id, 1), (again.id, again.data["version"]))
    expect("the message", "no change detected", again.data.get("message"))


@check
def a_deployed_item_is_updated_by_merging_into_a_new_version():
    (item,) = deliver(vm("merged"))
    items = owner().deployed_items
    first = items.create(service_item_id=item.id, data={"ip": "10.0.0.1", "disk": {"size": 10, "kind": "ssd"}})
    second = items.update_latest(item.id, {"disk": {"size": 20}, "host": "h1"})
    merged = {"ip": "10.0.0.1", "disk": {"size": 20, "kind": "ssd"}, "host": "h1"}
    expect("data and version", (merged, 2), (second.data_field, second.data["version"]))
    expect_that("it is another one", second.id != first.id, (first.id, second.id))
    expect("the first stays", first.data, items.get(first.id).data)
    bad_request("deployed_items", lambda: items.update(first.id, {"host": "h2"}))
    expect("the newest", second.id, items.get_latest(item.id).id)
    newest_first = [row.data["version"] for row in items.by_service_item(item.id)]
    expect("the versions", [2, 1], newest_first)
    oldest_first = [row.data["version"] for row in items.by_service_item(item.id, ordering="created")]
    expect("the versions by age", [1, 2], oldest_first)
    shown = consumer().service_items.get(item.id).data["deployed_item"]
    expect("what the item shows", {"data": merged, "version": 2}, shown)


@check
def a_service_item_takes_its_deployed_item_itself():
    deliver(vm("itself"))
    item = next(owner().service_items.list(name="itself"))
    expect("at first", None, item.get_deployed_item())
    refused(NetorcaNotFoundError, "No deployed item found", lambda: item.update_deployed_item({"a": 1}))
    created = item.create_deployed_item({"a": 1})
    expect("after creating", created.id, item.get_deployed_item().id)
    expect("after updating", {"a": 1, "b": 2}, item.update_deployed_item({"b": 2}).data_field)


@check
def many_versions_are_listed_page_by_page():
    (item,) = deliver(vm("versions"))
    for number in range(25):
        owner().deployed_items.create(service_item_id=item.id, data={"number": number})
    versions = [row.data["version"] for row in owner().deployed_items.by_service_item(item.id)]
    expect("the versions", list(range(25, 0, -1)), versions)


@check
def deployed_items_are_filtered():
    first, second = deliver(vm("first"), vm("second"))
    for item, address in ((first, "10.0.0.1"), (second, "10.0.0.2")):
        owner().deployed_items.create(service_item_id=item.id, data={"ip": address})
    def find(**filters):
        return sorted(
            row.data_field["ip"]
            for row in owner().deployed_items.list(service_item_id=[first.id, second.id], **filters)
        )
    expect("by items", ["10.0.0.1", "10.0.0.2"], find())
    expect("by application", ["10.0.0.1", "10.0.0.2"], find(application_id=first.application_id))
    expect("by service", ["10.0.0.1", "10.0.0.2"], find(service_id=first.service_id))
    expect("by consumer", ["10.0.0.1", "10.0.0.2"], find(consumer_team_id=first.consumer_team_id))
    expect("by owner", ["10.0.0.1", "10.0.0.2"], find(service_owner_team_id=first.service_owner_team_id))
    expect("by a field", ["10.0.0.2"], find(declaration={"ip": "10.0.0.2"}))
    expect("by a part", ["10.0.0.1"], find(declaration_contains="0.1"))
    expect("by a pattern", ["10.0.0.2"], find(declaration_regex=r"\.2"))


@check
def a_deployed_item_for_nothing_or_for_what_does_not_exist_is_refused():
    bad_request("deployed_items", lambda: owner().deployed_items.create(data={"ip": "10.0.0.1"}))
    nowhere = f"{checks.BASE_URL}/v1/orcabase/serviceowner/service_items/987654321/"
    bad_request("deployed_items", lambda: owner().deployed_items.create(service_item_id=nowhere, data={"a": 1}))
    refused(NetorcaNotFoundError, "service_items not found.",
            lambda: owner().deployed_items.create(service_item_id=987654321, data={"a": 1}))


# --- Services ----------------------------------------------------------------------------------------------

@check
def an_owner_sees_its_services_and_a_consumer_all_that_it_may_use():
    mine = [service.name for service in owner(LB_OWNER_KEY).services.list()]
    expect("the owner's", ["LoadBalancer"], mine)
    catalogue = [service.name for service in consumer().services.list()]
    expect_that("the catalogue has both", {"VM", "LoadBalancer"} <= set(catalogue), catalogue)
    (service,) = consumer().services.filter(name="VM")
    expect_fields("a service", SERVICE, service.data)
    expect("name, owner and state", ("VM", "VMOwnerTeam", "IN_SERVICE"),
           (service.name, service.owner_name, service.state))
    expect("its schema's title", "VM", service.schema["schema"]["title"])
    expect("the service read alone", service.data, consumer().services.get(service.id).data)


@check
def a_service_definition_is_validated():
    answer = owner().services.validate(schema_of("VALIDATED"))
    expect("is_valid", True, answer["is_valid"])
    expect("the services afterwards", [], owner().services.filter(name="VALIDATED"))
    body = bad_request("services", lambda: owner().services.validate({"title": "NAMELESS", "type": "object"}))
    expect("is_valid", False, body["is_valid"])
    table = ErrorFormatter.format_serviceowner_errors("NAMELESS", body["errors"])
    expect_that("the client's table of errors is not empty", "NAMELESS validation errors" in table, body)
    bad_request("services", lambda: owner().services.submit({"title": "NAMELESS", "type": "object"}))


@check
def a_service_is_published_and_ordered_and_published_again():
    created = owner().services.create(schema_of("DNS_RECORD"))
    expect_fields("a service", SERVICE, created.data)
    expect("name and owner", ("DNS_RECORD", "VMOwnerTeam"), (created.name, created.owner_name))
    data = {TEAM: {"Shop": {"services": {"DNS_RECORD": [{"name": "www"}]}}}}
    consumer().submissions.submit(data)
    expect("its items", ["www"], names_of(consumer().service_items.by_service(created.id)))
    same = owner().services.submit(schema_of("DNS_RECORD"))
    expect("the same again", created.data, same.data)
    newer = owner().services.submit(schema_of("DNS_RECORD", address={"type": "string"}))
    expect("the service", created.id, newer.id)
    expect("its fields", ["address", "name"], sorted(newer.schema["schema"]["properties"]))
    expect_that("its schema is newer", newer.schema["version"] > created.schema["version"], newer.data)


@check
def a_services_settings_decide_who_may_order_it_and_whether_it_is_approved():
    service = owner().services.create(schema_of("SETTINGS"))
    teams = [team["id"] for team in consumer().auth.get_teams_info()]
    updated = owner().services.update(service.id, {"approval_required": False, "allowed_teams": teams})
    expect("the settings", (False, teams), (updated.data["approval_required"], updated.data["allowed_teams"]))
    submission = consumer().submissions.submit({TEAM: {"Shop": {"services": {"SETTINGS": [{"name": "x"}]}}}})
    expect("the change instance is born", ["APPROVED"], [c["state"] for c in submission.data["change_instances"]])
    other = consumer(OTHER_CONSUMER_KEY)
    expect("what another team sees", [], other.services.filter(name="SETTINGS"))
    wanted = {"AwesomeConsumer2": {"Shop": {"services": {"SETTINGS": [{"name": "x"}]}}}}
    bad_request("submissions", lambda: other.submissions.submit(wanted))
    put = owner().services.update(service.id, {"allowed_teams": []}, partial=False)
    expect("after PUT", [], put.data["allowed_teams"])
    body = bad_request("services", lambda: owner().services.update(service.id, {"approval_required": "maybe"}))
    expect_that("the field is named", "approval_required" in body, body)


# --- Replacements ------------------------------------------------------------------------------------------


def publish_probe(**settings):
    """Publishes the service Probe with these settings."""
    service = owner().services.create(PROBE)
    updated = owner().services.update(service.id, {"update_strategy": "MODIFY", **settings})
    expect("the settings", settings, {name: updated.data[name] for name in settings})


def declare_probe(interval):
    """Submits a declaration of a probe and returns its change instance."""
    (change,) = consumer().submissions.submit(probe(interval)).data["change_instances"]
    return change


def probe_in(state):
    """Returns the only change instance of the service Probe in this state, from the list of its owner."""
    (change,) = owner().change_instances.filter(state=state, service_name="Probe")
    expect_fields("a change instance", CHANGE_INSTANCE, change.data)
    return change


@check
def an_owner_completes_a_replacement_without_knowing_it():
    publish_probe(update_strategy="REPLACE")
    first = declare_probe(interval=1)["id"]
    move(first, "APPROVED", "COMPLETED")
    owner().deployed_items.create(change_instance_id=first, data={"ip": "10.0.0.1"})
    declare_probe(interval=2)
    removal = probe_in("PENDING")
    expect("the first half", ("DELETE", True, 1, 2),
           (removal.change_type, removal.data["replacement"], *intervals(removal.data)))
    expect("the item", "DECOMMISSIONED", move(removal.id, "APPROVED").data["service_item"]["runtime_state"])
    expect("the removal", "COMPLETED", move(removal.id, "COMPLETED").state)
    creation = probe_in("APPROVED")
    expect("the second half", ("CREATE", "REPLACEMENT", None, 2),
           (creation.change_type, creation.data["kind"], *intervals(creation.data)))
    expect("no deployed item of the removed object", {}, creation.data["service_item"]["deployed_item"])
    merged = owner().deployed_items.update_latest(creation.data["service_item"]["id"], {"port": 80})
    expect("data and version", ({"port": 80}, 2), (merged.data_field, merged.data["version"]))
    result = {"state": "COMPLETED", "log": "done", "deployed_item": {"ip": "10.0.0.2"}}
    completed = owner().change_instances.update(creation.id, result)
    expect("what is deployed", {"ip": "10.0.0.2"}, completed.data["service_item"]["deployed_item"])
    expect("the same for the consumer", "COMPLETED", consumer().change_instances.get(creation.id).state)
    (item,) = consumer().service_items.list(service_name="Probe")
    expect("the item", (True, "ALL_CHANGES_COMPLETED", {"name": "web", "interval": 2}),
           (item.is_in_service(), item.change_state, item.data["declaration"]))
    expect("its deployed item", {"data": {"ip": "10.0.0.2"}, "version": 3}, item.data["deployed_item"])


@check
def a_change_that_is_created_as_completed_leaves_no_work():
    publish_probe(complete_unneeded=True)
    move(declare_probe(interval=1)["id"], "APPROVED", "COMPLETED")
    declare_probe(interval=2)
    returned = declare_probe(interval=1)
    expect_fields("a change instance", CHANGE_INSTANCE, returned)
    expect("type and state", ("MODIFY", "COMPLETED"), (returned["change_type"], returned["state"]))
    expect("what is left", [], owner().change_instances.filter(state="PENDING,APPROVED", service_name="Probe"))
    expect("a repetition changes nothing", "COMPLETED", move(returned["id"], "COMPLETED").state)
    (item,) = consumer().service_items.list(service_name="Probe")
    expect("the item", (True, "ALL_CHANGES_COMPLETED", {"name": "web", "interval": 1}),
           (item.is_in_service(), item.change_state, item.data["declaration"]))


# --- Generated change instances ----------------------------------------------------------------------------


def declare_a_load_balancer(cpu=8):
    """Declares a machine and a load balancer with a reference to it, and waits for the generation."""
    services = {"VM": [vm(cpu=cpu)], "LoadBalancer": [{"name": "front", "related_vms": ["web"]}]}
    submission = consumer().submissions.submit({TEAM: {"Shop": {"services": services}}})
    settle()
    return submission


def of_submission(changes, submission):
    """Returns the change instances of one submission, because the lists also contain earlier ones."""
    return [change for change in changes if change["submission"]["id"] == submission["id"]]


def dependent_change(submission):
    """Returns the only dependent change instance of a submission."""
    (change,) = of_submission(owner(NP_OWNER_KEY).change_instances.get_dependant(), submission.data)
    return change


def owner_and_item(changes):
    """Returns the sorted owners and items of change instances."""
    return sorted((change["owner"]["name"], change["service_item"]["name"]) for change in changes)


@check
def a_dependent_team_finds_its_change_instances():
    submission = declare_a_load_balancer()
    change = dependent_change(submission)
    expect_fields("a change instance", CHANGE_INSTANCE, change)
    expect("whose it is", [("NPOwnerTeam", "front")], owner_and_item([change]))
    expect("is_dependant", True, change["is_dependant"])
    expect("state and type", ("PENDING", "CREATE"), (change["state"], change["change_type"]))
    expect("the service's owner", "LBOwnerTeam", change["service_owner_team"]["name"])
    owned = owner(NP_OWNER_KEY).change_instances.filter(submission_id=submission.id)
    expect("the same among all it owns", [change["id"]], ids_of(owned))
    expect_members("read alone", change, owner(NP_OWNER_KEY).change_instances.get(change["id"]).data)


@check
def a_consumer_finds_the_dependent_change_instances_of_its_items():
    submission = declare_a_load_balancer()
    dependent = of_submission(consumer().change_instances.get_dependant(), submission.data)
    expect("whose they are", [("NPOwnerTeam", "front")], owner_and_item(dependent))
    expect("another consumer's", [], consumer(OTHER_CONSUMER_KEY).change_instances.get_dependant())


@check
def a_dependent_team_decides_its_change_instances_and_no_other():
    submission = declare_a_load_balancer()
    change = dependent_change(submission)
    for state in ("APPROVED", "COMPLETED"):
        moved = owner(NP_OWNER_KEY).change_instances.update(change["id"], {"state": state})
        expect("the state", state, moved.state)
    (main,) = owner(LB_OWNER_KEY).change_instances.filter(state="PENDING")
    expect("the service owner's is another one", False, main.data["is_dependant"])
    refused(NetorcaAPIError, "Access denied for change_instances.",
            lambda: owner(LB_OWNER_KEY).change_instances.update(change["id"], {"log": "not mine"}))


@check
def a_dependent_team_finds_the_items_and_services_it_has_a_part_in():
    declare_a_load_balancer()
    items = {item["id"]: item for item in owner(NP_OWNER_KEY).service_items.get_dependant()}
    (front,) = consumer().service_items.list(name="front")
    expect_that("the item is listed", front.id in items, items)
    expect_fields("a service item", SERVICE_ITEM, items[front.id])
    expect("the services of all that are listed", {"LoadBalancer"}, {row["service"]["name"] for row in items.values()})
    (service,) = owner(NP_OWNER_KEY).services.get_dependant()
    expect_fields("a service", SERVICE, service)
    expect("the service", "LoadBalancer", service["name"])
    for resource in (owner().service_items, owner().services, owner().change_instances):
        expect(f"{resource.endpoint} of a team that is not a dependent team", [], resource.get_dependant())


@check
def a_dependent_team_sees_what_is_deployed_for_its_items():
    declare_a_load_balancer()
    (main,) = owner(LB_OWNER_KEY).change_instances.filter(state="PENDING")
    owner(LB_OWNER_KEY).change_instances.update(main.id, {"state": "APPROVED"})
    deployed = owner(LB_OWNER_KEY).deployed_items.create(change_instance_id=main.id, data={"vip": "10.0.0.1"})
    listed = {row["id"]: row for row in owner(NP_OWNER_KEY).deployed_items.get_dependant()}
    expect_that("the deployed item is listed", deployed.id in listed, listed)
    expect_fields("a deployed item", DEPLOYED_ITEM, listed[deployed.id])
    expect("its data", {"vip": "10.0.0.1"}, listed[deployed.id]["data"])
    expect("of a team that is not a dependent team", [], owner().deployed_items.get_dependant())


@check
def a_modified_machine_asks_for_the_load_balancer_that_refers_to_it():
    declare_a_load_balancer(cpu=8)
    carry_out_everything()
    submission = declare_a_load_balancer(cpu=16)
    referenced = owner(LB_OWNER_KEY).change_instances.get_referenced(submission_id=submission.id)
    expect("whose they are", [("LBOwnerTeam", "front")], owner_and_item(referenced))
    (change,) = referenced
    expect_fields("a change instance", CHANGE_INSTANCE, change)
    expect("kind and type", ("REFERENCED", "MODIFY"), (change["kind"], change["change_type"]))
    by_item = owner(LB_OWNER_KEY).change_instances.get_referenced(service_item_id=change["service_item"]["id"])
    expect_that("it is found by its item", change["id"] in [row["id"] for row in by_item], by_item)
    for_consumer = consumer().change_instances.get_referenced(submission_id=submission.id)
    expect_that("the consumer finds it", change["id"] in [row["id"] for row in for_consumer], for_consumer)
    expect("the kinds that are listed", {"REFERENCED"}, {row["kind"] for row in for_consumer})
    without = owner(LB_OWNER_KEY).change_instances.filter(submission_id=submission.id, exclude_referenced=True)
    expect("without referenced ones", [], without)
    expect("what the machine's owner sees", [], owner().change_instances.get_referenced(submission_id=submission.id))


@check
def old_code_finds_what_is_generated():
    submission = declare_a_load_balancer()
    netorca = old_style(NP_OWNER_KEY)
    page = netorca.get_change_instances_dependant()
    expect("the fields", ["count", "next", "previous", "results"], sorted(page))
    expect_that("the page counts the change instance", page["count"] >= len(page["results"]) >= 1, page)
    expect_that("each is a dependent's", all(change["is_dependant"] for change in page["results"]), page)
    items = netorca.get_service_items_dependant({"name": "front"})["results"]
    expect("the items", {"front"}, {item["name"] for item in items})
    expect("the services", ["LoadBalancer"], [row["name"] for row in netorca.get_service_dependant()["results"]])
    found = netorca.get_change_instances({"submission_id": submission.id})["results"]
    expect("the change instances", [("NPOwnerTeam", "front")], owner_and_item(found))


# --- Applications ------------------------------------------------------------------------------------------


@check
def applications_are_listed_and_read():
    data = {TEAM: {"Shop": {"metadata": {"env": "dev"}, "services": {"VM": [vm()]}}, "Bank": {}}}
    consumer().submissions.submit(data)
    (shop,) = consumer().applications.filter(name="Shop")
    shape = {"id": INTEGER, "url": TEXT, "name": TEXT, "metadata": OBJECT, "created": TEXT, "modified": TEXT}
    expect_fields("an application", {**shape, "owner.id": INTEGER, "owner.name": TEXT}, shop.data)
    expect("name, owner and metadata", ("Shop", TEAM, {"env": "dev"}),
           (shop.name, shop.owner_name, shop.data["metadata"]))
    expect("the application read alone", shop.data, consumer().applications.get(shop.id).data)
    expect("by a part of the name", ["Shop"], names_of(consumer().applications.list(search="sho")))
    light = names_of(consumer().applications.list(light=True, search="Shop"))
    expect("the light list", ["Shop"], light)
    refused(NetorcaNotFoundError, "applications not found.",
            lambda: consumer(OTHER_CONSUMER_KEY).applications.get(shop.id))


@check
def applications_are_found_by_the_state_of_their_items():
    declare(vm())
    found = names_of(consumer().applications.list(runtime_state="REQUESTED,IN_SERVICE"))
    expect_that("the application of a requested item is found", "Shop" in found, found)


# --- Rejections and the client's exceptions ----------------------------------------------------------------


@check
def a_service_has_documentation_tags_and_configs():
    client, service = owner(), next(iter(owner().services.list(name="VM")))
    with tempfile.NamedTemporaryFile("w", suffix=".md") as readme:
        readme.write("# VM\n")
        readme.flush()
        client.services.create_docs(service.id, readme.name, "vm.md")
    expect("the documentation", "# VM\n", client.services.get_docs(service.id)["md_file"])
    client.services.update(service.id, {"tags": ["compute"]})
    expect("the tags", ["compute"], client.services.get_tags())
    made = client.service_configs.create({"service": service.id, "config": {"ip": "10.0.0.1"}})
    newest = next(iter(client.service_configs.list(service_id=service.id, ordering="-version", limit=1)))
    expect("the newest config", made.data, newest.data)
    expect("the config", {"ip": "10.0.0.1"}, client.service_configs.get(made.id).config)
    listed = client.service_configs.filter(service_id=service.id)
    expect("the configs", [made.to_dict()], [one.to_dict() for one in listed])
    expect("other owners' configs", [], list(owner(LB_OWNER_KEY).service_configs.list()))


@check
def old_code_keeps_documentation_configs_and_webhooks():
    client = old_style()
    service = client.get_services({"name": "VM"})["results"][0]["id"]
    with tempfile.NamedTemporaryFile("w", suffix=".md") as readme:
        readme.write("# Old\n")
        readme.flush()
        client.create_service_docs(service, readme.name, "vm")
    expect("the documentation", "# Old\n", client.get_service_docs(service)["md_file"])
    expect_that("tags are a list", isinstance(client.get_service_tags()["results"], list), client.get_service_tags())
    made = client.create_service_config({"service": service, "config": {"zone": 1}})
    expect("the config", {"zone": 1}, client.get_service_config(made["id"])["config"])
    newest = client.get_service_configs({"service_id": service, "ordering": "-version"})["results"][0]
    expect("the newest config", made, newest)
    hook = client.create_webhook({"name": "w", "service": service, "target_url": "http://127.0.0.1:1/"})
    expect("the webhook", service, hook["service"])
    expect("what became of a try", "unreachable", client.webhook_trigger(hook["id"])["error"])
    expect("the webhooks", [hook["id"]], [one.to_dict()["id"] for one in owner().webhooks.filter(service_id=service)])
    owner().webhooks.delete(hook["id"])
    expect("what is left", [], list(owner().webhooks.list()))


@check
def old_code_makes_and_triggers_healthchecks():
    client = old_style()
    service = client.get_services({"name": "VM"})["results"][0]["id"]
    # The port has no listener, so the health is UNKNOWN.
    made = client.create_healthcheck({"service": service, "target_url": "http://127.0.0.1:1/"})
    expect("the healthcheck", (service, False), (made["service"], made["schedule_enabled"]))
    expect("the run that was asked for", service, client.healthcheck_trigger_service(service)["service"])
    (item,) = deliver(vm("old"))
    told = client.healthcheck_trigger_service_item(item.id)
    expect("how the item is", ("UNKNOWN", "unreachable"), (told["healthcheck_status"], told["error"]))


@check
def what_does_not_exist_is_not_found():
    client = owner()
    for resource in (client.services, client.service_items, client.change_instances,
                     client.deployed_items, client.applications):
        refused(NetorcaNotFoundError, f"{resource.endpoint} not found.", functools.partial(resource.get, 987654321))
    refused(NetorcaNotFoundError, "submissions not found.", lambda: consumer().submissions.get(987654321))
    refused(NetorcaNotFoundError, "change_instances not found.", lambda: client.change_instances.get_history(987654321))
    refused(NetorcaNotFoundError, "change_instances not found.", lambda: move(987654321, "APPROVED"))
    refused(NetorcaNotFoundError, "services not found.",
            lambda: client.services.update(987654321, {"allowed_teams": []}))
    refused(NetorcaNotFoundError, "deployed_items not found.",
            lambda: client.deployed_items.update(987654321, {"a": 1}))


@check
def what_is_another_teams_is_not_found():
    (born,) = declare(vm("private"))
    move(born["id"], "APPROVED")
    deployed = owner().deployed_items.create(change_instance_id=born["id"], data={"ip": "10.0.0.1"})
    submission = born["submission"]["id"]
    for other in (owner(LB_OWNER_KEY), consumer(OTHER_CONSUMER_KEY)):
        for call, *arguments in (
            (other.service_items.get, born["service_item"]["id"]),
            (other.change_instances.get, born["id"]),
            (other.change_instances.get_history, born["id"]),
            (other.deployed_items.get, deployed.id),
            (other.deployed_items.update, deployed.id, {"a": 1}),
        ):
            refused(NetorcaNotFoundError, "not found.", functools.partial(call, *arguments))
        expect("what its lists show", [], other.deployed_items.filter(service_item_id=born["service_item"]["id"]))
        expect("what its lists show", [], other.change_instances.filter(service_item_id=born["service_item"]["id"]))
    stranger = owner(LB_OWNER_KEY).change_instances
    refused(NetorcaNotFoundError, "not found.", lambda: stranger.update(born["id"], {"state": "COMPLETED"}))
    refused(NetorcaNotFoundError, "not found.", lambda: consumer(OTHER_CONSUMER_KEY).submissions.get(submission))


@check
def what_is_known_but_not_allowed_is_denied():
    (born,) = declare(vm())
    refused(NetorcaAPIError, "Access denied for change_instances.",
            lambda: consumer().change_instances.update(born["id"], {"state": "APPROVED"}))
    expect("the state afterwards", "PENDING", owner().change_instances.get(born["id"]).state)
    stranger = owner(LB_OWNER_KEY)
    refused(NetorcaAPIError, "Access denied for services.", lambda: stranger.services.submit(schema_of("VM")))
    refused(NetorcaAPIError, "Access denied for services.",
            lambda: stranger.services.update(born["service"]["id"], {"approval_required": False}))


@check
def a_method_that_a_route_does_not_take_is_an_error_of_its_own():
    (item,) = deliver(vm())
    refused(NetorcaAPIError, "Unexpected error 405 for service_items.",
            lambda: owner().delete("service_items", item.id))


# --- The interface of the client's 0.x releases ------------------------------------------------------------


@check
def old_code_for_owners_still_works():
    netorca = old_style()
    (born,) = declare(vm("old-style"))
    pending = netorca.get_change_instances({"state": "PENDING"})
    expect("the pending ones", [born["id"]], [change["id"] for change in pending["results"]])
    expect("one of them", "PENDING", netorca.get_change_instance(born["id"])["state"])
    approved = netorca.update_change_instance(born["id"], {"state": "APPROVED"})
    expect("after the update", "APPROVED", approved["state"])
    changed = netorca.create_deployed_item(born["id"], {"ip": "10.0.0.1"})
    expect("what is deployed", {"ip": "10.0.0.1"}, changed["service_item"]["deployed_item"])
    item = netorca.get_service_item(born["service_item"]["id"])
    expect("the item", {"data": {"ip": "10.0.0.1"}, "version": 1}, item["deployed_item"])
    listed = netorca.get_deployed_items({"service_item_id": item["id"]})
    expect("how many are deployed", 1, listed["count"])
    deployed = netorca.get_deployed_item(listed["results"][0]["id"])
    expect("the deployed item", {"ip": "10.0.0.1"}, deployed["data"])
    history = netorca.change_instance_history(born["id"])
    expect("the history", ["APPROVED", "PENDING"], [entry["state"] for entry in history["results"]])


@check
def old_code_for_services_still_works():
    netorca = old_style()
    expect("validating", True, netorca.validate_service(schema_of("OLD_STYLE"))["is_valid"])
    service = netorca.create_service(schema_of("OLD_STYLE"))
    expect("the list", ["OLD_STYLE"], [s["name"] for s in netorca.get_services({"name": "OLD_STYLE"})["results"]])
    updated = netorca.update_service(service["id"], {"approval_required": False})
    expect("the setting", False, updated["approval_required"])


@check
def old_code_for_consumers_still_works():
    netorca = old_style(CONSUMER_KEY)
    wanted = declaration(vm(cpu=8))
    expect("validating", True, netorca.submission_validate(wanted, context="consumer")["is_valid"])
    expect("in part", True, netorca.submission_validate(wanted, partial=True, context="consumer")["is_valid"])
    submitted = netorca.submission_submit(wanted, context="consumer")
    expect("submitting", ["PENDING"], [change["state"] for change in submitted["change_instances"]])
    (change,) = submitted["change_instances"]
    items = netorca.get_service_items({"name": "web", "runtime_state": "REQUESTED"}, context="consumer")
    expect("the items", [change["service_item"]["id"]], [item["id"] for item in items["results"]])
    changes = netorca.get_change_instances({"submission_id": submitted["id"]}, context="consumer")
    expect("the changes", [change["id"]], [change["id"] for change in changes["results"]])
    submissions = netorca.get_submissions({"light": True, "ordering": "-created"}, context="consumer")
    expect("the newest submission", submitted["id"], submissions["results"][0]["id"])
    applications = netorca.get_applications({"search": "Shop"}, context="consumer")
    expect("the applications", ["Shop"], [application["name"] for application in applications["results"]])
    history = netorca.change_instance_history(change["id"], context="consumer")
    expect("the history", ["PENDING"], [entry["state"] for entry in history["results"]])


@check
def what_has_a_price_is_charged_and_billed():
    owner().services.create({**schema_of("Meter"), "metadata": {"cost_per_change": 0.1, "monthly_cost": 50}})
    wanted = {TEAM: {"Shop": {"services": {"Meter": [{"name": "one"}]}}}}
    (born,) = consumer().submissions.submit(wanted).data["change_instances"]
    move(born["id"], "APPROVED")
    of_item = {"service_item_id": born["service_item"]["id"]}
    fee, = owner().charges.list(charge_type="cost_per_change", **of_item)
    expect("what the client has a property for", (0.1, "cost_per_change", fee.start, False),
           (fee.total_charge, fee.charge_type, fee.end, fee.processed))
    expect("what it is for", born["id"], int(fee.scope.rstrip("/").rsplit("/", 1)[1]))
    expect("the same, by its id", fee.to_dict(), owner().charges.get(fee.id).to_dict())
    time, = consumer().charges.filter(charge_type="monthly_cost", **of_item)
    expect("its end while it runs", None, time.end)
    expect("whether it is processed", True, owner().charges.update(fee.id, {"processed": True}).processed)
    ended = owner().charges.update(time.id, {"processed": True})
    expect_that("it ended", ended.end is not None, ended.to_dict())
    runs_on = [one.start for one in owner().charges.list(charge_type="monthly_cost", processed=False, **of_item)]
    expect("where the rest begins", [ended.end], runs_on)
    refused(NetorcaAPIError, "charge_processed", lambda: owner().charges.update(fee.id, {"processed": False}))
    refused(NetorcaAPIError, "Access denied", lambda: consumer().charges.update(fee.id, {"processed": True}))
    refused(NetorcaNotFoundError, "charges not found.", lambda: owner(LB_OWNER_KEY).charges.get(fee.id))
    summed, = consumer().charges.get_accumulated(**of_item)
    expect("what its change cost", 0.1, summed["cost_per_change"])
    netorca = old_style()
    expect("the same for old code", [fee.id], [one["id"] for one in netorca.get_charges(
        {"charge_type": "cost_per_change", **of_item})["results"]])
    expect("a repetition changes nothing", True, netorca.update_charges(fee.id, {"processed": True})["processed"])


@check
def webhooks_are_made_read_changed_tried_and_removed():
    webhooks, service = owner().webhooks, next(owner().services.list(name="VM")).id
    data = {"target_url": "http://127.0.0.1:1/", "service": service, "change_instance_state": "PENDING", "timeout": 5,
            "authorization": "Bearer one", "trigger_wait_time": 1, "trigger_cooling_time": 2, "active": False}
    made = webhooks.create(data)
    expect("the service", service, made.service_id)
    expect("what the client has a property for", ("VM", "", data["target_url"], False, "PENDING", True, 5, False, 1, 2),
           (made.name, made.description, made.target_url, made.active, made.change_instance_state, made.verify,
            made.timeout, made.trust_env, made.trigger_wait_time, made.trigger_cooling_time))
    expect_that("the credentials are not shown", made.authorization == "********", made.authorization)
    expect("one of them", made.id, webhooks.get(made.id).id)
    expect("all of them", [made.id], [one.id for one in webhooks.list()])
    expect("the name", "ansible", webhooks.update(made.id, {"name": "ansible"}).name)
    read = webhooks.get(made.id).data
    expect("what was read, sent back", read, webhooks.update(made.id, read, partial=False).data)
    tried = webhooks.trigger(made.id)
    expect("what became of it", (False, "unreachable"), (tried["delivered"], tried["error"]))
    refused(NetorcaAPIError, "must be a service of the team", lambda: owner(LB_OWNER_KEY).webhooks.create(data))
    refused(NetorcaNotFoundError, "webhooks not found.", lambda: owner(LB_OWNER_KEY).webhooks.get(made.id))
    expect("whether it is gone", True, webhooks.delete(made.id))
    expect("what is left", [], list(webhooks.list()))


@check
def messages_are_written_shown_changed_and_removed():
    messages, service = owner().messages, next(owner().services.list(name="VM"))
    made = messages.create({"description": "VMs rest on Sunday", "expiry_date": "2099-12-31T00:00:00Z",
                            "scopes": [f"/v1/orcabase/serviceowner/services/{service.id}/"]})
    expect("what the client has a property for",
           ("VMs rest on Sunday", "2099-12-31T00:00:00.000000Z", False, "VMOwnerTeam"),
           (made.description, made.expiry_date, made.has_expired, made.owner["name"]))
    expect("its scope", ("Service", service.id, "VM"),
           (made.scopes[0]["type"], made.scopes[0]["scope"]["id"], made.scopes[0]["scope"]["name"]))
    # The client reads the scopes of the message and sends them back.
    changed = messages.update(made.id, {"description": "VMs rest on Monday"})
    expect("what was not changed", (made.scopes, made.expiry_date), (changed.scopes, changed.expiry_date))
    # Scopes without URLs, identified by their ids.
    scopes = [{"type": "Service", "scope": {"id": service.id, "name": "VM"}}]
    expect("the same scopes", made.scopes, messages.update(made.id, {"scopes": messages._scope_urls(scopes)}).scopes)
    whole = messages.update(made.id, {"description": "To all of you"}, partial=False)
    expect("what a whole one says no more", (None, []), (whole.expiry_date, whole.scopes))
    expect("one of them", whole.to_dict(), messages.get(made.id).to_dict())
    expect("all of them", [made.id], [one.id for one in messages.list()])
    expect("all of them, filtered by nothing", [made.id], [one.id for one in messages.filter()])
    expect("those of who uses nothing", [], list(consumer().messages.list()))
    declare(vm())
    expect("those of who uses one", [made.id], [one.id for one in consumer().messages.list()])
    expect("one of those", "To all of you", consumer().messages.get(made.id).description)
    told = consumer().submissions.validate(declaration(vm()))
    expect("what comes with a validation", [made.id], [one["id"] for one in told["messages"]])
    refused(NetorcaAPIError, "must contain only services of the team",
            lambda: owner(LB_OWNER_KEY).messages.create({"description": "x", "scopes": [service.data["url"]]}))
    refused(NetorcaNotFoundError, "messages not found.", lambda: owner(LB_OWNER_KEY).messages.get(made.id))
    expect("whether it is gone", True, messages.delete(made.id))
    expect("what is left", [], list(messages.list()))


@check
def healthchecks_are_made_read_and_triggered():
    healthchecks, service = owner().healthchecks, next(owner().services.list(name="VM")).id
    data = {"service": service, "target_url": "http://127.0.0.1:1/", "authorization": "Bearer one",
            "schedule_enabled": True, "schedule_crontab": "0 3 * * *"}
    made = healthchecks.create(data)
    expect("the service", service, made.service_id)
    expect("the crontab", "0 3 * * *", made.to_dict()["schedule_crontab"])
    expect_that("the credentials are not shown", made.data["authorization"] == "********", made.data)
    expect("one of them", made.id, healthchecks.get(made.id).id)
    expect("all of them", [made.id], [one.id for one in healthchecks.list()])
    expect("the same, filtered", [made.id], [one.id for one in healthchecks.filter(limit=5)])
    expect("made again", made.id, healthchecks.create(data).id)
    expect("the run that was asked for", service, healthchecks.trigger_service(service)["service"])
    (item,) = deliver(vm())
    told = consumer().healthchecks.trigger_service_item(item.id)
    expect("how the item is", ("UNKNOWN", "unreachable"), (told["healthcheck_status"], told["error"]))
    expect("what the item shows", "UNKNOWN", consumer().service_items.get(item.id).data["healthcheck_status"])
    expect("whether its service has one", True, consumer().service_items.get(item.id).data["service"]["healthcheck"])
    refused(NetorcaAPIError, "asked_just_now", lambda: healthchecks.trigger_service_item(item.id))
    refused(NetorcaNotFoundError, "healthchecks not found.", lambda: healthchecks.trigger_service_item(987654321))
    refused(NetorcaAPIError, "must be a service of the team", lambda: owner(LB_OWNER_KEY).healthchecks.create(data))
    refused(NetorcaNotFoundError, "healthchecks not found.", lambda: owner(LB_OWNER_KEY).healthchecks.get(made.id))


@check
def old_code_meets_the_same_errors():
    netorca = old_style()
    refused(NetorcaNotFoundError, "change_instances not found.", lambda: netorca.get_change_instance(987654321))
    refused(NetorcaAPIError, "Access denied for services.", lambda: netorca.create_service(schema_of("LoadBalancer")))
    body = bad_request("submission_submit", lambda: old_style(CONSUMER_KEY).submission_submit(
        declaration(vm(cpu="eight")), context="consumer"))
    expect("is_valid", False, body["is_valid"])
    bad = old_style("no-such-key")
    refused(NetorcaAuthenticationError, "Authentication failed.", bad.get_services)
    refused(NetorcaInvalidContextError, "is not a valid ContextIn value",
            lambda: netorca.get_service_items(context="nobody"))
    refused(NetorcaValueError, "Invalid endpoint", lambda: netorca.caller("nothing", "get"))


@check
def old_code_may_bring_its_own_authentication():
    auth = NetorcaAuth(fqdn=f"{checks.BASE_URL}/v1/", api_key=VM_OWNER_KEY)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        services = Netorca(auth).get_services({"name": "VM"})
    expect("the services", ["VM"], [service["name"] for service in services["results"]])


@check
def what_is_read_is_handed_out_as_plain_data():
    (change,) = declare(vm("plain"))
    move(change["id"], "APPROVED")
    owner().deployed_items.create(change_instance_id=change["id"], data={"ip": "10.0.0.1"})
    (item,) = consumer().service_items.filter(name="plain")
    expect("is_requested", False, item.is_requested())
    first = consumer().applications.filter(name="Shop")[0]
    newest = consumer().submissions.filter(limit=1, ordering="-created")[0]
    deployed = owner().deployed_items.get_latest(item.id)
    own_change, own_service = owner().change_instances.get(change["id"]), owner().services.filter()[0]
    for row in (item, first, newest, deployed, own_change, own_service):
        expect(f"the data of {row}", row.data, row.to_dict())


@check
def a_dependent_team_finds_what_is_deployed_in_the_old_style_too():
    listed = old_style(NP_OWNER_KEY).get_deployed_items_dependant({"limit": 1})
    expect_that("it is a list", isinstance(listed["results"], list), listed)


@check
def an_owners_repository_is_summed_up():
    config = json.dumps({"netorca_global": {"base_url": checks.BASE_URL}})
    with repository(config__json=config, SUMMED_UP__json=json.dumps(schema_of("SUMMED_UP"))) as folder:
        summary = ServiceOwnerSubmission(owner(), folder).get_summary()
    expect_that("it names the service", "SUMMED_UP" in summary, summary)


if __name__ == "__main__":
    checks.main("1.0.14", withdraw_everything)
