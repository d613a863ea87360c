# SPDX-License-Identifier: BSD-3-Clause
"""An unchanged program of MPI in Python: arrays, parts of arrays by types, buffers of Python, operators of the program, requests
of all kinds in a list, threads, and what is left for the end. Prints how much is wrong."""

import array
import atexit
import threading

import numpy as np
from mpi4py import MPI

WORLD = MPI.COMM_WORLD
ME, RANKS = WORLD.rank, WORLD.size
SUM = RANKS * (RANKS - 1) // 2
wrong = []


def require(right, what):
    if not np.all(right):
        wrong.append(what)
        print(f"rank {ME}: {what}", flush=True)


def move_arrays():
    given = np.arange(12 * RANKS) + ME * 1000.0
    got, expected = np.empty_like(given), np.empty_like(given)
    request = WORLD.Ialltoall(given, got)
    WORLD.Alltoall(given, expected)
    request.Wait()
    require(got == expected, "an array")
    square = np.arange(64, dtype="i").reshape(8, 8) + 100 * ME
    columns = np.full((RANKS, 8), -1, "i")
    column = MPI.INT.Create_vector(8, 1, 8).Create_resized(0, 4).Commit()
    request = WORLD.Iallgather([square, 1, column], [columns, 8, MPI.INT])
    column.Free()
    request.Wait()
    require([columns[k] == np.arange(0, 64, 8) + 100 * k for k in range(RANKS)], "a column")
    text = bytearray(b"y" * 1000) if ME == 0 else bytearray(1000)
    WORLD.Ibcast([text, MPI.BYTE], 0).Wait()
    require(text == b"y" * 1000, "a bytearray")
    mine, sums = array.array("i", range(5)), array.array("i", [0] * 5)
    WORLD.Iallreduce(mine, sums).Wait()
    require(list(sums) == [RANKS * k for k in range(5)], "an array of the standard library")
    many = [(np.full(3000, float(ME + k)), np.empty(3000)) for k in range(6)]
    MPI.Request.Waitall([WORLD.Iallreduce(one, total) for one, total in many])
    require([total == SUM + RANKS * k for k, (_, total) in enumerate(many)], "several arrays at once")


def move_blocks():
    counts = [k + 1 for k in range(RANKS)]
    places = np.cumsum([0] + counts[:-1])
    mine, all_of = np.full(ME + 1, ME, "i"), np.full(sum(counts), -1, "i")
    of_all = [all_of, (counts, places), MPI.INT]
    WORLD.Iallgatherv(mine, of_all).Wait()
    require(all_of == np.repeat(np.arange(RANKS), counts), "an allgatherv")
    mine[:] = -1
    WORLD.Iscatterv(of_all if ME == 0 else None, mine, root=0).Wait()
    require(mine == ME, "a scatterv")
    WORLD.Igatherv(mine, of_all if ME == RANKS - 1 else None, root=RANKS - 1).Wait()
    given, got = np.arange(RANKS, dtype="i") + 10 * ME, np.full(RANKS, -1, "i")
    each = ([1] * RANKS, range(RANKS))
    WORLD.Ialltoallv([given, each, MPI.INT], [got, each, MPI.INT]).Wait()
    require(got == [10 * k + ME for k in range(RANKS)], "an alltoallv")
    block = np.zeros(1, "i")
    WORLD.Ireduce_scatter_block(given, block).Wait()
    require(block == RANKS * ME + 10 * SUM, "a reduce_scatter")


def combine_by_program():
    def combine(first, then, _type):
        x, y = np.frombuffer(first), np.frombuffer(then)
        y[:] = x * y + x + y

    op = MPI.Op.Create(combine, commute=False)
    given, got, expected = np.array([1.0 + ME, 2.0]), np.zeros(2), np.zeros(2)
    for _ in range(10):
        request = WORLD.Iallreduce(given, got, op)
        WORLD.Allreduce(given, expected, op)
        request.Wait()
        require(got == expected, "an operator in Python")
    return op  # it is not freed


def complete_lists():
    token, got, total = np.array([ME], "i"), np.array([-1], "i"), np.zeros(1, "i")
    after, before = (ME + 1) % RANKS, (ME - 1) % RANKS
    own = MPI.Grequest.Start(lambda status: None, lambda: None, lambda done: None)
    requests = [WORLD.Irecv(got, source=MPI.ANY_SOURCE), MPI.REQUEST_NULL, WORLD.Iallreduce(token, total),
                WORLD.Isend(token, dest=after), WORLD.Ibarrier(), WORLD.irecv(source=before, tag=9),
                WORLD.isend({"from": ME}, dest=after, tag=9), own]
    seen = [MPI.Request.Waitany(requests) for _ in range(6)]
    require(sorted(seen) == [0, 2, 3, 4, 5, 6] and total == SUM and got == before, "a list of all kinds")
    own.Complete()
    require(MPI.Request.Waitany(requests) == 7 and MPI.Request.Waitany(requests) == MPI.UNDEFINED, "one of the program's own")
    stored = [WORLD.Send_init(token, after, 3), WORLD.Recv_init(got, before, 3)]
    for _ in range(5):
        MPI.Prequest.Startall(stored)
        MPI.Request.Waitall([*stored, WORLD.Iallreduce(token, total)])
    for request in stored:
        request.Free()


def refuse():
    comm, value = WORLD.Dup(), np.zeros(1, "i")
    comm.Set_errhandler(MPI.ERRORS_RETURN)
    try:
        comm.Ibcast(value, root=RANKS)
        require(False, "a wrong root")
    except MPI.Exception as error:
        require(error.Get_error_class() == MPI.ERR_ROOT, "the class of an error")
    comm.Free()


def work_in_threads():
    comms = [WORLD.Dup() for _ in range(4)]

    def work(comm, number):
        for k in range(30):
            given = np.full(50 + 700 * (k % 3), ME + k + number, "i")
            got = np.empty_like(given)
            request = comm.Iallreduce(given, got)
            while k % 2 == 0 and not request.Test():
                pass
            request.Wait()
            require(got == SUM + RANKS * (k + number), "a thread's array")

    threads = [threading.Thread(target=work, args=(comm, number)) for number, comm in enumerate(comms)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return comms  # they are not freed


@atexit.register
def post_at_the_end():
    if not MPI.Is_finalized():
        one, total = np.ones(1, "i"), np.zeros(1, "i")
        WORLD.Iallreduce(one, total).Wait()
        require(total == RANKS, "a sum at the end")


move_arrays()
move_blocks()
complete_lists()
refuse()
LEFT = [combine_by_program(), work_in_threads()]
ALL = WORLD.allreduce(len(wrong))
if ME == 0:
    print(f"{ALL} are wrong", flush=True)
