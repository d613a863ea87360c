# SPDX-License-Identifier: BSD-3-Clause
"""How jobs of `weft run` end, and what is left of them: launcher_ends_test.py WEFT FAULT_CLIENT [unittest arguments]."""

import contextlib
import os
import signal
import subprocess
import sys
import time
import unittest

import launcher_test
from launcher_test import PATIENCE, LauncherTest, wait_until

FAULT_CLIENT = ""


def stat_of(pid):
    """State, parent and so on."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return file.read().rpartition(")")[2].split()


def is_gone(pid):
    """Ended, reaped or not."""
    try:
        return stat_of(pid)[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def state_of(pid):
    return stat_of(pid)[0]


def has_dead_child(parent):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if stat_of(pid)[:2] == ["Z", str(parent)]:
                return True
    return False


class Processes(LauncherTest):
    # Each rank leaves a child of its own too: it prints both numbers, and waits.
    WAIT = "sleep 600 & echo $$ $!; wait"

    def start_waiting(self, ranks, script=WAIT):
        process = self.start("-n", str(ranks), "sh", "-c", script)
        pids = []
        for _ in range(ranks):
            pids += [int(word) for word in process.stdout.readline().split()]
        return process, pids

    def assert_gone(self, pids):
        for pid in pids:
            wait_until(lambda pid=pid: is_gone(pid), f"the end of process {pid}")

    def assert_nothing_left(self, process, pids):
        self.assertEqual(len(pids), 2 * 3)
        process.wait(PATIENCE)
        self.assert_gone(pids)
        wait_until(lambda: os.listdir(self.tmp) == [], "the removal of the job's directory")

    def test_directory_is_private(self):
        process, _ = self.start_waiting(3)
        (directory,) = os.listdir(self.tmp)
        self.assertEqual(os.stat(os.path.join(self.tmp, directory)).st_mode & 0o777, 0o700)
        process.send_signal(signal.SIGTERM)

    def test_interrupt_ends_all(self):
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            process, pids = self.start_waiting(3, "trap - INT; " + self.WAIT)
            process.send_signal(number)
            self.assert_nothing_left(process, pids)
            self.assertEqual(process.returncode, 128 + number)

    def test_second_interrupt_kills(self):
        script = "trap 'echo interrupted' INT; sleep 600 & echo $$ $!; while :; do wait; done"
        process, pids = self.start_waiting(3, script)
        process.send_signal(signal.SIGINT)
        for _ in range(3):
            self.assertEqual(process.stdout.readline(), "interrupted\n")
        time.sleep(0.6)
        process.send_signal(signal.SIGINT)
        self.assert_nothing_left(process, pids)
        self.assertEqual(process.returncode, 128 + signal.SIGKILL)

    def test_one_request_may_come_as_two_signals(self):
        """timeout(1) sends its signal to the launcher and to the launcher's group."""
        script = """trap 'trap "" TERM; echo interrupted; sleep 0.5; exit 3' TERM; echo $$ $$; while :; do sleep 0.05; done"""
        for _ in range(20):
            process, pids = self.start_waiting(3, script)
            first = time.monotonic()
            process.send_signal(signal.SIGTERM)
            lines = [process.stdout.readline()]
            process.send_signal(signal.SIGTERM)
            quick = time.monotonic() - first < 0.4
            lines += [line for line in process.stdout]
            process.wait(PATIENCE)
            self.assert_gone(pids)
            if quick:
                self.assertEqual(lines, ["interrupted\n"] * 3)
                self.assertEqual(process.returncode, 3)
                return
        self.fail("this machine never sent two signals within 0.4 s")

    def test_death_of_the_launcher_ends_all(self):
        process, pids = self.start_waiting(3)
        process.kill()
        self.assert_nothing_left(process, pids)

    def test_death_of_the_launcher_ends_ranks_that_started_it_all_alone(self):
        """Ranks in groups of their own choice are out of the guardian's sight, not of the kernel's."""
        code = "import os; os.setsid() if os.getpid() != os.getpgrp() else os.setpgid(0, os.getpgid(os.getppid())); " \
               "print(os.getpid(), flush=True); import time; time.sleep(600)"
        process = self.start("-n", "2", sys.executable, "-S", "-c", code)
        pids = [int(process.stdout.readline()) for _ in range(2)]
        process.kill()
        process.wait(PATIENCE)
        self.assert_gone(pids)

    @staticmethod
    def guardian_of(process):
        with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
            children = [int(pid) for pid in file.read().split()]
        for pid in children:
            with open(f"/proc/{pid}/comm", encoding="ascii") as file:
                if file.read() == "weft-guardian\n":
                    return pid
        raise AssertionError("there is no guardian")

    def test_a_guardian_that_dies_is_told(self):
        # Fails when the supervisor does not look for it: the ranks wait for ever.
        process, pids = self.start_waiting(3)
        os.kill(self.guardian_of(process), signal.SIGKILL)
        _, error = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, error),
                         (1, "weft run: the process of the job that clears up (weft-guardian) died; the job was ended\n"))
        self.assert_nothing_left(process, pids)

    def test_a_guardian_that_is_stopped_keeps_no_job_from_ending(self):
        process, pids = self.start_waiting(3)
        os.kill(self.guardian_of(process), signal.SIGSTOP)
        process.send_signal(signal.SIGTERM)
        self.assert_nothing_left(process, pids)

    def test_what_a_rank_leaves_ends_with_it(self):
        process, pids = self.start_waiting(3, "sleep 600 & echo $$ $!")
        self.assert_nothing_left(process, pids)
        self.assertEqual(process.returncode, 0)

    def test_user_signals_are_passed_on(self):
        for name in "USR1", "USR2":
            script = f"trap 'echo got {name}; exit 0' {name}; echo ready; while :; do sleep 0.05; done"
            process = self.start("-n", "3", "sh", "-c", script)
            for _ in range(3):
                self.assertEqual(process.stdout.readline(), "ready\n")
            process.send_signal(getattr(signal, "SIG" + name))
            out, _ = process.communicate(timeout=PATIENCE)
            self.assertEqual((process.returncode, out), (0, f"got {name}\n" * 3))

    def test_stop_and_continue(self):
        process, pids = self.start_waiting(3)
        stopped = [process.pid, *pids]
        process.send_signal(signal.SIGTSTP)
        wait_until(lambda: all(state_of(pid) == "T" for pid in stopped), "all to stop")
        process.send_signal(signal.SIGCONT)
        wait_until(lambda: all(state_of(pid) != "T" for pid in stopped), "all to go on")
        process.send_signal(signal.SIGTERM)
        self.assert_nothing_left(process, pids)

    def test_ranks_find_the_users_signal_state(self):
        """What the launcher blocks, ignores or raises for itself does not reach the ranks."""
        # No shell: some set the mask of blocked signals anew.
        look = ["grep", "-hE", "^Sig(Blk|Ign)|Max open", "/proc/self/status", "/proc/self/limits"]
        mine = subprocess.run(look, capture_output=True, text=True, check=True).stdout
        self.assertEqual(self.run_weft("-n", "1", *look).stdout, mine)

    def test_ranks_hold_no_files_of_the_launcher(self):
        script = "import os; print(*[f for f in os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' + f)])"
        result = self.run_weft("-n", "2", sys.executable, "-S", "-c", script)
        self.assertEqual(result.stdout, "0 1 2\n0 1 2\n")


class Faults(LauncherTest):
    def test_survivors_are_told(self):
        for scenario in "death_told", "death_told_late":
            for nodes in 1, 2:
                result = self.run_weft("-n", "4", "--nodes", str(nodes), "-k", FAULT_CLIENT, scenario)
                self.assertEqual(result.returncode, 128 + signal.SIGKILL, result.stderr)
                told = [f"survivor {rank} was told 1 times" for rank in range(3)]
                self.assertEqual(sorted(result.stdout.splitlines()), told)
                self.assert_one_line(result.stderr, "rank 3 died by signal 9 (killed); the others go on")

    def test_a_fence_without_a_dead_rank_comes_back(self):
        result = self.run_weft("-n", "4", "-k", FAULT_CLIENT, "death_in_fence")
        survivors = sorted(result.stdout.splitlines())
        self.assertEqual(len(survivors), 3, result.stderr)
        for rank, line in enumerate(survivors):
            self.assertRegex(line, f"^survivor {rank} is out of the fence: (passed|another rank ended before .*again)$")

    def test_death_ends_the_job(self):
        result = self.run_weft("-n", "4", FAULT_CLIENT, "death_in_fence")
        self.assertEqual(result.returncode, 128 + signal.SIGKILL)
        self.assert_one_line(result.stderr, "rank 3 died by signal 9 (killed); the job was ended")

    def test_abort(self):
        for options in [], ["-k"]:
            result = self.run_weft("-n", "3", *options, FAULT_CLIENT, "aborts")
            self.assertEqual(result.returncode, 7)
            self.assert_one_line(result.stderr,
                                 "weft run: rank 2 aborted the job with status 7: the answer was wrong")

    def test_the_launcher_finds_an_abort_and_the_end_of_its_rank_at_once(self):
        process = self.start("-n", "3", FAULT_CLIENT, "aborts_unseen")
        wait_until(lambda: has_dead_child(process.pid), "the end of the rank that aborts")
        os.kill(process.pid, signal.SIGCONT)
        error = process.communicate(timeout=PATIENCE)[1]
        self.assertEqual(process.returncode, 7, error)
        self.assert_one_line(error, "weft run: rank 2 aborted the job with status 7: the answer was wrong")

    def test_abort_from_the_callback(self):
        result = self.run_weft("-n", "3", "-k", FAULT_CLIENT, "aborts_in_callback")
        self.assertEqual(result.returncode, 128 + signal.SIGKILL)
        self.assertIn("exited with status 9", result.stderr)

    def test_exit_without_leaving(self):
        result = self.run_weft("-n", "3", FAULT_CLIENT, "exits_without_leaving")
        self.assertEqual(result.returncode, 1)
        self.assert_one_line(result.stderr, "rank 2 exited without leaving the job; the job was ended")

    def test_a_rank_that_leaves_and_says_why(self):
        for _ in range(3):
            result = self.run_weft("-n", "3", FAULT_CLIENT, "leaves_and_says_why")
            self.assertEqual((result.returncode, result.stdout), (4, "the memory is too small\n"), result.stderr)

    def test_a_rank_that_never_joins_the_others(self):
        for options in [], ["-k"]:
            result = self.run_weft("-n", "3", *options, FAULT_CLIENT, "never_joins")
            self.assertEqual(result.returncode, 1)
            self.assert_one_line(result.stderr, "rank 1 ended before it joined the others; the job was ended")

    def test_a_second_program_of_a_rank(self):
        one_after_the_other = f"'{FAULT_CLIENT}' joins; '{FAULT_CLIENT}' joins"
        result = self.run_weft("-n", "2", "sh", "-c", one_after_the_other)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout.splitlines()[:2], ["one of 2"] * 2)
        self.assertRegex(result.stderr, "weft run: rank [01] has left the job, and now a second program of it joins.*"
                                        "a launch of its own.*; the job was ended\n")

    def test_a_job_inside_a_rank(self):
        result = self.run_weft("-n", "2", launcher_test.WEFT, "run", "-n", "2", "sh", "-c", "echo $PMIX_RANK; env | grep -c PMIX_RANK=")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(sorted(result.stdout.split()), ["0", "0", "1", "1", "1", "1", "1", "1"])


if __name__ == "__main__":
    launcher_test.WEFT, FAULT_CLIENT = (os.path.abspath(path) for path in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
