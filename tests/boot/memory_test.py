# SPDX-License-Identifier: BSD-3-Clause
"""What ranks take of memory, measured and by the count of weft info: memory_test.py WEFT JOB_CLIENT RANKS [NODES].

The ranks of a job wait in a barrier while the memory of some of them is read. What a process takes by itself depends on the
versions of UCX and PMIx, so it is taken from a job of two ranks: what is compared is that and what the count says grows.
"""

import os
import re
import signal
import subprocess
import sys

HEAP = {"WEFT_HEAP_SIZE": "2M", "WEFT_TIMEOUT": "0"}
WITHIN = 0.10


def counted(weft, ranks, nodes):
    said = subprocess.run([weft, "info", "--ranks", str(ranks), "--nodes", str(nodes)], check=True, capture_output=True,
                          text=True, env={**os.environ, **HEAP}).stdout
    return int(re.search(r"^in all, at the start +(\d+)", said, re.MULTILINE)[1])


def taken(pid):
    """Anonymous memory, its part of shared memory, and the tables by which both are mapped; no file that was loaded."""
    kilobytes = 0
    for name, fields in (("smaps_rollup", ("Pss_Anon", "Pss_Shmem")), ("status", ("VmPTE",))):
        with open(f"/proc/{pid}/{name}", encoding="utf-8") as file:
            text = file.read()
        kilobytes += sum(int(re.search(rf"^{field}:\s+(\d+) kB", text, re.MULTILINE)[1]) for field in fields)
    return kilobytes * 1024


def measured(weft, client, ranks, nodes):
    """The mean of a few ranks of a job."""
    with subprocess.Popen([weft, "run", "-n", str(ranks), "--nodes", str(nodes), client, "waits"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, env={**os.environ, **HEAP}) as job:
        try:
            pids = {}
            while len(pids) < ranks:
                rank, pid = map(int, re.fullmatch(r"ready (\d+) (\d+)\n", job.stdout.readline()).groups())
                pids[rank] = pid
            few = range(1, ranks, max(1, ranks // 8))
            return sum(taken(pids[rank]) for rank in few) / len(few)
        finally:
            job.send_signal(signal.SIGTERM)


def main():
    weft, client = sys.argv[1:3]
    ranks, nodes = int(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else 1
    base = measured(weft, client, 2, min(2, nodes)) - counted(weft, 2, min(2, nodes))
    is_so, should_be = measured(weft, client, ranks, nodes), counted(weft, ranks, nodes) + base
    print(f"{ranks} ranks on {nodes} nodes: {is_so / 1024:.0f} KiB each, by count {should_be / 1024:.0f}, "
          f"{is_so / should_be:.3f} times as much; the process itself {base / 1024:+.0f} of what was counted")
    return 0 if abs(is_so / should_be - 1) <= WITHIN else 1


if __name__ == "__main__":
    sys.exit(main())
