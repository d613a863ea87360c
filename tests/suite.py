# SPDX-License-Identifier: BSD-3-Clause
"""Runs tests of a build with ctest, some at a time, and says how far it is: suite.py BUILD [options] [NAME...]

A NAME is a part of the name of a test or of a suite of a session; without one, all of the standard suite are run.
On a terminal one line shows what is running and what is left. At the end: what has failed, with its output, and the
slowest twenty of tests and suites.
"""

import argparse
import difflib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

STARTED = re.compile(r"^\s*Start\s+\d+: (\S+)")
# A name may be followed by what its parameter is.
ENDED = re.compile(r"^\s*\d+/\d+ Test\s+#\d+: (\S+)(?: .*?)? \.*\s*(?:\*\*\*)?(Passed|Skipped|Failed|Not Run|Timeout|Exception|"
                   r"Subprocess)(?:.*?([\d.]+) sec)?")


class Line:
    """The line of progress: rewritten on a terminal, a line a minute elsewhere."""

    def __init__(self, total):
        self.total, self.running, self.done, self.failed = total, [], 0, 0
        self.terminal, self.last = sys.stderr.isatty(), time.monotonic()

    def show(self):
        text = f"{self.done} of {self.total} done" + (f", {self.failed} failed" if self.failed else "")
        text += f"; running: {' '.join(self.running)}" if self.running else ""
        if self.terminal:
            print("\r\033[K" + text[:os.get_terminal_size(2).columns - 1], end="", file=sys.stderr, flush=True)
        elif time.monotonic() - self.last > 60:
            self.last = time.monotonic()
            print(text, file=sys.stderr, flush=True)

    def clear(self):
        if self.terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


class Test:
    """A test as ctest knows it."""

    def __init__(self, number, listed):
        self.number, self.name, self.command = number, listed["name"], listed.get("command", [])
        self.labels = next((p["value"] for p in listed.get("properties", []) if p["name"] == "LABELS"), [])


def tests_of(build, long=False):
    """The tests of a build by name: those of the standard suite, or with those of the long one."""
    said = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"], check=True, capture_output=True,
                          text=True).stdout
    tests = [Test(number, listed) for number, listed in enumerate(json.loads(said)["tests"], 1)]
    return {test.name: test for test in tests if long or "long" not in test.labels}


def suites_of(build, tests):
    """The names of the suites of each session that is among the tests."""
    found = {}
    for test in tests:
        file = pathlib.Path(build) / "sessions" / test.removeprefix("jobs.")
        if test.startswith("jobs.") and file.exists():
            found[test] = [line.split("\t")[1] for line in file.read_text().splitlines() if line.startswith("run\t")]
    return found


def choose(names, tests, sessions):
    """The tests to run, and an expression for the suites of sessions, or None for all of them."""
    chosen, suites = set(), set()
    for name in names:
        by_test = [t for t in tests if name in t]
        by_suite = {s for listed in sessions.values() for s in listed if name in s}
        if not by_test and not by_suite:
            known = sorted(set(tests) | {s for listed in sessions.values() for s in listed})
            near = difflib.get_close_matches(name, known, 5, 0.4)
            sys.exit(f"suite.py: '{name}' is in the name of no test or suite; the nearest: {' '.join(near) or 'none'}")
        chosen.update(by_test)
        suites |= by_suite
    whole = {t for t in chosen if t in sessions}
    chosen.update(t for t, listed in sessions.items() if suites.intersection(listed))
    if whole or not suites:
        return chosen, None
    return chosen, "^(" + "|".join(re.escape(s) for s in sorted(suites)) + ")$"


def run(build, numbers, suites, jobs, stop, folder):
    """Runs the tests of these numbers; `folder` is for what passes between ctest, the sessions and this."""
    results, listed = pathlib.Path(folder) / "results", pathlib.Path(folder) / "tests"
    results.touch()
    listed.write_text("0,0,0," + ",".join(map(str, numbers)) + "\n")
    environment = dict(os.environ, SUITE_RESULTS=str(results))
    if suites:
        environment["SUITE_ONLY"] = suites
    line, times, failed, output = Line(len(numbers)), [], [], []
    with subprocess.Popen(["ctest", "--test-dir", build, "-j", str(jobs), "--output-on-failure", "-I", str(listed),
                           *(["--stop-on-failure"] if stop else [])],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          env=environment) as ctest:
        for said in ctest.stdout:
            if started := STARTED.match(said):
                line.running.append(started[1])
            elif ended := ENDED.match(said):
                name, verdict, seconds = ended[1], ended[2], float(ended[3] or 0)
                line.done += 1
                if name in line.running:
                    line.running.remove(name)
                times.append((seconds, name))
                if verdict not in ("Passed", "Skipped"):
                    line.failed += 1
                    failed.append(name)
                output.append(said)
            elif not said.startswith(("Test project", "Internal ctest")):
                output.append(said)
            line.show()
        status = ctest.wait()
    line.clear()
    parts = [json.loads(l) for l in results.read_text().splitlines()]
    return status, times, failed, parts, output


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("build", help="the folder of the build")
    options.add_argument("names", nargs="*", metavar="NAME")
    options.add_argument("--long", action="store_true", help="the long suite as well")
    options.add_argument("--label", help="only tests with this label")
    options.add_argument("--none-is-right", action="store_true", help="no error if the names fit no test of this build")
    options.add_argument("--stop-on-failure", action="store_true", help="run no more behind the first that fails")
    options.add_argument("--slowest", type=int, default=20, help="how many of the slowest to print")
    options.add_argument("--jobs", type=int, default=os.cpu_count() + 1,
                         help="how many cores tests may use at a time; one more than there are, for tests wait too")
    chosen = options.parse_intermixed_args()  # names may stand behind options

    tests = tests_of(chosen.build, chosen.long)
    if chosen.label:
        tests = {name: test for name, test in tests.items() if chosen.label in test.labels}
    sessions, suites = suites_of(chosen.build, tests), None
    selected = set(tests)
    if chosen.names:
        if chosen.none_is_right:
            known = [*tests, *(s for listed in sessions.values() for s in listed)]
            chosen.names = [n for n in chosen.names if any(n in k for k in known)]
        selected, suites = choose(chosen.names, tests, sessions) if chosen.names else (set(), None)
    if not selected:
        print("no test of this build is concerned")
        return 0 if chosen.none_is_right else 1

    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="weft-suite-") as folder:
        status, times, failed, parts, output = run(chosen.build, sorted(tests[name].number for name in selected),
                                                   suites, chosen.jobs, chosen.stop_on_failure, folder)
    if status or failed:
        sys.stdout.write("".join(output))
    slow = sorted(times + [(p["seconds"], f"{p['session']}: {p['suite']}") for p in parts], reverse=True)
    print(f"the slowest {min(chosen.slowest, len(slow))}:")
    for seconds, name in slow[:chosen.slowest]:
        print(f"  {seconds:7.2f} s  {name}")
    bad = [f"{p['session']}: {p['suite']}" for p in parts if p["verdict"] != "PASS"] + failed
    for name in bad:
        print(f"failed: {name}")
    print(f"{len(times)} tests, {len(parts)} suites in sessions, {len(bad)} failed, {time.monotonic() - begun:.0f} s")
    return 1 if status or bad else 0


if __name__ == "__main__":
    sys.exit(main())
