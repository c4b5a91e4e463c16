#!/usr/bin/env python3
"""Approves and completes the changes of the network.

    export DOVETAIL_URL=https://dovetail.example.com DOVETAIL_API_KEY=...
    worker.py --once

The worker claims ready changes in batches. Dovetail lists the owner's properties without a value. The worker fills
those of the inventory with the approval, and all others with the completion. This example has a file in place of the
inventory, and prints a line in place of the work on a router.

Another worker repeats the work after a crash. It gets the same numbers if it has the same file.
"""

import argparse
import http.client
import json
import os
import random
import signal
import socket
import sys
import threading
import time
import urllib.error
import urllib.request

OWNER = "/v1/orcabase/serviceowner/"

# The services of the network. The team may own others, so the worker claims changes of these alone. Their order has no
# meaning, because a batch has no change that waits for another one.
SERVICES = ("CoreLink", "L2VPN", "NSIP2P", "NSISTP", "Node", "Port")

# Number of changes in a batch. The worker must finish them within the lease.
BATCH = 10
LEASE_SECONDS = 300

# The properties with numbers of the inventory. A definition may require them from the approval on.
AT_APPROVAL = ("ims_id", "vc_id")

# The first number of each kind, if it is not 1.
FIRST_NUMBERS = {"vc_id": 1042}

# Pauses after an empty response or a failed request, in seconds. They double from the first to the longest.
PAUSE_SECONDS = 1
PAUSE_SECONDS_MAX = 60

# Number of times that a request is sent before the worker gives up.
TRIES = 8

# Maximum time to wait for a response, in seconds.
TIMEOUT_SECONDS = 30


class Refused(Exception):
    """The system refuses the request."""

    def __init__(self, status, problem):
        text = problem.get("detail") or problem.get("title") or problem
        super().__init__(f"{status}: {text} {json.dumps(problem.get('problems', []))}")


class Api:
    """Sends requests of a service owner."""

    def __init__(self, url, key):
        self.base = url.rstrip("/") + OWNER
        self.headers = {"Authorization": f"Api-Key {key}", "Content-Type": "application/json"}

    def send(self, method, path, body=None):
        """Sends a request until the system answers, and returns the response."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, self.headers, method=method)
        seconds = PAUSE_SECONDS
        for left in reversed(range(TRIES)):
            try:
                with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
                    return json.load(response)
            except urllib.error.HTTPError as error:
                with error:
                    if left == 0 or not (error.code == 429 or error.code >= 500):
                        raise Refused(error.code, problem_in(error.read())) from error
            except (OSError, http.client.HTTPException):
                if left == 0:
                    raise
            time.sleep(seconds * random.uniform(1, 1.5))
            seconds = min(seconds * 2, PAUSE_SECONDS_MAX)
        raise AssertionError("the last try returns or raises")


def problem_in(body):
    """Returns the problem in a response, also if a proxy has sent something else."""
    try:
        problem = json.loads(body)
    except ValueError:
        problem = None
    return problem if isinstance(problem, dict) else {"detail": body.decode(errors="replace")}


class Inventory:
    """Gives numbers to properties, and stores them in a file."""

    def __init__(self, path):
        self.path = path
        self.numbers = {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.numbers = json.load(file)

    def number(self, change, pointer):
        """Returns the number for a property in a change. A new one is the next number of its kind."""
        kind = last(pointer)
        numbers = self.numbers.setdefault(kind, {})
        key = f"{change}{pointer}"
        if key not in numbers:
            numbers[key] = FIRST_NUMBERS.get(kind, 1) + len(numbers)
            with open(f"{self.path}.new", "w", encoding="utf-8") as file:
                json.dump(self.numbers, file)
            os.replace(f"{self.path}.new", self.path)
        return numbers[key]


class Worker:
    """Processes the changes of one team until `stopping` is set."""

    def __init__(self, api, inventory, options, stopping):
        self.api = api
        self.inventory = inventory
        self.name = options.worker
        self.once = options.once
        self.stopping = stopping
        # The list is empty for a service that is not published yet.
        found = [api.send("GET", f"services/?name={name}")["results"] for name in SERVICES]
        self.services = [services[0]["id"] for services in found if services]

    def run(self):
        """Claims and processes changes. With `once`, it ends when no change is left."""
        seconds = PAUSE_SECONDS
        while not self.stopping.is_set():
            # Approved changes come first: an earlier worker may have left them.
            claimed = self.claim("APPROVED") or self.claim("PENDING")
            if claimed:
                seconds = PAUSE_SECONDS
                for change in claimed:
                    self.process(change)
            elif self.once:
                return
            else:
                self.stopping.wait(seconds * random.uniform(1, 1.5))
                seconds = min(seconds * 2, PAUSE_SECONDS_MAX)

    def claim(self, state):
        """Claims the oldest ready changes of a state and of one service."""
        body = {"worker": self.name, "limit": BATCH, "lease_seconds": LEASE_SECONDS, "state": state}
        for service in self.services:
            claimed = self.api.send("POST", "change_instances/claim/", {**body, "service": service})["results"]
            if claimed:
                return claimed
        return []

    def process(self, claimed):
        """Approves a claimed change and completes it. A refused update leaves the change to a person."""
        number = claimed["claim"]["number"]
        try:
            if claimed["state"] == "PENDING":
                self.update(claimed["id"], number, "APPROVED", AT_APPROVAL)
            self.update(claimed["id"], number, "COMPLETED", None)
        except Refused as refused:
            # The lease lasts, so that workers do not repeat the update in a tight loop.
            print(f"{claimed['id']}: {refused}", file=sys.stderr)

    def update(self, identity, number, state, kinds):
        """Moves a change to a state, with values for the properties of some kinds, or of all."""
        # The list of a batch omits the declarations and the properties without a value.
        change = self.api.send("GET", f"change_instances/{identity}/")
        body = {"state": state, "claim": number}
        filled = []
        if change["change_type"] != "DELETE":
            item = change["proposed_item"]
            pointers = [at for at in change["unknown"] if kinds is None or last(at) in kinds]
            for pointer in pointers:
                value = self.inventory.number(identity, pointer)
                put(item, pointer, value)
                filled.append(f"{last(pointer)}={value}")
            if pointers or state == "COMPLETED":
                body["deployed_item"] = item
        self.api.send("PATCH", f"change_instances/{identity}/", body)
        name = f"{change['service']['name']}/{change['service_item']['name']}"
        print(" ".join([state, change["change_type"], name, *filled]), flush=True)


def last(pointer):
    """Returns the name of the property at a JSON pointer."""
    return pointer.rsplit("/", 1)[1]


def put(item, pointer, value):
    """Sets the value at a JSON pointer. All objects and arrays above it exist in the declaration."""
    for step in pointer.split("/")[1:-1]:
        item = item[int(step)] if isinstance(item, list) else item[step]
    item[last(pointer)] = value


def options():
    """Returns the arguments of the command line."""
    parser = argparse.ArgumentParser(description="Approves and completes the changes of the network.")
    name = f"{socket.gethostname()[:50]}-{os.getpid()}"
    parser.add_argument("--worker", default=name, metavar="NAME", help="name of the worker (default: host and process)")
    file = "inventory.json"
    parser.add_argument("--inventory", default=file, metavar="FILE", help=f"file with the numbers (default: {file})")
    parser.add_argument("--once", action="store_true", help="ends when no change is left")
    return parser.parse_args()


def main():
    parsed, stopping = options(), threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    api = Api(os.environ["DOVETAIL_URL"], os.environ["DOVETAIL_API_KEY"])
    try:
        Worker(api, Inventory(parsed.inventory), parsed, stopping).run()
    except Refused as refused:
        raise SystemExit(f"worker.py: {refused}") from refused


if __name__ == "__main__":
    main()
