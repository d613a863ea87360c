#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What plans do, compared: with the committed digests, or between two builds.

  plan_digest.py check TOOL [KEY]       the lines that differ from plans.digest
  plan_digest.py write TOOL [KEY]       writes plans.digest anew, or its lines that begin with KEY; takes minutes
  plan_digest.py compare OLD NEW [KEY]  of each line that differs, the first case that does, action by action

TOOL, OLD and NEW are programs: tests/graph/plan_digest of a build. To see what a change does to plans, build the
target plan_digest before it, too, in another folder. KEY is the beginning of a line, as in "exchange paired IN_ALL".
--sampled leaves out what only the long tests look at. --details: of so many lines the cases are shown.
"""

import argparse
import difflib
import itertools
import pathlib
import re
import signal
import subprocess
import sys

FILE = pathlib.Path(__file__).resolve().with_name("plans.digest")
HEADER = """\
# What plans do, see plan_digest.hpp. By operation, algorithm and mode, the digests of the cases that the standard
# suite looks at, by how members are spread over hosts, and of all others.
# operation algorithm modes: one alone halves dealt uneven pairs rest
"""


def ask(tool, *words):
    return subprocess.run([str(pathlib.Path(tool).resolve()), *words], check=True, capture_output=True,
                          text=True).stdout


def parse(text):
    """Keys and what stands behind them."""
    lines = (line.partition(": ") for line in text.splitlines() if not line.startswith("#"))
    return {key: digests for key, _, digests in lines}


def lines_of(tool, chosen):
    return parse(ask(tool, *(["--sampled"] if chosen.sampled else []), chosen.key))


def committed(chosen):
    """Those lines of the file, cut off where the tool's are."""
    lines = parse(FILE.read_text()) if FILE.exists() else {}
    found = {key: digests for key, digests in lines.items() if key.startswith(chosen.key)}
    if chosen.sampled:
        found = {key: digests.rpartition(" ")[0] + " " for key, digests in found.items()}
    return found


def differing(old, new):
    return sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))


def show_lines(keys, old, new):
    for key in keys:
        print(f"{key}\n  - {old.get(key, 'no such line')}\n  + {new.get(key, 'no such line')}")


def write(chosen):
    lines = {key: digests for key, digests in parse(FILE.read_text() if FILE.exists() else "").items()
             if not key.startswith(chosen.key)}
    lines.update(lines_of(chosen.tool, chosen))
    FILE.write_text(HEADER + "".join(f"{key}: {lines[key]}\n" for key in sorted(lines)))
    print(f"{FILE}: {len(lines)} lines")


def check(chosen):
    old, new = committed(chosen), lines_of(chosen.tool, chosen)
    keys = differing(old, new)
    show_lines(keys, old, new)
    print(f"{len(keys)} lines of {len(old.keys() | new.keys())} differ")
    return 1 if keys else 0


ACTION = re.compile(r"  (?P<number>\d*)(?P<how>\*?( \[\d+\])?)(?P<exit>exit)? after(?P<after>[ \d]*)(: (?P<does>.*))?$")


def ranks_of(told):
    """For each rank its lines: as they are, what the action does, and what else is to be the same. Numbers of
    actions say nothing: one more action moves all that follow."""
    found = []
    for line in told.splitlines()[1:]:
        action = ACTION.match(line)
        if action is None:
            does_of = {"0": "entry"}
            found.append([])
            found[-1].append((line, line, ""))
            continue
        does_of[action["number"]] = action["does"]
        after = sorted(does_of[number] for number in action["after"].split())
        found[-1].append((line, action["does"] or "exit", (action["how"], after)))
    return found


def print_row(mark, left, right, width=78):
    def pieces(line):
        return [line[k:k + width] for k in range(0, len(line), width)]

    for left_part, right_part in itertools.zip_longest(pieces(left), pieces(right), fillvalue=""):
        print(f"{mark} {left_part:{width}} | {right_part}".rstrip())


def side_by_side(old, new):
    """Ranks that differ, old on the left and new on the right. '*': another action, '~': it waits for others."""
    nothing = ("", "", "")
    for left, right in itertools.zip_longest(ranks_of(old), ranks_of(new), fillvalue=[]):
        rows = []
        match = difflib.SequenceMatcher(None, [row[1] for row in left], [row[1] for row in right], autojunk=False)
        for what, a, b, c, d in match.get_opcodes():
            for was, now in itertools.zip_longest(left[a:b], right[c:d], fillvalue=nothing):
                mark = "*" if what != "equal" else "~" if was[2] != now[2] else " "
                rows.append((mark, was[0], now[0]))
        if any(mark != " " for mark, _, _ in rows):
            for row in rows:
                print_row(*row)


def show_case(key, chosen):
    old, new = parse(ask(chosen.old, "--cases", key)), parse(ask(chosen.tool, "--cases", key))
    cases = [case for case in old.keys() | new.keys() if old.get(case) != new.get(case)]
    order = {case: k for k, case in enumerate([*old, *new])}
    print(f"{key}: {len(cases)} of {len(order)} cases differ")
    if not cases:
        return
    first = min(cases, key=order.get)
    print(f" first: {first}")
    sides = [ask(tool, "--told", first) if first in cases_of else ""
             for tool, cases_of in ((chosen.old, old), (chosen.tool, new))]
    side_by_side(*sides)


def compare(chosen):
    old, new = lines_of(chosen.old, chosen), lines_of(chosen.tool, chosen)
    keys = differing(old, new)
    for key in keys[:chosen.details]:
        show_case(key, chosen)
    show_lines(keys[chosen.details:], old, new)
    print(f"{len(keys)} lines of {len(old.keys() | new.keys())} differ")
    return 1 if keys else 0


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = arguments.add_subparsers(dest="command", required=True)
    for run in (check, write, compare):
        command = commands.add_parser(run.__name__)
        command.set_defaults(run=run, sampled=False)
        if run is compare:
            command.add_argument("old")
            command.add_argument("--details", type=int, default=3)
        command.add_argument("tool")
        command.add_argument("key", nargs="?", default="")
        if run is not write:
            command.add_argument("--sampled", action="store_true")
    chosen = arguments.parse_args()
    return chosen.run(chosen)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as in `| head`
    sys.exit(main())
