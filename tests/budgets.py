"""What the standard suite may cost, counted: budgets.py BUILDS LAUNCHES

BUILDS has the folders release, tsan and asan; LAUNCHES has a line for each job that the tests have started. Time
depends on the machine and its load, these counts do not. A change that needs more takes something away, or argues
for a larger number here.
"""

import pathlib
import re
import subprocess
import sys

MOST_LAUNCHES, MOST_LINKS, MOST_COMPILES = 200, 45, 650
TARGETS = {"release": "all", "tsan": "tsan_tests", "asan": "asan_tests"}


def commands(folder, target):
    said = subprocess.run(["ninja", "-C", str(folder), "-t", "commands", target], check=True, capture_output=True,
                          text=True).stdout
    return said.splitlines()


def main():
    builds, launches = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    compiles = links = 0
    for name, target in TARGETS.items():
        lines = commands(builds / name, target)
        here = sum(1 for line in lines if re.search(r" -c \S+$", line) or " -x c++-header " in line)
        linked = sum(1 for line in lines if " -o " in line and re.search(r"\.o\b", line) and " -c " not in line)
        print(f"{name}: {here} compiles, {linked} links")
        compiles += here
        links += linked
    started = len(launches.read_text().split())
    print(f"all: {compiles} compiles of {MOST_COMPILES}, {links} links of {MOST_LINKS}, {started} launches of {MOST_LAUNCHES}")
    over = compiles > MOST_COMPILES or links > MOST_LINKS or started > MOST_LAUNCHES
    if over:
        print("budgets.py: over budget")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
