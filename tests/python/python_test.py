# SPDX-License-Identifier: BSD-3-Clause
"""The binding for numpy, and the program of docs/python.md, as jobs: python_test.py SOURCE WEFT LIBRARY

Mutations that this catches: a team that was freed stands for all ranks; an operand that counts from another array; an
exception in the scope of a job that leaves the other ranks waiting.
"""
import os
import re
import subprocess
import sys

SKIPPED = 77


def interpreter():
    """One that has numpy, or None."""
    for path in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(path) and subprocess.run([path, "-c", "import numpy"], check=False, capture_output=True).returncode == 0:
            return path
    return None


def main(source, weft, library):
    python = interpreter()
    if python is None:
        print("left out: no interpreter has numpy (apt install python3-numpy)")
        return SKIPPED
    environment = dict(os.environ, PYTHONPATH=os.path.join(source, "python"), LIBWEFT=library)
    program = [python, "-B", os.path.join(source, "tests", "python", "arrays.py")]
    for place, settings in ((["-n", "2"], {"WEFT_CHECK": "1"}), (["-n", "3", "--nodes", "2"], {})):
        done = subprocess.run([weft, "run", *place, *program], check=False, timeout=100, env={**environment, **settings}, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        if done.returncode != 0 or done.stdout != "all are right\n" * int(place[1]):
            sys.exit(f"{place}: status {done.returncode}\n{done.stdout}")
    with open(os.path.join(source, "docs", "python.md"), encoding="utf-8") as page:
        shown = re.search(r"```python\n(.*?)```", page.read(), re.DOTALL)[1]
    subprocess.run([weft, "run", "-n", "3", python, "-B", "-c", shown], check=True, timeout=100, env=environment,
                   stdin=subprocess.DEVNULL)
    done = subprocess.run([weft, "run", "-n", "2", *program, "fails"], check=False, timeout=100, env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    if done.returncode != 1 or "weft: rank 1: of the program" not in done.stdout:
        sys.exit(f"an exception: status {done.returncode}\n{done.stdout}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
