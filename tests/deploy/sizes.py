"""Compares the packages of the functions with a table of their sizes.

    sizes.py PACKAGES TABLE                     PACKAGES is a directory with a zip per function
    UPDATE_EXPECT=1 sizes.py PACKAGES TABLE     writes the table

Fails if a package is larger than the limit, or more than 1 % larger than in the table; if a function or a line is
missing; and if the toolchain differs from that of the table.
"""

import os
import pathlib
import subprocess
import sys
import zipfile

# The largest package, in bytes. Lambda allows 50 MB, but each cold start loads the package.
LIMIT = 6_000_000
# Packages of equal sources differ slightly: paths of sources have the length of the directory.
TOLERANCE = 0.01
HEADER = """\
# Sizes in bytes of the functions' packages for x86-64, and of their programs. tests/deploy/run fails if a package grows
# by more than 1 % without a change of its line. UPDATE_EXPECT=1 tests/deploy/run writes this file.
"""


def toolchain():
    return subprocess.run(["rustc", "--version"], check=True, capture_output=True, text=True).stdout.strip()


def measured(folder):
    """Returns the size of each package and of its program."""
    sizes = {}
    for path in sorted(pathlib.Path(folder).glob("*.zip")):
        with zipfile.ZipFile(path) as package:
            sizes[path.stem] = path.stat().st_size, package.getinfo("bootstrap").file_size
    return sizes


def write(table, sizes):
    rows = [("function", "package", "program"), *((name, *both) for name, both in sizes.items())]
    text = "".join(f"{name:<14} {package:>9} {program:>9}\n" for name, package, program in rows)
    table.write_text(f"{HEADER}toolchain: {toolchain()}\n{text}")


def read(table):
    """Returns the toolchain of a table, and the size of each package."""
    first, _, *rows = [line for line in table.read_text().splitlines() if not line.startswith("#")]
    return first.removeprefix("toolchain: "), {name: int(package) for name, package, _ in map(str.split, rows)}


def problems(sizes, table):
    """Yields the differences that need a change of the code or of the table."""
    built_with, committed = read(table)
    if built_with != toolchain():
        yield f"the table belongs to {built_with}, the packages to {toolchain()}"
    for name in sorted(committed.keys() ^ sizes.keys()):
        yield f"{name} must be in the table and among the packages"
    for name in committed.keys() & sizes.keys():
        package, before = sizes[name][0], committed[name]
        if package > before * (1 + TOLERANCE):
            yield f"{name} grew by {package / before - 1:.1%}, from {before} to {package} bytes"


def main(folder, table):
    sizes, table = measured(folder), pathlib.Path(table)
    assert sizes, f"{folder} must have packages"
    found = [f"{name} has {size} bytes, more than {LIMIT}" for name, (size, _) in sizes.items() if size > LIMIT]
    if os.environ.get("UPDATE_EXPECT"):
        write(table, sizes)
    else:
        found += problems(sizes, table)
    for problem in found:
        print(problem)
    largest = max(sizes, key=lambda name: sizes[name])
    package, program = (size / 1e6 for size in sizes[largest])
    print(f"{len(sizes)} packages. The largest is {largest}: {package:.2f} MB, its program {program:.2f} MB.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
