"""Compares the permissions of the functions' roles with the requests of the functions.

    permissions.py GRANTED DECISIONS

Fails on a permission without a use in any stack, on a wildcard, and on a denied request. Requests during the removal
of a stack do not count.
"""

import fnmatch
import json
import sys

# Actions of Lambda itself in the function's role: it reads stream and queue, stores failed batches, and writes logs.
LAMBDA = {
    "dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams",
    "logs:CreateLogStream", "logs:PutLogEvents", "s3:ListBucket", "s3:PutObject", "sqs:DeleteMessage",
    "sqs:GetQueueAttributes", "sqs:ReceiveMessage",
}


def lines(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def listed(value):
    return value if isinstance(value, list) else [value]


def main(granted_file, decisions_file):
    granted = lines(granted_file)
    functions = {role["role"]: role["function"] for role in granted}
    until = {role["role"]: role["until"] for role in granted}
    asked, refused = {}, []
    for decision in lines(decisions_file):
        _, _, session = (decision["caller"] or "").partition(":assumed-role/")
        role = session.split("/")[0]
        if role in functions and decision["at"] <= until[role]:
            asked.setdefault(role, set()).add((decision["action"], decision["resource"], decision["transaction"]))
            if decision["denied"]:
                refused.append((functions[role], decision["action"], decision["resource"]))
    permissions, used, wide = set(), set(), set()
    for role in granted:
        for number, statement in enumerate(role["statements"]):
            conditions = statement.get("Condition", {})
            (transaction,) = conditions.get("ForAnyValue:StringEquals", {}).get("dynamodb:EnclosingOperation", [None])
            for action in listed(statement["Action"]):
                for place, resource in enumerate(listed(statement["Resource"])):
                    if resource == "*" or "*" in action:
                        wide.add((role["function"], action, resource))
                    permission = (role["function"], number, action, place)
                    permissions.add(permission)
                    uses = asked.get(role["role"], ())
                    if any((a, t) == (action, transaction) and fnmatch.fnmatchcase(r, resource) for a, r, t in uses):
                        used.add(permission)
    of_lambda = {permission for permission in permissions if permission[2] in LAMBDA}
    unused = sorted(permissions - used - of_lambda)
    for function, number, action, place in unused:
        print(f"unused: {function} may {action} (statement {number}, resource {place})")
    for function, action, resource in sorted(set(refused)):
        print(f"refused: {function} {action} {resource}")
    for function, action, resource in sorted(wide):
        print(f"too wide: {function} may {action} on {resource}")
    assert functions and used, "nothing was granted, or nothing asked for"
    print(f"{len(permissions)} permissions of {len(set(functions.values()))} functions: {len(used)} used, "
          f"{len(of_lambda - used)} used by Lambda itself, {len(unused)} unused, {len(set(refused))} missing.")
    return 1 if unused or refused or wide else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
