# SPDX-License-Identifier: BSD-3-Clause
"""The switches of special paths: their list, their cases, turns and table; and with --jobs, in a build that has them
(WEFT_ABLATE), that the results are right whatever is off.

usage: test_ablation.py [--jobs BUILD]"""
import contextlib
import io
import os
import re
import subprocess
import sys
import unittest
from unittest import mock

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))

from runner import ablation, builds, launch, launch_between, network, options, report, special_paths  # noqa: E402
from runner.shapes import Shape  # noqa: E402

JOBS = None
if sys.argv[1:2] == ["--jobs"]:
    JOBS = sys.argv[2]
    del sys.argv[1:3]
# As between hosts without a better network, whatever cores there are.
SOCKETS = {"WEFT_LANE": "ucp", "UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "lo", "WEFT_PROGRESS": "helping"}


def sources():
    for folder in ("engine", "progress"):
        for where, _, names in os.walk(os.path.join(builds.ROOT, folder)):
            for name in names:
                path = os.path.join(where, name)
                if path != special_paths.HEADER:
                    with open(path, encoding="utf-8") as file:
                        yield file.read()


class Listed(unittest.TestCase):
    def test_each_has_a_sentence_and_a_case_and_is_asked_for(self):
        with open(special_paths.HEADER, encoding="utf-8") as file:
            declared = re.findall(r"inline const path (\w+)", file.read())
        names = special_paths.listed()
        self.assertEqual(list(names), declared)
        self.assertEqual(set(names), set(special_paths.CASES))
        used = {name for text in sources() for name in re.findall(r"\bspecial::(\w+)", text)}
        self.assertEqual(used, set(names))

    def test_the_list_says_what_each_does_and_measures_nothing(self):
        told = io.StringIO()
        with contextlib.redirect_stdout(told), mock.patch.object(builds, "make") as make:
            self.assertEqual(ablation.main(options.parse(["--ablate", "--list"])), 0)
        make.assert_not_called()
        for name, sentence in special_paths.listed().items():
            self.assertIn(f"{name}\n    {sentence}\n    {special_paths.CASES[name]}\n", told.getvalue())

    def test_a_name_that_is_none_is_told_the_nearest(self):
        errors = io.StringIO()
        with self.assertRaises(SystemExit), contextlib.redirect_stderr(errors):
            options.parse(["--ablate", "relays", "setled_step"])
        self.assertIn("'setled_step' is no special path, the nearest: settled_steps", errors.getvalue())
        self.assertIn("recent_plans", special_paths.unknown("zzz"))

    def test_what_does_not_fit_together_is_refused(self):
        for bad in (["--list"], ["--pairs", "3"], ["--against", "HEAD"], ["--ablate", "--network"],
                    ["--ablate", "--instructions"], ["--ablate", "--pairs", "0"]):
            with self.subTest(bad), self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
                options.parse(bad)


class Turns(unittest.TestCase):
    def test_both_sides_take_turns_and_each_is_first_as_often(self):
        order = []

        def run(off):
            order.append(off)
            return 2.0 if off else 1.0

        self.assertEqual(ablation.pairs_of(run, 3), [(1.0, 2.0)] * 3)
        self.assertEqual(order, [False, True, True, False, False, True])

    def test_the_ratio_is_that_of_each_pair(self):
        one = ablation.summary("push", [(1, 2), (10, 20), (4, 8), (5, 2)])
        self.assertEqual((one["us"], one["without_us"], one["ratio"], one["pairs"]), (4.5, 5, 2, 4))

    def test_only_what_the_middle_half_agrees_on_is_a_gain(self):
        for q1, q3, said in ((1.01, 1.1, "gains"), (0.9, 0.99, "loses"), (0.99, 1.02, "no difference")):
            self.assertEqual(ablation.verdict(dict(q1=q1, q3=q3)), said)

    def test_one_side_of_a_pair_has_the_path_off(self):
        job, chosen = mock.Mock(), options.parse(["--ablate", "--pairs", "2"])
        job.run.side_effect = [[dict(us=us)] for us in (1, 3, 3, 1)]
        self.assertEqual(ablation.measure(chosen, "recent_plans", job, 2)["ratio"], 3)
        self.assertEqual([call.kwargs for call in job.run.call_args_list],
                         [{"ABLATED": off} for off in ("", "recent_plans", "recent_plans", "")])

    def test_the_ranks_of_other_hosts_have_it_off_too(self):
        hosts = mock.Mock(names=["a", "b"], agent="agent")
        hosts.enter.return_value = []
        job = launch_between.Job("weft", launch.Program("mpirun", "driver"), 2, False, 8, hosts, Shape(2, 1))
        command = job.command([], {"ABLATED": "push"})
        self.assertEqual(command[command.index("ABLATED") - 1], "-x")

    def test_all_that_there_is_to_say_fits_the_page(self):
        found = [ablation.summary(name, [(12345.6, 23456.7)] * 15) for name in special_paths.listed()]
        text = ablation.heading(15) + ablation.table(found)
        self.assertLessEqual(max(map(len, text.splitlines())), report.PAGE, text)
        for name in special_paths.listed():
            self.assertRegex(text, f"(?m)^{name} .*1.900 .* gains$")


@unittest.skipIf(JOBS is None, "needs a build with WEFT_ABLATE")
class Jobs(unittest.TestCase):
    """The driver verifies the data of every iteration."""

    def run_driver(self, off, ranks, *arguments, **settings):
        environment = {**os.environ, **settings, "ABLATED": off, "WEFT_HEAP_SIZE": "64M"}
        command = [launch.built("weft", JOBS), "run", "-n", str(ranks), launch.built("weft_bench_weft", JOBS)]
        return subprocess.run([*command, "--budget-ms", "2", *arguments], env=environment, capture_output=True, text=True,
                              timeout=120, check=False)

    def test_the_library_knows_the_switches(self):
        done = self.run_driver("push,nothing", 2, "--benches", "blocking", "--ops", "barrier")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("ABLATED=push,nothing names what is no special path", done.stderr)

    def test_results_are_right_whatever_is_off(self):
        names = list(special_paths.listed())
        for off in [*names, ",".join(names)]:
            for ranks, settings in ((2, {}), (3, SOCKETS)):
                with self.subTest(off=off, ranks=ranks):
                    done = self.run_driver(off, ranks, "--benches", "blocking,post", "--sizes", "8,1K,16K,256K",
                                           "--minimum-iterations", "5", **settings)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertIn('"op":"exchange"', done.stdout.replace(" ", ""))


if __name__ == "__main__":
    unittest.main()
