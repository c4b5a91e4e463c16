"""Starts the emulator of AWS and logs each of its permission decisions, as JSON lines.

It also changes the emulator's routing in one case to that of AWS (docs/adr/0013-routes-end-in-proxy.md).

    AUTH=true DECISIONS=FILE emulator.py
"""

import json
import os
import time

from ministack.core import iam_evaluator

# Open as long as the process.
decisions = open(os.environ["DECISIONS"], "a", buffering=1)  # noqa: SIM115
enforce = iam_evaluator.enforce


def enforce_and_tell(access_key, action, service, region, resource_arn="*", service_context=None):
    denied = enforce(access_key, action, service, region, resource_arn=resource_arn, service_context=service_context)
    caller = iam_evaluator.resolve_caller_identity(access_key) or {}
    decision = {
        "at": time.time(),
        "caller": caller.get("userArn"),
        "action": action,
        "resource": resource_arn,
        "transaction": (service_context or {}).get("dynamodb:EnclosingOperation", [None])[0],
        "denied": denied is not None,
    }
    decisions.write(json.dumps(decision) + "\n")
    return denied


# The application imports this function when it loads, so the replacement comes first.
iam_evaluator.enforce = enforce_and_tell

from ministack.app import main  # noqa: E402
from ministack.services import apigateway  # noqa: E402

path_parameters = apigateway._extract_path_params


def path_parameters_with_empty_rest(route_path, request_path):
    found = path_parameters(route_path, request_path)
    if found is None and route_path.endswith("/{proxy+}") and request_path.endswith("/"):
        found = path_parameters(route_path, request_path + "rest")
        if found is not None:
            found["proxy"] = ""
    return found


apigateway._extract_path_params = path_parameters_with_empty_rest

main()
