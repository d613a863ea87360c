"""Prints the names of the tests and suites that concern the files which differ from the last commit: concerned.py ROOT

A name is a part of the names of tests, as suite.py takes it.
"""

import subprocess
import sys

# The beginning of a path, and what concerns it beside the tests of its own folder.
CONCERNS = [
    ("engine/collectives/", "graph simulated"),
    ("engine/topology/", "graph simulated"),
    ("engine/plan/", "graph simulated"),
    ("engine/operations/", "graph simulated"),
    ("engine/verify/", "graph"),
    ("engine/reductions/", "kernels reductions"),
    ("engine/sorting/", "sort"),
    ("engine/memory/", "simulated heap"),
    ("engine/transport/ucx/", "sockets requests"),
    ("engine/transport/simulated/", "simulated"),
    ("engine/transport/threads/", "threads"),
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
    ("README", "readme"),
    ("CMakeLists", "install"),
    ("cmake/", "install"),
    ("run", "install.run"),
    ("examples/", "example"),
    ("perf/", "perf"),
]


def main():
    root = sys.argv[1]
    git = ["git", "-C", root]
    changed = subprocess.run([*git, "diff", "--name-only", "HEAD"], check=True, capture_output=True, text=True).stdout
    changed += subprocess.run([*git, "ls-files", "--others", "--exclude-standard"], check=True, capture_output=True,
                              text=True).stdout
    names = set()
    for path in changed.splitlines():
        words = path.split("/")
        if words[0] == "tests" and len(words) > 2:
            names.add(words[1])
            continue
        names.update(next((tests.split() for start, tests in CONCERNS if path.startswith(start)), []))
    print(" ".join(sorted(names)))


if __name__ == "__main__":
    main()
