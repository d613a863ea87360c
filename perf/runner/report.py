"""Tables in plain text."""
from . import results

TITLES = {
    "blocking": "us per call from a common start: slowest rank, median over the calls",
    "loop": "us per call, back to back, data written and read between the calls: mean",
    "overlap": "us of post, computation and wait together (computation as long as the communication alone)",
    "pipeline": "us per round: post, compute on the round before, wait",
    "independence": "us that the other ranks wait while rank 0 computes 5 ms after its post",
    "post": "us of the posting call alone",
    "completion": "us per operation of posting 1000 and completing them by waitany",
    "idle": "processor time of a process with nothing outstanding",
}

# Further columns for each library: title, field, format.
DETAILS = {
    "blocking": [("mean", "mean_us", "time")],
    "loop": [("median", "median_us", "time"), ("touch", "touch_us", "time")],
    "overlap": [("overlap %", "overlap", "plain"), ("slow-down", "slowdown", "ratio")],
    "pipeline": [("blocking", "blocking_us", "time"), ("ideal", "ideal_us", "time")],
    "independence": [("other cores", "other_cores_us", "time"), ("x blocking", "ratio", "ratio"),
                     ("slow-down", "slowdown", "ratio")],
    "post": [("rings", "rings", "plain")],
    "completion": [("1000/10", "any_ratio", "ratio"), ("waitsome", "some_us", "time"),
                   ("waitsome 1000/10", "some_ratio", "ratio")],
    "idle": [("core %", "core_percent", "ratio")],
}

# What an MPI does in the place of an operation that it does not have.
COUNTERPARTS = {"permute": "MPI_Sendrecv along the same permutation, or MPI_Irecv and MPI_Isend"}

GREEN, RED, PLAIN = "\033[32m", "\033[31m", "\033[0m"


def time(us):
    """Three significant digits, no exponent."""
    if us >= 100:
        return f"{us:.0f}"
    return f"{us:.1f}" if us >= 10 else f"{us:.2f}" if us >= 1 else f"{us:.3f}"


FORMATS = {"time": time, "plain": lambda value: f"{value:.0f}", "ratio": lambda value: f"{value:.2f}"}


def size(bytes):
    if bytes == 0:
        return "-"
    for unit, factor in (("M", 1024**2), ("K", 1024)):
        if bytes % factor == 0:
            return f"{bytes // factor}{unit}"
    return str(bytes)


def spread(measurement):
    return f"{time(measurement['q1'])}..{time(measurement['q3'])}" if measurement else "-"


def header(bench, libraries):
    names = ["op", "bytes"] + libraries
    if "weft" in libraries and len(libraries) > 1:
        names.append("weft/best")
    names += [f"{library} q1..q3" for library in libraries]
    return names + [f"{library} {title}" for title, _, _ in DETAILS[bench] for library in libraries]


def cells(bench, libraries, key, row):
    op, bytes = key
    found = [row.get(library) for library in libraries]
    line = [op, size(bytes)] + [time(one["us"]) if one else "-" for one in found]
    if "weft" in libraries and len(libraries) > 1:
        value = results.ratio(row)
        line.append(FORMATS["ratio"](value) if value is not None else "-")
    line += [spread(one) for one in found]
    for _, field, kind in DETAILS[bench]:
        line += [FORMATS[kind](one[field]) if one and field in one else "-" for one in found]
    return line


def aligned(lines, colours):
    """Columns of equal width, words to the left and numbers to the right."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    text = ""
    for line, colour in zip(lines, colours):
        parts = [cell.ljust(width) if column == 0 else cell.rjust(width)
                 for column, (cell, width) in enumerate(zip(line, widths))]
        for column in colour:
            parts[column] = colour[column] + parts[column] + PLAIN
        text += "  ".join(parts).rstrip() + "\n"
    return text


def table(measurements, bench, np, libraries, colour):
    rows = results.rows(measurements, bench, np)
    shown = [library for library in libraries if any(library in row for row in rows.values())]
    names = header(bench, shown)
    lines, colours = [names], [{}]
    for key, row in rows.items():
        lines.append(cells(bench, shown, key, row))
        value = results.ratio(row)
        paint = colour and value is not None
        colours.append({names.index("weft/best"): GREEN if value <= 1 else RED} if paint else {})
    repetitions = max(one["repetitions"] for row in rows.values() for one in row.values())
    mode = next(one["mode"] for row in rows.values() for one in row.values())
    title = f"{bench}, np={np}, {mode}: {TITLES[bench]}; median of {repetitions} repetitions\n"
    others = [library for library in shown if library != "weft"]
    notes = [f"{op}: {', '.join(others)}: {COUNTERPARTS[op]}\n" for op in COUNTERPARTS
             if others and any(op == name for name, _ in rows)]
    return title + aligned(lines, colours) + "".join(notes)


def tables(measurements, libraries, colour):
    parts = []
    for measurement in measurements:
        which = (measurement["bench"], measurement["np"])
        if which not in parts:
            parts.append(which)
    return "\n".join(table(measurements, bench, np, libraries, colour) for bench, np in parts)
