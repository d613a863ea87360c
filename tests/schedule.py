# SPDX-License-Identifier: BSD-3-Clause
"""Runs tests of several builds beside each other, each with its result, seconds and seconds of cores.

As many run as there is room for: a test takes the cores that it reserves (PROCESSORS); of those that mostly sleep (label
sleeps) some run beside them. Of those that fit the one begins first that lasts longest, by its last run or by its
property COST. So a job of several ranks always runs, tests of one core beside it, and what sleeps costs no time; those
that must run alone come last.
"""

import json
import os
import pathlib
import queue
import re
import subprocess
import tempfile
import threading
import time

import processes

MOST_SLEEPING = 4  # tests that sleep at a time
COSTS = "test_costs.json"  # in a build: how long each of its tests took


class Test:
    """A test as ctest lists it."""

    def __init__(self, build, prefix, listed):
        self.build, self.short, self.name = build, listed["name"], prefix + listed["name"]
        self.command = listed.get("command", [])
        own = {p["name"]: p["value"] for p in listed.get("properties", [])}
        self.labels = own.get("LABELS", [])
        self.folder = own.get("WORKING_DIRECTORY", str(build))
        self.settings = dict(v.split("=", 1) for v in own.get("ENVIRONMENT", []))
        self.limit, self.lasts = own.get("TIMEOUT", 1500), own.get("COST", 0)
        self.sleeps, self.cores = "sleeps" in self.labels, own.get("PROCESSORS", 1)
        self.alone = own.get("RUN_SERIAL", False)
        self.skips_with = own.get("SKIP_RETURN_CODE")
        # In CMake's expressions a dot is any character and ^ the very beginning.
        self.passes, self.fails, self.skips = (
            [re.compile(e, re.S) for e in own.get(f"{kind}_REGULAR_EXPRESSION", [])] for kind in ("PASS", "FAIL", "SKIP"))
        self.makes, self.needs = own.get("FIXTURES_SETUP", []), own.get("FIXTURES_REQUIRED", [])

    def verdict(self, status, said):
        if any(e.search(said) for e in self.skips) or status == self.skips_with:
            return "skipped"
        good = status >= 0 and any(e.search(said) for e in self.passes) if self.passes else status == 0
        return "failed" if any(e.search(said) for e in self.fails) or not good else "passed"


class Result:
    def __init__(self, test, verdict, seconds=0, cores=0, said=""):
        self.test, self.verdict, self.seconds, self.cores, self.said = test, verdict, seconds, cores, said


def listed(build, prefix="", long=False):
    """The tests of a build: those of the standard suite, or with those of the long one."""
    said = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"], check=True, capture_output=True,
                          text=True).stdout
    tests = [Test(pathlib.Path(build), prefix, one) for one in json.loads(said)["tests"]]
    return [test for test in tests if long or "long" not in test.labels]


def defaults(build):
    """What a sanitizer is told unless the caller says something else."""
    file = pathlib.Path(build) / "tests" / "sanitizers" / "environment"
    lines = file.read_text().splitlines() if file.exists() else []
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def end_with_descendants(process):
    """Ends a process and all that it has started, which may have sessions of their own."""
    processes.kill_all([process, *processes.descendants([process])])


class Schedule:
    """The tests that wait, those that run, and what has come of the others."""

    def __init__(self, tests, room, environment):
        self.costs = {build: self.read_costs(build) for build in {t.build for t in tests}}
        self.waiting = sorted(tests, key=lambda t: (t.alone, -self.costs[t.build].get(t.short, t.lasts)))
        self.room, self.environment = room, environment
        self.defaults = {build: defaults(build) for build in self.costs}
        self.running, self.ended, self.good = {}, queue.SimpleQueue(), set()
        self.unmade = {(t.build, what) for t in tests for what in t.makes}

    @staticmethod
    def read_costs(build):
        file = build / COSTS
        return json.loads(file.read_text()) if file.exists() else {}

    def write_costs(self):
        for build, costs in self.costs.items():
            (build / COSTS).write_text(json.dumps(costs, indent=0, sort_keys=True))

    def fits(self, test):
        if not self.running:
            return True
        if test.alone or any(t.alone for t in self.running):
            return False
        if test.sleeps:
            return sum(t.sleeps for t in self.running) < MOST_SLEEPING
        cores = sum(t.cores for t in self.running if not t.sleeps)
        return cores == 0 or cores + test.cores <= self.room

    def next(self):
        """The next test to begin, or None: nothing fits."""
        for test in self.waiting:
            if any((test.build, what) in self.unmade for what in test.needs):
                continue
            if self.fits(test):
                self.waiting.remove(test)
                return test
        return None

    def begin(self, test):
        self.running[test] = None
        threading.Thread(target=self.play, args=(test,), daemon=True).start()

    def play(self, test):
        """Runs a test to its end; in a thread of its own."""
        if not test.command:
            self.ended.put(Result(test, "failed", said="its program is not built\n"))
            return
        begun = time.monotonic()
        environment = {**self.defaults[test.build], **os.environ, **self.environment, **test.settings}
        with tempfile.TemporaryFile() as out:
            try:
                process = subprocess.Popen(test.command, cwd=test.folder, env=environment, stdin=subprocess.DEVNULL,
                                           stdout=out, stderr=subprocess.STDOUT)
            except OSError as error:
                self.ended.put(Result(test, "failed", said=f"it could not be started: {error}\n"))
                return
            self.running[test] = process.pid
            late = threading.Event()
            timer = threading.Timer(test.limit, lambda: (late.set(), end_with_descendants(process.pid)))
            timer.start()
            _, status, used = os.wait4(process.pid, 0)
            timer.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            said = out.read().decode(errors="replace")
        seconds = time.monotonic() - begun
        verdict = "failed" if late.is_set() else test.verdict(process.returncode, said)
        if late.is_set():
            said += f"\nended after {test.limit:.0f} s\n"
        self.ended.put(Result(test, verdict, seconds, used.ru_utime + used.ru_stime, said))

    def results(self, stop_on_failure=False):
        """Yields the result of each test as it ends."""
        try:
            while self.waiting or self.running:
                while test := self.next():
                    self.begin(test)
                if not self.running:  # what is left needs something that has failed
                    for test in self.waiting:
                        yield Result(test, "failed", said=f"not run, for it needs what has failed: {' '.join(test.needs)}\n")
                    return
                result = self.ended.get()
                del self.running[result.test]
                if result.verdict == "failed":
                    if stop_on_failure:
                        self.waiting = []
                else:
                    self.unmade -= {(result.test.build, what) for what in result.test.makes}
                    self.costs[result.test.build][result.test.short] = round(result.seconds, 2)
                yield result
        finally:
            for pid in filter(None, self.running.values()):
                end_with_descendants(pid)
            self.write_costs()
