"""The command line, and the order of the launches."""
import argparse
import json
import os
import signal
import sys
import time

from . import launch, plot, report, results

BENCHES = ["blocking", "loop", "overlap", "pipeline", "independence", "post", "completion", "beside", "checked", "idle",
           "sort", "one_sided"]
# What no MPI has: programs of their own, which print what they find.
PROGRAMS = ("sort", "one_sided")
OPERATIONS = ["barrier", "broadcast", "scatter", "gather", "gather_all", "exchange", "permute", "team_reduce",
              "team_allreduce", "reduce_all", "prefix_reduce"]
# Overlap needs a core per rank; what a posting call or a choice among handles costs does not depend on how many
# there are.
ONLY_WITH_OWN_CORES = {"overlap", "pipeline"}
ONLY_ONCE = {"post", "completion", "idle"}


def size(text):
    """Bytes of '8', '16K' or '4M'."""
    units = {"K": 1024, "M": 1024**2}
    digits, unit = (text[:-1], text[-1].upper()) if text[-1:].upper() in units else (text, "")
    if not digits.isdigit() or int(digits) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a size, write 8, 16K or 4M")
    value = int(digits) * units.get(unit, 1)
    if value % 8:
        raise argparse.ArgumentTypeError(f"'{text}' is not a multiple of 8")
    return value


def count(text):
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive number")
    return int(text)


def ranks(text):
    if count(text) < 2:
        raise argparse.ArgumentTypeError("one rank has nobody to talk to, write 2 or more")
    return count(text)


def list_of(kind):
    return lambda text: [kind(part) for part in text.split(",")]


def one_of(names):
    def check(text):
        if text not in names:
            raise argparse.ArgumentTypeError(f"'{text}' is unknown, choose from {', '.join(names)}")
        return text

    return check


def parse(arguments):
    parser = argparse.ArgumentParser(prog="run_perf", description=__doc__, allow_abbrev=False)
    parser.add_argument("--build", default="build/release", metavar="DIR", help="where the drivers were built")
    parser.add_argument("--quick", action="store_true", help="two repetitions, fewer sizes and iterations")
    parser.add_argument("--json", metavar="FILE", help="write one JSON object per line and measurement")
    parser.add_argument("--plot", metavar="DIR", help="write one SVG per bench and number of ranks")
    parser.add_argument("--ops", type=list_of(one_of(OPERATIONS)), default=OPERATIONS, help=",".join(OPERATIONS))
    parser.add_argument("--benches", type=list_of(one_of(BENCHES)), help=",".join(BENCHES))
    parser.add_argument("--np", type=list_of(ranks), help="numbers of ranks, default 2,4,8")
    parser.add_argument("--sizes", type=list_of(size), help="bytes per block, default 8,1K,16K,256K,4M")
    parser.add_argument("--repetitions", type=count, metavar="N", help="launches of each library, default 5")
    parser.add_argument("--libraries", type=list_of(one_of(launch.LIBRARIES)), default=launch.LIBRARIES,
                        help=",".join(launch.LIBRARIES))
    parser.add_argument("--timeout", type=count, default=600, metavar="S", help="seconds that a launch may take")
    options = parser.parse_args(arguments)
    quick = options.quick
    options.chosen_benches = options.benches is not None
    options.benches = options.benches or BENCHES
    options.np = options.np or ([2, 4] if quick else [2, 4, 8])
    options.sizes = options.sizes or [size(text) for text in (["8", "1K", "16K", "256K"] + ([] if quick else ["4M"]))]
    options.repetitions = options.repetitions or (2 if quick else 5)
    return options


def benches_of(options, np, library, repetition, cores):
    """What one launch measures: everything asked for, without what would say nothing there."""
    wanted = list(options.benches)
    if np > cores and not options.chosen_benches:
        wanted = [name for name in wanted if name not in ONLY_WITH_OWN_CORES]
    if np != options.np[0]:
        wanted = [name for name in wanted if name not in ONLY_ONCE]
    if library != "weft":
        wanted = [name for name in wanted if name != "checked"]
    if library != "weft" or repetition > 0:
        wanted = [name for name in wanted if name != "idle"]
    return [name for name in wanted if name not in PROGRAMS]


def driver_arguments(options, np, benches, sizes, cores):
    arguments = ["--benches", ",".join(benches), "--ops", ",".join(options.ops)]
    arguments += ["--sizes", ",".join(str(bytes) for bytes in sizes)]
    arguments += ["--budget-ms", "20" if options.quick else "100"]
    arguments += ["--minimum-iterations", "5" if options.quick or np > cores else "10"]
    arguments += ["--independence-iterations", "8" if options.quick else "20"]
    return arguments


def checked(options, job, cores):
    """What comparing the calls of all ranks costs: blocking calls of the smallest size, without it and with it."""
    arguments = driver_arguments(options, job.np, ["blocking"], [min(options.sizes)], cores)
    plain = job.run(arguments, options.timeout)
    compared = job.run(arguments, options.timeout, WEFT_CHECK="1")
    return [{**one, "bench": "checked", "plain_us": before["us"], "cost": one["us"] / before["us"]}
            for before, one in zip(plain, compared)]


def records_of(options, job, benches, cores):
    records = []
    in_the_driver = [name for name in benches if name not in ("checked", *PROGRAMS)]
    if in_the_driver:
        records += job.run(driver_arguments(options, job.np, in_the_driver, options.sizes, cores), options.timeout)
    if "checked" in benches:
        records += checked(options, job, cores)
    return records


def measure(options, programs, note):
    """Runs every launch, the libraries taking turns; returns the records and whether all launches succeeded."""
    cores = len(os.sched_getaffinity(0))
    turns = [(np, repetition, library) for np in options.np for repetition in range(options.repetitions)
             for library in programs]
    records, failed = [], set()
    for number, (np, repetition, library) in enumerate(turns, start=1):
        if (np, library) in failed:
            continue
        benches = benches_of(options, np, library, repetition, cores)
        if not benches:
            continue
        job = launch.Job(library, programs[library], np, np > cores, max(options.sizes))
        start = time.monotonic()
        try:
            records += records_of(options, job, benches, cores)
            note(f"[{number}/{len(turns)}] np {np}, {library}: {time.monotonic() - start:.1f} s")
        except launch.Failed as error:
            failed.add((np, library))
            note(f"[{number}/{len(turns)}] np {np}, {library} failed: {error}")
        except KeyboardInterrupt:
            note("interrupted: the tables show what was measured until now")
            return records, False
    return records, not failed


def own_program(name, options, cores, note):
    """What a program finds that measures by itself: sorts on one thread and on as many as have a core each."""
    program = launch.Program(launch.built("weft", options.build), launch.built(f"weft_bench_{name}", options.build))
    if name == "sort":
        elements = 1_000_000 if options.quick else 10_000_000
        ranks = sorted({1, *(np for np in options.np if np <= cores)})
        arguments, memory = ["--elements", str(elements), "--repetitions", str(options.repetitions)], 16 * elements
    else:
        ranks, memory = options.np, max(options.sizes) * max(options.np)
        arguments = ["--sizes", ",".join(str(bytes) for bytes in options.sizes)]
    for np in ranks:
        job = launch.Job("weft", program, np, np > cores, memory)
        start = time.monotonic()
        print(job.output(arguments, options.timeout))
        note(f"{name}, np {np}: {time.monotonic() - start:.1f} s")


def write_json(path, measurements):
    with open(path, "w", encoding="utf-8") as file:
        for measurement in measurements:
            file.write(json.dumps(measurement) + "\n")


def main(arguments):
    options = parse(arguments)

    def note(text):
        print(f"run_perf: {text}", file=sys.stderr, flush=True)

    # A terminated runner ends its launch as an interrupted one does.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    programs = {}
    for library in options.libraries:
        try:
            programs[library] = launch.find(library, options.build)
        except launch.Missing as error:
            note(f"{library} is left out: {error}")
    if not programs:
        note(f"nothing to measure, build the target 'perf' in {options.build}")
        return 1

    cores = len(os.sched_getaffinity(0))
    for name in (name for name in PROGRAMS if name in options.benches and "weft" in programs):
        try:
            own_program(name, options, cores, note)
        except (launch.Missing, launch.Failed) as error:
            note(f"{name} is left out: {error}")
    if set(options.benches) <= set(PROGRAMS):
        return 0
    records, complete = measure(options, programs, note)
    measurements = results.combine(records)
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    print(report.tables(measurements, list(programs), colour), end="")
    if options.json:
        write_json(options.json, measurements)
    if options.plot:
        for path in plot.draw(measurements, options.plot):
            note(f"wrote {path}")
    return 0 if complete and measurements else 1
