# SPDX-License-Identifier: BSD-3-Clause
"""What the cables allow: the time of the messages that an operation cannot do without, by plain sockets."""
import subprocess
import tempfile

from . import launch, launch_between

NAME = "limit"
WORD = 8  # the least message
# What of a link's figures a bench's main figure is compared with; posting needs no link.
FIGURES = {"blocking": "us", "overlap": "us", "independence": "us", "loop": "back_to_back_us",
           "pipeline": "back_to_back_us"}


def message(op, shape, bytes):
    """What must go over the cable that has most to carry, as (bytes, whether both ways at once): of blocks of `bytes`
    that no algorithm can leave out."""
    far = shape.np - shape.per_host  # ranks on other hosts
    if op == "barrier" or op == "reduce_all":
        return WORD, True
    if op == "prefix_reduce":
        return WORD, False
    if op in ("broadcast", "team_reduce"):
        return bytes, False
    if op in ("scatter", "gather"):
        return far * bytes, False
    if op == "gather_all":  # each host takes the blocks of all others in, and has its own to give
        return far * bytes, True
    if op == "exchange":
        return shape.per_host * far * bytes, True
    if op == "team_allreduce":  # sums are made in parts, and collected
        part = 2 * (shape.hosts - 1) * bytes / shape.hosts
        return int(-(-part // WORD)) * WORD, True
    return bytes, True  # a permutation to the next rank leaves each host once


def messages(options, shape):
    sizes = {message(op, shape, bytes)[0] for op in options.ops for bytes in options.sizes}
    return sorted(sizes)


def measure(hosts, program, options, shape):
    """The records of two processes that send messages of these sizes, on the first two hosts."""
    command = [program, "--meeting", launch_between.meeting(hosts),
               "--sizes", ",".join(str(bytes) for bytes in messages(options, shape)),
               "--budget-ms", "20" if options.quick else "100", "--minimum-iterations", "5"]
    with tempfile.TemporaryFile("w+") as errors:
        both = [subprocess.Popen([*hosts.enter(rank), "env", f"WEFT_LINK_RANK={rank}", *command], text=True,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors) for rank in (0, 1)]
        try:
            outputs = [one.communicate(timeout=options.timeout)[0] for one in both]
        except subprocess.TimeoutExpired:
            raise launch.Failed(f"not finished after {options.timeout} s") from None
        finally:
            for one in both:
                one.kill()
                one.wait()
        if any(one.returncode for one in both):
            raise launch.Failed(launch.first_line(errors))
    return launch.records_in(outputs[0])


def records(found, measured, shape):
    """For each row of what was `measured` the time of its message, as the record of a library."""
    times = {(one["bytes"], one["both_ways"]): one for one in found}
    rows = dict.fromkeys((one["bench"], one["op"], one["bytes"], one["mode"]) for one in measured)
    return [dict(bench=bench, op=op, np=shape.np, bytes=bytes, mode=mode, library=NAME,
                 us=times[message(op, shape, bytes)][FIGURES[bench]])
            for bench, op, bytes, mode in rows if bench in FIGURES]
