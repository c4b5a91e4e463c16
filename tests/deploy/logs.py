"""Checks the logs and traces of the functions of all stacks.

    logs.py LOGS

Fails on content of a declaration, a log text or an API key, and on a request's log line without a required field.
"""

import collections
import json
import re
import sys

# Declarations, log texts and API keys of the scenarios. Ids and team names are not secret, and are in the access log.
CANARIES = re.compile(r"[a-z0-9]+-key\b|dvt_[0-9a-f]|Core(VM|LB)\d|round ?robin|in the rack", re.IGNORECASE)
FUNCTIONS = {
    "about", "account", "authorize", "catalog", "deliver", "generate", "history", "list", "notify", "submit", "sweep",
    "update-state", "web-console", "webhooks",
}
REQUEST = {"Function", "Operation", "Status", "Outcome", "Team", "Request", "Microseconds", "WriteUnits", "ReadUnits"}


def calls_and_events(logs_file):
    """Yields each request as test, function and operation, and each event as test, `event` and type."""
    with open(logs_file) as file:
        for text in file:
            function, message, test = json.loads(text)
            if function == "event":
                yield test, function, message
            elif function != "trace" and '"Operation"' in message:
                yield test, function, json.loads(message[message.index("{"):])["Operation"]


def main(told_file):
    outcomes, found, short = collections.Counter(), [], []
    traced, calls = collections.Counter(), 0
    lines = 0
    with open(told_file) as file:
        for text in file:
            function, message, _ = json.loads(text)
            lines += 1
            found += [f"{function}: {word.group(0)}" for word in CANARIES.finditer(message)]
            if function == "trace":
                segment = json.loads(message)
                traced[segment["name"]] += 1
                calls += len(segment["subsegments"])
            elif '"Operation"' in message:
                line = json.loads(message[message.index("{"):])
                outcomes[line.get("Outcome")] += 1
                if missing := REQUEST - line.keys():
                    short.append(f"{function}: {sorted(missing)}")
    for finding in sorted(set(found + short)):
        print(finding)
    assert sum(outcomes.values()), "no log line of a request"
    told = ", ".join(f"{number} {outcome}" for outcome, number in outcomes.most_common())
    missing = sorted(FUNCTIONS - traced.keys())
    assert calls and not missing, f"functions without a segment: {missing}, calls: {calls}"
    segments = sum(traced.values())
    print(f"{lines} lines, requests: {told}; {segments} segments with {calls} calls; {len(found)} canaries.")
    return 1 if found or short else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
