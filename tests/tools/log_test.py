# SPDX-License-Identifier: BSD-3-Clause
"""What WEFT_LOG says: log_test.py WEFT PROGRAM (a program that prints nothing of its own to stderr)."""

import os
import re
import subprocess
import sys
import unittest

WEFT, PROGRAM = sys.argv[1:3]


class Log(unittest.TestCase):
    def log(self, level):
        result = subprocess.run([WEFT, "run", "-n", "4", "--nodes", "2", PROGRAM], stdin=subprocess.DEVNULL,
                                capture_output=True, text=True, timeout=60, check=True,
                                env=dict(os.environ, WEFT_LOG=level, WEFT_PROGRESS="helping", WEFT_LANE="direct"))
        return result.stderr

    def test_info_says_how_threads_are_reached_who_drives_and_what_the_start_took(self):
        text = self.log("info")
        self.assertIn("thread 0 reaches threads 0-1 by loads and stores, 2-3 through UCX\n", text)
        self.assertRegex(text, r"progress: helping \(as WEFT_PROGRESS asks; [\d.]+ cores for 2 threads on this node\)")
        self.assertRegex(text, r"start: [\d.]+ ms \(launcher [\d.]+, transport [\d.]+, exchange [\d.]+, "
                         r"other hosts [\d.]+, engine")
        self.assertNotIn("plan:", text)

    def test_debug_names_the_algorithm_of_each_new_plan_once(self):
        plans = re.findall(r"plan: (.*)", self.log("debug"))
        self.assertTrue(any(p.startswith("barrier on team 0 of 4 threads") for p in plans), plans)
        self.assertEqual(len(plans), len(set(plans)))

    def test_nothing_is_said_otherwise(self):
        self.assertEqual(self.log("warn"), "")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
