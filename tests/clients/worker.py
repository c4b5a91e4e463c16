"""A service owner's automation, as its users write one with the public client `netorca-sdk` 1.0.14.

A worker is given what it does for one change instance. It finds its change instances in one of two ways:

    Worker(client, work).poll()          asks again and again
    Worker(client, work).react(inbox)    is told: the system posts events to the inbox's URL

Either way the state that the API shows decides what is done, never what was read before or what an event says. So
it does no harm to be told twice, late or in another order, and a worker that was ended goes on where it stopped: it
lists once when it starts. Work may be done a second time after that, and has to bear it.
"""

import http.server
import json
import queue
import random
import threading

from netorca_sdk import NetorcaAPIError

# What an overloaded system is given: this many tries, with pauses that double from the first to the longest.
TRIES_MAX = 10
PAUSE_SECONDS = 0.1
PAUSE_SECONDS_MAX = 5.0

# Between two rounds of a worker that found nothing to do.
POLL_SECONDS = 0.25

STATE_CHANGED = "ChangeInstance.StateChanged.v1"


class WorkFailed(Exception):
    """The work could not be done; the text is told to the consumer."""


class Worker:
    """Carries out the change instances that one team owns.

    `client` is the team's, `work` takes a change instance as a dict and returns what is in place now, or None.
    `moved` is called with each change instance that the worker has moved, as it is then.
    """

    def __init__(self, client, work, moved=lambda change: None):
        (team,) = client.auth.get_teams_info()
        self.team = team["name"]
        self.changes = client.change_instances
        self.work = work
        self.moved = moved
        self.stopping = threading.Event()
        # The highest sequence that was acted on, by change instance.
        self.newest = {}

    def poll(self):
        """Carries out whatever waits, until it is told to stop."""
        while not self.stopping.is_set():
            if not self.carry_out_what_waits():
                self.stopping.wait(POLL_SECONDS)

    def react(self, inbox):
        """Acts on each event in the inbox, until it is told to stop."""
        # What happened while nobody listened is in the lists; events only spare the asking.
        self.carry_out_what_waits()
        while not self.stopping.is_set():
            event = inbox.events.get()
            try:
                if event is not None:
                    self.act_on(event)
            finally:
                inbox.events.task_done()

    def stop(self, inbox=None):
        """Ends the worker after the change instance that it has in hand."""
        self.stopping.set()
        if inbox is not None:
            inbox.events.put(None)

    def act_on(self, event):
        """Takes the change instance of an event one step further, unless a later event was acted on already."""
        if event["detail-type"] != STATE_CHANGED:
            return
        data, sequence = event["detail"]["data"], event["detail"]["metadata"]["sequence"]
        if data["owner"] != self.team or data["to"] not in ("PENDING", "APPROVED"):
            return
        # `metadata.id` is the change instance and its sequence: this tells a repetition as well as a late one.
        if sequence <= self.newest.get(data["id"], 0):
            return
        self.take_further(patiently(lambda: self.changes.get(data["id"])))
        self.newest[data["id"]] = sequence

    def carry_out_what_waits(self):
        """Takes all that waits one step further, oldest first; returns how many moved."""
        moved = 0
        for state in ("PENDING", "APPROVED"):
            for change in patiently(lambda: self.changes.filter(state=state, limit=100)):
                if self.stopping.is_set():
                    return moved
                moved += self.take_further(change) is not None
        return moved

    def take_further(self, change):
        """Approves what is pending and does what is approved; returns what came of it, or None."""
        if change.state == "PENDING":
            return self.move(change, {"state": "APPROVED"})
        if change.state == "APPROVED":
            return self.move(change, self.outcome(change))
        return None

    def outcome(self, change):
        """Does the work; returns the update that tells what came of it."""
        try:
            deployed = self.work(change.data)
        except WorkFailed as failure:
            return {"state": "ERRORED", "log": str(failure)}
        update = {"state": "COMPLETED", "log": "done"}
        return update if deployed is None else {**update, "deployed_item": deployed}

    def move(self, change, update):
        """Updates a change instance; returns None if it has been decided or displaced meanwhile."""
        try:
            after = patiently(lambda: self.changes.update(change.id, update))
        except NetorcaAPIError as refusal:
            if state_in(refusal) in (None, change.state):
                raise
            return None
        self.moved(after)
        return after


def patiently(call):
    """Calls until the system is not overloaded any more."""
    for tries in range(TRIES_MAX):
        try:
            return call()
        except NetorcaAPIError as error:
            # The client knows the status only as a text, and keeps Retry-After to itself.
            if "Response: 503." not in str(error) or tries + 1 == TRIES_MAX:
                raise
            pause = min(PAUSE_SECONDS * 2**tries, PAUSE_SECONDS_MAX)
            threading.Event().wait(pause * random.uniform(0.5, 1))


def state_in(refusal):
    """The state that a refused move found the change instance in; None if it was refused for something else."""
    try:
        return json.loads(str(refusal).split("Reason: ", 1)[1]).get("state")
    except (IndexError, ValueError, AttributeError):
        return None


class Inbox(http.server.ThreadingHTTPServer):
    """Where the system posts events: each is in the queue before it is answered.

    The queue is lost with the process; what was in it is found by listing at the next start.
    """

    daemon_threads = True
    # A burst of events waits here instead of being turned away.
    request_queue_size = 128

    def __init__(self, port=0):
        super().__init__(("127.0.0.1", port), Post)
        self.events = queue.Queue()
        self.url = f"http://127.0.0.1:{self.server_port}/events"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        """Takes nothing more."""
        self.shutdown()
        self.server_close()


class Post(http.server.BaseHTTPRequestHandler):
    """One event as it is posted."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        """Takes the event and answers 204; what is not an event is refused, and kept by its sender."""
        try:
            event = json.loads(self.rfile.read(int(self.headers["content-length"])))
            is_event = isinstance(event["detail-type"], str) and isinstance(event["detail"], dict)
        except (KeyError, TypeError, ValueError):
            is_event = False
        if is_event:
            self.server.events.put(event)
        self.send_response(204 if is_event else 400)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        """Says nothing."""
