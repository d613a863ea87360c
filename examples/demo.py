#!/usr/bin/env python3
"""What the library is for, shown on one screen and verified: demo.py BUILD-DIRECTORY

Who waits for a rank that computes, with the library and with the MPIs of this machine, and the times of NAS FT and IS.
Nothing is measured for the record here; ./run perf does that.
"""
import json
import os
import re
import shutil
import subprocess
import sys

# A collective that never ends must not leave the user waiting.
LIMIT = 120
BAR = 44
NAMES = {"weft": "Weft", "openmpi": "Open MPI", "mpich": "MPICH"}
ROW = re.compile(r"^ +(\d+) KiB +([\d.]+) +([\d.]+) ", re.MULTILINE)


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


def launcher_of(library, build):
    """How two ranks are started, or None where the library is not on this machine."""
    if library == "weft":
        return [os.path.join(build, "bin/weft"), "run", "-n", "2", os.path.join(build, "examples/independence")]
    twin = os.path.join(build, f"examples/independence_{library}")
    mpirun = shutil.which(f"mpirun.{library}")
    if mpirun is None or not os.access(twin, os.X_OK):
        return None
    options = ["--bind-to", "none", "--oversubscribe"] if library == "openmpi" else []
    if library == "openmpi" and os.geteuid() == 0:
        options.append("--allow-run-as-root")
    return [mpirun, *options, "-n", "2", twin]


def waits(build):
    """{library: {KiB of a block: µs that rank 1 waits}}"""
    found = {}
    for library, name in NAMES.items():
        command = launcher_of(library, build)
        if command:
            rows = ROW.findall(run(f"who waits with {name}", command))
            found[library] = {int(size): float(waited) for size, _, waited in rows}
    return found


def benchmark(build, name, threads, problem):
    """Seconds of a NAS benchmark by variant."""
    command = [os.path.join(build, "bin/weft"), "run", "-n", str(threads), os.path.join(build, "examples", name)]
    text = run(f"NAS {name.upper()} class {problem}", command + ["--class", problem, "--json"])
    records = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    if len(records) != 2 or not all(record["verified"] for record in records):
        raise Failed(f"NAS {name.upper()} class {problem} was not verified: {text}")
    return {record["variant"]: record["seconds"] for record in records}


def bar(value, largest):
    return "#" * max(1, round(BAR * value / largest))


def time(us):
    return f"{us / 1000:.1f} ms" if us >= 1000 else f"{us:.0f} µs"


def times(ratio):
    return f"{ratio:.0f}x" if ratio >= 10 else f"{ratio:.1f}x" if ratio >= 0.1 else f"1/{1 / ratio:.0f}x"


def waiting_screen(found):
    yield "Who waits: rank 0 posts an all-to-all and computes 5 ms without a call; the wait of rank 1"
    largest = max(waited for rows in found.values() for waited in rows.values())
    for size in found["weft"]:
        for library, rows in found.items():
            block = f"{size} KiB" if library == "weft" else ""
            more = "" if library == "weft" else f"  {times(rows[size] / found['weft'][size])}"
            yield f"  {block:>9}  {NAMES[library]:<9} {time(rows[size]):>8}  {bar(rows[size], largest)}{more}"
    missing = [NAMES[library] for library in NAMES if library not in found]
    if missing:
        yield f"  not on this machine: {', '.join(missing)}"


def benchmark_screen(build, name, threads, problem, verified):
    seconds = benchmark(build, name, threads, problem)
    yield f"NAS {name.upper()} class {problem} on {threads} threads, {verified} verified"
    for variant, value in seconds.items():
        yield f"  {variant:>9}  {'':<9} {value:6.3f} s  {bar(value, max(seconds.values()))}"


def main(arguments):
    if len(arguments) != 1:
        raise Failed("usage: demo.py BUILD-DIRECTORY")
    build = arguments[0]
    for program in "bin/weft", "examples/independence", "examples/ft", "examples/is":
        if not os.access(os.path.join(build, program), os.X_OK):
            raise Failed(f"{build}/{program} is not there: use ./run demo")
    lines = [*waiting_screen(waits(build)), "", *benchmark_screen(build, "ft", 4, "W", "checksums"), "",
             *benchmark_screen(build, "is", 2, "W", "ranks and order"), "", "demo: verified"]
    print("\n".join(lines))


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Failed as error:
        sys.exit(f"demo: failed: {error}")
