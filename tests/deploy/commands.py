"""Prints the commands of a page, the blocks of `sh` in their order, as a script that tells what it does."""

import re
import sys

with open(sys.argv[1]) as page:
    blocks = re.findall(r"^```sh\n(.*?)^```$", page.read(), flags=re.MULTILINE | re.DOTALL)
assert blocks, "there are no commands"
print("set -x")
for block in blocks:
    print(block)
