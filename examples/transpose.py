#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A pipelined transpose, as a program of MPI: its blocks travel while the next ones are computed, for a time that
differs from rank to rank and from round to round.

    weft mpi mpirun -n 4 python3 transpose.py [BYTES [DEPTH [ROUNDS]]]    or without `weft mpi`

Prints the time of a round, what ranks waited in it, and two bounds: of the rank with most work, if none ever
waited, and of rounds that all begin together."""
import random
import sys
import time

import numpy
from mpi4py import MPI

LONGEST = 4e-3  # seconds that a rank computes in a round
comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
nbytes, depth, rounds = (int(w) for w in (sys.argv[1:] + ["65536", "1", "150"][len(sys.argv) - 1:]))
slots = depth + 1
rows, columns = (numpy.empty((slots, size, nbytes // 8), dtype=numpy.int64) for _ in range(2))
requests, works, waited = [MPI.REQUEST_NULL] * slots, [], 0.0
draw = random.Random(rank)


def wait_for(step):
    global waited
    begin = time.perf_counter()
    requests[step % slots].Wait()
    waited += time.perf_counter() - begin
    for other in range(size):  # its row, my column
        assert (columns[step % slots, other, [0, -1]] == (other * size + rank) * rounds + step).all()


comm.Barrier()
begin = time.perf_counter()
for step in range(rounds):
    rows[step % slots] = ((rank * size + numpy.arange(size)) * rounds + step)[:, None]
    requests[step % slots] = comm.Ialltoall(rows[step % slots], columns[step % slots])
    works.append(draw.uniform(0, LONGEST))
    time.sleep(works[-1])  # work on a core of its own, which this machine may lack
    if step >= depth:
        wait_for(step - depth)
for step in range(max(rounds - depth, 0), rounds):
    wait_for(step)
comm.Barrier()
took = time.perf_counter() - begin
everyone = comm.gather((works, waited))
if rank == 0:
    alone = max(sum(w) for w, _ in everyone)
    together = sum(max(step) for step in zip(*(w for w, _ in everyone)))
    print("{:.2f} ms a round, of which a rank waits {:.2f}; by the rank with most work {:.2f}, by rounds together {:.2f}".format(
        *(1e3 * t / rounds for t in (took, sum(w for _, w in everyone) / size, alone, together))))
