# SPDX-License-Identifier: BSD-3-Clause
"""What was found, and tables, in plain text that fits the page."""
import statistics
import textwrap

from . import results

# How many times faster weft is than the faster MPI.
SPEED = "speedup"
RATIO = "ratio to the faster MPI"

TITLES = {
    "blocking": "µs per call from a common start: slowest rank, median over the calls",
    "loop": "µs per call, back to back, data written and read between the calls: mean",
    "overlap": "µs of post, computation and wait together (computation as long as the communication alone)",
    "pipeline": "µs per round: post, compute on the round before, wait",
    "independence": "µs that the other ranks wait while rank 0 computes 5 ms after its post",
    "post": "µs of the posting call alone",
    "completion": "µs per operation of posting 1000 and completing them by waitany",
    "beside": "µs of an exchange of one team, posted and awaited while one of 64 MiB of another is under way",
    "skewed": "µs per exchange of unequal blocks, the k-th largest of 1/k of the bytes of the largest: the library's "
              "call, and loops of the program, round by round and all at once",
    "checked": "µs per blocking call with WEFT_CHECK=1, which compares the calls of all ranks",
    "idle": "processor time of a process with nothing outstanding",
    "one_sided": "µs per one-sided collective of thread 0, beside a loop of upc_memcpy and the blocking calls of all "
                 "ranks of an MPI; what another thread loses of a computation meanwhile",
    "copies": "µs per copy to and from another rank: blocking, and in streams of 64 with an implicit handle; beside "
              "ucx_perftest",
    "held": "µs that others wait while a rank computes 100 ms behind its post, all modes and ranks; 2 ranks on one host, "
            "4 on two, 3 on three",
    "sort": "µs of a sort, and of std::stable_sort on one thread; shares of the stages",
}

SHORT_TITLES = {
    "blocking": "µs per call",
    "loop": "µs per call, back to back",
    "overlap": "µs of post, computation and wait",
    "pipeline": "µs per round",
    "independence": "µs that the others wait while rank 0 computes 5 ms",
    "post": "µs of the posting call",
    "completion": "µs per operation, posted and completed",
    "beside": "µs beside a large exchange",
    "skewed": "µs per exchange of unequal blocks",
    "checked": "µs per call with WEFT_CHECK=1",
    "idle": "processor time",
    "one_sided": "µs per call of one thread",
    "copies": "µs per copy",
    "held": "µs that others wait while a rank computes",
}

# What all ranks together use of the processors in a call; measured between hosts.
CPU = ("cpu µs", "cpu_us", "time")
# Further columns for each library: title, field, format.
DETAILS = {
    "blocking": [("mean", "mean_us", "time"), CPU],
    "loop": [("median", "median_us", "time"), ("touch", "touch_us", "time"), CPU],
    "overlap": [("overlap %", "overlap", "plain"), ("slow-down", "slowdown", "ratio"), CPU],
    "pipeline": [("blocking", "blocking_us", "time"), ("ideal", "ideal_us", "time"), CPU],
    "independence": [("other cores", "other_cores_us", "time"), ("x blocking", "ratio", "ratio"),
                     ("slow-down", "slowdown", "ratio"), CPU],
    "post": [("p99", "p99_us", "time"), ("rings", "rings", "plain"), CPU],
    "completion": [("1000/10", "any_ratio", "ratio"), ("waitsome", "some_us", "time"),
                   ("waitsome 1000/10", "some_ratio", "ratio")],
    "beside": [("alone", "alone_us", "time"), ("piece", "piece_us", "time"),
               ("(us - piece) / alone", "ratio", "ratio"), ("blocking", "blocking_us", "time")],
    "skewed": [("pairwise", "pairwise_us", "time"), ("/ pairwise", "pairwise_ratio", "ratio"),
               ("linear", "linear_us", "time"), ("/ linear", "linear_ratio", "ratio"), CPU],
    "checked": [("without", "plain_us", "time"), ("cost", "cost", "ratio")],
    "idle": [("core %", "core_percent", "percent")],
    "one_sided": [("loop", "loop_us", "time"), ("/ loop", "loop_ratio", "ratio"), ("lost %", "lost_percent", "percent")],
    "copies": [],
    "held": [("p99", "p99_us", "time"), ("max", "max_us", "time"), ("trials", "trials", "plain"), ("held", "held", "plain"),
             ("over 3x + 200 µs", "over", "plain")],
    "sort": [("one thread", "one_thread_us", "time"), ("/ one thread", "one_thread_ratio", "ratio"),
             ("own %", "own_percent", "plain"), ("cuts %", "cuts_percent", "plain"),
             ("bucket %", "bucket_percent", "plain"), ("merge %", "merge_percent", "plain"),
             ("moving %", "moving_percent", "plain")],
}

# What an MPI does in the place of an operation that it does not have.
COUNTERPARTS = {"permute": "MPI_Sendrecv along the same permutation, or MPI_Irecv and MPI_Isend",
                "reduce_all": "a local sum and MPI_Allreduce of one word: both sides read a block and receive one word "
                              "from each other rank",
                "prefix_reduce": "a local scan, MPI_Exscan of one word and a pass that adds it: both sides write a block "
                                 "and receive a word"}

GREEN, RED, PLAIN = "\033[32m", "\033[31m", "\033[0m"
NAMES = {"weft": "Weft", "openmpi": "Open MPI", "openmpi-ucx": "Open MPI with UCX", "mpich": "MPICH",
         "limit": "what the cables allow", "perftest": "ucx_perftest"}
PAGE = 120


def time(us):
    """Three significant digits, no exponent."""
    if us >= 100:
        return f"{us:.0f}"
    return f"{us:.1f}" if us >= 10 else f"{us:.2f}" if us >= 1 else f"{us:.3f}"


def times(value):
    """A ratio so that it says something at every size: 640x, 23x, 1.92x, 0.85x, 1/64x."""
    if value >= 10:
        return f"{value:.0f}x"
    if value >= 0.1 or value <= 0:
        return f"{value:.2f}x"
    return f"1/{1 / value:.0f}x"


FORMATS = {"time": time, "plain": lambda value: f"{value:.0f}", "ratio": times, "percent": lambda value: f"{value:.2g}"}


def size(bytes):
    if bytes == 0:
        return "-"
    for unit, factor in (("M", 1024**2), ("K", 1024)):
        if bytes % factor == 0:
            return f"{bytes // factor}{unit}"
    return str(bytes)


def spread(measurement):
    return f"{time(measurement['q1'])}..{time(measurement['q3'])}" if measurement else "-"


def compared(libraries):
    return "weft" in libraries and any(library not in results.NO_OTHER for library in libraries)


def faster(row):
    """How many times faster weft is than the faster MPI, or None where one of them is missing."""
    value = results.ratio(row)
    return 1 / value if value else None


def difference(row):
    """Nanoseconds that weft takes longer, or None where one of them is missing."""
    return 1000 * (row["weft"]["us"] - results.best_other(row)["us"]) if results.ratio(row) else None


# The columns that compare the libraries of a row: title, value, format.
COMPARISONS = {
    "one_sided": [(RATIO, results.ratio, "ratio")],
    "copies": [("ratio", results.ratio, "ratio"), ("difference, ns", difference, "plain")],
}


def groups(bench, libraries, rows):
    """The columns in groups that stay together, each column as its title and its cells."""
    found = [[row.get(library) for library in libraries] for row in rows.values()]

    def of_libraries(title, show, shown=libraries):
        return [(title.format(library), [show(line[k]) for line in found]) for k, library in enumerate(libraries)
                if library in shown]

    main = of_libraries("{}", lambda one: time(one["us"]) if one else "-")
    if compared(libraries):
        for title, value_of, kind in COMPARISONS.get(bench, [(SPEED, faster, "ratio")]):
            values = [value_of(row) for row in rows.values()]
            main.append((title, ["-" if value is None else FORMATS[kind](value) for value in values]))
    yield main
    yield of_libraries("{} q1..q3", spread)
    for title, field, kind in DETAILS[bench]:
        having = [library for k, library in enumerate(libraries) if any(line[k] and field in line[k] for line in found)]
        yield of_libraries("{} " + title,
                           lambda one: FORMATS[kind](one[field]) if one and field in one else "-", having)


def width(column):
    return max(len(cell) for cell in [column[0]] + column[1])


def pages(key, all_groups):
    """The groups on as few pages as their widths allow, each page beginning with the key columns."""
    page = list(key)
    for group in all_groups:
        wide = sum(width(column) + 2 for column in page + group) - 2
        if wide > PAGE and len(page) > len(key):
            yield page
            page = list(key)
        page = page + group
    yield page


def aligned(page, colours):
    """Columns of equal width, words to the left and numbers to the right; `colours` are those of the cells of SPEED."""
    text = ""
    for line in range(len(page[0][1]) + 1):
        parts = []
        for number, column in enumerate(page):
            cell = ([column[0]] + column[1])[line]
            cell = cell.ljust(width(column)) if number == 0 else cell.rjust(width(column))
            colour = colours[line - 1] if line and column[0] == SPEED else ""
            parts.append(colour + cell + PLAIN if colour else cell)
        text += "  ".join(parts).rstrip() + "\n"
    return text


def ranks(np, place):
    return f"np={np} ({place})" if place else f"np={np}"


def table(measurements, bench, np, libraries, colour, place):
    rows = results.rows(measurements, bench, np)
    shown = [library for library in [*libraries, "perftest"] if any(library in row for row in rows.values())]
    key = [("op", [op for op, _ in rows]), ("bytes", [size(bytes) for _, bytes in rows])]
    values = [faster(row) for row in rows.values()]
    colours = ["" if value is None or not colour else GREEN if value >= 1 else RED for value in values]
    repetitions = max(one["repetitions"] for row in rows.values() for one in row.values())
    mode = next(one["mode"] for row in rows.values() for one in row.values())
    title = f"{bench}, {ranks(np, place)}, {mode}: {TITLES[bench]}; median of {repetitions}"
    others = [library for library in shown if library not in results.NO_MPI]
    notes = [f"{op}: {', '.join(others)}: {COUNTERPARTS[op]}" for op in COUNTERPARTS
             if others and any(op == name for name, _ in rows)]
    text = textwrap.fill(title, PAGE, subsequent_indent="  ") + "\n"
    text += "\n".join(aligned(page, colours) for page in pages(key, groups(bench, shown, rows)))
    return text + "".join(f"{note}\n" for note in notes)


def parts(measurements):
    """Each bench and number of ranks that was measured; who waits for whom comes first."""
    found = list(dict.fromkeys((one["bench"], one["np"]) for one in measurements))
    return sorted(found, key=lambda part: part[0] != "independence")


def told_of_waiting(where, rows, libraries):
    """Who waits for a rank that computes: of the exchange, if it was measured, at the size in the middle."""
    measured = [key for key, row in rows.items() if "weft" in row]
    keys = [key for key in measured if key[0] == "exchange"] or measured
    if not keys:
        return ""
    op, bytes = keys[len(keys) // 2]
    row = rows[op, bytes]
    waits = ", ".join(f"{NAMES[library]} {time(row[library]['us'])}" for library in libraries
                      if library in row and library != "limit")
    value = faster(row)
    return (f"{where}: rank 0 computes 5 ms, the others wait for their {op} of {size(bytes)}, µs: {waits}"
            + (f" ({times(value)})" if value else "") + "\n")


def told_of_calls(where, rows):
    """How fast the calls are, all rows together."""
    values = [value for value in map(faster, rows.values()) if value]
    if not values:
        return ""
    won = sum(value >= 1 for value in values)
    return (f"{where}: blocking calls are faster than those of the faster MPI in {won} of {len(values)} rows, "
            f"{times(statistics.geometric_mean(values))} in the mean\n")


def headline(measurements, libraries, place):
    """What was found, before the tables."""
    text = ""
    for bench, np in parts(measurements):
        rows = results.rows(measurements, bench, np)
        if bench == "independence":
            text += told_of_waiting(ranks(np, place), rows, libraries)
        elif bench == "blocking":
            text += told_of_calls(ranks(np, place), rows)
    return "".join(textwrap.fill(line, PAGE, subsequent_indent="  ") + "\n" for line in text.splitlines() + [""] if text)


def tables(measurements, libraries, colour, place=""):
    """All tables of one place; it is told where it is not simply this machine."""
    return headline(measurements, libraries, place) + "\n".join(
        table(measurements, bench, np, libraries, colour, place) for bench, np in parts(measurements))
