# SPDX-License-Identifier: BSD-3-Clause
"""Measures what each special path of the engine gains: its case with it and without it, in turns, in a build in which
each can be switched off (WEFT_ABLATE)."""
import datetime
import json
import os
import statistics
import sys
import tempfile
import time

from . import builds, launch, launch_between, network, report, results, sandbox, special_paths
from .hosts import Hosts, NotMade
from .options import driver_arguments

VARIABLE = "ABLATED"  # names what is off; the header reads it


def note(text):
    print(f"run_perf: {text}", file=sys.stderr, flush=True)


def make(options):
    """The build with the switches, beside the one that was given."""
    folder = os.path.join(builds.beside(options.build), "ablate")
    note(f"building {folder}")
    variables = {**builds.LIBRARY_ALONE, "WEFT_BUILD_PERF": "ON", "WEFT_ABLATE": "ON"}
    return builds.make(options.build, builds.ROOT, folder, variables, ["weft_tool", "weft_bench_weft"])


def pairs_of(run, count):
    """[(with it, without it)]: both sides in turns, and each first as often as second."""
    found = []
    for number in range(count):
        times = {off: run(off) for off in ((False, True) if number % 2 == 0 else (True, False))}
        found.append((times[False], times[True]))
    return found


def summary(name, pairs):
    """The record of a path."""
    q1, ratio, q3 = results.quartiles([off / on for on, off in pairs])
    case = special_paths.CASES[name]
    hosts = {"hosts": case.shape.hosts} if case.shape else {}
    return dict(bench="ablation", path=name, case=case.bench, op=case.op, np=case.np, bytes=case.bytes, mode="MY/MY",
                library="weft", us=results.rounded(statistics.median(on for on, _ in pairs)),
                without_us=results.rounded(statistics.median(off for _, off in pairs)), ratio=results.rounded(ratio),
                q1=results.rounded(q1), q3=results.rounded(q3), pairs=len(pairs), **hosts)


def verdict(record):
    """What the middle half of the pairs agrees on."""
    return "gains" if record["q1"] > 1 else "loses" if record["q3"] < 1 else "no difference"


# ---- the launches


def measure(options, name, job, cores):
    case = special_paths.CASES[name]
    arguments = driver_arguments(options, case.np, [case.bench], [case.bytes], cores, [case.op])

    def run(off):
        (record,) = job.run(arguments, options.timeout, **{VARIABLE: name if off else ""})
        return record["us"]

    return summary(name, pairs_of(run, options.pairs))


def series(options, names, job_of):
    """The records of these paths, and whether all were measured."""
    cores, found, complete = len(os.sched_getaffinity(0)), [], True
    for name in names:
        start = time.monotonic()
        try:
            found.append(measure(options, name, job_of(special_paths.CASES[name], cores), cores))
        except launch.Failed as error:
            note(f"{name} failed: {error}")
            complete = False
            continue
        note(f"{name}: {options.pairs} pairs, {time.monotonic() - start:.0f} s")
    return found, complete


def on_this_host(options, names, build):
    program = launch.find("weft", build)
    return series(options, names,
                  lambda case, cores: launch.Job("weft", program, case.np, case.np > cores, case.bytes))


def between_hosts(options, names, build, folder):
    """In the sandbox."""
    program, found, complete = launch_between.find("weft", build), [], True
    for shape in dict.fromkeys(special_paths.CASES[name].shape for name in names):
        with Hosts(folder, shape.hosts) as hosts:
            more, all_of_them = series(
                options, [name for name in names if special_paths.CASES[name].shape == shape],
                lambda case, cores: launch_between.Job("weft", program, case.np, case.np > cores, case.bytes, hosts,
                                                       case.shape))
        found += more
        complete = complete and all_of_them
    return found, complete


def sandboxed(options, names, build):
    """The same from outside of it: it is a process of its own, which leaves its records in a file."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
        def body(folder):
            try:
                found, complete = between_hosts(options, names, build, folder)
            except (launch.Missing, NotMade) as error:
                note(f"between hosts: {error}")
                return 1
            json.dump(found, file)
            file.flush()
            return 0 if complete else 1

        status = sandbox.run_inside(body)
        file.seek(0)
        text = file.read()
    return json.loads(text) if text else [], status == 0


# ---- what is told


def machine():
    """The processor, and how many of its cores may be used."""
    names = []
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        pass
    return f"{names[0] if names else 'unknown processor'}, {len(os.sched_getaffinity(0))} cores"


def commit():
    try:
        changed = builds.git(builds.ROOT, "status", "--porcelain", "--", "api", "engine", "progress", "pmix_boot")
        return builds.git(builds.ROOT, "rev-parse", "HEAD")[:12] + (" with changes" if changed else "")
    except (launch.Failed, launch.Missing):
        return "unknown"


def table(found):
    columns = [("path", [one["path"] for one in found]),
               ("its case", [str(special_paths.CASES[one["path"]]) for one in found]),
               ("with, µs", [report.time(one["us"]) for one in found]),
               ("without, µs", [report.time(one["without_us"]) for one in found]),
               ("without/with", [f"{one['ratio']:.3f}" for one in found]),
               ("q1..q3", [f"{one['q1']:.3f}..{one['q3']:.3f}" for one in found]),
               ("", [verdict(one) for one in found])]
    title, cells = columns[1]
    columns[1] = (title.ljust(report.width(columns[1])), [cell.ljust(report.width(columns[1])) for cell in cells])
    return report.aligned(columns, [])


def heading(pairs):
    return (f"special paths of the engine, each in its case with it and without it, in turns\n"
            f"{datetime.date.today()}, commit {commit()}, {machine()}\n"
            f"medians of {pairs} pairs; the ratio is that of each pair; gains, loses: their middle half agrees\n\n")


def ablate(options):
    build = make(options)
    names = options.ablate or list(special_paths.listed())
    near = [name for name in names if special_paths.CASES[name].shape is None]
    far = [name for name in names if name not in near]
    head = heading(options.pairs)  # behind a sandbox this process starts no other any more
    found, complete = on_this_host(options, near, build)
    if far and (reason := network.obstacle()):
        note(f"{', '.join(far)}: left out: {reason}")
        far = []
    if far:
        more, all_of_them = sandboxed(options, far, build)
        found += more
        complete = complete and all_of_them
    if not found:
        return 0 if complete else 1
    found.sort(key=lambda one: names.index(one["path"]))
    text = head + table(found)
    print(text, end="")
    path = options.table or os.path.join(builds.beside(options.build), "ablation.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    note(f"wrote {path}")
    if options.json:
        results.write_json(options.json, found)
    return 0 if complete else 1


def main(options):
    if options.list:
        print(special_paths.described(), end="")
        return 0
    try:
        return ablate(options)
    except (launch.Missing, launch.Failed) as error:
        note(f"--ablate failed: {error}")
        return 1
    except KeyboardInterrupt:
        note("interrupted")
        return 130
