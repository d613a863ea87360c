# SPDX-License-Identifier: BSD-3-Clause
"""Tests of `weft run` from outside: launcher_test.py WEFT CLIENTS [unittest arguments]."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

WEFT = ""
PATIENCE = 60


def wait_until(holds, what):
    end = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"in vain: waited for {what}")
        time.sleep(0.01)


class LauncherTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.scratch = holder.name
        # The job's own directory is made here, and must be gone afterwards.
        self.tmp = os.path.join(holder.name, "tmp")
        os.mkdir(self.tmp)
        self.environment = dict(os.environ, TMPDIR=self.tmp)

    def run_weft(self, *arguments, **options):
        result = subprocess.run([WEFT, "run", *arguments], capture_output=True, text=True, timeout=PATIENCE,
                                env=self.environment, check=False, **options)
        self.assertEqual(os.listdir(self.tmp), [], "the job's directory is left")
        return result

    def start(self, *arguments):
        process = subprocess.Popen([WEFT, "run", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   stdin=subprocess.DEVNULL, text=True, env=self.environment)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def assert_one_line(self, text, *parts):
        self.assertEqual(len(text.splitlines()), 1, text)
        for part in parts:
            self.assertIn(part, text)


class ExitStatus(LauncherTest):
    def test_zero_when_all_are_zero(self):
        result = self.run_weft("-n", "4", "true")
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_status_of_the_rank_that_failed(self):
        result = self.run_weft("-n", "4", "sh", "-c", "[ $PMIX_RANK = 2 ] && exit 7; sleep 60")
        self.assertEqual(result.returncode, 7)
        self.assert_one_line(result.stderr, "weft run: rank 2 exited with status 7; the job was ended")

    def test_death_by_signal(self):
        result = self.run_weft("-n", "3", "sh", "-c", "[ $PMIX_RANK = 2 ] && kill -SEGV $$; sleep 60")
        self.assertEqual(result.returncode, 128 + signal.SIGSEGV)
        self.assert_one_line(result.stderr,
                             "weft run: rank 2 died by signal 11 (segmentation fault); the job was ended")

    def test_a_rank_that_ignores_the_request_to_end(self):
        deaf = os.path.join(self.scratch, "deaf")
        script = (f"if [ $PMIX_RANK = 0 ]; then while [ ! -e {deaf} ]; do sleep 0.01; done; exit 3; fi; "
                  f"trap '' TERM; : > {deaf}; while :; do sleep 60; done")
        result = self.run_weft("-n", "2", "sh", "-c", script)
        self.assertEqual(result.returncode, 3)

    def test_keep_going(self):
        result = self.run_weft("-n", "3", "-k", "sh", "-c", "[ $PMIX_RANK = 1 ] && exit 7; echo alive")
        self.assertEqual((result.returncode, result.stdout), (7, "alive\nalive\n"))
        self.assert_one_line(result.stderr, "rank 1 exited with status 7")


class BadInput(LauncherTest):
    def test_missing_program(self):
        for program in "no-such-program", "./no/such/program":
            result = self.run_weft("-n", "3", program)
            self.assertEqual(result.returncode, 127)
            self.assert_one_line(result.stderr, program)

    def test_not_a_program(self):
        text = os.path.join(self.scratch, "text")
        with open(text, "w", encoding="ascii") as file:
            file.write("no program\n")
        for mode in 0o600, 0o700:
            os.chmod(text, mode)
            result = self.run_weft("-n", "3", text)
            self.assertEqual(result.returncode, 126)
            self.assert_one_line(result.stderr, text)

    def test_options(self):
        for options in (["-n", "0", "true"], ["-n", "2", "--nodes", "3", "true"], ["-n", "2", "--nodes", "0", "true"],
                        ["-n", "two", "true"], ["-n", "-1", "true"], ["-n", "2"], ["true"],
                        ["-n", "2", "--no-such-option", "true"]):
            result = self.run_weft(*options)
            self.assertEqual(result.returncode, 2, options)
            self.assert_one_line(result.stderr, "weft")

    def test_options_of_the_program_are_its_own(self):
        result = self.run_weft("-n", "1", "echo", "-n", "5", "--tag", "--help", "--", "-k")
        self.assertEqual(result.stdout, "5 --tag --help -- -k")

    def test_words_of_the_program_are_its_own(self):
        self.assertEqual(self.run_weft("-n", "1", "--", "echo", "run", "-n", "5").stdout, "run -n 5\n")


class Output(LauncherTest):
    LINES = 1000
    # Longer than what a pipe takes in one piece.
    WIDTH = 5000

    def check_lines(self, tagged):
        script = (f"import os\nr = int(os.environ['PMIX_RANK'])\nfor i in range({self.LINES}):\n"
                  f"    os.write(1, b'%d %d ' % (r, i))\n"
                  f"    os.write(1, b'abcdefgh'[r:r + 1] * {self.WIDTH} + b'\\n')\n")
        options = ["-n", "8"] + (["--tag"] if tagged else [])
        result = self.run_weft(*options, sys.executable, "-S", "-c", script)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        seen = [0] * 8
        for line in result.stdout.splitlines():
            if tagged:
                tag, line = line.split(" ", 1)
            rank, number, letters = line.split(" ")
            rank = int(rank)
            self.assertEqual(int(number), seen[rank], "a line is missing or out of order")
            self.assertTrue(letters == "abcdefgh"[rank] * self.WIDTH, "a line is not whole")
            if tagged:
                self.assertEqual(tag, f"[{rank}]")
            seen[rank] += 1
        self.assertEqual(seen, [self.LINES] * 8)

    def test_lines_are_whole(self):
        self.check_lines(tagged=False)

    def test_tagged_lines_are_whole(self):
        self.check_lines(tagged=True)

    def test_streams_stay_apart(self):
        result = self.run_weft("-n", "2", "--tag", "sh", "-c", "echo out; echo err >&2")
        self.assertEqual(sorted(result.stdout.splitlines()), ["[0] out", "[1] out"])
        self.assertEqual(sorted(result.stderr.splitlines()), ["[0] err", "[1] err"])

    def test_last_lines_without_newline_stay_apart(self):
        self.assertEqual(self.run_weft("-n", "3", "printf", "end").stdout, "end\n" * 3)

    def test_lines_of_the_launcher_stand_alone(self):
        for order in "printf out; printf err >&2", "printf err >&2; printf out":
            result = subprocess.run([WEFT, "run", "-n", "1", "sh", "-c", f"{order}; exit 3"], timeout=PATIENCE, text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=self.environment, check=False)
            *said, last = result.stdout.splitlines()
            self.assertEqual(last, "weft run: rank 0 exited with status 3; the job was ended")
            self.assertEqual(sorted("".join(said)), sorted("outerr"))

    def test_last_words_come_before_what_is_said_of_the_end(self):
        # More than is read at a time.
        script = "[ $PMIX_RANK = 1 ] || exec sleep 60; head -c 60000 /dev/zero | tr '\\0' x >&2; exit 3"
        result = self.run_weft("-n", "2", "sh", "-c", script)
        self.assertEqual([len(line) for line in result.stderr.splitlines()][:1], [60000])
        self.assertIn("status 3", result.stderr.splitlines()[1])

    def test_ranks_end_their_lines_when_the_job_is_ended(self):
        begun = os.path.join(self.scratch, "begun")
        script = (f"if [ $PMIX_RANK = 0 ]; then while [ ! -e {begun} ]; do sleep 0.01; done; exit 3; fi; "
                  f"printf begun >&2; : > {begun}; sleep 0.1; echo ' and ended' >&2; exec sleep 60")
        result = self.run_weft("-n", "2", "sh", "-c", script)
        self.assertIn("begun and ended\n", result.stderr)

    def test_bytes_of_one_rank_are_not_touched(self):
        self.assertEqual(self.run_weft("-n", "1", "printf", "end").stdout, "end")

    def test_input_goes_to_rank_0(self):
        result = self.run_weft("-n", "3", "--tag", "cat", input="typed\n")
        self.assertEqual((result.returncode, result.stdout), (0, "[0] typed\n"))

    def test_a_reader_that_goes_away(self):
        process = self.start("-n", "2", "yes")
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(PATIENCE), 128 + signal.SIGPIPE)
        process.stdout = None

    def test_a_full_disk(self):
        for ranks in "1", "3":
            with open("/dev/full", "w", encoding="utf-8") as full:
                result = subprocess.run([WEFT, "run", "-n", ranks, "echo", "said"], stdout=full, stderr=subprocess.PIPE,
                                        text=True, timeout=PATIENCE, env=self.environment, check=False)
            self.assertEqual(result.returncode, 1)
            self.assert_one_line(result.stderr, "weft run: cannot write the ranks' output: No space left on device")

    def test_a_reader_that_is_slow(self):
        process = self.start("-n", "2", "sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' x | fold -w 99")
        # The ranks cannot end before a process reads: pipes and the launcher's store are bounded.
        time.sleep(0.3)
        self.assertIsNone(process.poll())
        out, _ = process.communicate(timeout=PATIENCE)
        self.assertEqual(sum(len(line) for line in out.splitlines()), 6000000)


if __name__ == "__main__":
    WEFT = os.path.abspath(sys.argv[1])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
