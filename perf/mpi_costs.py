#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What libweft-mpi costs a program of MPI, plain and with it, launched in turns.

    perf/mpi_costs.py [--mpi openmpi|mpich] [-n RANKS] [--launches N] [WHAT...]

WHAT: messages (a program without non-blocking collectives, seconds), cache and memory (how long a computation takes
beside MPI_Ialltoall, of what it takes alone), idle (seconds of processor while all sleep), pipecg and groppcg (PETSc's
ex2 from Debian's package, seconds of the whole program). Medians of the launches.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from mpi_waits import HERE, launcher_of, preload_of

ROUNDS = {"messages": 100000, "cache": 60, "memory": 30, "idle": 2}
PETSC = pathlib.Path("/usr/share/petsc/3.18/share/petsc/examples/src/ksp/ksp/tutorials/ex2.c")
SOLVERS = ("pipecg", "groppcg")


def compile_all(mpi, folder, what):
    """The programs by what they measure, with their arguments."""
    own = os.path.join(folder, "mpi_costs")
    subprocess.run([f"mpicc.{mpi}", "-O2", "-w", str(HERE / "mpi_costs.c"), "-o", own], check=True)
    programs = {name: [own, name, str(rounds)] for name, rounds in ROUNDS.items() if name in what}
    solvers = [name for name in SOLVERS if name in what]
    if solvers and (mpi != "openmpi" or not PETSC.exists() or shutil.which("pkg-config") is None):
        print("no PETSc: its examples are in libpetsc3.18-dev-examples and libpetsc-real3.18-dev, for Open MPI")
    elif solvers:
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "PETSc"], capture_output=True, text=True, check=True)
        ex2 = os.path.join(folder, "ex2")
        subprocess.run(["mpicc.openmpi", "-O2", "-w", str(PETSC), "-o", ex2, *flags.stdout.split()], check=True)
        programs |= {name: [ex2, "-m", "400", "-n", "400", "-ksp_type", name, "-pc_type", "jacobi", "-ksp_rtol", "1e-9",
                            "-ksp_max_it", "800"] for name in solvers}
    return programs


def measure(a, folder):
    preload = preload_of(a.mpi, os.path.join(a.build, "mpi", f"libweft-mpi-{a.mpi}.so"), None)
    print(f"{a.mpi}, {a.n} ranks, {a.launches} launches of each in turns\n{'':10} {'plain':>10} {'weft':>10} {'ratio':>7}")
    for name, program in compile_all(a.mpi, folder, a.what).items():
        figures, said = ([], []), (set(), set())
        for launch in range(2 * a.launches):
            side = launch % 2
            command = [*launcher_of(a.mpi, a.n, None), *(preload if side else []), "-n", str(a.n), *program]
            begin = time.monotonic()
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, timeout=600,
                                  stdin=subprocess.DEVNULL)
            if done.returncode != 0:
                sys.exit(f"mpi_costs: status {done.returncode} of {' '.join(command)}")
            solver = name in SOLVERS
            figures[side].append(time.monotonic() - begin if solver else float(done.stdout))
            said[side].add(done.stdout.split()[-1] if solver else "")
        if said[0] != said[1]:  # sums of more than two numbers may be rounded otherwise
            sys.exit(f"mpi_costs: {name} takes other numbers of iterations: {said}")
        plain, weft = map(statistics.median, figures)
        print(f"{name:10} {plain:10.4f} {weft:10.4f} {weft / plain if plain else 0:7.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", choices=("openmpi", "mpich"), default="openmpi")
    parser.add_argument("-n", type=int, default=2, metavar="RANKS")
    parser.add_argument("--launches", type=int, default=5)
    parser.add_argument("--build", default=str(HERE.parent / "build" / "release"), help="where Weft was built")
    parser.add_argument("what", nargs="*", default=[*ROUNDS, *SOLVERS], metavar="WHAT", help="%(default)s")
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(a, folder)


if __name__ == "__main__":
    main()
