# SPDX-License-Identifier: BSD-3-Clause
"""Every call of the binding on any number of ranks, against what it must give; then wrong calls and the end of a scope.

arrays.py [fails]
"""
import sys

import numpy
import weft


def expect_error(text, call):
    try:
        call()
    except weft.Error as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"no error: {text}")


def collectives(of, a, b):
    me, n, block = of.rank, of.size, 5
    src, dst = a.local[:block * n], b.local[:block * n]
    numbers = numpy.arange(block * n).reshape(n, block)
    src[:] = (1000 * me + numbers).ravel()
    weft.exchange(dst, src, of).wait()
    wanted = [1000 * r + numbers[me] for r in range(n)]
    assert (dst.reshape(n, block) == wanted).all()
    weft.exchange(src, of=of).wait()
    assert (src == dst).all()
    part, mine = dst[:block], src[:block]
    mine[:] = me
    weft.gather_all(dst, mine, of).wait()
    assert (dst.reshape(n, block) == numpy.arange(n)[:, None]).all()
    root = of.thread(n - 1)
    src[:] = (1000 * me + numbers).ravel()
    weft.scatter(part, a.on(root)[:block * n], of).wait()
    assert (part == 1000 * (n - 1) + numbers[me]).all()
    mine[:] = me
    of.barrier()
    weft.gather(b.on(root)[:block * n], mine, of).wait()
    if me == n - 1:
        assert (dst.reshape(n, block) == numpy.arange(n)[:, None]).all()
    mine[:] = 7 * me
    weft.broadcast(mine, n - 1, of).wait()
    assert (mine == 7 * (n - 1)).all()
    mine[:] = me + 1
    weft.reduce_all(part, mine, weft.MAX, of).wait()
    assert (part == n).all()
    weft.reduce(mine, mine, weft.ADD, 0, of).wait()
    if me == 0:
        assert (mine == n * (n + 1) // 2).all()
    assert weft.value(me + 0.5, weft.ADD, of) == n * n / 2


def several(job, a, b):
    begun = [weft.exchange(b, a), weft.Pending(), weft.exchange(b, a)]
    seen = set()
    while (which := weft.wait_any(begun)) is not None:
        seen.add(which)
    assert seen == {0, 2} and not begun[0].active and begun[1].test()
    begun = [weft.exchange(b, a)]
    weft.wait_all(begun)
    with weft.array(1, numpy.int32) as to, weft.array(3) as x, weft.array(3) as y:
        to.local[0] = (job.rank + 1) % job.size
        x.local[:] = job.rank
        weft.permute(y, x, to).wait()
        assert (y.local == (job.rank - 1) % job.size).all()


def neighbours(job):
    left, right = (job.rank - 1) % job.size, (job.rank + 1) % job.size
    sides, arrived = [weft.array(200), weft.array(200)], weft.signals(2)
    for step in range(1, 20):
        half = slice(step % 2 * 100, step % 2 * 100 + 100)
        mine = numpy.full(100, 100.0 * step + job.rank)
        begun = [sides[0].on(right)[half].put(mine, arrived.on(right, 0)), sides[1].on(left)[half].put(mine, arrived.on(left, 1))]
        for side, writer in enumerate((left, right)):
            arrived.wait(step, side)
            assert (sides[side].local[half] == 100.0 * step + writer).all()
        weft.wait_all(begun)
    job.barrier()
    assert (sides[0].on(right)[100:103].get() == 1900.0 + job.rank).all()


def wrong(job, a, b):
    expect_error("ordinary memory", lambda: weft.exchange(numpy.zeros(job.size, numpy.int64), a))
    expect_error("go together", lambda: weft.exchange(b, a.local[:job.size]))
    expect_error("one behind the other", lambda: weft.exchange(a.local[::2]))
    expect_error("no such thread", lambda: a.on(job.size).get())
    expect_error("must be a rank", lambda: weft.broadcast(a, job.size))
    expect_error("has no reductions", lambda: weft.reduce_all(*[weft.array(2, "S3")] * 2))
    ended = weft.team().split(0)
    ended.free()
    expect_error("was freed", lambda: weft.exchange(b, a, ended))
    expect_error("must be 3 of int64", lambda: a.on(0)[:3].put(numpy.zeros(4, numpy.int64)))


def main():
    with weft.job() as job:
        if "fails" in sys.argv:
            if job.rank == 1:
                raise ValueError("of the program")
            job.barrier()
        a, b = (weft.array(5 * job.size, numpy.int64) for _ in range(2))
        collectives(weft.team(), a, b)
        half = weft.team().split(job.rank % 2, -job.rank)
        assert half.rank_of(half.thread(half.rank)) == half.rank and bool(half)
        collectives(half, a, b)
        half.free()
        job.barrier()
        several(job, a, b)
        neighbours(job)
        wrong(job, a, b)
        job.barrier()
    print("all are right")


main()
