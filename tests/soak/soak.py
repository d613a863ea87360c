#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs one soak job after the other for a given time. Every job follows from its number: how many threads on
how many nodes, which settings, how many cores, and (through its seed) everything that the program does.

    soak.py --weft build/release/bin/weft --program build/release/tests/differential/differential --seconds 600
    soak.py ... --first 17 --jobs 1        one job again

A job that fails, prints wrong data, or is silent for longer than --patience ends it with a status of 1.
"""
import argparse
import os
import random
import shlex
import signal
import subprocess
import sys
import tempfile
import time


class Job:
    def __init__(self, number):
        dice = random.Random(number)
        self.number = number
        self.seconds = dice.choice([1, 2, 2, 4])
        self.threads = dice.choice([2, 2, 3, 4, 4, 5, 6, 8])
        self.nodes = dice.choice([1, 1, 1, 2, 3]) if self.threads >= 3 else dice.choice([1, 1, 2])
        self.one_core = dice.random() < 0.25
        self.settings = {"WEFT_HEAP_SIZE": "64M"}
        for name, chance, values in [
            ("WEFT_LANE", 0.25, ["ucp"]),
            ("WEFT_PROGRESS", 0.5, ["dedicated", "helping", "caller"]),
            ("WEFT_SPINS", 0.5, ["0", "3", "100"]),
            ("WEFT_YIELDS", 0.5, ["0", "1", "50"]),
            ("WEFT_EAGER", 0.3, ["0", "8", "100"]),
            ("WEFT_WHOLE_BLOCK", 0.2, ["64", "1K", "1M"]),
            ("WEFT_WINDOW", 0.3, ["1", "2", "7"]),
            ("WEFT_MAX_OPERATIONS", 0.2, ["512", "1024"]),
            ("WEFT_PLAN_CACHE", 0.2, ["0", "4K"]),
            ("WEFT_ALGORITHM", 0.3, ["broadcast=knomial,gather_all=ring,exchange=bruck",
                                     "broadcast=chain,gather_all=bruck", "gather_all=doubling"]),
        ]:
            if dice.random() < chance:
                self.settings[name] = dice.choice(values)

    def command(self, options, pulses):
        launch = [options.weft, "run", "-n", str(self.threads)]
        if self.nodes > 1:
            launch += ["--nodes", str(self.nodes)]
        if self.one_core:
            launch = ["taskset", "-c", str(min(os.sched_getaffinity(0)))] + launch
        launch += [options.program, "--busy", "--seed", str(self.number), "--seconds", str(self.seconds),
                   "--cases", "1000000000", "--patience", str(options.patience), "--pulses", pulses]
        return launch + (["--hold"] if options.hold else [])


def run(job, options):
    with tempfile.NamedTemporaryFile(prefix="weft-soak-") as pulses:
        command = job.command(options, pulses.name)
        shown = " ".join([f"{k}={v}" for k, v in sorted(job.settings.items())] + [shlex.join(command)])
        # Start and end have no pulse: they get a limit.
        limit = None if options.hold else job.seconds * 10 + 4 * options.patience + 60
        process = subprocess.Popen(command, env={**os.environ, **job.settings}, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, start_new_session=True)
        try:
            output, _ = process.communicate(timeout=limit)
            status = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            status = f"none within {limit} s"
        if status == 0:
            last = output.strip().splitlines()[-1] if output.strip() else ""
            if options.verbose:
                print(f"job {job.number}: {last}", flush=True)
            return True
        print(f"job {job.number}: status {status}\n  {shown}\n{output}", flush=True)
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", required=True, help="the launcher")
    parser.add_argument("--program", required=True, help="the program")
    parser.add_argument("--first", type=int, default=1, help="number of the first job")
    parser.add_argument("--jobs", type=int, default=10**9, help="how many at most")
    parser.add_argument("--seconds", type=float, default=10**9, help="start no job after this time")
    parser.add_argument("--patience", type=int, default=20, help="seconds of silence that are a hang")
    parser.add_argument("--hold", action="store_true", help="keep a silent job for a debugger")
    parser.add_argument("--keep-going", action="store_true", help="go on behind a failure")
    parser.add_argument("--verbose", action="store_true", help="a line for each job")
    options = parser.parse_args()
    begin, ran, failed = time.monotonic(), 0, []
    for number in range(options.first, options.first + options.jobs):
        if time.monotonic() - begin > options.seconds:
            break
        ran += 1
        if not run(Job(number), options):
            failed.append(number)
            if not options.keep_going:
                break
    print(f"soak: {ran} jobs from {options.first}, {time.monotonic() - begin:.0f} s: "
          + (f"FAILED: {failed}; see one again with --first N --jobs 1" if failed else "no failure"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
