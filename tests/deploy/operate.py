"""Causes each alarm of the template on a separate stack, and repairs it as in docs/how-to/alarms.md. Then waits until
both schedules have invoked the sweep.

    operate.py ENDPOINT TEMPLATE_URL PAGE

The emulator evaluates alarms but publishes almost no metrics. So this script measures the figures and publishes them:
embedded metrics come from the functions' logs, and the script itself counts the ages of records, 5xx responses and
failed deliveries. It cannot cause throttling of a table.
"""

import base64
import datetime
import itertools
import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

import stacks
from stacks import client

# Thresholds of the alarms that need time to reach.
LATE_SECONDS, UNFINISHED_SECONDS = 5, 1
PARAMETERS = {
    "LateMilliseconds": str(LATE_SECONDS * 1000),
    "UnfinishedSecondsMax": str(UNFINISHED_SECONDS),
    "Tracing": "PassThrough",
    "LoadAlarms": "yes",
}
WORLD = "infra/daemon/src/demo.world.json"
CONSUMER, OWNER = "awesome-key", "vm-owner-key"
# As in domain::work.
TRIES_MAX = 10
# The number of requests for a measurement of response codes.
REQUESTS = 6
# Replace figures without a measurement.
THROTTLED, CONFLICTING = 100, 1000
# Remaining time of a figure in an alarm's window, in seconds, if it must leave the window soon.
GRACE = 5
# The time limit for the effects of a request, and the pause between two reads, in seconds.
SETTLING, PAUSE = 30, 0.1
# The time limit for the schedules: a minute, and the time of a run.
SCHEDULED = 90

numbers = itertools.count(1)


# The page.


def read(page):
    """Returns the level of each heading, and the commands below it with their output."""
    with open(page) as file:
        _, *parts = re.split(r"^(##+) (.*)\n", file.read(), flags=re.MULTILINE)
    levels, blocks = {}, {}
    for level, heading, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        found = re.findall(r"^```(sh|text)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
        commands = "".join(block for kind, block in found if kind == "sh")
        shown = "".join(block for kind, block in found if kind == "text").splitlines()
        levels[heading], blocks[heading] = len(level), (commands, shown)
    return levels, blocks


def follow(stack, hand, section):
    """Runs the commands of a section after those that prepare the shell, and compares their output."""
    commands, shown = section
    environment = os.environ | {"STACK": stack.name}
    shell = ["bash", "-euo", "pipefail", "-c", f"{hand}\nset -x\n{commands}"]
    done = subprocess.run(shell, check=False, env=environment, capture_output=True, text=True)
    told = f"\n{done.stderr}\n{done.stdout}"
    assert done.returncode == 0, f"a command failed:{told}"
    for line in shown:
        # The JSON of the emulator has blanks, that of AWS has none.
        pattern = ".*".join(re.escape(part) for part in line.replace(" ", "").split("…"))
        assert re.search(pattern, done.stdout.replace(" ", "")), f"nothing shows {line!r}:{told}"


# The API, as clients use it.


def ask(stack, key, method, path, body=None):
    """Sends a request; returns status and body."""
    # Not every resolver maps names in `localhost` to this machine.
    host = urllib.parse.urlsplit(stack.outputs["Url"]).netloc
    headers = {"host": host, "authorization": f"Api-Key {key}", "content-type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    url = f"{stacks.ENDPOINT}/v1/orcabase/{path}"
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method)) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def submit(stack):
    """Submits a new item of a service with a dependent team; returns the submission's id."""
    balancer = {"name": "CoreLB1", "algorithm": f"number {next(numbers)}"}
    declaration = {"AwesomeConsumer": {"App": {"services": {"LoadBalancer": [balancer]}}}}
    status, reply = ask(stack, CONSUMER, "POST", "consumer/submissions/submit/", declaration)
    assert status == 201, (status, reply)
    return reply["id"]


def is_settled(stack, submission):
    status, reply = ask(stack, CONSUMER, "GET", f"consumer/submissions/{submission}/")
    return status == 200 and reply["state"] == "SETTLED"


def is_told(stack, submission):
    return any(f"dovetail:submission/{submission}" in event["resources"] for event in stack.all_events())


def comes(to_be, stack, submission, seconds=SETTLING):
    """Returns whether a submission reaches a condition in time."""
    until = time.time() + seconds
    while time.time() < until:
        if to_be(stack, submission):
            return True
        time.sleep(PAUSE)
    return False


def waited_for(to_be, stack):
    """Submits; the caller waits for the effects."""
    submission = submit(stack)
    return lambda: comes(to_be, stack, submission)


# Figures.


def told(stack, alarm):
    """Invokes the sweep without work; returns the alarm's metric from its embedded metrics."""
    since = time.time()
    stack.invoke("sweep", {"older_than_seconds": 86400})
    lines = [json.loads(message[message.index("{"):]) for _, message in stack.told(since) if '"_aws"' in message]
    of_lines = [(line, directive) for line in lines for directive in line["_aws"]["CloudWatchMetrics"]]
    told = [line[alarm["MetricName"]] for line, directive in of_lines if is_of(directive, line, alarm)]
    assert told, "nobody tells the alarm's metric"
    return {"Maximum": max, "Sum": sum}[alarm["Statistic"]](told)


def is_of(directive, line, alarm):
    """Returns whether an embedded metric is the metric of an alarm."""
    dimensions = {one["Name"]: one["Value"] for one in alarm["Dimensions"]}
    return (
        directive["Namespace"] == alarm["Namespace"]
        and any(metric["Name"] == alarm["MetricName"] for metric in directive["Metrics"])
        and any({name: line[name] for name in names} == dimensions for names in directive["Dimensions"])
    )


def age(to_be):
    """Returns the age of a record after its processing, or after the time limit, in milliseconds."""

    def measured(stack, _):
        submission, written = submit(stack), time.time()
        comes(to_be, stack, submission, LATE_SECONDS)
        return (time.time() - written) * 1000

    return measured


def given_up(function):
    """Returns the number of batches in the bucket."""

    def measured(stack, _):
        objects = client("s3").list_objects_v2(Bucket=stack.outputs["Failures"], Prefix=kept(stack, function))
        return objects["KeyCount"]

    return measured


def failed_deliveries(stack, _):
    asked = {"QueueUrl": stack.outputs["FailedDeliveries"], "AttributeNames": ["ApproximateNumberOfMessages"]}
    return int(client("sqs").get_queue_attributes(**asked)["Attributes"]["ApproximateNumberOfMessages"])


def server_errors(stack, _):
    answers = [ask(stack, OWNER, "GET", "serviceowner/change_instances/") for _ in range(REQUESTS)]
    return sum(status >= 500 for status, _ in answers)


def throttled(limit):
    """Returns a figure for a table with a limit, because the emulator never throttles."""

    def stands_for(stack, _):
        table = client("dynamodb").describe_table(TableName=stack.outputs["Table"])["Table"]
        return THROTTLED if table.get("OnDemandThroughput", {}).get(limit, -1) > 0 else 0

    return stands_for


def once(figure):
    """Returns a figure that ends by itself, for limits that the emulator does not have."""
    figures = iter((figure, 0))
    return lambda *_: next(figures)


# Causes. Those with an effect to wait for return whether it occurred.


def settings_are_lost(stack):
    """Sets one environment variable and so deletes the others, a usual mistake on the command line."""
    stack.configure("generate", {"DOVETAIL_STACK": stack.name})
    return waited_for(is_settled, stack)


def nothing_may_run(stack):
    client("lambda").put_function_concurrency(FunctionName=f"{stack.name}-notify", ReservedConcurrentExecutions=0)
    return waited_for(is_told, stack)


def table_is_elsewhere(stack):
    stack.configure("generate", stack.settings("generate") | {"DOVETAIL_TABLE": "elsewhere"})
    began, has_come = time.time(), waited_for(is_settled, stack)
    give_up(stack, "generate", began)
    return has_come


def bus_is_elsewhere(stack):
    stack.configure("notify", stack.settings("notify") | {"DOVETAIL_BUS": "elsewhere"})
    began, submission = time.time(), submit(stack)
    # Generated changes publish no event either.
    assert comes(is_settled, stack, submission)
    give_up(stack, "notify", began)
    return lambda: comes(is_told, stack, submission)


def requests_fail(stack):
    stack.configure("list", stack.settings("list") | {"DOVETAIL_TABLE": "elsewhere"})


def limit(name):
    def set_limit(stack):
        client("dynamodb").update_table(TableName=stack.outputs["Table"], OnDemandThroughput={name: 1})

    return set_limit


def traffic_comes(*_):
    """Stands for load that the emulator does not notice."""


def all_rest(stack):
    """Stops generation and the sweep, so pending work remains."""
    client("events").disable_rule(Name=f"{stack.name}-sweep")
    stack.enable("generate", False)
    has_come = waited_for(is_settled, stack)
    time.sleep(UNFINISHED_SECONDS)
    return has_come


def work_is_damaged(stack):
    """Writes a record that violates the rules."""
    stack.enable("generate", False)
    has_come = waited_for(is_settled, stack)
    tables, name = client("dynamodb"), stack.outputs["Table"]
    (row,) = tables.scan(
        TableName=name,
        ConsistentRead=True,
        FilterExpression="ty = :work",
        ExpressionAttributeValues={":work": {"S": "WORK"}},
    )["Items"]
    tables.put_item(TableName=name, Item=row | {"v": {"N": "99"}})
    stack.enable("generate", True)
    for _ in range(TRIES_MAX):
        stack.invoke("sweep", {"older_than_seconds": 0})
    return has_come


def table_of_deliver_is_elsewhere(stack):
    """Moves a message to the dead-letter queue, as SQS does after five failures in half an hour."""
    stack.configure("deliver", stack.settings("deliver") | {"DOVETAIL_KEYS_TABLE": "elsewhere"})
    submission = submit(stack)
    assert comes(is_told, stack, submission)
    told = next(event for event in stack.all_events() if event["detail-type"] == "ChangeInstance.StateChanged.v1")
    message = json.dumps(told)
    reply = stack.invoke("deliver", {"Records": [{"messageId": "1", "body": message}]})
    assert reply["batchItemFailures"], f"deliver has not failed: {reply}"
    client("sqs").send_message(QueueUrl=stack.outputs["FailedDeliveries"], MessageBody=message)


# Handling of failed batches: Lambda does it, the emulator does not.


def kept(stack, function):
    """Returns the key prefix of failed batches in the bucket."""
    return f"aws/lambda/{stack.resources[stacks.MAPPINGS[function]]['PhysicalResourceId']}/"


def give_up(stack, function, since):
    """Sends the records since then to the function again, and stores failed ones in the bucket."""
    uuid_of_mapping = stack.resources[stacks.MAPPINGS[function]]["PhysicalResourceId"]
    mapping = client("lambda").get_event_source_mapping(UUID=uuid_of_mapping)
    (pattern,) = (json.loads(one["Pattern"]) for one in mapping["FilterCriteria"]["Filters"])
    shard, records = stream(mapping["EventSourceArn"], since)
    batch = {"Records": [record for record in records if takes(pattern, record)]}
    reply = stack.invoke(function, batch)
    assert reply["batchItemFailures"], f"{function} has not failed: {reply}"
    now = datetime.datetime.now(datetime.UTC)
    client("s3").put_object(
        Bucket=stack.outputs["Failures"],
        Key=f"{kept(stack, function)}{shard}/{now:%Y/%m/%d/%Y-%m-%dT%H.%M.%S}-{uuid.uuid4()}",
        Body=json.dumps({"requestContext": {"condition": "RetryAttemptsExhausted"}, "payload": json.dumps(batch)}),
    )


def stream(arn, since):
    """Returns the shard of a stream and its records since a time, in the form of Lambda."""
    streams = client("dynamodbstreams")
    (shard,) = (one["ShardId"] for one in streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"])
    beginning = streams.get_shard_iterator(StreamArn=arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON")
    page, records = streams.get_records(ShardIterator=beginning["ShardIterator"]), []
    while page["Records"]:
        records += page["Records"]
        page = streams.get_records(ShardIterator=page["NextShardIterator"])
    recent = [one for one in records if one["dynamodb"]["ApproximateCreationDateTime"].timestamp() >= int(since)]
    return shard, json.loads(json.dumps(recent, default=plain))


def plain(value):
    """Converts bytes and times to the form of a Lambda event."""
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value.timestamp()


def takes(pattern, value):
    """Returns whether a filter of the template matches a record."""
    if isinstance(pattern, list):
        return value in pattern
    return isinstance(value, dict) and all(takes(one, value.get(name)) for name, one in pattern.items())


CASES = {
    "GenerateLate": (settings_are_lost, age(is_settled)),
    "NotifyLate": (nothing_may_run, age(is_told)),
    "GenerateFailures": (table_is_elsewhere, given_up("generate")),
    "NotifyFailures": (bus_is_elsewhere, given_up("notify")),
    "ServerErrors": (requests_fail, server_errors),
    "ReadsThrottled": (limit("MaxReadRequestUnits"), throttled("MaxReadRequestUnits")),
    "WritesThrottled": (limit("MaxWriteRequestUnits"), throttled("MaxWriteRequestUnits")),
    "QueueWritesThrottled": (traffic_comes, once(THROTTLED)),
    "ListWritesThrottled": (traffic_comes, once(THROTTLED)),
    "WorkWritesThrottled": (traffic_comes, once(THROTTLED)),
    "TransactionsConflicting": (traffic_comes, once(CONFLICTING)),
    "WorkUnfinished": (all_rest, told),
    "WorkSetAside": (work_is_damaged, told),
    "DeliveriesFailed": (table_of_deliver_is_elsewhere, failed_deliveries),
}


# The schedules.


def is_scheduled(stack, since):
    """Returns whether both schedules have invoked the sweep since a time: one finishes work, the other counts."""
    lines = [message for function, message in stack.told(since) if function == "sweep"]
    return all(any(f'"{metric}"' in line for line in lines) for metric in ("OwedWork", "OldestOpen"))


def wait_for_schedules(stack):
    # The template counts every 15 minutes. The repair of WorkUnfinished has enabled the other schedule.
    client("events").put_rule(Name=f"{stack.name}-count", ScheduleExpression="rate(1 minute)")
    assert comes(is_scheduled, stack, time.time(), SCHEDULED), "a schedule has not invoked the sweep"
    print("Both schedules have invoked the sweep.")


# The alarms.


def described(stack):
    """Returns the alarms of the stack by their names in the template."""
    alarms = [one for one in stack.resources.values() if one["ResourceType"] == "AWS::CloudWatch::Alarm"]
    return {one["LogicalResourceId"]: alarm_of(one["PhysicalResourceId"]) for one in alarms}


def alarm_of(name):
    (alarm,) = client("cloudwatch").describe_alarms(AlarmNames=[name])["MetricAlarms"]
    return alarm


def put(alarm, figure, second):
    """Publishes a figure, and returns the state of the alarm."""
    point = {name: alarm[name] for name in ("MetricName", "Dimensions")}
    point |= {"Value": figure, "Timestamp": datetime.datetime.fromtimestamp(second, datetime.UTC)}
    client("cloudwatch").put_metric_data(Namespace=alarm["Namespace"], MetricData=[point])
    return alarm_of(alarm["AlarmName"])["StateValue"]


def play(stack, name, alarm, hand, section):
    cause, figure = CASES[name]
    assert alarm_of(alarm["AlarmName"])["StateValue"] != "ALARM", f"{name} fires before its cause"
    has_come = cause(stack)
    bad = figure(stack, alarm)
    # Early in the alarm's window, so the figure has left the window after the repair.
    window = alarm["Period"] * alarm["EvaluationPeriods"]
    second = time.time() - window + GRACE
    assert put(alarm, bad, second) == "ALARM", f"{name} does not fire at {bad}"
    follow(stack, hand, section)
    assert has_come is None or has_come(), f"{name}: what was waited for has not come to be"
    good = figure(stack, alarm)
    time.sleep(max(0, second + window - time.time()))
    assert put(alarm, good, time.time()) == "OK", f"{name} does not end at {good}"
    print(f"{name:<24} {bad:>7,.0f} at the cause, {good:>5,.0f} after the repair", flush=True)


def load(stack):
    """Loads the demo world, with the command of docs/how-to/operator.md."""
    command = ["cargo", "run", "--quiet", "--locked", "--", "load", "--world", WORLD, "--table", stack.outputs["Table"]]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def main(page):
    levels, blocks = read(page)
    stack = stacks.Stack({}, PARAMETERS)
    try:
        alarms, sections = described(stack), {heading for heading, level in levels.items() if level == 3}
        assert alarms.keys() == sections, f"alarms {sorted(alarms)}, sections of the page {sorted(sections)}"
        assert alarms.keys() == CASES.keys(), f"alarms {sorted(alarms)}, cases of this test {sorted(CASES)}"
        load(stack)
        # The page must repair the cause; waiting alone must not end the alarm.
        client("events").disable_rule(Name=f"{stack.name}-sweep")
        hand, _ = blocks.pop("Prepare your shell")
        for heading, section in blocks.items():
            if levels[heading] == 2:
                follow(stack, hand, section)
        for name in CASES:
            play(stack, name, alarms[name], hand, blocks[name])
        print(f"{len(CASES)} alarms caused, seen and repaired.", flush=True)
        wait_for_schedules(stack)
    finally:
        stack.remove()


if __name__ == "__main__":
    main(*sys.argv[3:])
