"""Prints the commands of pages, their blocks of `sh` in order, as a script that prints each command.

    commands.py PAGE...
    commands.py --without TEXT PAGE...      without the blocks that begin with this text

The blocks of the section "Remove the stack" come after those of all pages.
"""

import re
import sys

REMOVAL = "\n## Remove the stack\n"


def blocks(text):
    return re.findall(r"^```sh\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


without, pages = None, sys.argv[1:]
if pages[0] == "--without":
    _, without, *pages = pages
first, last = [], []
for page in pages:
    with open(page) as file:
        before, _, after = file.read().partition(REMOVAL)
    first += blocks(before)
    last += blocks(after)
found = [block for block in first + last if without is None or not block.startswith(without)]
assert found and (without is None or len(found) < len(first + last)), "no block begins so, or every block"
print("set -x")
for block in found:
    print(block)
