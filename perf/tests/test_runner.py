# SPDX-License-Identifier: BSD-3-Clause
"""The runner: what it launches, how it combines records, and that it leaves no process behind."""
import contextlib
import io
import os
import stat
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from runner import command, launch, perftest, plot, programs, report, results  # noqa: E402


def record(library, us, bench="blocking", op="exchange", np=2, bytes=8, **figures):
    return dict(bench=bench, op=op, np=np, bytes=bytes, mode="MY/MY", library=library, us=us, **figures)


def program(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n" + text)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    return path


def gone(pid):
    """True once the process has ended (or is a zombie that its adopter has not collected yet)."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return True
        except FileNotFoundError:
            return True
        time.sleep(0.01)
    return False


class Help(unittest.TestCase):
    def test_it_needs_no_build_and_nothing_but_python(self):
        run_perf = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run_perf")
        with tempfile.TemporaryDirectory() as folder:
            for arguments in (["--help"], ["--ablate", "--list"]):
                # No variables, no package beside those of Python itself, and nothing that could be built or found.
                done = subprocess.run([sys.executable, "-I", "-S", run_perf, *arguments], cwd=folder, env={},
                                      capture_output=True, text=True, timeout=30, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn("--instructions" if arguments == ["--help"] else "settled_steps", done.stdout)
            self.assertEqual(os.listdir(folder), [])


class Combining(unittest.TestCase):
    def test_median_and_quartiles_of_the_repetitions(self):
        records = [record("weft", us, mean_us=us * 2) for us in (5, 1, 3, 2, 4)]
        (one,) = results.combine(records)
        self.assertEqual((one["q1"], one["us"], one["q3"], one["mean_us"], one["repetitions"]), (2, 3, 4, 6, 5))

    def test_sizes_operations_and_libraries_stay_apart(self):
        records = [record("weft", 1), record("mpich", 1), record("weft", 1, bytes=16), record("weft", 1, np=4)]
        self.assertEqual(len(results.combine(records)), 4)

    def test_the_ratio_is_against_the_faster_mpi(self):
        measurements = results.combine([record("weft", 3), record("openmpi", 4), record("mpich", 6)])
        (row,) = results.rows(measurements, "blocking", 2).values()
        self.assertEqual(results.ratio(row), 0.75)

    def test_no_ratio_without_weft_or_without_an_mpi(self):
        for only in ("weft", "mpich"):
            (row,) = results.rows(results.combine([record(only, 3)]), "blocking", 2).values()
            self.assertIsNone(results.ratio(row))


class Tables(unittest.TestCase):
    def test_a_row_has_every_library_and_the_ratio(self):
        measurements = results.combine([record("weft", 0.5), record("openmpi", 1), record("mpich", 2)])
        text = report.tables(measurements, launch.LIBRARIES, False)
        line = next(line for line in text.splitlines() if line.startswith("exchange"))
        self.assertEqual(line.split()[:6], ["exchange", "8", "0.500", "1.00", "2.00", "2.00x"])

    def test_a_ratio_says_something_at_every_size(self):
        shown = [report.times(value) for value in (640.2, 10.4, 1.923, 0.85, 0.0016)]
        self.assertEqual(shown, ["640x", "10x", "1.92x", "0.85x", "1/625x"])

    def test_all_that_there_is_to_say_fits_the_page(self):
        figures = {field: 123456.7 for details in report.DETAILS.values() for _, field, _ in details}
        for bench in report.DETAILS:
            measurements = results.combine([record(library, us, bench=bench, bytes=4194304, **figures)
                                            for library in launch.LIBRARIES for us in (123456, 234567)])
            text = report.tables(measurements, launch.LIBRARIES, False)
            self.assertLessEqual(max(map(len, text.splitlines())), report.PAGE, text)
            for title, _, _ in report.DETAILS[bench]:
                self.assertIn(f"mpich {title}", text)

    def test_what_was_found_stands_first(self):
        records = [record(library, us, bench=bench) for bench in ("blocking", "independence")
                   for library, us in (("weft", 5), ("openmpi", 3200), ("mpich", 5000))]
        lines = report.tables(results.combine(records), launch.LIBRARIES, False).splitlines()
        self.assertIn("Weft 5.00, Open MPI 3200, MPICH 5000 (640x)", lines[0])
        self.assertIn("faster than those of the faster MPI in 1 of 1 rows, 640x in the mean", lines[1])
        self.assertTrue(lines[3].startswith("independence"), lines[3])

    def test_a_table_says_what_an_mpi_does_instead_of_a_permutation(self):
        for op, told in (("permute", True), ("exchange", False)):
            measurements = results.combine([record("weft", 1, op=op), record("openmpi", 1, op=op)])
            self.assertEqual("MPI_Sendrecv" in report.tables(measurements, launch.LIBRARIES, False), told)

    def test_colour_only_on_request(self):
        measurements = results.combine([record("weft", 2), record("openmpi", 1)])
        self.assertNotIn("\033", report.tables(measurements, launch.LIBRARIES, False))
        self.assertIn(report.RED, report.tables(measurements, launch.LIBRARIES, True))

    def test_a_library_that_failed_leaves_a_gap(self):
        measurements = results.combine([record("openmpi", 1, bytes=8), record("weft", 1, bytes=16)])
        text = report.tables(measurements, launch.LIBRARIES, False)
        self.assertRegex(text, "(?m)^exchange +8 +- +1.00 +- ")


class Apart(unittest.TestCase):
    """Programs of Weft alone, and what stands beside them."""

    CSV = ("x.tests,iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr\n"
           "put:8,20000,0.050,0.062,0.062,123.80,123.80,16000000,16000000\n"
           "get_stream:4194304, 100,68.864,69.561,69.561,57503.48,57503.48,12500,12500\n")

    def test_the_time_of_a_copy_follows_from_the_rate_of_ucx_perftest(self):
        found = perftest.records("noise\n" + self.CSV, "m")
        self.assertEqual([(one["op"], one["bytes"], one["us"]) for one in found],
                         [("put", 8, 0.0625), ("get_stream", 4194304, 80)])

    def test_output_without_a_table_is_a_failure(self):
        for output in ("", "no luck\n", self.CSV + "put:16\n", self.CSV.replace("12500", "0")):
            with self.subTest(output), self.assertRaises(launch.Failed):
                perftest.records(output, "m")

    def test_each_copy_has_a_test_and_the_window_of_our_streams(self):
        lines = perftest.batch([8, 4194304]).splitlines()
        self.assertEqual(len(lines), 8)
        self.assertEqual(lines[0], "put:8 -t ucp_put_lat -s 8 -n 100000 -w 10000")
        self.assertEqual(lines[7], "get_stream:4194304 -t ucp_get -s 4194304 -O 64 -n 100 -w 10")

    def test_copies_stand_beside_ucx_perftest(self):
        records = [record("weft", 0.075, bench="copies", op="put")]
        records += perftest.records(self.CSV, "MY/MY")[:1]
        text = report.tables(results.combine(records), ["weft", "openmpi"], False)
        self.assertRegex(text, "bytes +weft +perftest +ratio +difference, ns")
        self.assertRegex(text, r"put +8 +0\.075 +0\.062 +1\.20x +12")

    def test_copies_that_stand_alone_have_no_ratio(self):
        text = report.tables(results.combine([record("weft", 0.075, bench="copies")]), launch.LIBRARIES, False)
        self.assertNotIn("ratio", text)
        self.assertNotIn("perftest  ", text)

    def test_one_sided_calls_stand_beside_the_faster_mpi(self):
        records = [record("weft", 1, bench="one_sided", loop_us=4, loop_ratio=0.25, lost_percent=3),
                   record("openmpi", 2, bench="one_sided", p99_us=9), record("mpich", 5, bench="one_sided")]
        text = report.tables(results.combine(records), launch.LIBRARIES, False)
        self.assertIn(report.RATIO, text)
        self.assertRegex(text, r"exchange +8 +1\.00 +2\.00 +5\.00 +0\.50x")
        self.assertNotIn("mpich loop", text)

    def test_an_mpi_is_measured_by_its_blocking_calls_of_the_same_operations(self):
        asked = []

        class Job:
            library, np = "mpich", 2

            @staticmethod
            def run(arguments, _):
                asked.append(arguments)
                return [record("mpich", 2, op="gather")]

        options = command.parse(["--ops", "barrier,gather"])
        found = programs.one_sided(options, Job, lambda names, operations: (names, operations), 2)
        self.assertEqual(asked, [(["blocking"], ["gather"])])
        self.assertEqual([(one["bench"], one["op"], one["us"]) for one in found], [("one_sided", "gather", 2)])
        self.assertEqual(programs.one_sided(command.parse(["--ops", "barrier"]), Job, None, 2), [])


class Plots(unittest.TestCase):
    def test_six_panels_share_their_axes_and_one_legend(self):
        lines = {"weft": [(8, 2, 1, 3)], "mpich": [(8, 20, 10, 30)]}
        text = plot.script("x.svg", "title", {f"op{k}": lines for k in range(6)})
        self.assertIn("layout 2,3", text)
        self.assertIn("set yrange [1.0:100.0]", text)
        self.assertEqual((text.count("set ylabel 'µs'"), text.count("set xlabel 'bytes per block'")), (2, 3))
        self.assertEqual((text.count("set key at"), text.count("unset key")), (1, 5))

    def test_independence_comes_first(self):
        measurements = results.combine([record("weft", 1), record("weft", 1, bench="independence")])
        self.assertEqual(report.parts(measurements), [("independence", 2), ("blocking", 2)])


class Options(unittest.TestCase):
    def test_sizes_have_units(self):
        self.assertEqual(command.parse(["--sizes", "8,16K,4m"]).sizes, [8, 16384, 4194304])

    def test_bad_values_are_refused(self):
        for bad in (["--sizes", "12"], ["--sizes", "x"], ["--np", "1"], ["--ops", "exchnge"], ["--repetitions", "0"]):
            with self.subTest(bad), self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
                command.parse(bad)

    def test_overlap_is_measured_only_with_a_core_per_rank_unless_asked_for(self):
        options = command.parse([])
        self.assertIn("overlap", command.benches_of(options, 2, "mpich", 0, cores=2))
        self.assertNotIn("overlap", command.benches_of(options, 4, "mpich", 0, cores=2))
        asked = command.parse(["--benches", "overlap"])
        self.assertEqual(command.benches_of(asked, 4, "mpich", 0, cores=2), ["overlap"])
        self.assertNotIn("checked", command.benches_of(options, 2, "mpich", 0, cores=2))
        self.assertIn("checked", command.benches_of(options, 4, "weft", 3, cores=2))


class Launching(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    def job(self, text):
        launcher = program(self.folder, "launcher", text)
        return launch.Job("mpich", launch.Program(launcher, "driver"), 2, False, 8)

    def test_only_lines_that_are_objects_are_records(self):
        records = self.job("echo noise; echo '{\"us\": 1}'\n").run([], 60)
        self.assertEqual(records, [{"us": 1}])

    def test_a_failure_says_what_the_driver_said(self):
        with self.assertRaisesRegex(launch.Failed, "status 3: weft_bench: no luck"):
            self.job("echo 'mpirun: lost' >&2; echo 'weft_bench: no luck' >&2; exit 3\n").run([], 60)

    def test_the_cost_of_checked_calls_is_relative_to_plain_ones(self):
        options = command.parse(["--sizes", "16,8"])
        text = 'case "$*" in *"--sizes 8 "*) echo "{\\"us\\": ${WEFT_CHECK:-}1}";; esac\n'
        records = command.checked(options, self.job(text), cores=2)
        self.assertEqual(records, [{"us": 11, "bench": "checked", "plain_us": 1, "cost": 11}])

    def test_no_records_is_a_failure(self):
        with self.assertRaisesRegex(launch.Failed, "no records"):
            self.job("exit 0\n").run([], 60)

    def test_a_launch_that_hangs_is_ended_with_all_its_processes(self):
        pids = os.path.join(self.folder, "pids")
        with self.assertRaisesRegex(launch.Failed, "not finished"):
            self.job(f"sleep 1000 & echo $! $$ > {pids}; wait\n").run([], 1)
        with open(pids, encoding="ascii") as file:
            for pid in file.read().split():
                self.assertTrue(gone(pid), pid)

    def test_open_mpi_yields_only_where_ranks_share_cores(self):
        self.assertIn("mpi_yield_when_idle", launch.openmpi_arguments(True))
        self.assertNotIn("mpi_yield_when_idle", launch.openmpi_arguments(False))

    def test_the_heap_of_weft_holds_all_buffers(self):
        job = launch.Job("weft", launch.Program("weft", "driver"), 8, True, 4 * 1024**2)
        if "WEFT_HEAP_SIZE" not in os.environ:
            self.assertGreater(int(job.environment({})["WEFT_HEAP_SIZE"]), 4 * 8 * 4 * 1024**2)
        self.assertEqual(job.command([])[:4], ["weft", "run", "-n", "8"])


unittest.main()
