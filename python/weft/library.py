# SPDX-License-Identifier: BSD-3-Clause
"""The C functions of libweft that the package calls; an error of a call is an exception."""
import ctypes
import os
import threading

POSTED = 2 | 16 | 256  # UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC
IN_PLACE = 512
TEAM_ALL, TEAM_NODE = 1, 2
TYPES = {"i1": 0, "u1": 1, "i2": 2, "u2": 3, "i4": 4, "u4": 5, "i8": 6, "u8": 7, "f4": 8, "f8": 9, "c8": 13, "c16": 14, "b1": 16}


class Error(RuntimeError):
    """A call that cannot be carried out: call, argument, value, and the rule with the way out."""

    def __init__(self, line, call="", argument="", value="", rule=""):
        super().__init__(line)
        self.call, self.argument, self.value, self.rule = call, argument, value, rule


class Pointer(ctypes.Structure):
    _fields_ = [("addr", ctypes.c_uint64), ("thread", ctypes.c_uint32), ("phase", ctypes.c_uint32)]


class _Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_char_p) for name in ("call", "argument", "value", "rule")]


_HANDLER = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.POINTER(_Info))
_failed = threading.local()


@_HANDLER
def _keep_error(line, info):
    parts = [getattr(info.contents, name).decode() for name in ("call", "argument", "value", "rule")]
    _failed.error = Error(line.decode(), *parts)


def _load():
    here = os.path.dirname(os.path.abspath(__file__))
    beside = os.path.join(here, "..", "..", "libweft.so.0.1")
    for name in filter(None, (os.environ.get("LIBWEFT"), beside if os.path.exists(beside) else None, "libweft.so.0.1")):
        try:
            return ctypes.CDLL(name)
        except OSError as wrong:
            reason = wrong
    raise ImportError(f"{reason}; install Weft, or set LIBWEFT to the path of libweft.so")


_loaded = _load()
_loaded.weft_set_error_handler.argtypes, _loaded.weft_set_error_handler.restype = [_HANDLER], ctypes.c_void_p
_loaded.weft_set_error_handler(_keep_error)


def function(name, result, *arguments):
    found = getattr(_loaded, name)
    found.argtypes, found.restype = arguments, result

    def call(*values):
        answer = found(*values)
        error = getattr(_failed, "error", None)
        if error is not None:
            _failed.error = None
            raise error
        return answer
    return call


c_int, c_size, c_word, c_address, handle = ctypes.c_int, ctypes.c_size_t, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_ulonglong
handles = ctypes.POINTER(handle)
init = function("weft_init", None, c_address, c_address)
finalize = function("weft_finalize", None)
end_job = function("upc_global_exit", None, c_int)
mythread, threads = function("upc_mythread", c_int), function("upc_threads", c_int)
all_alloc = function("upc_all_alloc", Pointer, c_size, c_size)
all_free = function("upc_all_free", None, Pointer)
cast = function("upc_cast", c_address, Pointer)
put = function("upc_memput_nb", handle, Pointer, c_address, c_size)
get = function("upc_memget_nb", handle, c_address, Pointer, c_size)
put_signal = function("weft_put_signal", handle, Pointer, c_address, c_size, Pointer, c_word, c_int)
wait_until = function("weft_wait_until", c_word, Pointer, c_int, c_word)
wait, test = function("weft_wait_handle", None, handles), function("weft_test_handle", c_int, handles)
waitall, waitany = function("upc_waitall", None, c_int, handles), function("upc_waitany", c_int, c_int, handles)
split = function("cray_upc_team_split", c_int, handle, c_int, c_int, handles)
from_threads = function("weft_team_from_threads", c_int, handle, c_int, ctypes.POINTER(c_int), handles)
rank, team_size = function("cray_upc_team_rank", c_int, handle), function("cray_upc_team_size", c_int, handle)
thread, rank_of = function("weft_team_thread", c_int, handle, c_int), function("weft_team_rank_of", c_int, handle, c_int)
barrier, free_team = function("cray_upc_team_barrier", None, handle), function("cray_upc_team_free", None, handle)
collectives = {name: function(f"upc_all_{name}_team", handle, Pointer, Pointer, c_size, c_int, handle)
                for name in ("broadcast", "scatter", "gather", "gather_all", "exchange")}
permute = function("upc_all_permute_team", handle, Pointer, Pointer, Pointer, c_size, c_int, handle)
allreduce = function("cray_upc_team_allreduce", c_int, Pointer, Pointer, c_size, c_int, ctypes.c_uint, handle, handles)
reduce = function("cray_upc_team_reduce", c_int, Pointer, Pointer, c_size, c_int, ctypes.c_uint, c_int, handle, handles)
