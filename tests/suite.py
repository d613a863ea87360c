# SPDX-License-Identifier: BSD-3-Clause
"""Runs tests of builds, some at a time, and says how far it is: suite.py BUILD [options] [NAME...]

A NAME is a part of the name of a test or of a suite of a session; without one, all of the standard suite are run.
On a terminal one line shows what is running and what is left. At the end: what has failed, with its output, and the
slowest twenty of tests and suites, with the seconds of cores that they took.
"""

import argparse
import difflib
import json
import os
import pathlib
import re
import signal
import sys
import tempfile
import time

import schedule


class Line:
    """The line of progress: rewritten on a terminal, a line a minute elsewhere."""

    def __init__(self, total):
        self.total, self.done, self.failed = total, 0, 0
        self.terminal, self.last = sys.stderr.isatty(), time.monotonic()

    def show(self, running):
        text = f"{self.done} of {self.total} done" + (f", {self.failed} failed" if self.failed else "")
        text += f"; running: {' '.join(running)}" if running else ""
        if self.terminal:
            print("\r\033[K" + text[:os.get_terminal_size(2).columns - 1], end="", file=sys.stderr, flush=True)
        elif time.monotonic() - self.last > 60:
            self.last = time.monotonic()
            print(text, file=sys.stderr, flush=True)

    def clear(self):
        if self.terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def suites_of(tests):
    """The names of the suites of each session that is among the tests."""
    found = {}
    for test in tests:
        file = test.build / "sessions" / test.short.removeprefix("jobs.")
        if test.short.startswith("jobs.") and file.exists():
            found[test] = [line.split("\t")[1] for line in file.read_text().splitlines() if line.startswith("run\t")]
    return found


def choose(names, tests, sessions):
    """The tests to run, and an expression for the suites of sessions, or None for all of them."""
    chosen, suites = set(), set()
    for name in names:
        by_test = [t for t in tests if name in t.name]
        by_suite = {s for listed in sessions.values() for s in listed if name in s}
        if not by_test and not by_suite:
            known = sorted({t.name for t in tests} | {s for listed in sessions.values() for s in listed})
            near = difflib.get_close_matches(name, known, 5, 0.4)
            sys.exit(f"suite.py: '{name}' is in the name of no test or suite; the nearest: {' '.join(near) or 'none'}")
        chosen.update(by_test)
        suites |= by_suite
    whole = {t for t in chosen if t in sessions}
    chosen.update(t for t, listed in sessions.items() if suites.intersection(listed))
    if whole or not suites:
        return chosen, None
    return chosen, "^(" + "|".join(re.escape(s) for s in sorted(suites)) + ")$"


def part_of(text):
    """'2/8' as two numbers."""
    part = re.fullmatch(r"(\d+)/(\d+)", text)
    if part is None or not 1 <= int(part[1]) <= int(part[2]):
        raise argparse.ArgumentTypeError(f"'{text}' must be K/N with K from 1 to N, as in 2/8")
    return int(part[1]), int(part[2])


def with_what_they_need(chosen, tests):
    needed = {(t.build, what) for t in chosen for what in t.needs}
    return {*chosen, *(t for t in tests if needed.intersection((t.build, what) for what in t.makes))}


def run(selected, suites, jobs, stop, folder):
    """Runs the tests; `folder` is for what passes between the sessions and this. Returns results, and parts of sessions."""
    parts = pathlib.Path(folder) / "results"
    parts.touch()
    environment = {"SUITE_RESULTS": str(parts), **({"SUITE_ONLY": suites} if suites else {})}
    line, results = Line(len(selected)), []
    running = schedule.Schedule(selected, jobs, environment)
    for result in running.results(stop):
        results.append(result)
        line.done += 1
        line.failed += result.verdict == "failed"
        line.show([t.name for t in running.running])
    line.clear()
    return results, [json.loads(l) for l in parts.read_text().splitlines()]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("build", help="the folder of the build")
    options.add_argument("names", nargs="*", metavar="NAME")
    options.add_argument("--sanitized", action="append", default=[], choices=["tsan", "asan"],
                         help="the tests for this sanitizer too, of the build of that name which stands beside BUILD")
    options.add_argument("--long", action="store_true", help="the long suite as well")
    options.add_argument("--part", type=part_of, default=(1, 1), metavar="K/N",
                         help="of these tests each N-th from the K-th on: the long suite in N sittings")
    options.add_argument("--label", help="only tests with this label")
    options.add_argument("--none-is-right", action="store_true", help="no error if the names fit no test")
    options.add_argument("--stop-on-failure", action="store_true", help="run no more behind the first that fails")
    options.add_argument("--slowest", type=int, default=20, help="how many of the slowest to print")
    options.add_argument("--jobs", type=int, default=2 * os.cpu_count(),
                         help="how many cores tests may use at a time; twice as many as there are, for tests wait too")
    chosen = options.parse_intermixed_args()  # names may stand behind options

    tests = schedule.listed(chosen.build, long=chosen.long)
    if chosen.label:
        tests = [test for test in tests if chosen.label in test.labels]
    for name in chosen.sanitized:
        there = pathlib.Path(chosen.build).parent / name
        tests += [t for t in schedule.listed(there, f"{name}:", chosen.long) if name in t.labels]
    sessions, suites = suites_of(tests), None
    selected = tests
    if chosen.names:
        if chosen.none_is_right:
            known = [*(t.name for t in tests), *(s for listed in sessions.values() for s in listed)]
            chosen.names = [n for n in chosen.names if any(n in k for k in known)]
        selected, suites = choose(chosen.names, tests, sessions) if chosen.names else (set(), None)
    part, parts = chosen.part
    selected = with_what_they_need(sorted(selected, key=lambda t: t.name)[part - 1::parts], tests)
    if not selected:
        print("no test of this build is concerned")
        return 0 if chosen.none_is_right else 1

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # and with it what it has started
    # A process inherits what is ignored, as behind nohup or in the background of a script; what is handled here
    # is as usual again in a test.
    for ignored in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(ignored) == signal.SIG_IGN:
            signal.signal(ignored, lambda *_: None)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="weft-suite-") as folder:
        results, parts = run(sorted(selected, key=lambda t: t.name), suites, chosen.jobs, chosen.stop_on_failure, folder)
    for result in results:
        if result.verdict == "failed":
            print(f"--- {result.test.name} has failed:\n{result.said.rstrip()}")
    slow = [(r.seconds, r.cores, r.test.name) for r in results]
    slow = sorted(slow + [(p["seconds"], p["cores"], f"{p['session']}: {p['suite']}") for p in parts], reverse=True)
    print(f"the slowest {min(chosen.slowest, len(slow))}, and their seconds of cores:")
    for seconds, cores, name in slow[:chosen.slowest]:
        print(f"  {seconds:7.2f} s {cores:7.2f} s  {name}")
    bad = [f"{p['session']}: {p['suite']}" for p in parts if p["verdict"] != "PASS"]
    bad += [r.test.name for r in results if r.verdict == "failed"]
    for name in bad:
        print(f"failed: {name}")
    print(f"{len(results)} tests, {len(parts)} suites in sessions, {len(bad)} failed, {time.monotonic() - begun:.0f} s, "
          f"{sum(r.cores for r in results):.0f} s of cores")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
