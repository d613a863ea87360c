# SPDX-License-Identifier: BSD-3-Clause
"""How the scope of weft::job ends: scopes_test.py WEFT PROGRAM"""
import os
import subprocess
import sys

CASES = {
    "well": (0, ["ended"]),
    "handles": (0, ["ended", "rank 1: a handle that no call has completed, of upc_all_exchange (scopes.cpp:",
                    "rank 1: a handle was completed again, of weft::gather_all (scopes.cpp:", "; first by upc_wait: it was complete"]),
    "error": (1, ["weft: rank 1: weft::array::on: rank = 2: must be a rank of the job, 0 to 1 (scopes.cpp:"]),
    "uncaught": (134, ["weft: rank 1: nothing catches the exception of the program std::runtime_error: another"]),
    "caught": (1, ["weft: rank 1: an exception of the program leaves the scope of weft::job"]),
    "spans": (1, ["(nelems 4, type double, op UPC_ADD, MY/MY) at scopes.cpp:", "(nelems 5, type double, op UPC_ADD, MY/MY) at scopes.cpp:"]),
    "lengths": (1, ["upc_all_alloc(40 bytes a thread)", "upc_all_alloc(44 bytes a thread)"]),
}


def main(weft, program):
    for what, (status, lines) in CASES.items():
        done = subprocess.run([weft, "run", "-n", "2", program, what], env=dict(os.environ, WEFT_CHECK="1"), timeout=60,
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        missing = [line for line in lines if line not in done.stdout]
        if done.returncode != status or missing or (what == "well" and "handle" in done.stdout) or "terminate" in done.stdout or "not reached" in done.stdout:
            sys.exit(f"{what}: status {done.returncode}, not found: {missing}\n{done.stdout}")
    print(f"{len(CASES)} ends of a scope")


if __name__ == "__main__":
    main(*sys.argv[1:])
