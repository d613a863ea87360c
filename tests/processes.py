# SPDX-License-Identifier: BSD-3-Clause
"""The processes of this machine, for what starts tests and must leave none behind."""

import os
import pathlib
import signal


def stats():
    """Yields of each the id, and the fields of /proc/ID/stat from its state on: [1] is its parent, [3] its session."""
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = pathlib.Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        yield int(entry), fields


def descendants(ancestors):
    """The living ones below these, which are left out themselves."""
    children = {}
    for pid, fields in stats():
        if fields[0] != "Z":
            children.setdefault(int(fields[1]), []).append(pid)
    found, level = [], list(ancestors)
    while level:
        level = [child for parent in level for child in children.get(parent, [])]
        found += level
    return found


def kill_all(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
