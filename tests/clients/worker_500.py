"""A consumer declares five hundred items, and the workers of all owners process them.

    python worker_500.py polling|reacting WORLD < ADDRESS

The first argument selects the way of the workers. The script writes the world file WORLD. Then it reads the address of
the system from its input, because `tests/clients/run` starts the system with this world. In the end:

- every item is in service with one deployed item,
- every change instance was approved and completed exactly once,
- the audit of the system finds no violation.
"""

import json
import os
import queue
import random
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import checks
import requests
from checks import CONSUMER_KEY, LB_OWNER_KEY, NP_OWNER_KEY, TEAM, VM_OWNER_KEY, expect
from netorca_sdk import NetorcaAuth, NetOrcaClient
from netorca_sdk.netorca import Netorca
from worker import Inbox, Worker, patiently

DEMO_WORLD = os.path.join(os.path.dirname(__file__), "../../infra/daemon/src/demo.world.json")
ITEMS = 500
# Each application is one submission. About forty new items fit into its transaction.
APPLICATIONS = 13
# Maximum time until the next transition, or until a response, in seconds.
SECONDS_MAX = 60
OWNERS = {"VMOwnerTeam": VM_OWNER_KEY, "LBOwnerTeam": LB_OWNER_KEY, "NPOwnerTeam": NP_OWNER_KEY}


def items_of(application):
    """Returns the items of one application, with a load balancer for every four machines."""
    first, last = (ITEMS * number // APPLICATIONS for number in (application, application + 1))
    numbers = range(first, last)
    machines = [{"name": f"vm{number}", "cpu": number} for number in numbers if number % 5]
    names = [machine["name"] for machine in machines]
    balancers = [{"name": f"lb{number}", "related_vms": names[:4]} for number in numbers if number % 5 == 0]
    return {"VM": machines, "LoadBalancer": balancers}


def provide(change):
    """Does the work: returns an address for the service owner, and no deployed item for a dependent team."""
    return None if change["is_dependant"] else {"address": f"item-{change['service_item']['id']}"}


class CountingAuth(NetorcaAuth):
    """Counts the client's requests."""

    requests = 0

    def _request(self, *args, **kwargs):
        self.requests += 1
        return super()._request(*args, **kwargs)


class Owner:
    """A team's worker in its thread."""

    def __init__(self, key, inbox, news):
        client = NetOrcaClient(fqdn=checks.BASE_URL, api_key=key, verify_auth=False)
        client.auth = self.auth = CountingAuth(fqdn=checks.BASE_URL, api_key=key)
        self.inbox, self.news = inbox, news
        self.worker = Worker(client, provide, news.put)
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        """Runs the worker until `stop`. An exception goes into the queue of results."""
        try:
            if self.inbox is None:
                self.worker.poll()
            else:
                self.worker.react(self.inbox)
        except BaseException as failure:
            self.news.put(failure)

    def stop(self):
        """Ends the worker and waits for its end."""
        self.worker.stop(self.inbox)
        self.thread.join()


def write_world(path, inboxes):
    """Writes the demo world, with the inboxes of the teams as receivers of events."""
    with open(DEMO_WORLD) as file:
        world = json.load(file)
    for team in world["teams"]:
        if team["name"] in inboxes:
            team["notify"] = inboxes[team["name"]].url
    # The rename is atomic, so a reader never sees an incomplete file.
    with open(f"{path}.new", "w") as file:
        json.dump(world, file)
    os.rename(f"{path}.new", path)


def declare():
    """Submits the applications in sequence. Returns the numbers of direct and of generated change instances."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        consumer = Netorca(fqdn=checks.BASE_URL, api_key=CONSUMER_KEY)
    direct = generated = 0
    for application in range(APPLICATIONS):
        wanted = {TEAM: {f"App{application:02}": {"services": items_of(application)}}}
        answer = patiently(lambda wanted=wanted: consumer.submission_submit(wanted, partial=True, context="consumer"))
        direct += answer["planned"]["direct"]
        generated += answer["planned"]["generated"]
    return direct, generated


def await_completion(news, count):
    """Waits until the workers have completed this number of change instances."""
    while count:
        try:
            change = news.get(timeout=SECONDS_MAX)
        except queue.Empty:
            raise AssertionError(f"{count} change instances are open and none moved for {SECONDS_MAX} s") from None
        if isinstance(change, BaseException):
            raise change
        count -= change.state == "COMPLETED"


def published():
    """Returns all events so far, in the order of their publication."""
    events, after = [], 0
    while page := requests.get(f"{checks.BASE_URL}/_local/events?after={after}", timeout=SECONDS_MAX).json():
        if not page["events"]:
            return events
        events += [event["envelope"] for event in page["events"]]
        after = page["next"]


def post_again(events, inboxes):
    """Posts events to the inboxes of their owners again. A bus may deliver at least once, and in any order."""
    with requests.Session() as session:
        for event in events:
            inbox = inboxes.get(event["detail"]["data"].get("owner"))
            if inbox is not None:
                status = session.post(inbox.url, json=event, timeout=SECONDS_MAX).status_code
                expect("the answer to a repeated event", 204, status)


def check_outcome(direct, generated):
    """Fails unless every item is as declared, and every change instance was completed exactly once."""
    consumer = NetOrcaClient(fqdn=checks.BASE_URL, api_key=CONSUMER_KEY, context="consumer")
    items = list(consumer.service_items.list())
    expect("the items", ITEMS, len({item.id for item in items}))
    for item in items:
        came = (item.data["change_state"], item.data["runtime_state"], item.data["deployed_item"])
        deployed = {"data": {"address": f"item-{item.id}"}, "version": 1}
        expect(f"item {item.name}", ("ALL_CHANGES_COMPLETED", "IN_SERVICE", deployed), came)
    changes = consumer.change_instances.filter(limit=100)
    expect("the change instances", direct + generated, len({change.id for change in changes}))
    expect("the dependent ones", generated, sum(change.data["is_dependant"] for change in changes))

    def check_change(change):
        expect(f"the state of {change.id}", "COMPLETED", change.state)
        history = consumer.change_instances.get_history(change.id)["results"]
        states = [entry["state"] for entry in history]
        expect(f"the history of {change.id}", ["COMPLETED", "APPROVED", "PENDING"], states)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(check_change, changes))
    audit = requests.get(f"{checks.BASE_URL}/_local/audit", timeout=SECONDS_MAX).json()
    expect("the audit", {"violations": []}, audit)


def requests_of(owners):
    """Waits until the inboxes are empty. Returns the number of the workers' requests."""
    for owner in owners:
        if owner.inbox is not None:
            owner.inbox.events.join()
    return sum(owner.auth.requests for owner in owners)


def run(variant, inboxes):
    """Declares, waits for the workers, stops them, checks the result and prints the figures."""
    news = queue.Queue()
    owners = []
    began = time.monotonic()
    try:
        for team, key in OWNERS.items():
            owners.append(Owner(key, inboxes.get(team), news))
        direct, generated = declare()
        expect("what is planned", (ITEMS, ITEMS // 5), (direct, generated))
        if inboxes:
            # All events so far arrive again, in random order, while the workers are busy.
            seed = random.randrange(2**32)
            print(f"{variant}: events are posted again with seed {seed}", flush=True)
            again = published()
            random.Random(seed).shuffle(again)
            post_again(again, inboxes)
        await_completion(news, direct + generated)
        elapsed = time.monotonic() - began
        checks.settle()
        asked = requests_of(owners)
        if inboxes:
            post_again(reversed(published()), inboxes)
            expect("the requests after repeated events", asked, requests_of(owners))
    finally:
        for owner in owners:
            owner.stop()
    check_outcome(direct, generated)
    each = asked / (direct + generated)
    print(f"worker_500 {variant}: {ITEMS} items, {direct + generated} change instances completed in {elapsed:.1f} s, "
          f"{asked} requests of their owners, {each:.2f} per change instance", flush=True)


def main(variant, world):
    """Opens the inboxes first, because the world contains their addresses and the system starts with it."""
    inboxes = {team: Inbox() for team in OWNERS} if variant == "reacting" else {}
    write_world(world, inboxes)
    checks.BASE_URL = sys.stdin.readline().strip()
    try:
        run(variant, inboxes)
    finally:
        for inbox in inboxes.values():
            inbox.close()


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("polling", "reacting"):
        sys.exit(f"usage: {sys.argv[0]} polling|reacting WORLD < ADDRESS")
    main(*sys.argv[1:])
