# SPDX-License-Identifier: BSD-3-Clause
"""What the standard suite may cost, counted: budgets.py BUILDS LAUNCHES

BUILDS has the folders release, tsan and asan; LAUNCHES has a line for each job that the tests have started. A test
launches jobs if its command names a launcher; those of deaths, of the launcher and of shortage launch several. Time
depends on the machine and its load, these counts do not. A change that needs more takes something away, or argues
for a larger number here: programs in UPC, spans and signals, operators and scans, traces and packages came with 34
compiles and 25 to 50 jobs.
"""

import pathlib
import re
import subprocess
import sys

import schedule

MOST_LAUNCHING, MOST_JOBS, MOST_LINKS, MOST_COMPILES = 200, 370, 45, 440
TARGETS = {"release": "all", "tsan": "tsan_tests", "asan": "asan_tests"}


def commands(folder, target):
    said = subprocess.run(["ninja", "-C", str(folder), "-t", "commands", target], check=True, capture_output=True,
                          text=True).stdout
    return said.splitlines()


def launching_tests(folder, name):
    """How many tests of the standard suite in this build launch jobs."""
    launches = re.compile(r"counted/(weft|mpirun)$|private_slurm|faults_test")
    return sum(any(map(launches.search, test.command)) for test in schedule.listed(folder)
               if name == "release" or name in test.labels)


def main():
    builds, launches = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    compiles = links = launching = 0
    for name, target in TARGETS.items():
        lines = commands(builds / name, target)
        here = sum(1 for line in lines if re.search(r" -c \S+$", line) or " -x c++-header " in line)
        linked = sum(1 for line in lines if " -o " in line and re.search(r"\.o\b", line) and " -c " not in line)
        print(f"{name}: {here} compiles, {linked} links")
        compiles += here
        links += linked
        launching += launching_tests(builds / name, name)
    jobs = len(launches.read_text().split())
    counts = [("compiles", compiles, MOST_COMPILES), ("links", links, MOST_LINKS),
              ("tests that launch jobs", launching, MOST_LAUNCHING), ("jobs", jobs, MOST_JOBS)]
    print("all: " + ", ".join(f"{count} {what} of {most}" for what, count, most in counts))
    over = any(count > most for _, count, most in counts)
    if over:
        print("budgets.py: over budget")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
