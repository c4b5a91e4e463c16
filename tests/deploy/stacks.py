"""An HTTP server that deploys and removes stacks of a packaged template. Each scenario gets a separate stack.

    stacks.py ENDPOINT TEMPLATE_URL GRANTED LOGS

POST /stacks                            {"test": …, "submit": {…}, "parameters": {…}} deploys a stack for a test.
                                        Returns its name, its outputs, and the endpoint of its tables.

GET /stacks/NAME/events                 Returns all events so far, in the order of the queue.

PUT /stacks/NAME/mappings/FUNCTION      {"enabled": false} disables the event source mapping of a function.

PUT /stacks/NAME/webhook                {"url": …, "pattern": …} creates a rule. It posts events to a URL with a key.

POST /stacks/NAME/functions/FUNCTION    Invokes a function with the body.

DELETE /stacks/NAME                     Removes the stack. Appends the permissions of its roles to the file GRANTED, and
                                        the logs of its functions to the file LOGS, both with the name of the test.

The server also acts as X-Ray daemon at AWS_XRAY_DAEMON_ADDRESS, and appends the segments to LOGS. It prints its port,
and then its errors.
"""

import http.server
import itertools
import json
import os
import secrets
import socket
import sys
import threading
import time

import boto3

# operate.py imports Stack, and has the same first two arguments.
ENDPOINT, TEMPLATE_URL, *FILES = sys.argv[1:]
MAPPINGS = {"generate": "GenerateMapping", "notify": "NotifyMapping"}
# The emulator does not support archives of the event bus, so EventDays is 0.
# The tests send requests faster than a team may, so TeamRequestsPerSecond is 0.
PARAMETERS = {
    "Architecture": "x86_64",
    "EventDays": "0",
    "ExampleQueue": "yes",
    "TeamRequestsPerSecond": "0",
    "Tracing": "Active",
}
names = itertools.count(1)
writing = threading.Lock()


def client(service):
    return boto3.client(service, endpoint_url=ENDPOINT)


def document(statement):
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


class Stack:
    def __init__(self, submit, parameters, test=None):
        """Deploys a stack with parameters for a test, and with more environment variables of `submit`."""
        self.test = test
        self.name = f"dovetail-{os.getpid()}-{next(names)}"
        self.formation = client("cloudformation")
        self.events = []
        self.undo = []
        parameters = PARAMETERS | {"CursorKey": secrets.token_urlsafe(32)} | parameters
        self.formation.create_stack(
            StackName=self.name,
            TemplateURL=TEMPLATE_URL,
            Parameters=[{"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()],
            Capabilities=["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"],
        )
        waiter = self.formation.get_waiter("stack_create_complete")
        waiter.wait(StackName=self.name, WaiterConfig={"Delay": 1, "MaxAttempts": 60})
        (stack,) = self.formation.describe_stacks(StackName=self.name)["Stacks"]
        self.outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
        resources = self.formation.describe_stack_resources(StackName=self.name)["StackResources"]
        self.resources = {one["LogicalResourceId"]: one for one in resources}
        if submit:
            self.configure("submit", self.settings("submit") | submit)

    def settings(self, function):
        """Returns the environment variables of a function."""
        name = f"{self.name}-{function}"
        return client("lambda").get_function_configuration(FunctionName=name)["Environment"]["Variables"]

    def configure(self, function, settings):
        functions, name = client("lambda"), f"{self.name}-{function}"
        functions.update_function_configuration(FunctionName=name, Environment={"Variables": settings})
        functions.get_waiter("function_updated_v2").wait(FunctionName=name)

    def invoke(self, function, payload):
        name = f"{self.name}-{function}"
        reply = client("lambda").invoke(FunctionName=name, Payload=json.dumps(payload).encode())
        assert "FunctionError" not in reply, reply["Payload"].read()
        return json.loads(reply["Payload"].read())

    def described(self):
        return {"name": self.name, "endpoint": ENDPOINT} | self.outputs

    def all_events(self):
        queue = client("sqs")
        while messages := queue.receive_message(
            QueueUrl=self.outputs["Queue"], MaxNumberOfMessages=10, WaitTimeSeconds=0
        ).get("Messages"):
            for message in messages:
                self.events.append(json.loads(message["Body"]))
                queue.delete_message(QueueUrl=self.outputs["Queue"], ReceiptHandle=message["ReceiptHandle"])
        return self.events

    def enable(self, function, enabled):
        mapping = self.resources[MAPPINGS[function]]["PhysicalResourceId"]
        client("lambda").update_event_source_mapping(UUID=mapping, Enabled=enabled)
        return {"function": function, "enabled": enabled}

    def post(self, url, pattern):
        """Posts events to a URL. Creates a rule, an API destination with its connection, and a role for it."""
        events, iam, name = client("events"), client("iam"), f"{self.name}-webhook"
        trust = {"Effect": "Allow", "Principal": {"Service": "events.amazonaws.com"}, "Action": "sts:AssumeRole"}
        role = iam.create_role(RoleName=name, AssumeRolePolicyDocument=document(trust))["Role"]["Arn"]
        self.undo.append(lambda: iam.delete_role(RoleName=name))
        parameters = {"ApiKeyAuthParameters": {"ApiKeyName": "x-webhook-key", "ApiKeyValue": "webhook-key"}}
        connection = events.create_connection(Name=name, AuthorizationType="API_KEY", AuthParameters=parameters)
        self.undo.append(lambda: events.delete_connection(Name=name))
        destination = events.create_api_destination(
            Name=name, ConnectionArn=connection["ConnectionArn"], InvocationEndpoint=url, HttpMethod="POST"
        )["ApiDestinationArn"]
        self.undo.append(lambda: events.delete_api_destination(Name=name))
        allowed = {"Effect": "Allow", "Action": "events:InvokeApiDestination", "Resource": destination}
        iam.put_role_policy(RoleName=name, PolicyName="post", PolicyDocument=document(allowed))
        self.undo.append(lambda: iam.delete_role_policy(RoleName=name, PolicyName="post"))
        bus = self.outputs["Bus"]
        events.put_rule(Name=name, EventBusName=bus, EventPattern=json.dumps(pattern))
        self.undo.append(lambda: events.delete_rule(Name=name, EventBusName=bus))
        target = {"Id": "webhook", "Arn": destination, "RoleArn": role}
        events.put_targets(Rule=name, EventBusName=bus, Targets=[target])
        self.undo.append(lambda: events.remove_targets(Rule=name, EventBusName=bus, Ids=["webhook"]))
        return {}

    def granted(self):
        """Yields the policy statements of each role in the deployed stack."""
        iam = client("iam")
        roles = [one for one in self.resources.values() if one["ResourceType"] == "AWS::IAM::Role"]
        for role in roles:
            name = role["PhysicalResourceId"]
            # Only the X-Ray daemon uses the policy `tracing`, and the daemon here needs no permission.
            for policy in set(iam.list_role_policies(RoleName=name)["PolicyNames"]) - {"tracing"}:
                document = iam.get_role_policy(RoleName=name, PolicyName=policy)["PolicyDocument"]
                yield {"role": name, "function": policy, "statements": document["Statement"]}
            assert not iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"], name

    def told(self, since=0):
        """Yields the log lines of each function, from a time in seconds on."""
        logs = client("logs")
        groups = [one for one in self.resources.values() if one["ResourceType"] == "AWS::Logs::LogGroup"]
        for group in groups:
            name = group["PhysicalResourceId"]
            pages = logs.get_paginator("filter_log_events").paginate(logGroupName=name, startTime=int(since * 1000))
            for page in pages:
                yield from ([name.removeprefix(f"/aws/lambda/{self.name}-"), one["message"]] for one in page["events"])

    def write_down(self, granted_file, told_file):
        """Appends the permissions of the roles and the logs of the functions to the files."""
        with writing, open(granted_file, "a") as granted, open(told_file, "a") as told:
            roles = list(self.granted())
            # The removal of the stack deletes the roles before the functions, which may still be at work.
            granted.writelines(json.dumps(role | {"until": time.time(), "test": self.test}) + "\n" for role in roles)
            told.writelines(json.dumps([*line, self.test]) + "\n" for line in self.told())
            told.writelines(json.dumps(["event", one["detail-type"], self.test]) + "\n" for one in self.events)

    def remove(self):
        while self.undo:
            self.undo.pop()()
        # The emulator leaves the processes of functions behind if it removes them with their stack.
        functions = [one for one in self.resources.values() if one["ResourceType"] == "AWS::Lambda::Function"]
        for function in functions:
            client("lambda").delete_function(FunctionName=function["PhysicalResourceId"])
        self.formation.delete_stack(StackName=self.name)
        waiter = self.formation.get_waiter("stack_delete_complete")
        waiter.wait(StackName=self.name, WaiterConfig={"Delay": 1, "MaxAttempts": 60})
        # The tables and the bucket of failures must survive the stack. Without them, these calls fail.
        tables = client("dynamodb")
        for name in (self.outputs["Table"], self.outputs["KeysTable"]):
            tables.update_table(TableName=name, DeletionProtectionEnabled=False)
            tables.delete_table(TableName=name)
        client("s3").head_bucket(Bucket=self.outputs["Failures"])
        return {}


def trace(told_file):
    """Receives segments like the X-Ray daemon."""
    address, _, port = os.environ["AWS_XRAY_DAEMON_ADDRESS"].partition(":")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as daemon:
        daemon.bind((address, int(port)))
        while True:
            _, _, segment = daemon.recv(65536).decode().partition("\n")
            with writing, open(told_file, "a") as told:
                told.write(json.dumps(["trace", segment, None]) + "\n")


stacks = {}


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self):
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length) or "null")
        status, reply = 200, None
        try:
            match [self.command, *self.path.strip("/").split("/")]:
                case ["POST", "stacks"]:
                    stack = Stack(body.get("submit", {}), body.get("parameters", {}), body.get("test"))
                    stacks[stack.name] = stack
                    status, reply = 201, stack.described()
                case ["GET", "stacks", name, "events"]:
                    reply = stacks[name].all_events()
                case ["PUT", "stacks", name, "mappings", function]:
                    reply = stacks[name].enable(function, body["enabled"])
                case ["PUT", "stacks", name, "webhook"]:
                    reply = stacks[name].post(body["url"], body["pattern"])
                case ["POST", "stacks", name, "functions", function]:
                    reply = stacks[name].invoke(function, body)
                case ["DELETE", "stacks", name]:
                    stack = stacks.pop(name)
                    stack.write_down(*FILES)
                    reply = stack.remove()
                case _:
                    status, reply = 404, {"message": f"no route has {self.command} {self.path}"}
        except Exception as error:
            status, reply = 500, {"message": f"{type(error).__name__}: {error}"}
            print(self.command, self.path, reply["message"], flush=True)
        text = json.dumps(reply, default=str).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PUT = do_DELETE = answer

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    threading.Thread(target=trace, args=FILES[1:], daemon=True).start()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()
