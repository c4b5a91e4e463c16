"""Checks that the published Python library of Standard Webhooks accepts Dovetail's deliveries, and no others.

    python standard_webhooks.py BASE_URL

The receiver runs in this process. `tests/clients/run` starts the system with the demo world.
"""

import http.server
import json
import queue
import sys
import threading
import urllib.request

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

OWNER_KEY, CONSUMER_KEY = "vm-owner-key", "awesome-key"
# Maximum time until a delivery arrives, in seconds.
SECONDS_MAX = 30


class Receiver(http.server.ThreadingHTTPServer):
    """Keeps each request as its headers and its body."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests = queue.Queue()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def next_request(self):
        return self.requests.get(timeout=SECONDS_MAX)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.requests.put((dict(self.headers), body))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def call(key, path, body):
    """Posts a body, or none, to the API. Returns the response, and fails unless the status is 2xx."""
    headers = {"authorization": f"Api-Key {key}", "content-type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(sys.argv[1] + path, data, headers, method="POST")
    with urllib.request.urlopen(request, timeout=SECONDS_MAX) as response:
        return json.load(response)


def refuses(secret, body, headers):
    """Returns whether the library refuses a delivery."""
    try:
        Webhook(secret).verify(body, headers)
    except WebhookVerificationError:
        return True
    return False


def main():
    receiver = Receiver()
    hooks, url = "/v1/external/serviceowner/webhooks/", f"http://127.0.0.1:{receiver.server_port}/"
    made = call(OWNER_KEY, hooks, {"service": 1, "target_url": url, "change_instance_state": "PENDING"})
    secret = made["standard_webhooks_secret"]
    machines = {"AwesomeConsumer": {"Shop": {"services": {"VM": [{"name": "web"}]}}}}
    call(CONSUMER_KEY, "/v1/orcabase/consumer/submissions/submit/", machines)
    headers, body = receiver.next_request()
    event = Webhook(secret).verify(body, headers)
    assert event["data"]["to"] == "PENDING", event
    assert headers["webhook-id"] == event["metadata"]["id"] == headers["dovetail-event-id"], headers
    assert refuses(secret, body + b" ", headers), "another body"
    for name, value in (("webhook-id", "1:1"), ("webhook-timestamp", str(int(headers["webhook-timestamp"]) - 1))):
        assert refuses(secret, body, headers | {name: value}), f"another {name}"
    rotated = call(OWNER_KEY, f"{hooks}{made['id']}/rotate/", None)["standard_webhooks_secret"]
    call(OWNER_KEY, f"{hooks}{made['id']}/trigger/", None)
    headers, body = receiver.next_request()
    assert Webhook(rotated).verify(body, headers)["data"]["id"] == made["id"], body
    assert refuses(secret, body, headers), "the earlier secret"
    print("standard_webhooks: the library accepts genuine deliveries only")


if __name__ == "__main__":
    main()
