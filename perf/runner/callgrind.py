# SPDX-License-Identifier: BSD-3-Clause
"""Counts the instructions of the functions of a program of Weft, rank by rank."""
import os
import re
import tempfile

from . import launch

PREFIX = "measured_"
COST = re.compile(r"[+\-*\d]\S* (\d+)")


def read(lines):
    """{function: instructions within it, with all that it calls} of what callgrind has written."""
    found, inside = {}, None
    for line in lines:
        if line.startswith("fn="):
            name = line[3:].strip()
            inside = name[len(PREFIX):] if name.startswith(PREFIX) else None
        elif inside and (cost := COST.match(line)):
            found[inside] = found.get(inside, 0) + int(cost[1])
    return found


class Job(launch.Job):
    """Two ranks, each under callgrind. No setting of the caller's is in force, and the progress thread is the one that
    sleeps, whatever cores there are."""

    def environment(self, settings):
        plain = {name: value for name, value in os.environ.items() if not name.startswith(("WEFT_", "UCX_"))}
        # Functions are found when the program starts, and not by the first call.
        return {**plain, "WEFT_PROGRESS": "helping", "WEFT_LANE": "direct", "LD_BIND_NOW": "1", **settings}


def count(launcher, program, arguments, timeout):
    """What read() finds in the file of each rank."""
    job = Job("weft", launch.Program(launcher, launch.installed("valgrind")), 2, False, 0)
    with tempfile.TemporaryDirectory(prefix="weft-perf-") as folder:
        # Collects within these functions only; all names are written out.
        tool = ["-q", "--tool=callgrind", f"--toggle-collect={PREFIX}*", "--compress-strings=no", "--compress-pos=no",
                f"--callgrind-out-file={folder}/%q{{PMIX_RANK}}"]
        job.output([*tool, program, *arguments], timeout)
        found = []
        for rank in range(job.np):
            try:
                with open(os.path.join(folder, str(rank)), encoding="utf-8") as file:
                    found.append(read(file))
            except FileNotFoundError:
                raise launch.Failed(f"callgrind wrote nothing of rank {rank}") from None
    return found
