# SPDX-License-Identifier: BSD-3-Clause
"""Prints the names of the tests and suites that concern the files which differ from the last commit: concerned.py ROOT

With --smoke in the place of ROOT: one quick test of each family that no session plays. A name is a part of the names of
tests, as suite.py takes it.
"""

import subprocess
import sys

SMOKE = """api.c_interface boot.launcher.ExitStatus checked.of_all.0 deaths.n3.h1.direct example.two_teams graph.topology
heap install.run layers.includes locks.heirs perf.runner progress. reports.slow.direct requests.refused.dedicated
shortage.n1.1.0.caller sockets.strangers threads.watched_rank tools.Usage trust.listen"""

# The beginning of a path, and what concerns it beside the tests of its own folder.
CONCERNS = [
    ("engine/collectives/", "graph simulated"),
    ("engine/topology/", "graph simulated"),
    ("engine/plan/", "graph simulated"),
    ("engine/operations/", "graph simulated"),
    ("verify/", "graph"),
    ("engine/reductions/", "kernels reductions"),
    ("engine/sorting/", "sort"),
    ("engine/memory/", "simulated heap"),
    ("engine/transport/ucx/", "sockets requests"),
    ("testing/simulated/", "simulated"),
    ("testing/threads/", "threads"),
    ("engine/settings", "tools"),
    ("progress/execution/", "simulated threads progress"),
    ("progress/driving/", "progress threads"),
    ("progress/control/", "simulated teams locks atomics heap"),
    ("api/runtime/", "api. reports"),
    ("api/one_sided/", "api. one_sided"),
    ("api/", "api."),
    ("pmix_boot/", "boot"),
    ("tools/", "tools"),
    ("docs/", "tools readme"),
    ("README", "readme demo.figure tools.manuals"),
    ("CMakeLists", "install"),
    ("cmake/", "install"),
    ("run", "install.run"),
    ("packages", "demo.packages"),
    ("examples/", "example demo"),
    ("perf/", "perf"),
    ("tests/calls/", "differential simulated"),
    ("tests/jobs/", ""),  # the smoke run plays sessions
]


def main():
    root = sys.argv[1]
    if root == "--smoke":
        print(" ".join(SMOKE.split()))
        return
    git = ["git", "-C", root]
    changed = subprocess.run([*git, "diff", "--name-only", "HEAD"], check=True, capture_output=True, text=True).stdout
    changed += subprocess.run([*git, "ls-files", "--others", "--exclude-standard"], check=True, capture_output=True,
                              text=True).stdout
    names = set()
    for path in changed.splitlines():
        folder = path.split("/")[1:2] if path.startswith("tests/") and path.count("/") > 1 else []
        names.update(next((tests.split() for start, tests in CONCERNS if path.startswith(start)), folder))
    print(" ".join(sorted(names)))


if __name__ == "__main__":
    main()
