# SPDX-License-Identifier: BSD-3-Clause
"""Calls that do not match, without WEFT_CHECK: explained_test.py WEFT PROGRAM [every]

Every kind of mismatch either ends (its data are undefined then), or its report accounts for every rank: by the
call that it waits in, or as one that has not entered what the others wait for; and two calls stand in it at
least, for the waits do not fit together. All kinds with `every`, else each ninth.

Mutations that this catches: a rank that waits is left out of the report; who has not entered is not looked for;
a wait that never goes to sleep, so that no thread looks at the clock.
"""

import concurrent.futures
import os
import re
import subprocess
import sys
import unittest

WEFT, PROGRAM = sys.argv[1:3]
EVERY = sys.argv[3:] == ["every"]
RANKS = 3
AT_ONCE = 4
BOUND = 60  # seconds, generous
LATE = "lasts longer than WEFT_TIMEOUT"
# A rank that the machine has kept from running for long does not count as one that waits: its call stands there.
WAITS = re.compile(r"^weft run:   ranks? ([0-9, -]+) (?:\(for \d+ s\) in|outstanding:) (.*, operation \d+ of team \d+)")
ABSENT = re.compile(r"^weft run:   rank (\d+) has not entered (operation \d+ of team \d+), [\w:]+\(.*?\): (it .+)")


def ranks_of(text):
    """The ranks of a list like "0, 2-4"."""
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        yield from range(int(first), int(last or first) + 1)


def explained(report):
    """What is wrong with a report, or None."""
    ranks, calls = set(), set()
    for line in report:
        if waits := WAITS.match(line):
            ranks.update(ranks_of(waits[1]))
            calls.add(waits[2])
        if absent := ABSENT.match(line):
            ranks.add(int(absent[1]))
            calls.add(absent[3])
    if ranks != set(range(RANKS)):
        return f"only the ranks {sorted(ranks)} are accounted for"
    return None if len(calls) > 1 else f"not two calls: {calls}"


def run(kind):
    """Runs one kind until it ends or its first report is out. What it did, and what is wrong with that."""
    environment = dict(os.environ, WEFT_TIMEOUT="1", WEFT_CHECK="0")
    with subprocess.Popen([WEFT, "run", "-n", str(RANKS), PROGRAM, *kind.split()[:2]], stderr=subprocess.PIPE,
                          stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True, env=environment) as job:
        lines = []
        for line in job.stderr:
            lines.append(line)
            if LATE in line:
                job.terminate()  # behind the report that it has begun
        status = job.wait(BOUND)
    text = "".join(lines)
    if "terminate called" in text:
        return "dies", text
    at = [number for number, line in enumerate(lines) if LATE in line]
    if not at:
        return f"ends with {status}", None
    wrong = explained(lines[at[0]:])
    return "is explained", wrong and wrong + "\n" + text


class Explained(unittest.TestCase):
    def test_every_kind_ends_or_is_explained(self):
        kinds = subprocess.run([PROGRAM, "list"], capture_output=True, text=True, check=True).stdout.splitlines()
        self.assertGreater(len(kinds), 40)
        chosen = kinds if EVERY else kinds[::9]
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            for kind, (what, wrong) in zip(chosen, pool.map(run, chosen)):
                print(f"{kind}: {what}")
                with self.subTest(kind=kind):
                    self.assertIsNone(wrong)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
