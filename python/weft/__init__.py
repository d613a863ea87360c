# SPDX-License-Identifier: BSD-3-Clause
"""Weft for numpy: a job, teams, symmetric arrays whose part is an ndarray, non-blocking collectives.

    import numpy, weft

    with weft.job() as job:
        a = weft.array(4 * job.size, numpy.float64)
        b = weft.array(4 * job.size, numpy.float64)
        a.local[:] = job.rank
        transpose = weft.exchange(b, a)      # goes on by itself
        compute()
        transpose.wait()                     # b.local is in place

    weft run -n 4 python3 program.py

Collectives are those of weft/spans.hpp, which says what they do; counts are elements. An operand is a weft.array or a
contiguous part of its `local`, at the same place on all ranks. Every one posts the operation and returns what completes
it: until then dst must not be read, nor either be changed. Arrays and teams are made by all of their ranks together, and
freed by free() or at the end of a `with`, together too, never by the collector of garbage. What is wrong raises
weft.Error; an exception that leaves the scope of the job ends it, with a traceback and status 1.

The environment variable LIBWEFT is the path of libweft.so, where the loader does not find it.
"""
import contextlib
import ctypes
import sys
import traceback

import numpy

from . import library
from .library import Error

__all__ = ["Error", "Job", "Team", "Array", "Pending", "Signals", "job", "team", "array", "signals", "exchange", "gather_all",
           "broadcast", "scatter", "gather", "permute", "reduce_all", "reduce", "value", "wait_all", "wait_any", "ADD", "MULT",
           "AND", "OR", "XOR", "MIN", "MAX"]

ADD, MULT, AND, OR, XOR, MIN, MAX = 1, 2, 4, 8, 16, 128, 256


class Pending:
    """An operation that is under way; complete at the latest when it is collected as garbage."""

    def __init__(self, handle=0, keeps=()):
        self._handle, self._keeps = library.handle(handle), keeps

    def wait(self):
        """Returns when it is complete; raises what it failed with."""
        library.wait(ctypes.byref(self._handle))
        self._keeps = ()

    def test(self):
        """Whether it is complete."""
        return library.test(ctypes.byref(self._handle)) > 0

    @property
    def active(self):
        return self._handle.value != 0

    def __del__(self):
        if self.active and _current is not None:
            self.wait()


def _with_array(pending, call):
    array_of = (library.handle * len(pending))(*(p._handle.value for p in pending))
    try:
        return call(len(pending), array_of)
    finally:
        for p, value_of in zip(pending, array_of):
            p._handle.value = value_of


def wait_all(pending):
    """Returns when all are complete."""
    _with_array(pending, library.waitall)


def wait_any(pending):
    """Returns when one is complete: its place, or None if none is under way."""
    which = _with_array(pending, library.waitany)
    return None if which < 0 else which


class Team:
    """Some ranks of the job, numbered anew. Iterates over nothing; false if the calling rank is no member."""

    def __init__(self, handle=library.TEAM_ALL):
        self.handle = handle
        if handle:
            self.rank, self.size, self.first = library.rank(handle), library.team_size(handle), library.thread(handle, 0)

    def split(self, color, key=0):
        """The ranks with the same color, in the order of key. Collective."""
        made = library.handle()
        if library.split(self.handle, color, key, ctypes.byref(made)):
            raise Error("weft.Team.split: no memory for another team: free one")
        return Team(made.value)

    def subset(self, ranks):
        """These ranks, in the order of the list. Collective."""
        threads, made = [self.thread(rank) for rank in ranks], library.handle()
        if library.from_threads(self.handle, len(threads), (library.c_int * len(threads))(*threads), ctypes.byref(made)):
            raise Error("weft.Team.subset: no memory for another team: free one")
        return Team(made.value)

    def thread(self, rank):
        """The rank in the job of a rank of the team."""
        return library.thread(self.handle, rank)

    def rank_of(self, thread):
        """The rank in the team of a rank of the job, None if it is no member."""
        rank = library.rank_of(self.handle, thread)
        return None if rank < 0 else rank

    def barrier(self):
        library.barrier(self.handle)

    def free(self):
        """Collective over the members; returns at once."""
        if self.handle > library.TEAM_NODE:
            library.free_team(self.handle)
        self.handle = 0

    def __bool__(self):
        return self.handle != 0

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.free()


def team():
    """All ranks of the job."""
    return Team()


class RemoteView:
    """Elements in the memory of one rank: get and put copy them, and a slice is a part of them."""

    def __init__(self, pointer, size, dtype):
        self.pointer, self.size, self.dtype = pointer, size, dtype

    def __getitem__(self, part):
        begin, end, step = (part if isinstance(part, slice) else slice(part, part + 1)).indices(self.size)
        if step != 1 or end < begin:
            raise Error(f"weft.RemoteView: slice = {part}: must be elements one behind the other")
        there = library.Pointer(self.pointer.addr + begin * self.dtype.itemsize, self.pointer.thread, 0)
        return RemoteView(there, end - begin, self.dtype)

    def _own(self, values, call):
        if values.dtype != self.dtype or values.size != self.size or not values.flags.c_contiguous:
            raise Error(f"weft.RemoteView.{call}: {values.size} elements of {values.dtype}: must be {self.size} of {self.dtype}, "
                        "one behind the other: pass a slice")
        return values.ctypes.data, self.size * self.dtype.itemsize

    def put(self, values, signal=None):
        """Copies values there, and then raises a signal, which Signals.on gives."""
        values = numpy.ascontiguousarray(values, self.dtype)
        address, nbytes = self._own(values, "put")
        if signal is None:
            return Pending(library.put(self.pointer, address, nbytes), (values,))
        return Pending(library.put_signal(self.pointer, address, nbytes, signal, 1, 1), (values,))

    def get(self, into=None):
        """Copies them here: into an ndarray, or into a new one that is returned when they are in place."""
        new = into is None
        into = numpy.empty(self.size, self.dtype) if new else into
        address, nbytes = self._own(into, "get")
        begun = Pending(library.get(address, self.pointer, nbytes), (into,))
        if not new:
            return begun
        begun.wait()
        return into


class Array:
    """So many elements on each rank; `local` is the calling rank's part, an ndarray of that shape."""

    def __init__(self, shape, dtype=numpy.float64):
        self.dtype = numpy.dtype(dtype)
        self.shape = (int(shape),) if numpy.ndim(shape) == 0 else tuple(int(n) for n in shape)
        self.size = int(numpy.prod(self.shape, dtype=numpy.int64))
        nbytes = max(1, self.size * self.dtype.itemsize)
        if self.dtype.hasobject:
            raise Error(f"weft.array: dtype = {self.dtype}: has references, which mean nothing to another rank")
        self.pointer = library.all_alloc(library.threads(), nbytes)
        self.address = library.cast(library.Pointer(self.pointer.addr, library.mythread(), 0))
        memory = (ctypes.c_char * nbytes).from_address(self.address)
        self.local = numpy.frombuffer(memory, self.dtype, self.size).reshape(self.shape)
        _arrays[self.address] = nbytes
        Array.segment = self.address - self.pointer.addr

    def on(self, rank):
        """The elements of a rank of the job."""
        return RemoteView(library.Pointer(self.pointer.addr, rank, 0), self.size, self.dtype)

    def free(self):
        """Collective; `local` must not be used any more."""
        if self.local is not None:
            del _arrays[self.address]
            self.local = None
            library.all_free(self.pointer)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.free()


array = Array
_arrays = {}  # address: bytes


class Signals:
    """Counters on each rank, which begin at 0; RemoteView.put raises one behind its copy. Collective, waits for all."""

    def __init__(self, count=1):
        self.words = Array(count, numpy.uint64)
        self.words.local[:] = 0
        Team().barrier()

    def on(self, rank, which=0):
        return self.words.on(rank)[which].pointer

    def wait(self, count, which=0):
        """Returns when the calling rank's counter is `count` or more: what it is."""
        return library.wait_until(self.on(library.mythread(), which), 3, count)


signals = Signals


def _place(call, argument, part, of):
    """(pointer to the first byte on the team's first rank, elements, bytes of one) of an operand."""
    if not of:
        raise Error(f"weft.{call}: team: was freed, or the calling rank is none of it")
    local = part.local if isinstance(part, Array) else part
    if not isinstance(local, numpy.ndarray) or not local.flags.c_contiguous:
        raise Error(f"weft.{call}: {argument}: must be a weft.array, or elements of one that lie one behind the other")
    address = local.ctypes.data
    if not any(begin <= address and address + local.nbytes <= begin + n for begin, n in _arrays.items()):
        raise Error(f"weft.{call}: {argument}: is ordinary memory, which no other rank reaches: pass a weft.array or a part of one")
    return library.Pointer(address - Array.segment, of.first, 0), local.size, local.dtype


def _same(call, argument, given, wanted):
    if given != wanted:
        raise Error(f"weft.{call}: {argument} = {given}: must be {wanted}: dst and src go together")


def _blocks(call, argument, count, of):
    if count % of.size:
        raise Error(f"weft.{call}: {argument} = {count} elements: must be a multiple of the team's ranks, {of.size}")
    return count // of.size


def exchange(dst, src=None, of=None):
    """Block i of src goes to rank i, block j of dst comes from rank j; in place without src."""
    of = Team() if of is None else of
    to, count, dtype = _place("exchange", "dst", dst, of)
    block = _blocks("exchange", "dst", count, of) * dtype.itemsize
    if src is None:
        return Pending(library.collectives["exchange"](to, to, block, library.POSTED | library.IN_PLACE, of.handle))
    source, given, kind = _place("exchange", "src", src, of)
    _same("exchange", "src", (given, kind), (count, dtype))
    return Pending(library.collectives["exchange"](to, source, block, library.POSTED, of.handle))


def gather_all(dst, src, of=None):
    """Block i of dst is src of rank i, on all."""
    of = Team() if of is None else of
    to, count, dtype = _place("gather_all", "dst", dst, of)
    source, given, kind = _place("gather_all", "src", src, of)
    _same("gather_all", "src", (given, kind), (_blocks("gather_all", "dst", count, of), dtype))
    return Pending(library.collectives["gather_all"](to, source, given * dtype.itemsize, library.POSTED, of.handle))


def broadcast(both, root, of=None):
    """The same on all as on the rank `root` of the team."""
    of = Team() if of is None else of
    to, count, dtype = _place("broadcast", "both", both, of)
    source = library.Pointer(to.addr, of.thread(root), 0)
    return Pending(library.collectives["broadcast"](to, source, count * dtype.itemsize, library.POSTED | library.IN_PLACE, of.handle))


def scatter(dst, src, of=None):
    """Rank i gets block i of src, a RemoteView: weft.scatter(part, whole.on(root))."""
    of = Team() if of is None else of
    to, count, dtype = _place("scatter", "dst", dst, of)
    _same("scatter", "src", (_blocks("scatter", "src", src.size, of), src.dtype), (count, dtype))
    return Pending(library.collectives["scatter"](to, src.pointer, count * dtype.itemsize, library.POSTED, of.handle))


def gather(dst, src, of=None):
    """Block i of dst, a RemoteView, comes from rank i: weft.gather(whole.on(root), part)."""
    of = Team() if of is None else of
    source, count, dtype = _place("gather", "src", src, of)
    _same("gather", "dst", (_blocks("gather", "dst", dst.size, of), dst.dtype), (count, dtype))
    return Pending(library.collectives["gather"](dst.pointer, source, count * dtype.itemsize, library.POSTED, of.handle))


def permute(dst, src, to, of=None):
    """src of each rank goes to dst of the rank that its element of `to` says, a weft.array(1, numpy.int32)."""
    of = Team() if of is None else of
    target, count, dtype = _place("permute", "dst", dst, of)
    source, given, kind = _place("permute", "src", src, of)
    where, _, number = _place("permute", "to", to, of)
    _same("permute", "src", (given, kind), (count, dtype))
    _same("permute", "to", number, numpy.dtype(numpy.int32))
    return Pending(library.permute(target, source, where, count * dtype.itemsize, library.POSTED, of.handle))


def _vectors(call, dst, src, of):
    me = Team()
    me.first = library.mythread()  # vectors are each rank's own
    target, count, dtype = _place(call, "dst", dst, me)
    source, given, kind = _place(call, "src", src, me)
    _same(call, "src", (given, kind), (count, dtype))
    number = library.TYPES.get(dtype.str[1:])
    if number is None:
        raise Error(f"weft.{call}: dtype = {dtype}: has no reductions: pass one of {', '.join(library.TYPES)}")
    return library.Pointer() if target.addr == source.addr else target, source, count, number


def reduce_all(dst, src, op=ADD, of=None):
    """Element i of dst becomes what op makes of the elements i of src of all ranks, on all; dst may be src."""
    of, handle = Team() if of is None else of, library.handle()
    library.allreduce(*_vectors("reduce_all", dst, src, of), op, of.handle, ctypes.byref(handle))
    return Pending(handle.value)


def reduce(dst, src, op, root, of=None):
    """The same on the rank `root` of the team alone."""
    of, handle = Team() if of is None else of, library.handle()
    library.reduce(*_vectors("reduce", dst, src, of), op, root, of.handle, ctypes.byref(handle))
    return Pending(handle.value)


def value(mine, op=ADD, of=None):
    """What op makes of a number of each rank, at once."""
    cell = _current.cell(numpy.asarray(mine).dtype)
    cell[0] = mine
    reduce_all(cell, cell, op, of).wait()
    return cell[0]


class Job:
    """The life of the library: with weft.job() as job."""

    def __init__(self):
        global _current
        library.init(None, None)
        _current = self
        self.rank, self.size, self._cells = library.mythread(), library.threads(), Array(16, numpy.uint8)

    def cell(self, dtype):
        return self._cells.local[:dtype.itemsize].view(dtype)

    def barrier(self):
        Team().barrier()

    def node(self):
        return Team(library.TEAM_NODE)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        global _current
        if kind is not None and kind is not SystemExit:
            traceback.print_exception(kind, error, trace)
            print(f"weft: rank {self.rank}: {error or kind.__name__}", file=sys.stderr, flush=True)
            with contextlib.suppress(OSError):
                sys.stdout.flush()
            library.end_job(1)
        _current = None
        library.finalize()


job = Job
_current = None
