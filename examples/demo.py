#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the library is for, shown on one screen and verified: demo.py BUILD-DIRECTORY [--plot FILE.svg]

How long a rank waits for another one that computes, and the times of NAS FT and IS, with the library and with the MPIs
of this machine. With --plot also a figure and a table of the first; ./run perf measures for the record.
"""
import json
import os
import re
import shutil
import statistics
import subprocess
import sys

import figure

# A collective that never ends must not leave the user waiting.
LIMIT = 120
BAR = 40
NAMES = {"weft": "Weft", "openmpi": "Open MPI", "mpich": "MPICH"}
EXAMPLES = ("independence", "ft", "is")
PROBLEM = "W"
ROW = re.compile(r"^ +(\d+) KiB +([\d.]+) +([\d.]+) ", re.MULTILINE)
VERSION = re.compile(r"(?:OpenRTE\) |Version: +)(\d[\w.]*)")


class Failed(Exception):
    """Something did not do what it is shown for."""


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[Kdemo: {text}", end="", file=sys.stderr, flush=True)


def run(name, command):
    """What the command prints; the demo ends if it does not succeed."""
    progress(name)
    try:
        done = subprocess.run(["timeout", "--foreground", "-k", "10", str(LIMIT), *command], capture_output=True,
                              text=True, check=False)
    finally:
        progress("")
    if done.returncode in (124, 137):
        raise Failed(f"{name} did not end within {LIMIT} seconds")
    if done.returncode != 0:
        raise Failed(f"{name} ended with status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def cores():
    return len(os.sched_getaffinity(0))


class Library:
    """How an example is started with one of the libraries."""

    def __init__(self, name, build):
        self.name, self.build = name, build
        self.mpirun = shutil.which(f"mpirun.{name}") if name != "weft" else None

    def program(self, example):
        return os.path.join(self.build, "examples", example if self.name == "weft" else f"{example}_{self.name}")

    def is_here(self):
        return (self.name == "weft" or self.mpirun) and all(os.access(self.program(e), os.X_OK) for e in EXAMPLES)

    def run(self, example, ranks, *arguments):
        if self.name == "weft":
            launcher = [os.path.join(self.build, "bin/weft"), "run"]
        else:
            launcher = [self.mpirun, *(self.options_of_openmpi(ranks) if self.name == "openmpi" else [])]
        return run(f"{example} with {NAMES[self.name]}",
                   [*launcher, "-n", str(ranks), self.program(example), *arguments])

    @staticmethod
    def options_of_openmpi(ranks):
        options = ["--bind-to", "none", "--oversubscribe"]
        if ranks > cores():
            options += ["--mca", "mpi_yield_when_idle", "1"]
        return options + (["--allow-run-as-root"] if os.geteuid() == 0 else [])

    def version(self):
        if self.name == "weft":
            return NAMES["weft"]
        said = subprocess.run([self.mpirun, "--version"], capture_output=True, text=True, check=False).stdout
        number = VERSION.search(said)
        return NAMES[self.name] + (f" {number.group(1)}" if number else "")


def machine():
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        model = re.search(r"^model name\s*:\s*(.*?)\s*$", file.read(), re.MULTILINE)
    return f"{cores()} cores ({model.group(1) if model else os.uname().machine})"


def waits(libraries, repetitions):
    """{library: {bytes of a block: µs that rank 1 waits}}, the medians of runs that take turns."""
    runs = {library.name: [] for library in libraries}
    for _ in range(repetitions):
        for library in libraries:
            rows = ROW.findall(library.run("independence", 2))
            runs[library.name].append({int(kib) << 10: float(waited) for kib, _, waited in rows})
    return {name: {size: statistics.median(one[size] for one in all_of) for size in all_of[0]}
            for name, all_of in runs.items()}


def benchmark(library, name, ranks):
    """Seconds of a NAS benchmark by variant."""
    arguments = ["--class", PROBLEM, "--json"] if library.name == "weft" else [PROBLEM]
    text = library.run(name, ranks, *arguments)
    records = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    if not records or not all(record["verified"] for record in records):
        raise Failed(f"NAS {name.upper()} class {PROBLEM} with {NAMES[library.name]} was not verified: {text}")
    return {record["variant"]: record["seconds"] for record in records}


def bar(value, largest):
    return "#" * max(1, round(BAR * value / largest))


def times(ratio):
    return f"{ratio:.0f}x" if ratio >= 10 else f"{ratio:.2f}x" if ratio >= 0.1 else f"1/{1 / ratio:.0f}x"


def rows_of(label, found, text, largest):
    """A row for each library; behind the bar of an MPI how many times Weft's time it is."""
    for library, value in found.items():
        more = f"  {times(value / found['weft'])}" if library != "weft" and "weft" in found else ""
        yield f"  {label:>9}  {NAMES[library]:<9} {text(value):>9}  {bar(value, largest)}{more}"
        label = ""


def waiting_screen(found):
    yield "Who waits: rank 0 posts an all-to-all and computes 5 ms without a call; the wait of rank 1"
    largest = max(waited for rows in found.values() for waited in rows.values())
    for size in found["weft"]:
        yield from rows_of(figure.size(size), {name: rows[size] for name, rows in found.items()}, figure.time, largest)
    missing = [NAMES[library] for library in NAMES if library not in found]
    if missing:
        yield f"  not on this machine: {', '.join(missing)}"


def benchmark_screen(libraries, name, verified):
    ranks = 4 if cores() >= 4 else 2
    found = {library.name: benchmark(library, name, ranks) for library in libraries}
    yield f"NAS {name.upper()} class {PROBLEM} on {ranks} ranks, {verified} verified"
    largest = max(value for seconds in found.values() for value in seconds.values())
    for variant in found["weft"]:
        of_it = {library: seconds[variant] for library, seconds in found.items() if variant in seconds}
        yield from rows_of(variant, of_it, "{:.3f} s".format, largest)


def rounds(build):
    """{library: (ms a round, ms of it that a rank waits)} of the transpose with Open MPI, plain and carried; medians."""
    pythons = [python for python in ("python3", "/usr/bin/python3") if shutil.which(python) and subprocess.run(
        [python, "-c", "import numpy, mpi4py.MPI"], capture_output=True, check=False).returncode == 0]
    mpirun = shutil.which("mpirun.openmpi")
    if not pythons or mpirun is None or not os.path.exists(os.path.join(build, "mpi/libweft-mpi-openmpi.so")):
        return {}
    program = [pythons[0], os.path.join(os.path.dirname(os.path.abspath(__file__)), "transpose.py"), "8192"]
    started = [mpirun, *Library.options_of_openmpi(4), "-n", "4", *program]
    seen = {"openmpi": [], "weft": []}
    for _ in range(3):
        for name, before in ("openmpi", []), ("weft", [os.path.join(build, "bin/weft"), "mpi", "--with", "openmpi"]):
            text = run(f"transpose.py with {NAMES[name]}", [*before, *started])
            seen[name].append([float(number) for number in re.findall(r"[\d.]+", text)[:2]])
    return {name: [statistics.median(column) for column in zip(*all_of)] for name, all_of in seen.items()}


def transpose_screen(found):
    yield "The same program of MPI twice, by mpirun and by weft mpi mpirun: examples/transpose.py, 4 ranks, 8 KiB blocks"
    if not found:
        yield "  not on this machine: mpi4py, numpy or Open MPI"
        return
    for number, label in enumerate(("a round", "waited")):
        of_it = {name: found[name][number] for name in ("weft", "openmpi")}
        yield from rows_of(label, of_it, "{:.2f} ms".format, found["openmpi"][0])


def main(arguments):
    if len(arguments) not in (1, 3) or arguments[1:2] not in ([], ["--plot"]):
        raise Failed("usage: demo.py BUILD-DIRECTORY [--plot FILE.svg]")
    build, plot = arguments[0], arguments[2] if arguments[1:] else None
    all_libraries = [Library(name, build) for name in NAMES]
    if not all_libraries[0].is_here() or not os.access(os.path.join(build, "bin/weft"), os.X_OK):
        raise Failed(f"{build} has no examples: use ./run demo")
    libraries = [library for library in all_libraries if library.is_here()]
    found = waits(libraries, 5 if plot else 1)
    print("\n".join(waiting_screen(found)), flush=True)
    for name, verified in ("ft", "checksums"), ("is", "ranks and order"):
        print("\n" + "\n".join(benchmark_screen(libraries, name, verified)), flush=True)
    print("\n" + "\n".join(transpose_screen(rounds(build))), flush=True)
    versions = {library.name: library.version() for library in libraries}
    beside = ", ".join(versions[name] for name in versions if name != "weft")
    print(f"\ndemo: verified, on {machine()}{' beside ' + beside if beside else ''}")
    if plot:
        figure.draw(found, NAMES, plot)
        print("\n" + "\n".join(figure.table(found, versions)))


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Failed as error:
        sys.exit(f"demo: failed: {error}")
