"""A tour of the API with a client generated from the contract. Each step checks the promised response."""

import sys

import dovetail_client as dovetail
from dovetail_client.exceptions import BadRequestException, UnauthorizedException


class Caller:
    """A team with its API key."""

    def __init__(self, base, key):
        configuration = dovetail.Configuration(host=base)
        configuration.api_key["ApiKey"] = key
        configuration.api_key_prefix["ApiKey"] = "Api-Key"
        client = dovetail.ApiClient(configuration)
        self.about = dovetail.AboutApi(client)
        self.account = dovetail.AccountApi(client)
        self.changes = dovetail.ChangeInstancesApi(client)
        self.deployed = dovetail.DeployedItemsApi(client)
        self.items = dovetail.ServiceItemsApi(client)
        self.services = dovetail.ServicesApi(client)
        self.submissions = dovetail.SubmissionsApi(client)


def check(told, expected):
    if told != expected:
        sys.exit(f"{expected} expected: {told}")


def declared(vms, balancers=()):
    services = {"VM": list(vms), "LoadBalancer": list(balancers)}
    application = {"services": {name: items for name, items in services.items() if items}}
    return {"AwesomeConsumer": dovetail.DeclarationValue.from_dict({"NewApp1": application})}


def tour(base):
    consumer = Caller(base, "awesome-key")
    vm, lb, np = (Caller(base, f"{team}-owner-key") for team in ("vm", "lb", "np"))

    check(consumer.about.get_health().status, "ok")
    check([team.name for team in consumer.account.list_teams().results], ["AwesomeConsumer"])
    try:
        Caller(base, "no-such-key").account.list_teams()
        sys.exit("an unknown key was accepted")
    except UnauthorizedException as error:
        check(error.data.code, dovetail.Code.UNAUTHENTICATED)

    # A repeated request with the same idempotency key must return the same submission.
    one, two = {"name": "CoreVM1", "cpu": 8, "memory": 2}, {"name": "CoreVM2", "cpu": 16, "memory": 4}
    balancer = {"name": "CoreLB1", "related_vms": ["CoreVM1"], "algorithm": "RoundRobin"}
    check(consumer.submissions.validate_submission(declared([one, two])).is_valid, True)
    submitted = consumer.submissions.submit(declared([one, two]), commit_id="51e53e4", idempotency_key="tour")
    again = consumer.submissions.submit(declared([one, two]), commit_id="51e53e4", idempotency_key="tour")
    check(again.id, submitted.id)
    check([change.service_item.name for change in submitted.change_instances], ["CoreVM1", "CoreVM2"])
    consumer.submissions.submit(declared([one, two], [balancer]))

    # The service owner decides, and the consumer sees the deployed item.
    pending = vm.changes.list_change_instances("serviceowner", state="PENDING", ordering="created").results
    check([change.service_item.name for change in pending], ["CoreVM1", "CoreVM2"])
    first = pending[0].id
    approved = dovetail.ChangeInstanceUpdate(state="APPROVED")
    vm.changes.update_change_instance("serviceowner", first, change_instance_update=approved)
    done = dovetail.ChangeInstanceUpdate(state="COMPLETED", log="in the rack", deployed_item={"ip": "10.0.0.1"})
    change = vm.changes.update_change_instance("serviceowner", first, change_instance_update=done)
    check((change.state, change.log), (dovetail.State.COMPLETED, "in the rack"))
    item = consumer.items.get_service_item("consumer", change.service_item.id)
    check((item.runtime_state, item.deployed_item.data), (dovetail.RuntimeState.IN_SERVICE, {"ip": "10.0.0.1"}))
    deployed = consumer.deployed.list_deployed_items("consumer", service_item_id=str(item.id))
    check([version.data for version in deployed.results], [{"ip": "10.0.0.1"}])

    # The history starts with the newest entry.
    history = consumer.changes.change_instance_history("consumer", first).results
    check([entry.state for entry in history], ["COMPLETED", "APPROVED", "PENDING"])

    # An invalid declaration gets each error with its JSON pointer, and the page of the error code.
    try:
        consumer.submissions.submit(declared([one | {"cpu": "eight"}, two], [balancer]))
        sys.exit("an invalid declaration was accepted")
    except BadRequestException as error:
        check(error.data.code, dovetail.Code.INVALID_DECLARATION)
        check([problem.pointer for problem in error.data.problems], ["/AwesomeConsumer/NewApp1/services/VM/0/cpu"])
        page = consumer.about.get_error_page(dovetail.Code(error.data.type.rsplit("/", 1)[1]))
        check("Remedy" in page, True)

    # A change of a referenced item generates change instances for the owner and the dependent team of the other item.
    modified = consumer.submissions.submit(declared([one | {"cpu": 12}, two], [balancer]))
    check(modified.planned.generated, 2)
    settled = modified.id
    while consumer.submissions.get_submission(settled).state != "SETTLED":
        pass
    referenced = lb.changes.list_referenced_change_instances("serviceowner").results
    check([change.kind for change in referenced], ["REFERENCED"])
    shares = np.changes.list_dependent_change_instances("serviceowner").results
    check({change.is_dependant for change in shares}, {True})

    # An item that is missing in a declaration gets a DELETE.
    removed = consumer.submissions.submit(declared([one | {"cpu": 12}]))
    check({change.change_type for change in removed.change_instances}, {dovetail.ChangeType.DELETE})

    # Without required approval, the change instance of the new service starts as APPROVED.
    disk = {"title": "Disk", "type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
    service = lb.services.publish_service("serviceowner", dovetail.Definition.from_dict(disk))
    settings = dovetail.ServiceSettings(approval_required=False)
    check(lb.services.update_service("serviceowner", service.id, settings).approval_required, False)
    declaration = {"AwesomeConsumer": dovetail.DeclarationValue.from_dict(
        {"Storage": {"services": {"Disk": [{"name": "Data"}]}}})}
    born = consumer.submissions.submit_partially(declaration)
    check([change.state for change in born.change_instances], [dovetail.State.APPROVED])


if __name__ == "__main__":
    tour(sys.argv[1])
    print("The generated client has completed the tour.")
