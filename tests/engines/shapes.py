"""Chooses the tests of the second engine by the shapes of their requests, and compares shapes.

    shapes.py renew LEFT_OUT RECORDING...      writes chosen.txt and shapes.txt from runs of all tests
    shapes.py compare RECORDING                the chosen tests of a run have the shapes of all its tests
    shapes.py covered RECORDING                a run of the chosen tests has the shapes of the list

A recording is a directory with a file for each test; a line has a number of requests and their shape. LEFT_OUT has the
names of the tests that do not run on the second engine.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
CHOSEN = HERE / "chosen.txt"
LIST = HERE / "shapes.txt"

HEAD_OF_CHOSEN = "# The tests for the second engine, by shapes of requests. Renewed by: tests/engines/run choose\n"
HEAD_OF_LIST = """\
# The shapes of the requests to the engine of the tests: operation, table, flags, expressions and outcome. A line begins
# with the number of chosen tests that have the shape: 2 stands for more, 0 for tests in left_out.txt alone, and ? for a
# shape that depends on the order of concurrent requests. Renewed by: tests/engines/run choose. It keeps each ?, so a
# shape that the second engine shows only sometimes can get one by hand.
"""

# Chosen tests for a shape, where so many tests have it.
WANTED = 2
# The mark of a shape that no test has in every run.
SOMETIMES = "?"


def read_recording(directory):
    """Returns the requests of each test by shape."""
    tests = {}
    for file in sorted(Path(directory).iterdir()):
        counts = tests.setdefault(file.name, {})
        for line in file.read_text().splitlines():
            count, _, shape = line.partition(" ")
            counts[shape] = counts.get(shape, 0) + int(count)
    return tests


def lines(file):
    return [line for line in file.read_text().splitlines() if line and not line.startswith("#")]


def listed():
    """Returns the mark of each shape."""
    marks = (line.partition(" ") for line in lines(LIST))
    return {shape: mark for mark, _, shape in marks}


def request(shape):
    """Returns a shape without its outcome."""
    return shape.partition(" -> ")[0]


def choose(tests, needs, costs):
    """Returns tests that have each shape as often as needed. Prefers many shapes for few requests."""
    missing, chosen = dict(needs), []

    def gain(test):
        return sum(1 for shape in tests[test] if missing.get(shape, 0) > 0)

    while any(missing.values()):
        best = max(sorted(set(tests) - set(chosen)), key=lambda test: gain(test) / costs[test])
        chosen.append(best)
        for shape in tests[best]:
            if missing.get(shape, 0) > 0:
                missing[shape] -= 1
    # A test is unnecessary if later ones have its shapes too.
    for test in sorted(chosen, key=lambda test: -costs[test]):
        rest = [other for other in chosen if other != test]
        if all(sum(1 for other in rest if shape in tests[other]) >= need for shape, need in needs.items()):
            chosen = rest
    return sorted(chosen)


def cover(tests, shapes):
    """Returns how many of the tests have each shape."""
    return {shape: sum(1 for test in tests if shape in tests[test]) for shape in shapes}


def renew(left_out_file, recordings):
    """Writes the lists from recordings of the same tests."""
    runs = [read_recording(directory) for directory in recordings]
    left_out = set(lines(Path(left_out_file)))
    names = {test for run in runs for test in run}
    # A shape of a test counts if the test has it in every run.
    stable = {test: set.intersection(*(set(run.get(test, ())) for run in runs)) for test in sorted(names)}
    costs = {test: max(sum(run.get(test, {}).values()) for run in runs) for test in names}
    usable = {test: shapes for test, shapes in stable.items() if test not in left_out and shapes}
    seen = sorted({shape for run in runs for counts in run.values() for shape in counts})
    have = cover(usable, seen)
    chosen = choose(usable, {shape: min(WANTED, have[shape]) for shape in seen}, costs)
    covered = cover({test: usable[test] for test in chosen}, seen)
    sometimes = {shape for shape in seen if not any(shape in shapes for shapes in stable.values())}
    sometimes |= {shape for shape, mark in listed().items() if mark == SOMETIMES}
    # A rare outcome of a request stays in the list while the request occurs.
    requests = {request(shape) for shape in seen}
    rare = {shape for shape in listed() if shape not in seen and request(shape) in requests}
    CHOSEN.write_text(HEAD_OF_CHOSEN + "".join(f"{test}\n" for test in chosen))
    marks = {shape: SOMETIMES if shape in sometimes else min(WANTED, covered[shape]) for shape in seen}
    marks.update((shape, SOMETIMES) for shape in rare)
    LIST.write_text(HEAD_OF_LIST + "".join(f"{mark} {shape}\n" for shape, mark in sorted(marks.items())))
    share = sum(costs[test] for test in chosen) / sum(costs[test] for test in usable)
    print(f"{len(chosen)} of {len(usable)} tests with requests, which send {share:.0%} of the requests")


def report(title, shapes):
    for shape in sorted(shapes):
        print(f"{title}: {shape}")
    return len(shapes)


def compare_list(occurring):
    """Compares the shapes of a run with the list. Returns the number of differences."""
    marks = listed()
    expected = {shape for shape, mark in marks.items() if mark not in ("0", SOMETIMES)}
    differences = report("not in shapes.txt", occurring - set(marks)) + report("no test has", expected - occurring)
    racing = {shape for shape, mark in marks.items() if mark == SOMETIMES}
    twice = sum(1 for mark in marks.values() if mark == str(WANTED))
    left_out = sum(1 for mark in marks.values() if mark == "0")
    print(f"{len(expected)} shapes of requests, {twice} of them in two tests or more. {left_out} others are of tests "
          f"that are left out. {len(racing)} depend on the order of requests, {len(racing & occurring)} occurred.")
    return differences


def covered(directory):
    """Compares a run of the chosen tests with the list."""
    return compare_list({shape for counts in read_recording(directory).values() for shape in counts})


def compare(directory):
    """Compares the chosen tests of a run with all its tests, and with the list."""
    tests, chosen = read_recording(directory), lines(CHOSEN)
    whole = {shape for counts in tests.values() for shape in counts}
    reduced = {shape for test in chosen for shape in tests[test]}
    sometimes = {shape for shape, mark in listed().items() if mark == SOMETIMES}
    missing = report("the chosen tests lack", whole - reduced - sometimes)
    print(f"{len(chosen)} of {len(tests)} tests have {len(reduced)} of {len(whole)} shapes; "
          f"{len((whole - reduced) & sometimes)} others depend on the order of requests.")
    return missing + compare_list(whole)


def main(command, *arguments):
    if command == "renew":
        renew(*arguments[:1], arguments[1:])
        return 0
    return {"covered": covered, "compare": compare}[command](*arguments) > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
