# SPDX-License-Identifier: BSD-3-Clause
"""From the records of all launches to one measurement per bench, operation, number of ranks, size and library."""
import json
import statistics

KEY = ("bench", "op", "np", "bytes", "mode", "library", "network", "hosts")
# What weft's time is not compared with: its own, and what a link without any library allows.
NO_OTHER = ("weft", "limit")
# Those that are no MPI.
NO_MPI = (*NO_OTHER, "perftest")


def quartiles(values):
    """First quartile, median and third quartile; of one value all three are that value."""
    if len(values) == 1:
        return values[0], values[0], values[0]
    return tuple(statistics.quantiles(values, n=4, method="inclusive"))


def combine(records):
    """The median of the repetitions in each figure, and the quartiles of the main one."""
    groups = {}
    for record in records:
        key = tuple((field, record[field]) for field in KEY if field in record)
        groups.setdefault(key, []).append(record)
    return [combined(dict(key), group) for key, group in groups.items()]


def combined(measurement, group):
    q1, middle, q3 = quartiles([record["us"] for record in group])
    measurement.update(us=rounded(middle), q1=rounded(q1), q3=rounded(q3), repetitions=len(group))
    for figure in group[0]:
        if figure not in KEY and figure != "us":
            measurement[figure] = rounded(statistics.median([record[figure] for record in group]))
    return measurement


def rounded(value):
    return round(value, 4)


def rows(measurements, bench, np):
    """{(op, bytes): {library: measurement}} of one table, in the order of measuring."""
    table = {}
    for measurement in measurements:
        if measurement["bench"] == bench and measurement["np"] == np:
            table.setdefault((measurement["op"], measurement["bytes"]), {})[measurement["library"]] = measurement
    return table


def best_other(row):
    """The measurement of the faster MPI, or of what else weft is measured beside; or None."""
    others = [measurement for library, measurement in row.items() if library not in NO_OTHER]
    return min(others, key=lambda measurement: measurement["us"], default=None)


def ratio(row):
    """weft's time over that of the faster of the others, or None where one of them is missing."""
    best = best_other(row)
    if "weft" not in row or best is None or best["us"] == 0:
        return None
    return row["weft"]["us"] / best["us"]


def write_json(path, measurements):
    with open(path, "w", encoding="utf-8") as file:
        for measurement in measurements:
            file.write(json.dumps(measurement) + "\n")
