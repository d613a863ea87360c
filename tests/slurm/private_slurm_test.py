#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The private Slurm itself: it passes statuses on, and leaves nothing behind, however it ends.

usage: private_slurm_test.py PROBE
"""

import os
import re
import signal
import subprocess
import sys
import unittest
from pathlib import Path

PROBE = sys.argv[1]
SCRIPT = str(Path(__file__).with_name("private_slurm.py"))
SKIPPED = 77


def command_lines():
    """The command lines of all processes, by id; dead ones that no parent has reaped have their name instead."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                found[int(entry.name)] = line or (entry / "comm").read_text().strip()
            except OSError:
                continue
    return found


def ours():
    daemons = re.compile(r"\bslurm(ctld|d|stepd|scriptd)\b|\bmunged\b|" + re.escape(PROBE))
    return {pid: line for pid, line in command_lines().items() if daemons.search(line) and pid != os.getpid()}


class PrivateSlurm(unittest.TestCase):
    def setUp(self):
        self.processes = ours()
        self.folders = set(Path("/tmp").glob("weft-slurm-*"))

    def tearDown(self):
        # Others may run a Slurm at the same time: what counts is what is new, and stays.
        left = {pid: line for pid, line in ours().items() if pid not in self.processes}
        self.assertEqual(left, {})
        self.assertEqual(set(Path("/tmp").glob("weft-slurm-*")) - self.folders, set())

    def start(self, *arguments):
        return subprocess.Popen([sys.executable, SCRIPT, *arguments], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_a_job_of_four_ranks_on_two_nodes(self):
        job = self.start(PROBE)
        output, errors = job.communicate()
        self.assertEqual(job.returncode, 0, errors)
        expected = [f"rank {rank} of 4 on node {rank // 2}" for rank in range(4)]
        self.assertEqual(sorted(output.splitlines()), expected)

    def test_the_status_of_a_failing_job_is_passed_on(self):
        job = self.start("-N1", "-n2", PROBE, "9")
        _, errors = job.communicate()
        self.assertEqual(job.returncode, 9, errors)

    def test_an_interrupted_job_is_taken_down(self):
        job = self.start(PROBE, "hang")
        job.stdout.readline()  # a rank is there, the job runs
        job.send_signal(signal.SIGTERM)
        _, errors = job.communicate()
        self.assertEqual(job.returncode, 1, errors)
        self.assertIn("ended before the job was: SIGTERM", errors)

    def test_a_job_that_takes_too_long_is_taken_down(self):
        job = self.start("--timeout", "3", PROBE, "hang")
        _, errors = job.communicate()
        self.assertEqual(job.returncode, 1, errors)
        self.assertIn("its time was up", errors)

    def test_a_missing_program_is_an_error(self):
        job = self.start("/nonexistent/program")
        job.communicate()
        self.assertNotIn(job.returncode, (0, SKIPPED))


def skip_if_it_is_skipped():
    trial = subprocess.run([sys.executable, SCRIPT, "-N1", "-n1", "true"], text=True, stdout=subprocess.PIPE)
    if trial.returncode == SKIPPED:
        print(trial.stdout, end="")
        sys.exit(SKIPPED)


if __name__ == "__main__":
    skip_if_it_is_skipped()
    unittest.main(argv=sys.argv[:1])
