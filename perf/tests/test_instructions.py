# SPDX-License-Identifier: BSD-3-Clause
"""Counting instructions: what is read of callgrind's files, what is told, and how another commit is built.

usage: test_instructions.py BUILD"""
import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))

from runner import builds, callgrind, instructions, launch, options  # noqa: E402

BUILD = sys.argv.pop(1)

WRITTEN = """# callgrind format
events: Ir
fl=program.cpp
fn=measured_post
96 10
+1 5
cfi=library.cpp
cfn=start
calls=4 100
+2 385

fn=start
100 385

fn=measured_sweep
-3 7
* 1
fn=main
5 1000
cfn=measured_post
calls=4 96
* 400
totals: 393
"""


def figures(**changed):
    all_alike = {(name, rank): 1000.0 for name in instructions.CALLS for rank in (0, 1)}
    return {**all_alike, **{(name, 0): value for name, value in changed.items()}}


class Reading(unittest.TestCase):
    def test_a_function_counts_with_all_that_it_calls(self):
        self.assertEqual(callgrind.read(WRITTEN.splitlines()), {"post": 400, "sweep": 8})

    def test_figures_are_by_call_and_by_operation(self):
        ranks = [dict.fromkeys(instructions.CALLS, 6400), dict.fromkeys(instructions.CALLS, 12800)]
        with mock.patch.object(callgrind, "count", return_value=ranks), mock.patch.object(launch, "built"):
            found = instructions.measure("build", 10, 1)
        self.assertEqual((found["exchange", 0], found["exchange", 1], found["many", 0]), (640, 1280, 20))

    def test_a_call_of_which_nothing_was_collected_is_an_error(self):
        ranks = [{"post": 1}, {"post": 1}]
        with mock.patch.object(callgrind, "count", return_value=ranks), mock.patch.object(launch, "built"):
            self.assertRaisesRegex(launch.Failed, "nothing of exchange", instructions.measure, "build", 10, 1)

    def test_no_setting_of_the_callers_is_in_force(self):
        job = callgrind.Job("weft", launch.Program("weft", "valgrind"), 2, False, 0)
        with mock.patch.dict(os.environ, {"WEFT_SPINS": "1", "UCX_TLS": "tcp", "WEFT_PROGRESS": "caller"}):
            environment = job.environment({})
        self.assertEqual([environment.get(name) for name in ("WEFT_SPINS", "UCX_TLS", "WEFT_PROGRESS")],
                         [None, None, "helping"])


class Telling(unittest.TestCase):
    def test_a_row_has_both_figures_and_what_lies_between(self):
        text = instructions.table(figures(exchange=1012), figures(), "0123456789ab")
        self.assertRegex(text, r"(?m)^exchange +0 +1012 +1000 +\+12 \(\+1.2 %\)")
        self.assertRegex(text, r"(?m)^barrier +1 +1000 +1000 +0$")
        for name, (what, _) in instructions.CALLS.items():
            self.assertIn(f"{name}: {what}\n", text)

    def test_the_runs_of_a_figure_may_hardly_differ(self):
        chosen = options.parse(["--instructions"])
        with mock.patch.object(instructions, "measure", side_effect=[figures(), figures(post=1002)]):
            least, spread = instructions.repeated("build", 1, chosen)
        self.assertEqual(least, figures())
        self.assertAlmostEqual(spread, 0.002)

    def test_a_reference_is_read_as_it_was_written(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "reference.json")
            with open(path, "w", encoding="utf-8") as file:
                file.write(instructions.reference_of(figures(post=1234.5), "abc", 'a "subject"', "g++"))
            said, found = instructions.read_reference(path)
        self.assertEqual((said["commit"], said["subject"], found), ("abc", 'a "subject"', figures(post=1234.5)))

    def test_the_reference_names_a_commit_and_all_calls(self):
        said, found = instructions.read_reference()
        self.assertRegex(said["commit"], "^[0-9a-f]{40}$")
        self.assertEqual(set(found), set(figures()))

    def test_a_commit_that_is_not_at_hand_stands_as_it_was_recorded(self):
        errors = io.StringIO()
        with mock.patch.object(instructions, "read_reference",
                               return_value=({"commit": "f" * 40, "compiler": "g++ 1", "ucx": "2"}, figures())):
            with contextlib.redirect_stderr(errors):
                other = instructions.Other(options.parse(["--instructions"]), 1)
        self.assertEqual(other.figures, figures())
        self.assertIn("is not at hand", errors.getvalue())


def have(program):
    try:
        return bool(launch.built(program, BUILD))
    except launch.Missing:
        return False


@unittest.skipIf(shutil.which("valgrind") is None or not have(instructions.PROGRAM[1]), "needs valgrind and the program")
class Stable(unittest.TestCase):
    def test_two_runs_count_the_same(self):
        # A busy machine wakes a thread late now and then, and the other rank looks for its word once more.
        for _ in range(4):
            figures, spread = instructions.repeated(BUILD, 32, options.parse(["--instructions"]))
            if spread < instructions.STABLE:
                break
        self.assertLess(spread, instructions.STABLE)
        self.assertTrue(all(100 < value < 1e6 for value in figures.values()), figures)


@unittest.skipIf(shutil.which("git") is None, "needs git")
class OfAnotherCommit(unittest.TestCase):
    """A project of the same name stands for the library: a program of today's is built with it, as it was then."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name
        self.root, self.like = os.path.join(self.folder, "root"), os.path.join(self.folder, "builds", "release")
        os.makedirs(self.root)
        os.makedirs(self.like)
        shutil.copy(os.path.join(BUILD, "CMakeCache.txt"), self.like)
        self.git("init", "-q")
        self.commits = [self.commit(answer) for answer in (1, 2)]
        with open(os.path.join(self.folder, "program.cmake"), "w", encoding="utf-8") as file:
            file.write("add_executable(program ${CMAKE_CURRENT_LIST_DIR}/program.cpp)\n"
                       "target_link_libraries(program PRIVATE weft)\n")
        with open(os.path.join(self.folder, "program.cpp"), "w", encoding="utf-8") as file:
            file.write("int main() { return ANSWER; }\n")

    def git(self, *arguments):
        subprocess.run(["git", "-C", self.root, "-c", "user.name=a", "-c", "user.email=a@b", *arguments], check=True)

    def commit(self, answer):
        with open(os.path.join(self.root, "CMakeLists.txt"), "w", encoding="utf-8") as file:
            file.write("cmake_minimum_required(VERSION 3.25)\nproject(weft LANGUAGES C CXX)\nadd_library(weft INTERFACE)\n"
                       f"target_compile_definitions(weft INTERFACE ANSWER={answer})\nadd_custom_target(weft_tool)\n")
        self.git("add", ".")
        self.git("commit", "-qm", str(answer))
        return builds.commit_named(self.root, "HEAD")

    def test_each_commit_has_a_build_of_its_own(self):
        for answer, commit in enumerate(self.commits, start=1):
            build = builds.of_commit(self.like, self.root, commit, (os.path.join(self.folder, "program.cmake"), "program"))
            self.assertEqual(subprocess.run([os.path.join(build, "program")], check=False).returncode, answer)
            self.assertEqual(builds.cache_of(build)["CMAKE_BUILD_TYPE"], builds.cache_of(BUILD)["CMAKE_BUILD_TYPE"])

    def test_what_names_no_commit_and_what_does_not_build_is_told(self):
        self.assertRaisesRegex(launch.Failed, "'nothing' names no commit", builds.commit_named, self.root, "nothing")
        missing = (os.path.join(self.folder, "missing.cmake"), "program")
        self.assertRaisesRegex(launch.Failed, "runner.log", builds.of_commit, self.like, self.root, self.commits[0], missing)


if __name__ == "__main__":
    unittest.main()
