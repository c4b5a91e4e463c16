"""Runs the commands of a page about notifications, and compares the requests of the targets with the expected ones.

    messages.py ENDPOINT PAGE SCHEMA GOLDEN

The receivers listen on this machine, so the page's addresses are replaced. With UPDATE_EXPECT=1, the script writes the
expected requests.
"""

import http.server
import json
import os
import pathlib
import queue
import re
import subprocess
import sys
import tempfile
import threading

import boto3

# Each receiver of the page, with the address of its machine.
HOSTS = {
    "slack": "https://slack.com",
    "teams": "https://workflow.example.com",
    "servicenow": "https://example.service-now.com",
}
# The buses and the team of the page, and a name that text of chats or JSON would change.
BUS, TEAM, ODD_NAME = "dovetail-test", "Owners", 'a "b" \\ <!channel> [c](https://example.com) *d*'
# Headers of a request that the templates set.
HEADERS = ("authorization", "content-type", "x-sender")
# The time limit for a request, in seconds.
WAIT = 60
ACCOUNT, REGION = "000000000000", "us-east-1"

requests = queue.Queue()


class Receiver(http.server.BaseHTTPRequestHandler):
    """Accepts each request and appends it to the queue, with the name of its server."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name: self.headers[name] for name in HEADERS if name in self.headers}
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()
        requests.put((self.server.name, {"path": self.path, "headers": headers, "body": json.loads(body)}))

    def log_message(self, *_):
        pass


def start_receiver(name):
    """Returns the address of a new receiver."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    server.name = name
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def client(service):
    return boto3.client(service, endpoint_url=ENDPOINT)


def received(names):
    """Returns the next request of each receiver."""
    found = dict(requests.get(timeout=WAIT) for _ in names)
    assert found.keys() == set(names), f"requests for {sorted(found)}"
    return found


def play(page):
    """Runs the commands of a page. They find a copy of its folder with the addresses of the receivers."""
    addresses = {host: start_receiver(name) for name, host in HOSTS.items()}
    root = pathlib.Path.cwd()
    with tempfile.TemporaryDirectory() as copy:
        folder = pathlib.Path(copy) / page.parent
        folder.mkdir(parents=True)
        for file in page.parent.iterdir():
            text = file.read_text()
            for host, address in addresses.items():
                text = text.replace(host, address)
            (folder / file.name).write_text(text)
        for link in ("infra", "target"):
            (pathlib.Path(copy) / link).symlink_to(root / link)
        blocks = re.findall(r"^```sh\n(.*?)^```$", (folder / page.name).read_text(), flags=re.MULTILINE | re.DOTALL)
        assert blocks, "the page has no commands"
        secrets = {"SLACK_TOKEN": "xoxb-1", "TEAMS_SIG": "sig-1", "SERVICENOW_PASSWORD": "password-1"}
        shell = ["bash", "-euxo", "pipefail", "-c", "\n".join(blocks)]
        done = subprocess.run(shell, check=False, cwd=copy, env=os.environ | secrets, capture_output=True, text=True)
    assert done.returncode == 0, f"a command failed:\n{done.stdout}\n{done.stderr}"


def publish(detail_type, detail):
    entry = {"EventBusName": BUS, "Source": "dovetail.change-orchestration", "DetailType": detail_type}
    reply = client("events").put_events(Entries=[entry | {"Detail": json.dumps(detail)}])
    assert reply["FailedEntryCount"] == 0, reply


def of_team(detail, **data):
    return detail | {"data": detail["data"] | {"owner": TEAM} | data}


def subscribe(topic):
    """Returns the URL of a new queue with a subscription to a topic."""
    sqs = client("sqs")
    url = sqs.create_queue(QueueName="mailbox")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    client("sns").subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn, Attributes={"RawMessageDelivery": "true"})
    return url


def mail(url):
    """Returns the next message of a queue."""
    sqs = client("sqs")
    (message,) = sqs.receive_message(QueueUrl=url, WaitTimeSeconds=20)["Messages"]
    sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
    return message["Body"]


def check_target(stack, detail_type, example):
    """Checks the permission of a stack, its queue of failed messages, and the events of its rule."""
    resources = client("cloudformation").describe_stack_resources(StackName=stack)["StackResources"]
    ids = {one["LogicalResourceId"]: one["PhysicalResourceId"] for one in resources}
    events = client("events")
    (target,) = events.list_targets_by_rule(Rule=ids["Rule"], EventBusName=BUS)["Targets"]
    assert target["DeadLetterConfig"]["Arn"].endswith(f":{stack}-failed"), target
    assert int(target["RetryPolicy"]["MaximumEventAgeInSeconds"]) >= 3600, target
    if "Role" in ids:
        policy = client("iam").get_role_policy(RoleName=ids["Role"], PolicyName="post")["PolicyDocument"]
        (statement,) = policy["Statement"]
        granted = (statement["Action"], statement["Resource"])
        assert granted == ("events:InvokeApiDestination", target["Arn"]), granted
    pattern = events.describe_rule(Name=ids["Rule"], EventBusName=BUS)["EventPattern"]

    def selects(detail):
        event = {"id": "1", "account": ACCOUNT, "region": REGION, "time": "2026-01-01T00:00:00Z", "resources": []}
        event |= {"source": "dovetail.change-orchestration", "detail-type": detail_type, "detail": detail}
        return events.test_event_pattern(EventPattern=pattern, Event=json.dumps(event))["Result"]

    assert selects(of_team(example))
    others = ({"to": "APPROVED"}, {"reason": "log"}, {"owner": "Others", "consumer_team": TEAM})
    for other in others:
        assert not selects(of_team(example, **other)), (stack, other)


def check_consumer(example):
    """Checks the events of a rule for a consumer."""
    formation = client("cloudformation")
    values = {"Bus": BUS, "Team": TEAM, "TeamRole": "consumer", "States": "REJECTED,ERRORED", "Email": "a@example.com"}
    formation.create_stack(
        StackName="notify-consumer",
        TemplateBody=pathlib.Path("examples/notifications/email.yaml").read_text(),
        Parameters=[{"ParameterKey": key, "ParameterValue": value} for key, value in values.items()],
    )
    formation.get_waiter("stack_create_complete").wait(StackName="notify-consumer", WaiterConfig={"Delay": 1})
    rule = client("events").describe_rule(Name="notify-consumer", EventBusName=BUS)
    data = json.loads(rule["EventPattern"])["detail"]["data"]
    assert data == {"reason": ["state"], "to": ["REJECTED", "ERRORED"], "consumer_team": [TEAM]}, data


def compare(found, golden):
    for name, value in found.items():
        path = golden / name
        text = value if isinstance(value, str) else json.dumps(value, indent=2) + "\n"
        if os.environ.get("UPDATE_EXPECT"):
            path.write_text(text)
        expected = path.read_text()
        assert text == expected, f"{path} expects\n{expected}\nand the request is\n{text}"


def main(page, schema, golden):
    schema = json.loads(pathlib.Path(schema).read_text())
    detail_type, example = schema["title"], schema["examples"][0]
    # Dovetail's stack has this bus.
    client("events").create_event_bus(Name=BUS)
    play(pathlib.Path(page))
    found = {f"{name}.json": request for name, request in received(HOSTS).items()}
    formation = client("cloudformation")
    (stack,) = formation.describe_stacks(StackName="notify-email")["Stacks"]
    (topic,) = (one["OutputValue"] for one in stack["Outputs"] if one["OutputKey"] == "Topic")
    mailbox = subscribe(topic)
    publish(detail_type, of_team(example))
    received(HOSTS)
    found["email.txt"] = mail(mailbox)
    names = dict.fromkeys(("service_item", "service", "application", "consumer_team"), ODD_NAME)
    publish(detail_type, of_team(example, **names))
    for name, request in received(HOSTS).items():
        assert json.dumps(request["body"]).count(json.dumps(ODD_NAME)) == len(names), (name, request)
    assert mail(mailbox).count(ODD_NAME) == len(names)
    for name in [*HOSTS, "email"]:
        check_target(f"notify-{name}", detail_type, example)
    check_consumer(example)
    compare(found, pathlib.Path(golden))
    print(f"{len(found)} messages compared; names with quotes, other events, permissions and queues checked.")


if __name__ == "__main__":
    ENDPOINT = sys.argv[1]
    main(*sys.argv[2:])
