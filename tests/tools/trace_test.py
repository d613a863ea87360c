# SPDX-License-Identifier: BSD-3-Clause
"""Tests of WEFT_TRACE and of the sums of WEFT_STATISTICS: trace_test.py WEFT PROGRAM [unittest arguments].

PROGRAM is examples/heat. The file is checked against what Chrome's trace format asks of each phase, and against itself:
operations begin and end, slices of a rank nest, and each wait leads by an arrow to a rank that it was for.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

WEFT = PROGRAM = ""
# What each phase must have, beside ph, name and pid.
FIELDS = {"M": {"args"}, "X": {"ts", "dur", "tid"}, "i": {"ts", "s"}, "b": {"ts", "id", "cat"}, "e": {"ts", "id", "cat"},
          "s": {"ts", "id", "cat", "tid"}, "f": {"ts", "id", "cat", "tid", "bp"}}


def run(ranks, hosts, **settings):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("WEFT_")} | settings
    return subprocess.run([WEFT, "run", "-n", str(ranks), "--nodes", str(hosts), PROGRAM, "--rows", "32", "--columns", "64", "--iterations", "60"],
                          capture_output=True, text=True, timeout=100, env=environment, check=False)


class Trace(unittest.TestCase):
    def traced(self, ranks, hosts, **settings):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "job.json")
            done = run(ranks, hosts, WEFT_TRACE=path, **settings)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(path, encoding="utf-8") as file:
                return json.load(file)["traceEvents"]

    def test_it_is_a_trace_of_all_ranks(self):
        for ranks, hosts, settings in ((2, 1, {}), (4, 2, {"WEFT_PROGRESS": "dedicated"})):
            events = self.traced(ranks, hosts, **settings)
            for event in events:
                self.assertIn(event["ph"], FIELDS)
                missing = (FIELDS[event["ph"]] | {"name", "pid"}) - set(event)
                self.assertFalse(missing, event)
                self.assertGreaterEqual(event.get("ts", 0), 0)
            self.assertEqual({event["pid"] for event in events}, set(range(ranks)))
            self.lives_are_whole(events)
            self.slices_nest(events)
            self.waits_lead_to_entries(events)

    def lives_are_whole(self, events):
        begun = {event["id"]: event for event in events if event["ph"] == "b"}
        ended = {event["id"]: event for event in events if event["ph"] == "e"}
        self.assertGreater(len(begun), 100)
        self.assertEqual(set(begun), set(ended))
        for name, event in begun.items():
            self.assertLessEqual(event["ts"], ended[name]["ts"])
            self.assertEqual(event["name"], ended[name]["name"])

    def slices_nest(self, events):
        waits = [e for e in events if e["ph"] == "X" and e["name"] == "wait"]
        self.assertTrue(waits)
        for rank in {event["pid"] for event in waits}:
            last = 0
            for wait in (w for w in waits if w["pid"] == rank):
                self.assertGreaterEqual(wait["ts"], last)
                last = wait["ts"] + wait["dur"]

    def waits_lead_to_entries(self, events):
        entries = {(e["id"], e["pid"]): e["ts"] for e in events if e["ph"] == "s"}
        arrows = [e for e in events if e["ph"] == "f"]
        self.assertTrue(arrows)
        for arrow in arrows:
            came_from = int(arrow["id"].split(".")[0])
            self.assertNotEqual(came_from, arrow["pid"])
            self.assertLessEqual(entries[arrow["id"], came_from], arrow["ts"])

    def test_the_longest_waits_are_printed_with_their_calls(self):
        said = run(3, 1, WEFT_STATISTICS="1").stderr
        rows = re.findall(r"(?m)^weft: (upc_\w+|weft\S+) +(\d+) +(\d+) +([\d.]+) +([\d.]+)  (\d+)$", said)
        self.assertTrue(rows, said)
        waited = [float(row[3]) for row in rows]
        self.assertEqual(waited, sorted(waited, reverse=True))
        calls = {row[0]: int(row[1]) for row in rows}
        self.assertEqual(calls["weft_init"] % 3, 0)
        self.assertGreater(calls["upc_barrier"], 10)
        for _, _, _, all_of_it, longest, rank in rows:
            self.assertLessEqual(float(longest), float(all_of_it))
            self.assertIn(int(rank), range(3))

    def test_a_file_that_cannot_be_written_is_refused_before_the_job_begins(self):
        done = run(2, 1, WEFT_TRACE="/nowhere/job.json")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("WEFT_TRACE=/nowhere/job.json: cannot be written: No such file or directory; name a file", done.stderr)
        self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    WEFT, PROGRAM = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
