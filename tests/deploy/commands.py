"""Prints the commands of a page, the blocks of `sh` in their order, as a script that tells what it does.

With a second argument only those that begin with it.
"""

import re
import sys

beginning = "".join(sys.argv[2:])
with open(sys.argv[1]) as page:
    blocks = re.findall(r"^```sh\n(.*?)^```$", page.read(), flags=re.MULTILINE | re.DOTALL)
blocks = [block for block in blocks if block.startswith(beginning)]
assert blocks, "there are no commands"
print("set -x")
for block in blocks:
    print(block)
