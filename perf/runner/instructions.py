# SPDX-License-Identifier: BSD-3-Clause
"""Counts the instructions of the smallest calls, of this tree and of another commit, and prints them side by side.

Unlike times they do not depend on what else the machine does: perf/programs/instructions.cpp says why."""
import json
import os
import subprocess
import sys

from . import builds, callgrind, launch, report

PROGRAM = (os.path.join(builds.ROOT, "perf", "programs", "instructions.cmake"), "weft_bench_instructions")
REFERENCE = os.path.join(builds.ROOT, "perf", "reference", "instructions.json")
STABLE = 0.01  # what two runs may differ by

# The calls, with how many operations each makes.
CALLS = {
    "post": ("the post alone of an exchange of 8 bytes, whose plan is cached", 1),
    "exchange": ("blocking upc_all_exchange of 8 bytes", 1),
    "broadcast": ("blocking upc_all_broadcast of 8 bytes by rank 0", 1),
    "team_allreduce": ("blocking cray_upc_team_allreduce of one 64-bit sum", 1),
    "reduce_all": ("blocking upc_all_reduce_allUL of one word on each rank", 1),
    "barrier": ("upc_barrier", 1),
    "many": ("one of 32 exchanges of 8 bytes, which are posted and then waited for", 32),
    "sweep": ("one upc_test with 32 of them outstanding that cannot move", 1),
}


def note(text):
    print(f"run_perf: {text}", file=sys.stderr, flush=True)


def measure(build, calls, timeout):
    """{(call, rank): instructions} of one run."""
    found = callgrind.count(launch.built("weft", build), launch.built(PROGRAM[1], build), [str(calls)], timeout)
    missing = [name for name in CALLS for of_rank in found if name not in of_rank]
    if missing:
        raise launch.Failed(f"callgrind has collected nothing of {missing[0]}")
    return {(name, rank): found[rank][name] / calls / operations for name, (_, operations) in CALLS.items()
            for rank in range(len(found))}


def repeated(build, calls, options):
    """The same of several runs: each figure is the least, and by how much the greatest exceeds it at most."""
    runs = [measure(build, calls, options.timeout) for _ in range(options.repetitions)]
    least = {key: min(run[key] for run in runs) for key in runs[0]}
    return least, max(max(run[key] for run in runs) / least[key] - 1 for key in least)


# ---- the reference


def version(command):
    try:
        said = subprocess.run([command, "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return "unknown"
    return (said.splitlines() or ["unknown"])[0]


def ucx_version():
    found = subprocess.run(["pkg-config", "--modversion", "ucx"], capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


def reference_of(figures, commit, subject, compiler):
    """The text of a reference."""
    head = {"what": "instructions of a call of 2 ranks, [rank 0, rank 1]: docs/performance.md", "commit": commit,
            "subject": subject, "compiler": compiler, "ucx": ucx_version(), "valgrind": version("valgrind")}
    lines = [f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in head.items()]
    rows = [f"    {json.dumps(name)}: [{figures[name, 0]:.1f}, {figures[name, 1]:.1f}]" for name in CALLS]
    lines.append('  "instructions": {\n' + ",\n".join(rows) + "\n  }")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def read_reference(path=REFERENCE):
    """What a reference says, and its figures as measure() has them; calls that it does not know are left out."""
    try:
        with open(path, encoding="utf-8") as file:
            said = json.load(file)
    except FileNotFoundError:
        raise launch.Missing(f"no {path}, name a commit with --against") from None
    return said, {(name, rank): value for name, row in said["instructions"].items() for rank, value in enumerate(row)}


# ---- what is told


def table(figures, other, title):
    keys = list(figures)
    columns = [("call", [name for name, _ in keys]), ("rank", [str(rank) for _, rank in keys]),
               ("this tree", [f"{figures[key]:.0f}" for key in keys])]
    columns.append((title, [f"{other[key]:.0f}" if key in other else "-" for key in keys]))
    columns.append(("difference", [difference(figures[key], other.get(key)) for key in keys]))
    text = "instructions of a call, np=2, MY/MY, of the rank that comes last: it never waits\n"
    text += report.aligned(columns, [])
    return text + "".join(f"{name}: {what}\n" for name, (what, _) in CALLS.items())


def difference(now, before):
    """'+12 (+0.9 %)', or '0' where less than half an instruction is between them."""
    if before is None:
        return "-"
    if abs(now - before) < 0.5:
        return "0"
    return f"{now - before:+.0f} ({100 * (now / before - 1):+.1f} %)"


def records(figures, other, commit):
    """One for each row, as all others of the runner."""
    return [dict(bench="instructions", op=name, np=2, bytes=0 if name == "barrier" else 8, mode="MY/MY", library="weft",
                 rank=rank, instructions=round(value, 2), commit=commit,
                 **({"against": round(other[name, rank], 2)} if (name, rank) in other else {}))
            for (name, rank), value in figures.items()]


# ---- which commit


class Other:
    """What stands beside this tree: the figures of a commit, measured now, or as they are in the reference."""

    def __init__(self, options, calls):
        self.spread = 0
        if options.against:
            self.commit = builds.commit_named(builds.ROOT, options.against)
        else:
            said, self.figures = read_reference()
            self.commit = said["commit"]
            try:
                builds.commit_named(builds.ROOT, self.commit)
            except (launch.Failed, launch.Missing):
                note(f"commit {self.commit[:12]} is not at hand: its figures are those of the reference, made with "
                     f"{said['compiler']}, UCX {said['ucx']}")
                return
        note(f"building commit {self.commit[:12]}")
        build = builds.of_commit(options.build, builds.ROOT, self.commit, PROGRAM)
        self.figures, self.spread = repeated(build, calls, options)
        note(f"counted commit {self.title}")

    @property
    def title(self):
        return self.commit[:12]


def count(options):
    calls = 64 if options.quick else 256
    launch.installed("valgrind")
    other = Other(options, calls)
    figures, spread = repeated(options.build, calls, options)
    note("counted this tree")
    print(table(figures, other.figures, other.title), end="")
    spread = max(spread, other.spread)
    if options.repetitions > 1:
        print(f"{options.repetitions} runs of each: no figure differs by more than {100 * spread:.2f} %")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(record) + "\n" for record in records(figures, other.figures, other.commit))
    if options.write_reference:
        write_reference(options, other)
    if spread > STABLE:
        note(f"the figures are not stable: two runs differ by more than {100 * STABLE:.0f} %")
    return 0 if spread <= STABLE else 1


def write_reference(options, other):
    compiler = version(builds.cache_of(options.build).get("CMAKE_CXX_COMPILER", "c++"))
    subject = builds.git(builds.ROOT, "show", "-s", "--format=%s", other.commit)
    with open(REFERENCE, "w", encoding="utf-8") as file:
        file.write(reference_of(other.figures, other.commit, subject, compiler))
    note(f"wrote {REFERENCE}")


def main(options):
    try:
        return count(options)
    except (launch.Missing, launch.Failed) as error:
        note(f"--instructions failed: {error}")
        return 1
