"""Checks of a service owner's worker (`worker.py`) in difficult situations.

Another caller decides, a consumer changes its declaration, the work fails, the system is overloaded, or events arrive
twice or late. Each check starts without declarations. `tests/clients/run` starts the system and runs all checks:

    python worker_checks.py BASE_URL [PART_OF_A_NAME ...]
"""

import http.server
import itertools
import queue
import threading

import checks
import requests
from checks import VM_OWNER_KEY, check, expect, expect_that, intervals, vm
from netorca_1_0_14 import consumer, declare, declare_probe, move, owner, publish_probe, withdraw_everything
from netorca_sdk import NetOrcaClient
from worker import STATE_CHANGED, Inbox, Worker, WorkFailed


def provide(change):
    """Does the work: returns an address made of the item's id."""
    return {"ip": f"10.0.0.{change['service_item']['id'] % 250}"}


def state_of(change):
    """Returns the current state of a change instance, given as a dict."""
    return owner().change_instances.get(change["id"]).state


def event_of(change, sequence, to):
    """Returns the event of a transition of a change instance to a state."""
    data = {"id": change["id"], "to": to, "owner": change["owner"]["name"]}
    metadata = {"id": f"{change['id']}:{sequence}", "sequence": sequence}
    return {"detail-type": STATE_CHANGED, "detail": {"metadata": metadata, "data": data}}


def post(inbox, *events):
    """Posts events in sequence. Returns the statuses of the answers."""
    return [requests.post(inbox.url, json=event, timeout=10).status_code for event in events]


@check
def what_waits_is_approved_then_done_then_told():
    (web, db) = declare(vm("worker-web"), vm("worker-db"))
    told = []
    worker = Worker(owner(), provide, lambda change: told.append((change.id, change.state)))
    expect("how many moved", 4, worker.carry_out_what_waits())
    expect("the reported transitions",
           sorted((change["id"], state) for change in (web, db) for state in ("APPROVED", "COMPLETED")),
           sorted(told))
    for item in consumer().service_items.list():
        expect("what is deployed", 1, item.data["deployed_item"]["version"])
    expect("how many move again", 0, worker.carry_out_what_waits())


@check
def what_somebody_else_decided_is_left_alone():
    for cpu, states in enumerate((["REJECTED"], ["APPROVED", "COMPLETED"], ["APPROVED", "ERRORED"])):
        (born,) = declare(vm("worker-decided", cpu=cpu))
        seen = owner().change_instances.get(born["id"])
        move(born["id"], *states)
        expect(f"what the worker makes of it after {states}", None, Worker(owner(), provide).take_further(seen))
        expect("the state", states[-1], state_of(born))


@check
def what_two_workers_approve_is_approved_once():
    (born,) = declare(vm("worker-twice"))
    seen = owner().change_instances.get(born["id"])
    for _ in range(2):
        expect("the state", "APPROVED", Worker(owner(), provide).take_further(seen).state)
    history = owner().change_instances.get_history(born["id"])["results"]
    expect("the history", ["APPROVED", "PENDING"], [entry["state"] for entry in history])


@check
def what_is_displaced_is_left_alone():
    (born,) = declare(vm("worker-displaced", cpu=1))
    seen = owner().change_instances.get(born["id"])
    (newer,) = declare(vm("worker-displaced", cpu=2))
    expect("what the worker makes of it", None, Worker(owner(), provide).take_further(seen))
    expect("old and new", ("CLOSED", "PENDING"), (state_of(born), state_of(newer)))


@check
def what_is_displaced_during_the_work_is_left_for_its_successor():
    (born,) = declare(vm("worker-overtaken", cpu=1))
    newer = []

    def change_of_mind(change):
        if not newer:
            newer.extend(declare(vm("worker-overtaken", cpu=2)))
            move(newer[0]["id"], "APPROVED")
        return {"cpu": change["new_declaration"]["declaration"]["cpu"]}

    worker = Worker(owner(), change_of_mind)
    worker.carry_out_what_waits()
    worker.carry_out_what_waits()
    expect("old and new", ("CLOSED", "COMPLETED"), (state_of(born), state_of(newer[0])))
    (item,) = consumer().service_items.list(name="worker-overtaken")
    expect("what is deployed", {"data": {"cpu": 2}, "version": 1}, item.data["deployed_item"])


@check
def work_that_fails_is_told_with_its_reason():
    def fail(_):
        raise WorkFailed("no capacity")

    (born,) = declare(vm("worker-failed"))
    Worker(owner(), fail).carry_out_what_waits()
    change = owner().change_instances.get(born["id"])
    expect("state and log", ("ERRORED", "no capacity"), (change.state, change.data["log"]))


@check
def a_worker_replaces_without_knowing_it():
    installed, worked = {}, []

    def work(change):
        name = change["service_item"]["name"]
        worked.append((change["change_type"], intervals(change)))
        if change["change_type"] == "DELETE":
            del installed[name]
            return None
        installed[name] = change["new_declaration"]["declaration"]["interval"]
        return provide(change)

    publish_probe(update_strategy="REPLACE")
    worker = Worker(owner(), work)
    # The CREATE exists only after the completion of the DELETE, so the second call finds it.
    for interval in (1, 2):
        declare_probe(interval)
        worker.carry_out_what_waits()
        worker.carry_out_what_waits()
    # The declaration returns to what is in place before the worker lists, so no work is left.
    for interval in (3, 2):
        declare_probe(interval)
    expect("how many move then", 0, worker.carry_out_what_waits())
    expect("the work", [("CREATE", (None, 1)), ("DELETE", (1, 2)), ("CREATE", (None, 2))], worked)
    expect("what is installed", {"web": 2}, installed)


@check
def an_overloaded_system_is_asked_again():
    answers = itertools.count()

    class Overloaded(http.server.BaseHTTPRequestHandler):
        """Answers two of three requests with 503, and forwards the third."""

        def forward(self):
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            if next(answers) % 3 != 2:
                self.send_response(503)
                self.send_header("retry-after", "1")
                self.end_headers()
                return
            headers = {name: self.headers[name] for name in ("authorization", "content-type")}
            answer = requests.request(self.command, checks.BASE_URL + self.path, headers=headers, data=body, timeout=10)
            self.send_response(answer.status_code)
            self.end_headers()
            self.wfile.write(answer.content)

        do_GET = do_PATCH = forward

        def log_message(self, *_):
            pass

    (born,) = declare(vm("worker-overloaded"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Overloaded) as gateway:
        threading.Thread(target=gateway.serve_forever, daemon=True).start()
        client = NetOrcaClient(fqdn=f"http://127.0.0.1:{gateway.server_port}", api_key=VM_OWNER_KEY, verify_auth=False)
        worker = Worker(owner(), provide)
        worker.changes = client.change_instances
        worker.carry_out_what_waits()
        gateway.shutdown()
    expect("the state", "COMPLETED", state_of(born))
    expect("requests: two lists, two moves, each tried three times", 12, next(answers))


@check
def events_are_acted_on_once_whatever_their_order():
    inbox, worked = Inbox(), []

    def work(change):
        worked.append(change["id"])
        return provide(change)

    worker = Worker(owner(), work)
    reacting = threading.Thread(target=worker.react, args=[inbox])
    reacting.start()
    # After the answer to this event, the worker's first list is done. So only events lead to the change instances.
    post(inbox, event_of({"id": 0, "owner": {"name": "LBOwnerTeam"}}, 1, "PENDING"))
    inbox.events.join()
    first, second = declare(vm("worker-first"), vm("worker-second"))
    events = [event_of(first, 1, "PENDING"), event_of(first, 2, "APPROVED"), event_of(first, 3, "COMPLETED")]
    late = [event_of(second, 2, "APPROVED"), event_of(second, 1, "PENDING"), event_of(second, 2, "APPROVED")]
    expect("the answers", [204] * 6, post(inbox, *events, *late))
    inbox.events.join()
    expect("the first", "COMPLETED", state_of(first))
    # The worker ignores the late PENDING. The next event of the change instance continues its work.
    expect("the second", "APPROVED", state_of(second))
    post(inbox, event_of(second, 3, "APPROVED"), *events, *late)
    inbox.events.join()
    worker.stop(inbox)
    reacting.join()
    inbox.close()
    expect("the second", "COMPLETED", state_of(second))
    expect("what was worked on, each once", [first["id"], second["id"]], worked)
    for change in (first, second):
        history = owner().change_instances.get_history(change["id"])["results"]
        expect("its history", ["COMPLETED", "APPROVED", "PENDING"], [entry["state"] for entry in history])


@check
def what_was_missed_is_found_at_the_start():
    pending, approved = declare(vm("worker-missed"), vm("worker-begun"))
    move(approved["id"], "APPROVED")
    inbox, completed = Inbox(), queue.Queue()
    worker = Worker(owner(), provide, lambda change: change.state == "COMPLETED" and completed.put(change.id))
    reacting = threading.Thread(target=worker.react, args=[inbox])
    reacting.start()
    came = sorted(completed.get(timeout=30) for _ in range(2))
    worker.stop(inbox)
    reacting.join()
    inbox.close()
    expect("what is completed without an event", sorted((pending["id"], approved["id"])), came)


@check
def what_is_no_event_is_refused():
    inbox = Inbox()
    for body in ("", "no json", "[]", "{}", '{"detail-type": 1, "detail": {}}'):
        answer = requests.post(inbox.url, data=body, timeout=10)
        expect(f"the answer to {body!r}", 400, answer.status_code)
    inbox.close()
    expect_that("nothing was taken", inbox.events.empty(), inbox.events)


if __name__ == "__main__":
    checks.main("1.0.14", withdraw_everything)
