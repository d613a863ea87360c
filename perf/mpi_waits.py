#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What an unchanged program of MPI waits for, plain and with libweft-mpi, launched in turns.

    perf/mpi_waits.py [--mpi openmpi|mpich] [-n RANKS] [--hosts N] [--rate RATE] [--trials N] [--launches N]
                      [--late US] [--malloc] [--overlap] [BYTES...]

For each call and size: the time of post and wait when no rank is late, and with libweft-mpi also behind a computation of
rank 0; what the peers wait while rank 0 computes; and how much longer its computation takes beside the call. Medians of the
launches' medians, in microseconds.

With --overlap: pure, the time of post and wait; compute, a computation as long as it on every rank; both, with the
computation between post and wait; and the overlap, how much of the shorter one both together save, in percent.
"""
import argparse
import collections
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from runner import launch_between, sandbox
from runner.hosts import Hosts

HERE = pathlib.Path(__file__).resolve().parent


def launcher_of(mpi, ranks, hosts):
    """The words before `-n`, for one of this machine or of simulated hosts."""
    if hosts is not None:
        per_host = ranks // len(hosts.names)
        if mpi == "openmpi":
            return [*hosts.enter(0), "mpirun.openmpi", *launch_between.openmpi_arguments(hosts, per_host, mpi, True, [])]
        return [*hosts.enter(0), "mpiexec.hydra", *launch_between.mpich_arguments(hosts, per_host)]
    if mpi == "mpich":
        return ["mpiexec.hydra"]
    return ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none", *(["--allow-run-as-root"] if os.geteuid() == 0 else [])]


def preload_of(mpi, library, hosts, malloc=None):
    """What hands the library on; ranks of simulated hosts do not know that others use their cores."""
    settings = {"LD_PRELOAD": library}
    if malloc is not None:
        settings = {"LD_PRELOAD": f"{malloc}:{library}", "WEFT_MALLOC": "1"}
    if hosts is not None:
        settings |= {"WEFT_SPINS": "0", "WEFT_PROGRESS": "helping"}
    return [word for name, value in settings.items()
            for word in (["-x", f"{name}={value}"] if mpi == "openmpi" else ["-genv", name, value])]


def measure(a, folder, hosts=None):
    program = os.path.join(folder, "mpi_waits")
    subprocess.run([f"mpicc.{a.mpi}", "-O2", "-w", str(HERE / "mpi_waits.c"), "-o", program], check=True)
    preload = preload_of(a.mpi, os.path.join(a.build, "mpi", f"libweft-mpi-{a.mpi}.so"), hosts,
                         os.path.join(a.build, "malloc", "libweft-malloc.so") if a.malloc else None)
    seen = collections.defaultdict(lambda: ([], []))
    for launch in range(2 * a.launches):
        command = [*launcher_of(a.mpi, a.n, hosts), *(preload if launch % 2 else []), "-n", str(a.n), program, str(a.late),
                   str(a.trials), *map(str, a.bytes)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, timeout=600, stdin=subprocess.DEVNULL,
                              env={**os.environ, **({"TMPDIR": hosts.folder} if hosts is not None else {})})
        if done.returncode != 0:
            sys.exit(f"mpi_waits: status {done.returncode} of {' '.join(command)}")
        for line in done.stdout.splitlines():
            call, nbytes, *figures = line.split()
            seen[int(nbytes), call][launch % 2].append([float(f) for f in figures])
    show(a, seen, hosts)


def overlap(pure, compute, both):
    return max(0, min(100, 100 * (pure + compute - both) / min(pure, compute)))


def show(a, seen, hosts):
    where = "one host" if hosts is None else f"{len(hosts.names)} hosts" + (f", {a.rate}" if a.rate else "")
    print(f"{a.mpi}, {a.n} ranks of {where}; us, {a.launches} launches of each in turns")
    if a.overlap:
        print(f"{'bytes':>8} {'call':15}" + "".join(f" {f'{who}: pure':>13} {'compute':>8} {'both':>9} {'overlap':>7}"
                                                   for who in ("plain", "weft")))
    else:
        print(f"{'bytes':>8} {'call':15} {'no rank late: plain':>20} {'weft':>8} {'ratio':>6} {'behind':>8}"
              f" {f'rank 0 away {a.late}: plain':>26} {'weft':>8} {'computation: plain':>19} {'weft':>6}")
    for (nbytes, call), sides in seen.items():
        plain, weft = ([statistics.median(column) for column in zip(*side)] for side in sides)
        if a.overlap:
            print(f"{nbytes:8} {call:15}" + "".join(f" {side[0]:13.1f} {side[3]:8.1f} {side[4]:9.1f}"
                                                    f" {overlap(side[0], side[3], side[4]):6.0f}%" for side in (plain, weft)))
            continue
        print(f"{nbytes:8} {call:15} {plain[0]:20.1f} {weft[0]:8.1f} {weft[0] / plain[0]:6.2f} {weft[5]:8.1f}"
              f" {plain[1]:26.0f} {weft[1]:8.0f} {plain[2]:19.3f} {weft[2]:6.3f}")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", choices=("openmpi", "mpich"), default="openmpi")
    parser.add_argument("-n", type=int, default=2, metavar="RANKS")
    parser.add_argument("--hosts", type=int, default=1, metavar="N", help="simulated ones, made of namespaces; as root")
    parser.add_argument("--rate", help="of their network, such as 1gbit; without, all that the machine's cores move")
    parser.add_argument("--trials", type=int, default=30)
    parser.add_argument("--launches", type=int, default=3)
    parser.add_argument("--late", type=int, default=5000, metavar="US", help="rank 0 computes for so long (%(default)s)")
    parser.add_argument("--malloc", action="store_true", help="with WEFT_MALLOC=1: large operands lie in the segment")
    parser.add_argument("--overlap", action="store_true", help="pure, compute, both and the overlap instead")
    parser.add_argument("--build", type=os.path.abspath, default=str(HERE.parent / "build" / "release"), help="where Weft was built")
    parser.add_argument("bytes", nargs="*", type=int, default=[8, 1024, 16384, 262144, 1048576], metavar="BYTES")
    a = parser.parse_args()
    if a.rate and a.hosts == 1:
        parser.error("--rate is that of the network between hosts: add --hosts 2")
    if a.hosts == 1:
        with tempfile.TemporaryDirectory() as folder:
            measure(a, folder)
        return 0

    def inside(folder):
        with Hosts(folder, a.hosts) as hosts:
            if a.rate:
                hosts.limit(a.rate)
            measure(a, folder, hosts)
        return 0

    return sandbox.run_inside(inside)


if __name__ == "__main__":
    sys.exit(main())
