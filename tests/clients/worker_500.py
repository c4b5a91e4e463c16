"""Five hundred items, declared by one consumer and carried out by the workers of all their owners.

Run with the way that the workers find their change instances, and the world file to write for the system:

    python worker_500.py polling|reacting WORLD < ADDRESS

The address is that of the system, once it runs with this world; `tests/clients/run` starts it. At the end every item
is in service with one deployed item, every change instance has been approved and completed exactly once, and the
system's own audit finds nothing.
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

DEMO_WORLD = os.path.join(os.path.dirname(__file__), "../../infra/local/src/demo.world.json")
ITEMS = 500
# One submission each; a submission is one transaction, which has room for about forty new items.
APPLICATIONS = 13
# How long it may take until the next change instance moves, or until the system answers.
SECONDS_MAX = 60
OWNERS = {"VMOwnerTeam": VM_OWNER_KEY, "LBOwnerTeam": LB_OWNER_KEY, "NPOwnerTeam": NP_OWNER_KEY}


def items_of(application):
    """The items of one application: a load balancer for each four machines."""
    first, last = (ITEMS * number // APPLICATIONS for number in (application, application + 1))
    numbers = range(first, last)
    machines = [{"name": f"vm{number}", "cpu": number} for number in numbers if number % 5]
    names = [machine["name"] for machine in machines]
    balancers = [{"name": f"lb{number}", "related_vms": names[:4]} for number in numbers if number % 5 == 0]
    return {"VM": machines, "LoadBalancer": balancers}


def provide(change):
    """The work: an address for what the team itself provides; a dependent team has nothing to report."""
    return None if change["is_dependant"] else {"address": f"item-{change['service_item']['id']}"}


class CountingAuth(NetorcaAuth):
    """Counts what the client asks."""

    requests = 0

    def _request(self, *args, **kwargs):
        self.requests += 1
        return super()._request(*args, **kwargs)


class Owner:
    """A team's worker and what it runs on."""

    def __init__(self, key, inbox, news):
        client = NetOrcaClient(fqdn=checks.BASE_URL, api_key=key, verify_auth=False)
        client.auth = self.auth = CountingAuth(fqdn=checks.BASE_URL, api_key=key)
        self.inbox, self.news = inbox, news
        self.worker = Worker(client, provide, news.put)
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        """Works until it is told to stop; a worker that breaks down is news as well."""
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
    """The demo world, with an address to notify for each team that has an inbox."""
    with open(DEMO_WORLD) as file:
        world = json.load(file)
    for team in world["teams"]:
        if team["name"] in inboxes:
            team["notify"] = inboxes[team["name"]].url
    # Complete once it has its name.
    with open(f"{path}.new", "w") as file:
        json.dump(world, file)
    os.rename(f"{path}.new", path)


def declare():
    """Submits one application after the other; returns how many change instances come of it at once and later."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        consumer = Netorca(fqdn=checks.BASE_URL, api_key=CONSUMER_KEY)
    direct = generated = 0
    for application in range(APPLICATIONS):
        wanted = {TEAM: {f"App{application:02}": {"services": items_of(application)}}}
        answer = patiently(lambda: consumer.submission_submit(wanted, partial=True, context="consumer"))
        direct += answer["planned"]["direct"]
        generated += answer["planned"]["generated"]
    return direct, generated


def await_completion(news, count):
    """Waits until the workers have completed so many change instances."""
    while count:
        try:
            change = news.get(timeout=SECONDS_MAX)
        except queue.Empty:
            raise AssertionError(f"{count} change instances are open and none moved for {SECONDS_MAX} s") from None
        if isinstance(change, BaseException):
            raise change
        count -= change.state == "COMPLETED"


def published():
    """All events so far, in the order of their publication."""
    events, after = [], 0
    while page := requests.get(f"{checks.BASE_URL}/_local/events?after={after}", timeout=SECONDS_MAX).json():
        if not page["events"]:
            return events
        events += [event["envelope"] for event in page["events"]]
        after = page["next"]


def post_again(events, inboxes):
    """Posts events to the inboxes of their owners, as a bus may that delivers at least once and in no order."""
    with requests.Session() as session:
        for event in events:
            inbox = inboxes.get(event["detail"]["data"].get("owner"))
            if inbox is not None:
                status = session.post(inbox.url, json=event, timeout=SECONDS_MAX).status_code
                expect("the answer to an event that comes again", 204, status)


def check_outcome(direct, generated):
    """Fails unless everything is as it was declared, and was done exactly once."""
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
    """How many requests the workers have made, once they have acted on what is in their inboxes."""
    for owner in owners:
        if owner.inbox is not None:
            owner.inbox.events.join()
    return sum(owner.auth.requests for owner in owners)


def run(variant, inboxes):
    """Declares, lets the workers work, stops them, checks what came of it and says what it took."""
    news = queue.Queue()
    owners = []
    began = time.monotonic()
    try:
        for team, key in OWNERS.items():
            owners.append(Owner(key, inboxes.get(team), news))
        direct, generated = declare()
        expect("what is planned", (ITEMS, ITEMS // 5), (direct, generated))
        if inboxes:
            # While the workers are busy: what has happened so far, once more and in disorder.
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
            expect("the requests after all events came again", asked, requests_of(owners))
    finally:
        for owner in owners:
            owner.stop()
    check_outcome(direct, generated)
    each = asked / (direct + generated)
    print(f"worker_500 {variant}: {ITEMS} items, {direct + generated} change instances completed in {elapsed:.1f} s, "
          f"{asked} requests of their owners, {each:.2f} per change instance", flush=True)


def main(variant, world):
    """Takes the inboxes first, for the world has to name them before the system runs."""
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
