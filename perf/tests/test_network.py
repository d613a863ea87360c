# SPDX-License-Identifier: BSD-3-Clause
"""Measuring between simulated hosts: what the runner computes, and that nothing of the hosts is left behind.

usage: test_network.py BUILD"""
import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))

from runner import launch, launch_between, limit, network, options, report, results, sandbox  # noqa: E402
from runner.hosts import Hosts  # noqa: E402
from runner.shapes import Shape  # noqa: E402

BUILD = sys.argv.pop(1)
RUN_PERF = os.path.join(HERE, "..", "run_perf")
OBSTACLE = network.obstacle()
PAIR = Shape(2, 1)


def parse(*arguments):
    return options.parse(["--network", *arguments])


def record(library, us, **figures):
    return dict(dict(bench="blocking", op="exchange", np=2, bytes=8, mode="MY/MY", network="open", hosts=2),
                library=library, us=us, **figures)


class Options(unittest.TestCase):
    def test_without_more_all_shapes_networks_and_libraries_are_measured(self):
        chosen = parse()
        self.assertEqual(chosen.shapes, [Shape(2, 1), Shape(2, 2), Shape(3, 1)])
        self.assertEqual(chosen.networks, ["open", "200mbit"])
        self.assertIn("openmpi-ucx", chosen.libraries)
        self.assertNotIn("idle", chosen.benches)

    def test_the_hosts_and_the_ranks_on_each_are_combined(self):
        self.assertEqual(parse("--hosts", "2,3", "--per-host", "2").shapes, [Shape(2, 2), Shape(3, 2)])
        self.assertEqual(parse("--per-host", "4").shapes, [Shape(2, 4)])
        self.assertEqual(parse("--quick").shapes, [PAIR])

    def test_what_does_not_fit_together_is_refused(self):
        for bad in (["--network", "--np", "2"], ["--network", "--benches", "idle"], ["--network", "--hosts", "1"],
                    ["--network", "--networks", "fast"], ["--hosts", "2"], ["--libraries", "openmpi-ucx"]):
            with self.subTest(bad), self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
                options.parse(bad)

    def test_overlap_is_left_out_where_ranks_share_cores_unless_asked_for(self):
        self.assertIn("overlap", network.benches_of(parse(), 2, cores=2))
        self.assertNotIn("overlap", network.benches_of(parse(), 3, cores=2))
        self.assertEqual(network.benches_of(parse("--benches", "overlap"), 3, cores=2), ["overlap"])


class Limits(unittest.TestCase):
    def test_what_the_busiest_cable_must_carry(self):
        for op, shape, expected in (("broadcast", Shape(3, 1), (800, False)), ("scatter", Shape(3, 2), (3200, False)),
                                    ("gather_all", Shape(3, 1), (1600, True)), ("exchange", Shape(2, 2), (3200, True)),
                                    ("permute", Shape(2, 2), (800, True)), ("barrier", PAIR, (8, True)),
                                    ("team_allreduce", PAIR, (800, True)), ("prefix_reduce", PAIR, (8, False)),
                                    ("team_allreduce", Shape(3, 1), (1072, True))):
            with self.subTest(op=op, shape=shape):
                self.assertEqual(limit.message(op, shape, 800), expected)

    def test_every_message_of_an_operation_is_measured(self):
        chosen = parse("--sizes", "8,1K", "--ops", "exchange,broadcast")
        self.assertEqual(limit.messages(chosen, Shape(2, 2)), [8, 32, 1024, 4096])

    def test_each_row_gets_the_figure_of_its_bench_and_a_post_none(self):
        found = [dict(bytes=8, both_ways=True, us=5, back_to_back_us=3)]
        rows = [record("openmpi", 7)]
        rows += [{**record("weft", 9), "bench": bench} for bench in ("blocking", "loop", "post")]
        times = {one["bench"]: (one["library"], one["us"]) for one in limit.records(found, rows, PAIR)}
        self.assertEqual(times, {"blocking": ("limit", 5), "loop": ("limit", 3)})


class Tables(unittest.TestCase):
    def test_the_limit_is_no_library_to_be_faster_than(self):
        measurements = results.combine([record("weft", 4), record("openmpi", 8), record("openmpi-ucx", 6),
                                        record("limit", 2)])
        text = report.tables(measurements, ["weft", "openmpi", "openmpi-ucx", "mpich", "limit"], False, "2 hosts, open")
        row = next(line for line in text.splitlines() if line.startswith("exchange"))
        self.assertEqual(row.split(), ["exchange", "8", "4.00", "8.00", "6.00", "2.00", "1.50x"])
        self.assertIn("np=2 (2 hosts, open)", text)

    def test_figures_that_a_library_does_not_have_take_no_column(self):
        measurements = results.combine([record("weft", 4, cpu_us=7), record("limit", 2)])
        text = report.tables(measurements, ["weft", "limit"], False)
        self.assertIn("weft cpu", text)
        self.assertNotIn("limit cpu", text)

    def test_networks_and_numbers_of_hosts_stay_apart(self):
        records = [record("weft", 1), {**record("weft", 1), "network": "200mbit"}, {**record("weft", 1), "hosts": 3}]
        measurements = results.combine(records)
        self.assertEqual([(one["network"], one["hosts"]) for one in measurements],
                         [("open", 2), ("200mbit", 2), ("open", 3)])


class Skipped(unittest.TestCase):
    def check(self, expected, user, which):
        told = io.StringIO()
        with mock.patch("os.geteuid", lambda: user), mock.patch("shutil.which", which), \
             contextlib.redirect_stderr(told):
            self.assertEqual(network.main(parse()), 0)
        self.assertEqual(len(told.getvalue().splitlines()), 1)
        self.assertRegex(told.getvalue(), expected)

    def test_without_root_it_says_so_and_is_no_failure(self):
        self.check("run it as root", 1000, lambda tool: tool)

    def test_without_the_tools_it_names_what_to_install(self):
        self.check("tc.*install iproute2", 0, lambda tool: None)


def in_sandbox(body):
    """The status of body(folder) there. A process may make a sandbox once."""
    child = os.fork()
    if child == 0:
        os._exit(sandbox.run_inside(body))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def running(word):
    """Whether a process of the machine has this word on its command line."""
    for entry in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                if word.encode() in file.read().split(b"\0"):
                    return True
    return False


def surroundings():
    """What a simulation could leave behind: links, mounts, shared memory, temporary files."""
    links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout.count("\n")
    with open("/proc/self/mounts", encoding="utf-8") as file:
        mounts = file.read()
    with open("/etc/hosts", encoding="utf-8") as file:
        names = file.read()
    return links, mounts, names, os.listdir(tempfile.gettempdir())


def eventually(condition):
    deadline = time.monotonic() + 10
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


@unittest.skipIf(OBSTACLE, OBSTACLE)
class Simulated(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # For temporary files a folder of our own: other runs may come and go beside this one.
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.enterClassContext(mock.patch.dict(os.environ, TMPDIR=folder))
        cls.enterClassContext(mock.patch("tempfile.tempdir", folder))

    def setUp(self):
        self.before = surroundings()
        self.word = f"{1000 + os.getpid()}.{id(self) % 1000:03}"  # seconds to sleep: the mark of a process of ours

    def tearDown(self):
        self.assertEqual(surroundings(), self.before)
        self.assertTrue(eventually(lambda: not running(self.word)))

    def test_hosts_have_names_of_their_own_and_the_agent_reaches_them(self):
        def body(folder):
            with Hosts(folder, 3) as hosts:
                said = [subprocess.run([hosts.agent, name, "cat", "/proc/sys/kernel/hostname"], capture_output=True,
                                       text=True).stdout.strip() for name in hosts.names]
                return said != hosts.names

        self.assertEqual(in_sandbox(body), 0)

    def test_a_cable_is_held_to_its_rate_at_both_ends(self):
        def body(folder):
            with Hosts(folder, 2) as hosts:
                for rate, count in (("200mbit", 2), (None, 0), (None, 0), ("200mbit", 2)):
                    hosts.limit(rate)
                    ends = [["tc", "qdisc", "show", "dev", "port1"], [*hosts.enter(1), "tc", "qdisc", "show"]]
                    shown = "".join(subprocess.run(end, capture_output=True, text=True).stdout for end in ends)
                    if shown.count("tbf") != count:
                        return 1
            return 0

        self.assertEqual(in_sandbox(body), 0)

    def test_what_a_failing_launch_leaves_is_ended_and_the_next_one_works(self):
        def body(folder):
            with Hosts(folder, 2) as hosts:
                job = launch_between.Job("weft", launch.Program("", ""), 2, False, 8, hosts, PAIR)
                stray = f"setsid sleep {self.word} & exit 3"
                with mock.patch.object(job, "command", lambda *_: [hosts.agent, "weft1", stray]):
                    try:
                        job.run([], 20)
                        return 1
                    except launch.Failed:
                        pass
                if running(self.word):
                    return 2
                with mock.patch.object(job, "command", lambda *_: [hosts.agent, "weft1", "echo", "'{}'"]):
                    return job.run([], 20) != [{}]

        self.assertEqual(in_sandbox(body), 0)

    def test_nothing_is_left_of_a_measurement_that_breaks_off(self):
        def body(folder):
            with Hosts(folder, 2) as hosts:
                subprocess.Popen([hosts.agent, "weft0", f"setsid sleep {self.word}"])
                if not eventually(lambda: running(self.word)):
                    return 0
                raise RuntimeError("as it is meant to")

        with contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(in_sandbox(body), 1)

    def test_nothing_is_left_of_one_that_does_not_close_its_hosts(self):
        def body(folder):
            hosts = Hosts(folder, 2)
            hosts.make()
            subprocess.Popen([hosts.agent, "weft0", f"setsid sleep {self.word}"])
            return 0 if eventually(lambda: running(self.word)) else 1

        self.assertEqual(in_sandbox(body), 0)

    def test_nothing_is_left_of_one_that_is_interrupted(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                child = os.fork()
                if child == 0:
                    os._exit(sandbox.run_inside(self.wait_on_a_host))
                self.assertTrue(eventually(lambda: running(self.word)))
                os.kill(child, number)
                self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 130)
                self.assertEqual(surroundings(), self.before)

    def wait_on_a_host(self, folder):
        with Hosts(folder, 2) as hosts:
            return subprocess.run([hosts.agent, "weft1", f"sleep {self.word}"]).returncode

    @unittest.skipUnless(os.path.exists(os.path.join(BUILD, "perf", "weft_bench_link")), "the drivers are not built")
    def test_everything_is_measured(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "results.jsonl")
            done = subprocess.run(
                [sys.executable, RUN_PERF, "--build", BUILD, "--network", "--quick", "--repetitions", "1", "--hosts", "3",
                 "--sizes", "16K", "--ops", "exchange,barrier", "--json", path],
                capture_output=True, text=True, timeout=250)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(path, encoding="utf-8") as file:
                found = [json.loads(line) for line in file]
        measured = {library for library in options.NETWORK_LIBRARIES if f"{library} is left out" not in done.stderr}
        self.assertEqual({one["library"] for one in found}, {*measured, "limit"})
        places = {(one["network"], one["hosts"], one["np"]) for one in found}
        self.assertEqual(places, {("open", 3, 3), ("200mbit", 3, 3)})
        self.assertTrue(all(one["cpu_us"] > 0 for one in found if one["library"] != "limit"))
        self.assertTrue(all("p99_us" in one for one in found if one["bench"] == "post"))


unittest.main()
