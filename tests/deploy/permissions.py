"""Compares the permissions of the functions' roles with the requests of the functions.

    permissions.py GRANTED DECISIONS

Fails on a permission without a use in any stack, on a wildcard, and on a denied request. Requests during the removal
of a stack do not count.
"""

import fnmatch
import json
import sys
from typing import NamedTuple

# Actions of Lambda itself in the function's role: it reads stream and queue, stores failed batches, and writes logs.
LAMBDA = {
    "dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams",
    "logs:CreateLogStream", "logs:PutLogEvents", "s3:ListBucket", "s3:PutObject", "sqs:DeleteMessage",
    "sqs:GetQueueAttributes", "sqs:ReceiveMessage",
}


class Permission(NamedTuple):
    """An action on a resource, by their numbers in the role of a function. It is the same in each stack."""

    function: str
    statement: int
    action: str
    resource: int

    def __str__(self):
        return f"{self.function} may {self.action} (statement {self.statement}, resource {self.resource})"


def lines(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def listed(value):
    return value if isinstance(value, list) else [value]


def permissions_of(role):
    """Yields each permission of a role, with its resource and the operation that must enclose the action."""
    for number, statement in enumerate(role["statements"]):
        conditions = statement.get("Condition", {})
        (transaction,) = conditions.get("ForAnyValue:StringEquals", {}).get("dynamodb:EnclosingOperation", [None])
        for action in listed(statement["Action"]):
            for place, resource in enumerate(listed(statement["Resource"])):
                yield Permission(role["function"], number, action, place), resource, transaction


def requests_of(granted, decisions):
    """Returns the requests of each role, and the denied ones of all."""
    functions = {role["role"]: role["function"] for role in granted}
    until = {role["role"]: role["until"] for role in granted}
    requests, denied = {}, set()
    for decision in decisions:
        _, _, session = (decision["caller"] or "").partition(":assumed-role/")
        role = session.split("/")[0]
        if role in functions and decision["at"] <= until[role]:
            request = decision["action"], decision["resource"], decision["transaction"]
            requests.setdefault(role, set()).add(request)
            if decision["denied"]:
                denied.add((functions[role], decision["action"], decision["resource"]))
    return requests, denied


def used_by(role, requests):
    """Returns the permissions of a role that its requests use."""
    return {
        permission
        for permission, resource, transaction in permissions_of(role)
        if any(
            (action, enclosing) == (permission.action, transaction) and fnmatch.fnmatchcase(called, resource)
            for action, called, enclosing in requests.get(role["role"], ())
        )
    }


def main(granted_file, decisions_file):
    granted = lines(granted_file)
    requests, denied = requests_of(granted, lines(decisions_file))
    permissions, used, wide = set(), set(), set()
    for role in granted:
        used |= used_by(role, requests)
        for permission, resource, _ in permissions_of(role):
            permissions.add(permission)
            if resource == "*" or "*" in permission.action:
                wide.add((permission.function, permission.action, resource))
    of_lambda = {permission for permission in permissions if permission.action in LAMBDA}
    unused = sorted(permissions - used - of_lambda)
    for permission in unused:
        print(f"unused: {permission}")
    for function, action, resource in sorted(denied):
        print(f"refused: {function} {action} {resource}")
    for function, action, resource in sorted(wide):
        print(f"too wide: {function} may {action} on {resource}")
    assert granted and used, "nothing was granted, or nothing asked for"
    functions = {role["function"] for role in granted}
    print(f"{len(permissions)} permissions of {len(functions)} functions: {len(used)} used, "
          f"{len(of_lambda - used)} used by Lambda itself, {len(unused)} unused, {len(denied)} missing.")
    return 1 if unused or denied or wide else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
