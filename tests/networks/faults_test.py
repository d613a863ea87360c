# SPDX-License-Identifier: BSD-3-Clause
"""Networks that do not carry, between simulated hosts: one line says who cannot reach whom, in bounded time.

usage: faults_test.py TALKING

Root only; skipped with a line otherwise. The hosts have a network for the launcher, which always works, and a second
one for the data, which does not.

Mutations that this catches: between_hosts does not knock (UCX's own lines at the start, and no time bound); no look
for silent connections (the blocked jobs go on until their end); no host tells the other members of the team (thread 1
of the parted hosts waits); no thread asks for signs of life over what comes in at a door (thread 2 behind the blocked
network waits); an interface that is down is none that is wrong."""
import contextlib
import os
import re
import shutil
import signal
import sys
import threading
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from two_networks import DATA, Hosts, data_address, hosts, sandbox  # noqa: E402

TALKING = sys.argv.pop(1)
SKIPPED = 77
START, QUIET = 20, 20  # seconds: until a job that cannot start has ended, and one in which nothing comes back
NETWORK = "; mend that network, or name another one in WEFT_NET_DEVICES (or UCX_NET_DEVICES)"
# UCX's own settings, for a shorter test: nothing may come back for 2 + (3 - 1) * 1 s, seen at two looks
IMPATIENT = {"UCX_TCP_KEEPIDLE": "2s", "UCX_TCP_KEEPINTVL": "1s", "UCX_TCP_KEEPCNT": "3"}


def ranks():
    """The processes of the job that are there now, in the order of their hosts."""
    found = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{entry}/comm", encoding="utf-8") as file:
                if file.read() != "talking\n":
                    continue
            with open(f"/proc/{entry}/environ", encoding="utf-8") as file:
                found[int(re.search(r"PMIX_RANK=(\d+)", file.read()).group(1))] = int(entry)
    return [found[rank] for rank in sorted(found)]


class Job:
    """What a job has printed, and how long it took until its last thread failed, or until its end."""

    def __init__(self, simulated, *arguments, talking=lambda: None, limit=60, **settings):
        # Each host believes that it has all cores of this machine: a thread that stays awake would take them from others.
        settings = {"WEFT_NET_DEVICES": DATA, "WEFT_HEAP_SIZE": "16M", "WEFT_PROGRESS": "helping", **settings}
        began = time.monotonic()
        self.seconds = None
        self.lines = []
        settings = {name: value for name, value in settings.items() if value}
        with simulated.launch(TALKING, *arguments, **settings) as process:
            timer = threading.Timer(limit, process.kill)
            timer.start()
            for line in process.stdout:
                if "plm:rsh: Warning: setpgid" in line:  # of Open MPI's launcher: its child was quicker
                    continue
                self.lines.append(line.rstrip("\n"))
                if line == "talking\n":
                    talking()
                    began = time.monotonic()
                elif " failed after " in line:
                    self.seconds = time.monotonic() - began
            self.status = process.wait()
            timer.cancel()
        self.seconds = self.seconds or time.monotonic() - began
        self.text = "\n".join(self.lines)


class Faults(unittest.TestCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)

    def open(self, count):
        """New hosts; those before them are closed."""
        self.stack.close()
        return self.stack.enter_context(Hosts(folder_of_all, count))

    def check(self, job, *expected, seconds):
        self.assertNotEqual(job.status, 0, job.text)
        self.assertLess(job.seconds, seconds, job.text)
        for words in expected:
            self.assertIn(words, job.text)
        for end in range(50):
            if not ranks():
                break
            time.sleep(0.1)
        self.assertEqual(ranks(), [])

    def check_start(self, job, *expected):
        self.check(job, *expected, seconds=START)
        self.assertNotIn("talking", job.lines)

    def check_way(self, job, why, *ways):
        """Whose host finds it out first ends the job, or several do; a way: rank, the other one, its address."""
        self.check_start(job)
        lines = [f"weft_init: rank {rank} on host weft{rank} cannot reach rank {other} on host weft{other} ({address}) "
                 f"over eth1: {why}{NETWORK}" for rank, other, address in ways]
        self.assertTrue(any(line in job.text for line in lines), job.text)

    def test_a_network_that_carries_is_no_fault(self):
        job = Job(self.open(2), "1")
        self.assertEqual((job.status, job.lines), (0, ["talking"]))

    def test_an_interface_that_is_not_there(self):
        for setting in ("WEFT_NET_DEVICES", "UCX_NET_DEVICES"):
            with self.subTest(setting):
                job = Job(self.open(2), "1", **{"WEFT_NET_DEVICES": "", setting: "eth7"})
                self.check_start(job, f"weft_init: {setting}=eth7: host weft", " has no network device 'eth7'; it has "
                                 "eth0, eth1, lo; name one that leads to the other hosts, or leave it out")

    def test_an_interface_that_is_down(self):
        simulated = self.open(2)
        simulated.inside(1, "ip", "link", "set", DATA, "down")
        self.check_start(Job(simulated, "1"), "weft_init: WEFT_NET_DEVICES=eth1: the network device 'eth1' of host "
                         "weft1 is down; it has eth0, eth1, lo; name one that leads to the other hosts")

    def test_no_route(self):
        simulated = self.open(2)
        simulated.inside(1, "ip", "address", "flush", "dev", DATA)
        simulated.inside(1, "ip", "address", "add", "10.79.0.2/24", "dev", DATA)
        job = Job(simulated, "1")
        self.check_way(job, "Network is unreachable", (0, 1, "10.79.0.2"), (1, 0, data_address(0)))
        self.assertNotIn("UCX  ERROR", job.text)

    def test_a_host_that_is_cut_off(self):
        simulated = self.open(3)
        simulated.unplug(2)
        self.check_way(Job(simulated, "1"), "No route to host", (1, 2, data_address(2)), (2, 0, data_address(0)))

    def test_a_host_that_does_not_answer(self):
        simulated = self.open(2)
        simulated.know_each_other()
        simulated.unplug(1)
        job = Job(simulated, "1")
        self.check_way(job, "no answer for 10 s", (0, 1, data_address(1)), (1, 0, data_address(0)))
        self.assertNotIn("UCX  ERROR", job.text)

    def lost(self, thread, host, other):
        """What a thread is told of another one to which its connection has been given up."""
        return (rf"thread {thread} failed after \d+ s: upc_all_exchange: thread {other} of the job cannot be reached "
                rf"any more: the connection from host weft{host} to rank {other} on host weft{other} "
                rf"\({re.escape(data_address(other))}\) over eth1 is lost: nothing has come back for \d+ s, which "
                rf"UCX_TCP_KEEPIDLE, UCX_TCP_KEEPINTVL and UCX_TCP_KEEPCNT limit{re.escape(NETWORK)}; no operation")

    def test_a_network_that_is_blocked_under_way(self):
        for size, progress in ("16384", "helping"), ("1048576", "dedicated"):
            with self.subTest(size):
                simulated = self.open(3)
                job = Job(simulated, "50", size, talking=lambda: simulated.unplug(2), WEFT_PROGRESS=progress, **IMPATIENT)
                self.check(job, "thread 0 went on", "thread 1 went on", seconds=QUIET)
                by_other = r"thread {} failed after \d+ s: .* thread 2 of .* any more by thread {};"
                self.assertRegex(job.text, f"{self.lost(0, 0, 2)}|{by_other.format(0, 1)}")
                self.assertRegex(job.text, f"{self.lost(1, 1, 2)}|{by_other.format(1, 0)}")
                self.assertRegex(job.text, f"{self.lost(0, 0, 2)}|{self.lost(1, 1, 2)}")
                self.assertIn("thread 2 failed after ", job.text)
                # Then they exit with an error: of the first one the others may say so before mpirun ends them.
                self.assertNotIn("has died;", job.text.rpartition("went on")[0])

    def test_without_a_setting_it_takes_less_than_half_a_minute(self):
        simulated = self.open(2)
        job = Job(simulated, "50", talking=lambda: simulated.unplug(1))
        self.check(job, seconds=30)
        self.assertRegex(job.text, f"{self.lost(0, 0, 1)}|{self.lost(1, 1, 0)}")

    def test_who_still_reaches_both_hears_that_two_do_not_reach_each_other(self):
        simulated = self.open(3)

        def part():
            simulated.block(0, 2)
            simulated.block(2, 0)

        job = Job(simulated, "50", talking=part, **IMPATIENT)
        self.check(job, seconds=QUIET)
        self.assertRegex(job.text, r"thread 1 failed after \d+ s: upc_all_exchange: thread (2 of the job cannot be "
                         r"reached any more by thread 0|0 of the job cannot be reached any more by thread 2);")

    def test_a_thread_that_is_stopped_is_not_given_up(self):
        for size in ("16384", "1048576"):
            with self.subTest(size):
                simulated = self.open(2)

                def stop():
                    os.kill(ranks()[1], signal.SIGSTOP)
                    time.sleep(9)
                    os.kill(ranks()[1], signal.SIGCONT)

                job = Job(simulated, "2", size, talking=stop, **IMPATIENT)
                self.assertEqual(job.status, 0, job.text)
                self.assertNotIn("cannot be reached", job.text)

    def test_a_thread_that_dies_has_died(self):
        job = Job(self.open(2), "50", talking=lambda: os.kill(ranks()[1], signal.SIGKILL))
        self.check(job, seconds=QUIET)
        self.assertNotIn("cannot be reached any more:", job.text)


folder_of_all = None


def inside(folder):
    global folder_of_all  # pylint: disable=global-statement
    folder_of_all = folder
    return 0 if unittest.main(exit=False).result.wasSuccessful() else 1


def obstacle():
    """Why no hosts can be simulated here, if so."""
    if os.geteuid() != 0:
        return "only root can make hosts"
    missing = [tool for tool in [*hosts.TOOLS, "mpirun"] if shutil.which(tool) is None]
    if missing:
        return f"{missing[0]} is not installed"
    return None if sandbox.allowed() else "the system refuses namespaces"


if __name__ == "__main__":
    if reason := obstacle():
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    sys.exit(sandbox.run_inside(inside))
