"""A service owner's automation with the public client `netorca-sdk` 1.0.14.

A worker gets a function with the work for one change instance. It finds its change instances in one of two ways:

    Worker(client, work).poll()          lists them repeatedly
    Worker(client, work).react(inbox)    gets events: the system posts them to the inbox's URL

In both cases the current state in the API decides the next step, not an earlier read and not the event. So repeated,
late and unordered events do no harm. A new worker lists once at its start, and continues after an interruption. The
work can then happen a second time, so it must be idempotent.
"""

import http.server
import json
import queue
import random
import threading

from netorca_sdk import NetorcaAPIError

# Attempts at an overloaded system. The pauses double from the first to the longest.
TRIES_MAX = 10
PAUSE_SECONDS = 0.1
PAUSE_SECONDS_MAX = 5.0

# Pause of a polling worker without open change instances.
POLL_SECONDS = 0.25

STATE_CHANGED = "ChangeInstance.StateChanged.v1"


class WorkFailed(Exception):
    """The work has failed. The consumer sees the text in the log."""


class Worker:
    """Processes the change instances of one team.

    `client` belongs to the team. `work` gets a change instance as a dict and returns the deployed item, or None.
    `moved` gets each change instance after its transition by the worker.
    """

    def __init__(self, client, work, moved=lambda change: None):
        (team,) = client.auth.get_teams_info()
        self.team = team["name"]
        self.changes = client.change_instances
        self.work = work
        self.moved = moved
        self.stopping = threading.Event()
        # Highest processed sequence number, by change instance.
        self.newest = {}

    def poll(self):
        """Processes all open change instances repeatedly, until `stop`."""
        while not self.stopping.is_set():
            if not self.carry_out_what_waits():
                self.stopping.wait(POLL_SECONDS)

    def react(self, inbox):
        """Processes each event in the inbox, until `stop`."""
        # Events from before the start may be lost, but the lists contain their change instances.
        self.carry_out_what_waits()
        while not self.stopping.is_set():
            event = inbox.events.get()
            try:
                if event is not None:
                    self.act_on(event)
            finally:
                inbox.events.task_done()

    def stop(self, inbox=None):
        """Ends the worker after its current change instance."""
        self.stopping.set()
        if inbox is not None:
            inbox.events.put(None)

    def act_on(self, event):
        """Processes the change instance of an event, unless the worker has processed a later event of it."""
        if event["detail-type"] != STATE_CHANGED:
            return
        data, sequence = event["detail"]["data"], event["detail"]["metadata"]["sequence"]
        if data["owner"] != self.team or data["to"] not in ("PENDING", "APPROVED"):
            return
        # The sequence number grows with each event of a change instance, so this finds repeated and late events.
        if sequence <= self.newest.get(data["id"], 0):
            return
        self.take_further(patiently(lambda: self.changes.get(data["id"])))
        self.newest[data["id"]] = sequence

    def carry_out_what_waits(self):
        """Processes all open change instances, oldest first. Returns the number of transitions."""
        moved = 0
        for state in ("PENDING", "APPROVED"):
            for change in patiently(lambda state=state: self.changes.filter(state=state, limit=100)):
                if self.stopping.is_set():
                    return moved
                moved += self.take_further(change) is not None
        return moved

    def take_further(self, change):
        """Approves a PENDING change instance, or does the work of an APPROVED one. Returns the result, or None."""
        if change.state == "PENDING":
            return self.move(change, {"state": "APPROVED"})
        if change.state == "APPROVED":
            return self.move(change, self.outcome(change))
        return None

    def outcome(self, change):
        """Does the work. Returns the update with its result."""
        try:
            deployed = self.work(change.data)
        except WorkFailed as failure:
            return {"state": "ERRORED", "log": str(failure)}
        update = {"state": "COMPLETED", "log": "done"}
        return update if deployed is None else {**update, "deployed_item": deployed}

    def move(self, change, update):
        """Updates a change instance. Returns None if another decision or a newer change came first."""
        try:
            after = patiently(lambda: self.changes.update(change.id, update))
        except NetorcaAPIError as refusal:
            if state_in(refusal) in (None, change.state):
                raise
            return None
        self.moved(after)
        return after


def patiently(call):
    """Repeats a call while the system is overloaded."""
    for tries in range(TRIES_MAX):
        try:
            return call()
        except NetorcaAPIError as error:
            # The client exposes the status only as text, and does not expose Retry-After.
            if "Response: 503." not in str(error) or tries + 1 == TRIES_MAX:
                raise
            pause = min(PAUSE_SECONDS * 2**tries, PAUSE_SECONDS_MAX)
            threading.Event().wait(pause * random.uniform(0.5, 1))


def state_in(refusal):
    """Returns the state of the change instance in a rejected update. None if the rejection has another reason."""
    try:
        return json.loads(str(refusal).split("Reason: ", 1)[1]).get("state")
    except (IndexError, ValueError, AttributeError):
        return None


class Inbox(http.server.ThreadingHTTPServer):
    """Receives the system's events. Each is in the queue before its response.

    The queue disappears with the process. The list at the next start then replaces its events.
    """

    daemon_threads = True
    # A burst of connections waits here, because a rejected event would have to be sent again.
    request_queue_size = 128

    def __init__(self, port=0):
        super().__init__(("127.0.0.1", port), Post)
        self.events = queue.Queue()
        self.url = f"http://127.0.0.1:{self.server_port}/events"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        """Stops the server."""
        self.shutdown()
        self.server_close()


class Post(http.server.BaseHTTPRequestHandler):
    """A request with one event."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        """Accepts an event with 204. Anything else gets 400, and its sender keeps it."""
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
        """Suppresses the access log."""
