# SPDX-License-Identifier: BSD-3-Clause
"""Measures between hosts that are simulated on this machine, beside what the cables allow."""
import os
import shutil
import sys
import time

from . import launch, launch_between, limit, plot, report, results, sandbox
from .hosts import TOOLS, Hosts, NotMade
from .options import driver_arguments
from .shapes import NETWORKS

# There is no idle core to hide anything on where ranks share cores.
ONLY_WITH_OWN_CORES = {"overlap", "pipeline"}


def note(text):
    print(f"run_perf: {text}", file=sys.stderr, flush=True)


def obstacle():
    """Why hosts cannot be simulated here, and what to do; None if they can."""
    if os.geteuid() != 0:
        return "only root can simulate hosts: run it as root"
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        return f"there is no {', '.join(missing)}: install iproute2 and util-linux"
    if not sandbox.allowed():
        return "the system refuses namespaces: outside of a container, or in a privileged one, it allows them to root"
    return None


def find_programs(options):
    programs = {}
    for library in options.libraries:
        try:
            programs[library] = launch_between.find(library, options.build)
        except launch.Missing as error:
            note(f"{library} is left out: {error}")
    return programs


def find_link(options):
    try:
        return launch.built("weft_bench_link", options.build)
    except launch.Missing as error:
        note(f"the limits are left out: {error}")
        return None


def benches_of(options, np, cores):
    if np <= cores or options.chosen_benches:
        return options.benches
    return [bench for bench in options.benches if bench not in ONLY_WITH_OWN_CORES]


def place_of(shape, network):
    return f"{shape.hosts} hosts, {network}"


class Series:
    """All launches on one shape and network, the libraries taking turns."""

    def __init__(self, options, hosts, shape, network):
        self.options, self.hosts, self.shape, self.network = options, hosts, shape, network
        self.cores = len(os.sched_getaffinity(0))
        self.records, self.failed = [], set()

    def run(self, programs, link):
        benches = benches_of(self.options, self.shape.np, self.cores)
        for repetition in range(self.options.repetitions if benches else 0):
            for library, program in programs.items():
                self.attempt(library, repetition, lambda: self.launch(library, program, benches))
            if link:
                self.attempt(limit.NAME, repetition, lambda: self.measure_link(link))

    def launch(self, library, program, benches):
        np = self.shape.np
        job = launch_between.Job(library, program, np, np > self.cores, max(self.options.sizes), self.hosts, self.shape)
        arguments = driver_arguments(self.options, np, benches, self.options.sizes, self.cores)
        return [{**one, "library": library} for one in job.run(arguments, self.options.timeout)]

    def measure_link(self, link):
        found = limit.measure(self.hosts, link, self.options, self.shape)
        return limit.records(found, self.records, self.shape)

    def attempt(self, name, repetition, run):
        """Keeps the records of one launch; whoever failed once is not launched again."""
        if name in self.failed:
            return
        place = f"{place_of(self.shape, self.network)}, np {self.shape.np}"
        turn = f"[{repetition + 1}/{self.options.repetitions}] {place}, {name}"
        start = time.monotonic()
        try:
            records = run()
        except launch.Failed as error:
            self.failed.add(name)
            note(f"{turn} failed: {error}")
            return
        note(f"{turn}: {time.monotonic() - start:.1f} s")
        self.records += [{**one, "network": self.network, "hosts": self.shape.hosts} for one in records]


def measure(options, folder, programs, link, take):
    """Hands over each series when it is through, or was interrupted."""
    for shape in options.shapes:
        with Hosts(folder, shape.hosts) as hosts:
            for network in options.networks:
                hosts.limit(NETWORKS[network])
                series = Series(options, hosts, shape, network)
                try:
                    series.run(programs, link)
                finally:
                    take(series)


def run(options, folder, programs, link):
    """The whole measurement, inside of the sandbox; returns the exit status."""
    measurements, complete = [], True
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    columns = [*programs, limit.NAME]

    def take(series):
        nonlocal complete
        part = results.combine(series.records)
        complete = complete and bool(part) and not series.failed
        place = place_of(series.shape, series.network)
        print(report.tables(part, columns, colour, place), flush=True)
        if options.plot:
            for path in plot.draw(part, options.plot, place):
                note(f"wrote {path}")
        measurements.extend(part)

    try:
        measure(options, folder, programs, link, take)
    except KeyboardInterrupt:
        note("interrupted: the tables show what was measured until now")
        complete = False
    except NotMade as error:
        note(f"a network cannot be simulated: {error}")
        complete = False
    if options.json:
        results.write_json(options.json, measurements)
    return 0 if complete and measurements else 1


def main(options):
    reason = obstacle()
    if reason:
        note(f"--network is skipped: {reason}")
        return 0
    programs = find_programs(options)
    if not programs:
        note(f"nothing to measure, build the target 'perf' in {options.build}")
        return 1
    link = find_link(options)
    return sandbox.run_inside(lambda folder: run(options, folder, programs, link))
