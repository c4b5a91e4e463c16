#!/usr/bin/env python3
"""Claims changes one at a time, and runs a command for each.

    export DOVETAIL_URL=https://dovetail.example.com DOVETAIL_API_KEY=...
    worker.py --run ./provision

The command gets the change instance as JSON on its standard input, and prints the deployed item as JSON, or nothing.
If it fails, the end of its standard error becomes the log of the change instance. It must be safe to repeat, because
another worker repeats it after a crash. After the signal TERM, the worker finishes its current change and ends.

docs/how-to/workers.md explains claims. worker.sh does the same in bash.
"""

import argparse
import http.client
import json
import os
import random
import shlex
import shutil
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

CHANGES = "/v1/orcabase/serviceowner/change_instances/"

# Maximum length of a log text in bytes. The API accepts 1,024.
LOG_BYTES_MAX = 1000

# Pauses after an empty response or a failed request, in seconds. They double from the first to the longest.
PAUSE_SECONDS = 1
PAUSE_SECONDS_MAX = 60

# Maximum time to wait for a response, in seconds.
TIMEOUT_SECONDS = 30


class Unavailable(Exception):
    """The system cannot answer now. `seconds` is the value of `Retry-After`, or 0."""

    def __init__(self, seconds=0):
        super().__init__("the system cannot answer now")
        self.seconds = seconds


class Refused(Exception):
    """The system refuses the request."""

    def __init__(self, status, problem):
        super().__init__(f"{status}: {problem.get('detail') or problem.get('title') or problem}")
        self.code = problem.get("code")


class Api:
    """Sends requests about change instances."""

    def __init__(self, url, key):
        self.base = url.rstrip("/") + CHANGES
        self.headers = {"Authorization": f"Api-Key {key}", "Content-Type": "application/json"}

    def send(self, method, path, body=None):
        """Sends a request once, and returns the response."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, self.headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                if error.code == 429 or error.code >= 500:
                    seconds = error.headers.get("Retry-After", "")
                    raise Unavailable(int(seconds) if seconds.isdecimal() else 0) from error
                raise Refused(error.code, problem_in(error.read())) from error
        except (OSError, http.client.HTTPException) as error:
            raise Unavailable from error


def problem_in(body):
    """Returns the problem in a response, also if a proxy has sent something else."""
    try:
        problem = json.loads(body)
    except ValueError:
        problem = None
    return problem if isinstance(problem, dict) else {"detail": body.decode(errors="replace")}


def patiently(request, pause):
    """Repeats a request until the system answers. `pause` waits some seconds, and returns true to give up."""
    seconds = PAUSE_SECONDS
    while True:
        try:
            return request()
        except Unavailable as unavailable:
            if pause((unavailable.seconds or seconds) * random.uniform(1, 1.5)):
                raise
            seconds = min(seconds * 2, PAUSE_SECONDS_MAX)


class Worker:
    """Processes the changes of one team until `stopping` is set."""

    def __init__(self, api, options, stopping):
        self.api = api
        self.name = options.worker
        self.lease_seconds = options.lease
        self.service = {} if options.service is None else {"service": options.service}
        self.once = options.once
        self.command = options.run
        self.stopping = stopping

    def run(self):
        """Claims and processes changes. With `once`, it ends when no change is left."""
        seconds = PAUSE_SECONDS
        while not self.stopping.is_set():
            claimed = self.claim()
            if claimed:
                seconds = PAUSE_SECONDS
                for change in claimed:
                    self.process(change)
            elif self.once:
                return
            else:
                self.stopping.wait(seconds * random.uniform(1, 1.5))
                seconds = min(seconds * 2, PAUSE_SECONDS_MAX)

    def claim(self):
        """Claims the oldest free change. Returns none if there is none, or if the worker stops."""
        body = {"worker": self.name, "limit": 1, "lease_seconds": self.lease_seconds, **self.service}
        try:
            return patiently(lambda: self.api.send("POST", "claim/", body), self.stopping.wait)["results"]
        except Unavailable:
            return []

    def process(self, claimed):
        """Runs the command for a claimed change, and reports its result."""
        claim = claimed["claim"]
        report(claimed, f"claimed with number {claim['number']}")
        # The list omits the declarations.
        change = patiently(lambda: self.api.send("GET", f"{claimed['id']}/"), time.sleep)
        change["claim"] = claim
        self.finish(change, self.work(change))

    def work(self, change):
        """Runs the command and extends the lease meanwhile. Returns the update with the result."""
        # A session of its own, because Ctrl-C at the terminal must not stop the command.
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        process = subprocess.Popen(self.command, start_new_session=True, **pipes)
        ended = threading.Event()
        renewer = threading.Thread(target=self.renew, args=[change, process, ended])
        renewer.start()
        output, errors = process.communicate(json.dumps(change).encode())
        ended.set()
        renewer.join()
        if process.returncode != 0:
            log = errors[-LOG_BYTES_MAX:].decode(errors="ignore").strip()
            return {"state": "ERRORED", "log": log or f"the command ended with status {process.returncode}"}
        try:
            return {"state": "COMPLETED", **({"deployed_item": json.loads(output)} if output.strip() else {})}
        except ValueError:
            return {"state": "ERRORED", "log": "the output of the command must be JSON"}

    def renew(self, change, process, ended):
        """Extends the lease until the command has ended. A refusal stops the command."""
        while not ended.wait(self.lease_seconds / 3):
            try:
                patiently(lambda: self.extend(change, self.lease_seconds), ended.wait)
            except Unavailable:
                return
            except Refused:
                if process.poll() is None:
                    # The group of the session has the programs that the command has started.
                    os.killpg(process.pid, signal.SIGTERM)
                return

    def extend(self, change, seconds):
        """Extends the lease of a change. Zero seconds release it."""
        body = {"worker": self.name, "number": change["claim"]["number"], "lease_seconds": seconds}
        return self.api.send("POST", f"{change['id']}/claim/", body)

    def finish(self, change, update):
        """Sends the result. A refused completion becomes a failure, because a repetition would be refused again."""
        body = {**update, "claim": change["claim"]["number"]}
        try:
            patiently(lambda: self.api.send("PATCH", f"{change['id']}/", body), time.sleep)
        except Refused as refused:
            if refused.code == "not_claimed":
                report(change, "another worker has the change")
            elif refused.code == "illegal_transition":
                report(change, str(refused))
                self.release(change)
            elif update["state"] == "COMPLETED":
                log = str(refused).encode()[:LOG_BYTES_MAX].decode(errors="ignore")
                self.finish(change, {"state": "ERRORED", "log": log})
            else:
                # The lease lasts, so that workers do not repeat the work in a tight loop.
                report(change, str(refused))
        else:
            report(change, update["state"])

    def release(self, change):
        """Releases the lease of a closed change, because its successor waits for that."""
        try:
            patiently(lambda: self.extend(change, 0), time.sleep)
        except Refused as refused:
            report(change, str(refused))


def report(change, text):
    """Prints what happens to a change."""
    print(f"{change['id']}: {text}", flush=True)


def options():
    """Returns the arguments of the command line."""
    parser = argparse.ArgumentParser(description="Claims changes one at a time, and runs a command for each.")
    parser.add_argument("--run", required=True, type=shlex.split, metavar="COMMAND", help="the command with arguments")
    name = f"{socket.gethostname()[:50]}-{os.getpid()}"
    parser.add_argument("--worker", default=name, metavar="NAME", help="name of the worker (default: host and process)")
    parser.add_argument("--lease", default=300, type=int, metavar="SECONDS", help="time of a lease (default: 300)")
    parser.add_argument("--service", type=int, metavar="ID", help="claims only changes of this service")
    parser.add_argument("--once", action="store_true", help="ends when no change is left")
    parsed = parser.parse_args()
    if not parsed.run or shutil.which(parsed.run[0]) is None:
        parser.error("--run must be the path of a program")
    return parsed


def main():
    api, stopping = Api(os.environ["DOVETAIL_URL"], os.environ["DOVETAIL_API_KEY"]), threading.Event()
    worker = Worker(api, options(), stopping)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    # The main thread only handles signals, because a handler must not wait for a lock of its own thread.
    with ThreadPoolExecutor() as pool:
        running = pool.submit(worker.run)
        try:
            running.result()
        except Refused as refused:
            raise SystemExit(f"worker.py: {refused}") from refused


if __name__ == "__main__":
    main()
