"""Plays a session of an assistant with `dovetail mcp`, and compares it with a file.

    assistant.py SYSTEM CLIENT EXPECTED

SYSTEM is the address of the system, CLIENT the program `dovetail`. UPDATE_EXPECT=1 writes EXPECTED again.
"""

import asyncio
import difflib
import json
import os
import re
import sys
import urllib.request
from pathlib import Path

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
SHOP = {"Shop": {"services": {"VM": [{"name": "web1", "cpu": 4}]}}}
INVALID = {"Shop": {"services": {"VM": [{"name": "web1", "cpu": "many"}, {"cpu": 4}]}}}
SMALLER = {"Shop": {"services": {"VM": [{"name": "web1", "cpu": 2}]}}}


class Session:
    """A session of a team. Its calls and results go into the lines."""

    def __init__(self, name, session, system, lines):
        self.name, self.session, self.system, self.lines = name, session, system, lines

    async def start(self):
        result = await self.session.initialize()
        self.lines.append(f"== {self.name}: {result.server_info.name}")
        tools = (await self.session.list_tools()).tools
        self.lines.extend(f"{tool.name}: {tool.description}" for tool in tools)

    async def call(self, tool, **arguments):
        """Calls a tool and returns its data."""
        result = await self.session.call_tool(tool, arguments)
        self.lines.append(f"\n> {self.name}: {tool} {json.dumps(arguments)}")
        if result.is_error:
            self.lines.append(f"error: {result.content[0].text}")
        self.lines.append(json.dumps(result.structured_content, indent=2, sort_keys=True, ensure_ascii=False))
        # Changes of other items follow from the stream.
        with urllib.request.urlopen(f"{self.system}/_local/settled") as settled:
            assert json.load(settled) == {"settled": True}
        return result.structured_content


def server(client, system, key, *allow):
    environment = {**os.environ, "DOVETAIL_URL": system, "DOVETAIL_API_KEY": key}
    environment.pop("DOVETAIL_PROFILE", None)
    return stdio_client(StdioServerParameters(command=client, args=["mcp", *allow], env=environment))


async def play(system, client):
    """Plays the session. Returns its lines."""
    lines = []
    consumer_server = server(client, system, "awesome-key", "--allow", "apply")
    owner_server = server(client, system, "vm-owner-key", "--allow", "decide")
    async with (
        consumer_server as consumer_streams,
        owner_server as owner_streams,
        ClientSession(*consumer_streams) as first,
        ClientSession(*owner_streams) as second,
    ):
        consumer, owner = Session("consumer", first, system, lines), Session("owner", second, system, lines)
        await consumer.start()
        await owner.start()
        await consumer.call("catalogue")
        await consumer.call("definition", service="VM")
        await consumer.call("validate", applications=INVALID)
        plan = await consumer.call("plan", applications=SHOP)
        await consumer.call("apply", applications=SMALLER, plan=plan["plan"])
        applied = await consumer.call("apply", applications=SHOP, plan=plan["plan"])
        await owner.call("queue")
        change = applied["changes"][0]["id"]
        await owner.call("decide", change=change, action="reject", log="at most 2 CPUs")
        await consumer.call("changes", state="REJECTED")
        await consumer.call("explain_change", change=change)
        plan = await consumer.call("plan", applications=SMALLER)
        answer = await consumer.call("apply", applications=SMALLER, plan=plan["plan"])
        await consumer.call("history", limit=2)
        await consumer.call("diff", **{"from": applied["submission"], "to": answer["submission"]})
    return TIME.sub("TIME", "\n".join(lines) + "\n").replace(system, "URL")


def main():
    system, client, path = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    played = asyncio.run(play(system, client))
    if os.environ.get("UPDATE_EXPECT"):
        path.write_text(played, encoding="utf-8")
        return 0
    expected = path.read_text(encoding="utf-8")
    lines = [text.splitlines(keepends=True) for text in (expected, played)]
    sys.stdout.writelines(difflib.unified_diff(*lines, "expected", "played"))
    return int(played != expected)


if __name__ == "__main__":
    sys.exit(main())
