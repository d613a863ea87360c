# SPDX-License-Identifier: BSD-3-Clause
"""What the runner does, and the order of the launches."""
import os
import signal
import sys
import time

from . import ablation, instructions, launch, network, plot, programs, report, results
from .options import driver_arguments, parse

# Those that the driver of a library does not measure in its one launch.
NOT_IN_THE_DRIVER = ("checked", "one_sided")
# Overlap needs a core per rank; what a posting call or a choice among handles costs does not depend on how many
# there are.
ONLY_WITH_OWN_CORES = {"overlap", "pipeline"}
ONLY_ONCE = {"post", "completion", "idle"}


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
    return [name for name in wanted if name not in programs.APART]


def checked(options, job, cores):
    """What comparing the calls of all ranks costs: blocking calls of the smallest size, without it and with it."""
    arguments = driver_arguments(options, job.np, ["blocking"], [min(options.sizes)], cores)
    plain = job.run(arguments, options.timeout)
    compared = job.run(arguments, options.timeout, WEFT_CHECK="1")
    return [{**one, "bench": "checked", "plain_us": before["us"], "cost": one["us"] / before["us"]}
            for before, one in zip(plain, compared)]


def records_of(options, job, benches, cores):
    records = []
    in_the_driver = [name for name in benches if name not in NOT_IN_THE_DRIVER]
    if in_the_driver:
        records += job.run(driver_arguments(options, job.np, in_the_driver, options.sizes, cores), options.timeout)
    if "checked" in benches:
        records += checked(options, job, cores)
    if "one_sided" in benches:
        def arguments_of(names, operations):
            return driver_arguments(options, job.np, names, options.sizes, cores, operations)

        records += programs.one_sided(options, job, arguments_of, cores)
    return records


def measure(options, found, note):
    """Runs every launch, the libraries taking turns; returns the records and whether all launches succeeded."""
    cores = len(os.sched_getaffinity(0))
    turns = [(np, repetition, library) for np in options.np for repetition in range(options.repetitions)
             for library in found]
    records, failed = [], set()
    for number, (np, repetition, library) in enumerate(turns, start=1):
        if (np, library) in failed:
            continue
        benches = benches_of(options, np, library, repetition, cores)
        if not benches:
            continue
        job = launch.Job(library, found[library], np, np > cores, max(options.sizes))
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


def measure_apart(options, note):
    """As measure(), of the programs that take no turns with the libraries."""
    cores = len(os.sched_getaffinity(0))
    records, complete = [], True
    for name in (name for name in programs.APART if name in options.benches):
        start = time.monotonic()
        try:
            records += programs.APART[name](options, cores, note)
            note(f"{name}: {time.monotonic() - start:.1f} s")
        except (launch.Missing, launch.Failed) as error:
            note(f"{name} failed: {error}")
            complete = False
        except KeyboardInterrupt:
            note("interrupted: the tables show what was measured until now")
            return records, False
    return records, complete


def main(arguments):
    options = parse(arguments)
    for chosen, run in ((options.network, network.main), (options.instructions, instructions.main),
                        (options.ablate is not None, ablation.main)):
        if chosen:
            return run(options)

    def note(text):
        print(f"run_perf: {text}", file=sys.stderr, flush=True)

    # A terminated runner ends its launch as an interrupted one does.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    found = {}
    for library in options.libraries:
        try:
            found[library] = launch.find(library, options.build)
        except launch.Missing as error:
            note(f"{library} is left out: {error}")
    if not found:
        note(f"nothing to measure, build the target 'perf' in {options.build}")
        return 1

    records, complete = measure_apart(options, note) if "weft" in found else ([], True)
    more, all_of_them = measure(options, found, note)
    measurements = results.combine(records + more)
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    print(report.tables(measurements, list(found), colour), end="")
    if options.json:
        results.write_json(options.json, measurements)
    if options.plot:
        for path in plot.draw(measurements, options.plot):
            note(f"wrote {path}")
    return 0 if complete and all_of_them and measurements else 1
