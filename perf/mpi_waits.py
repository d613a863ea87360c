#!/usr/bin/env python3
"""What an unchanged program of MPI waits for, plain and with libweft-mpi, launched in turns.

    perf/mpi_waits.py [--mpi openmpi|mpich] [-n RANKS] [--trials N] [--launches N] [--late US] [BYTES...]

For each call and size: the time of post and wait when no rank is late; what the peers wait while rank 0 computes; and
how much longer its computation takes beside the call. Medians of the launches' medians, in microseconds.
"""
import argparse
import collections
import os
import pathlib
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", choices=("openmpi", "mpich"), default="openmpi")
    parser.add_argument("-n", type=int, default=2, metavar="RANKS")
    parser.add_argument("--trials", type=int, default=30)
    parser.add_argument("--launches", type=int, default=3)
    parser.add_argument("--late", type=int, default=5000, metavar="US", help="rank 0 computes for so long (%(default)s)")
    parser.add_argument("--build", default=str(HERE.parent / "build" / "release"), help="where Weft was built")
    parser.add_argument("bytes", nargs="*", type=int, default=[8, 1024, 16384, 262144, 1048576], metavar="BYTES")
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "mpi_waits")
        subprocess.run([f"mpicc.{a.mpi}", "-O2", "-w", str(HERE / "mpi_waits.c"), "-o", program], check=True)
        library = os.path.join(a.build, "mpi", f"libweft-mpi-{a.mpi}.so")
        if a.mpi == "openmpi":
            launcher = ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none"]
            launcher += ["--allow-run-as-root"] if os.geteuid() == 0 else []
            preload = ["-x", f"LD_PRELOAD={library}"]
        else:
            launcher, preload = ["mpiexec.hydra"], ["-genv", "LD_PRELOAD", library]
        seen = collections.defaultdict(lambda: ([], []))
        for launch in range(2 * a.launches):
            command = [*launcher, *(preload if launch % 2 else []), "-n", str(a.n), program, str(a.late), str(a.trials)]
            output = subprocess.run([*command, *map(str, a.bytes)], capture_output=True, text=True, check=True).stdout
            for line in output.splitlines():
                call, nbytes, *figures = line.split()
                seen[int(nbytes), call][launch % 2].append([float(f) for f in figures])
    print(f"{a.mpi}, {a.n} ranks; us, {a.launches} launches of each in turns")
    print(f"{'bytes':>8} {'call':11} {'no rank late: plain':>20} {'weft':>8} {'ratio':>6}"
          f" {f'rank 0 away {a.late}: plain':>26} {'weft':>8} {'computation: plain':>19} {'weft':>6}")
    for (nbytes, call), sides in seen.items():
        plain, weft = ([statistics.median(column) for column in zip(*side)] for side in sides)
        print(f"{nbytes:8} {call:11} {plain[0]:20.1f} {weft[0]:8.1f} {weft[0] / plain[0]:6.2f}"
              f" {plain[1]:26.0f} {weft[1]:8.0f} {plain[2]:19.3f} {weft[2]:6.3f}")


if __name__ == "__main__":
    main()
