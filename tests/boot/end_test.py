# SPDX-License-Identifier: BSD-3-Clause
"""A job ends with its launcher and its terminal: end_test.py WEFT JOB_CLIENT [unittest arguments]."""

import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

WEFT = ""
JOB_CLIENT = ""
PATIENCE = 60
MPIRUN = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
needs_mpirun = unittest.skipUnless(shutil.which(MPIRUN[0]), "Open MPI is not installed")


def wait_until(holds, what):
    end = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"in vain: waited for {what}")
        time.sleep(0.01)


def is_gone(pid):
    """Ended, whether or not a parent has reaped it."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def sleeps_for_a_while(pid):
    """A thread of it does, which is none of the library's own, and did before: those rest for less."""
    def sleepers():
        found = set()
        for thread in os.listdir(f"/proc/{pid}/task"):
            try:
                with open(f"/proc/{pid}/task/{thread}/comm", encoding="utf-8") as file:
                    if file.read().startswith("weft-"):
                        continue
                with open(f"/proc/{pid}/task/{thread}/wchan", encoding="ascii") as file:
                    if "nanosleep" in file.read():
                        found.add(thread)
            except (FileNotFoundError, ProcessLookupError):
                pass
        return found
    try:
        before = sleepers()
        time.sleep(0.05)
        return bool(before & sleepers())
    except (FileNotFoundError, ProcessLookupError):
        return False


def kill_quietly(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class EndTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.scratch = holder.name
        self.said = os.path.join(self.scratch, "said")
        self.expect_new_ranks()

    def expect_new_ranks(self):
        self.pids = pids = []
        self.addCleanup(lambda: [kill_quietly(pid) for pid in pids if not is_gone(pid)])

    def start(self, *command, ranks=2, **options):
        """Until all ranks are ready. A launcher that is killed leaves its files where they go with the test."""
        options.setdefault("env", dict(os.environ, TMPDIR=self.scratch))
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, **options)
        self.addCleanup(self.end, process)
        while len(self.pids) < ranks:
            line = process.stdout.readline()
            self.assertNotEqual(line, "", "the job ended before it was ready")
            if line.startswith("ready"):
                self.pids.append(int(line.split()[2]))
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def assert_ranks_end(self):
        for pid in self.pids:
            wait_until(lambda pid=pid: is_gone(pid), f"the end of rank process {pid}")

    def what_ranks_said(self, lines):
        # Who still lives may also say that another has died.
        def text():
            with open(self.said, encoding="utf-8") as file:
                return [line for line in file.read().splitlines() if "has died" not in line]
        wait_until(lambda: len(text()) >= lines, f"{lines} lines of the ranks")
        return sorted(text())


class Alone(EndTest):
    def test_a_program_of_one_thread(self):
        result = subprocess.run([JOB_CLIENT, "ends"], capture_output=True, text=True, timeout=PATIENCE, check=False,
                                env={k: v for k, v in os.environ.items() if not k.startswith("PMIX_")})
        self.assertEqual((result.returncode, result.stderr), (0, ""))


class Uncaught(EndTest):
    """Errors that a C++ program does not catch."""

    def run_client(self, *command, **variables):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PMIX_")}
        return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False,
                              env=dict(environment, **variables))

    def test_the_error_is_the_last_line_and_the_status_is_1(self):
        result = self.run_client(JOB_CLIENT, "forgets")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"^weft: upc_barrier: weft_init must be called first \(\w+\.c(pp)?:\d+\)\n$")
        result = self.run_client(JOB_CLIENT, "ends", WEFT_HEAP_SIZE="banana")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stderr, r"^weft: weft_init: WEFT_HEAP_SIZE=banana: must be [^\n]*\n$")

    def test_ranks_have_names(self):
        result = self.run_client(WEFT, "run", "-n", "2", JOB_CLIENT, "ends", WEFT_HEAP_SIZE="banana")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stderr, r"^weft: rank [01]: weft_init: WEFT_HEAP_SIZE=banana: ")
        self.assertNotIn("terminate", result.stderr)

    def test_settings_that_must_be_alike_are_compared(self):
        for other in range(4):
            script = f'[ "$PMIX_RANK" = {other} ] && export WEFT_HEAP_SIZE=4M; exec {JOB_CLIENT} ends'
            result = self.run_client(WEFT, "run", "-n", "4", "--nodes", "2", "sh", "-c", script, WEFT_HEAP_SIZE="2M")
            self.assertEqual(result.returncode, 1, result.stderr)
            here, value, first = (other, "4M", "2M") if other else (1, "2M", "4M")
            self.assertRegex(result.stderr, f"^weft: rank [0-3]: weft_init: WEFT_HEAP_SIZE is {value} on rank [{here}2] and "
                                            f"{first} on rank 0; give all ranks the same[^\n]*\n")
            self.assertNotIn("terminate", result.stderr)

    def test_all_ranks_have_the_same_version(self):
        library = re.search(r"(/\S*libweft\.so\S*)", subprocess.run(["ldd", JOB_CLIENT], capture_output=True, text=True, check=True).stdout)[1]
        own = pathlib.Path(library).read_bytes()
        self.assertEqual(len(re.findall(rb"libweft (\d+\.\d+\.\d+) ", own)), 1)
        other = os.path.join(self.scratch, "libweft.so")
        pathlib.Path(other).write_bytes(re.sub(rb"(libweft )\d+(\.\d+\.\d+ )", rb"\g<1>9\2", own))
        script = f'[ "$PMIX_RANK" = 1 ] && export LD_PRELOAD={other}; exec {JOB_CLIENT} ends'
        result = self.run_client(WEFT, "run", "-n", "2", "sh", "-c", script)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stderr, r"^weft: rank [01]: weft_init: libweft is 9\.\S+ on rank 1 and \d\S+ on rank 0; give all ranks the same"
                                        r"[^\n]*\n")

    def test_what_the_program_throws_itself_ends_it_as_ever(self):
        result = self.run_client(JOB_CLIENT, "other")
        self.assertEqual(result.returncode, -signal.SIGABRT)
        self.assertIn("the program's own", result.stderr)


class Launchers(EndTest):
    def lines_after_death_of(self, launcher, script):
        process = self.start(*launcher, "-n", "2", "sh", "-c", script)
        process.kill()
        self.assert_ranks_end()

    @needs_mpirun
    def test_mpirun_is_killed(self):
        for what in "computes", "waits", "works":
            with self.subTest(what):
                self.said = os.path.join(self.scratch, what)
                self.expect_new_ranks()
                self.lines_after_death_of(MPIRUN, f"{JOB_CLIENT} {what} 2>>{self.said}; echo status $? >>{self.said}")
                line = "weft: rank {}: the launcher of the job is gone; this rank ends"
                self.assertEqual(self.what_ranks_said(4), ["status 1"] * 2 + [line.format(r) for r in range(2)])

    @needs_mpirun
    def test_a_rank_that_sees_another_one_end_first_gives_the_same_reason(self):
        process = self.start(*MPIRUN, "-n", "2", "sh", "-c",
                             f"{JOB_CLIENT} works 2>>{self.said}; echo status $? >>{self.said}")
        process.kill()
        late, other = self.pids
        wait_until(lambda: sleeps_for_a_while(late) or is_gone(late), "the rank to hear of its launcher's end")
        if is_gone(late):
            self.skipTest("the machine is too slow to stop a rank within a second")
        os.kill(late, signal.SIGSTOP)
        wait_until(lambda: is_gone(other), "the end of the other rank")
        time.sleep(0.2)
        os.kill(late, signal.SIGCONT)
        self.assert_ranks_end()
        self.what_ranks_said(4)
        with open(self.said, encoding="utf-8") as file:
            self.assertNotIn("has died", file.read())  # said of the other by a rank that knows the reason

    def test_weft_run_is_killed_and_ranks_are_in_sessions_of_their_own(self):
        self.lines_after_death_of([WEFT, "run"], f"setsid {JOB_CLIENT} computes 2>>{self.said}; true")
        self.assertEqual(len(self.what_ranks_said(2)), 2)


class Terminals(EndTest):
    def open_job(self, *command):
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(command[0], command)
        self.pids.append(pid)
        text = b""
        while text.count(b"ready") < 2 or not text.endswith(b"\n"):
            text += os.read(terminal, 4096)
        self.pids += [int(line.split()[2]) for line in text.decode().splitlines() if line.startswith("ready")]
        return pid, terminal

    def test_a_terminal_is_closed(self):
        for what in "computes", "waits", "works":
            with self.subTest(what):
                self.expect_new_ranks()
                pid, terminal = self.open_job(WEFT, "run", "-n", "2", JOB_CLIENT, what)
                os.close(terminal)
                self.assert_ranks_end()
                _, status = os.waitpid(pid, 0)
                self.assertEqual(os.waitstatus_to_exitcode(status), 128 + signal.SIGHUP)

    def test_ranks_that_do_not_heed_it_are_killed(self):
        script = "trap '' HUP; echo ready $PMIX_RANK $$; while :; do sleep 0.1; done"
        pid, terminal = self.open_job(WEFT, "run", "-n", "2", "/bin/sh", "-c", script)
        os.close(terminal)
        self.assert_ranks_end()
        _, status = os.waitpid(pid, 0)
        self.assertEqual(os.waitstatus_to_exitcode(status), 128 + signal.SIGKILL)

    def test_a_terminal_for_output_alone_is_closed(self):
        """It sends no signal: the ranks find that there is no reader, as behind a pipe."""
        terminal, output = pty.openpty()
        lines = ["sh", "-c", "while echo line; do sleep 0.02; done"]
        with subprocess.Popen([WEFT, "run", "-n", "2", *lines], stdin=subprocess.DEVNULL, stdout=output,
                              stderr=subprocess.PIPE, start_new_session=True, text=True) as process:
            os.close(output)
            os.read(terminal, 4)
            os.close(terminal)
            _, error = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 128 + signal.SIGPIPE, error)
        self.assertNotIn("cannot write", error)

    def test_nohup(self):
        """What was ignored when the launcher began is ignored by it and by the ranks."""
        process = self.start(WEFT, "run", "-n", "2", JOB_CLIENT, "computes",
                             preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
            (blocked,) = [int(line.split()[1], 16) for line in file if line.startswith("SigBlk")]
        self.assertFalse(blocked & 1 << (signal.SIGHUP - 1), "the launcher waits for a signal that it was to ignore")
        for pid in process.pid, *self.pids:
            os.kill(pid, signal.SIGHUP)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(PATIENCE), 128 + signal.SIGTERM)
        self.assert_ranks_end()


class Signals(EndTest):
    def test_a_signal_ends_a_rank_as_it_ends_any_program(self):
        for number in signal.SIGHUP, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL:
            with self.subTest(number):
                self.expect_new_ranks()
                process = self.start(WEFT, "run", "-n", "1", JOB_CLIENT, "computes", ranks=1)
                os.kill(self.pids[0], number)
                _, error = process.communicate(timeout=PATIENCE)
                self.assertEqual(process.returncode, 128 + number)
                self.assertEqual(len(error.splitlines()), 1, error)

    def test_handlers_of_the_program_stay(self):
        process = self.start(WEFT, "run", "-n", "2", JOB_CLIENT, "handles")
        process.send_signal(signal.SIGHUP)
        self.assertEqual(process.wait(PATIENCE), 0)

    def test_what_the_user_asks_of_ucx_stays(self):
        process = self.start(WEFT, "run", "-n", "1", JOB_CLIENT, "computes", ranks=1,
                             env=dict(os.environ, UCX_HANDLE_ERRORS="bt"))
        os.kill(self.pids[0], signal.SIGSEGV)
        _, error = process.communicate(timeout=PATIENCE)
        self.assertIn("Caught signal 11", error)


if __name__ == "__main__":
    WEFT, JOB_CLIENT = (os.path.abspath(path) for path in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
