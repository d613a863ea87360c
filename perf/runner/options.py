# SPDX-License-Identifier: BSD-3-Clause
"""The command line."""
import argparse

from . import launch, programs, special_paths
from .shapes import NETWORKS, Shape

DESCRIPTION = "Measures Weft beside Open MPI and MPICH, the libraries taking turns, and prints them side by side."
BENCHES = ["blocking", "loop", "overlap", "pipeline", "independence", "post", "completion", "beside", "skewed", "checked", "idle",
           "one_sided", *programs.APART]
NETWORK_BENCHES = ["blocking", "loop", "overlap", "pipeline", "independence", "post", "skewed"]
NETWORK_LIBRARIES = ["weft", "openmpi", "openmpi-ucx", "mpich"]
OPERATIONS = ["barrier", "broadcast", "scatter", "gather", "gather_all", "exchange", "permute", "team_reduce",
              "team_allreduce", "reduce_all", "prefix_reduce"]


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
        raise argparse.ArgumentTypeError("one rank has no partner, write 2 or more")
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
    parser = argparse.ArgumentParser(prog="run_perf", description=DESCRIPTION, allow_abbrev=False)
    parser.add_argument("--build", default="build/release", metavar="DIR", help="where the drivers were built")
    parser.add_argument("--quick", action="store_true", help="two repetitions, fewer sizes and iterations")
    parser.add_argument("--json", metavar="FILE", help="write one JSON object per line and measurement")
    parser.add_argument("--plot", metavar="DIR", help="write one SVG per bench and number of ranks")
    parser.add_argument("--ops", type=list_of(one_of(OPERATIONS)), default=OPERATIONS, help=",".join(OPERATIONS))
    parser.add_argument("--benches", type=list_of(one_of(BENCHES)), help=",".join(BENCHES))
    parser.add_argument("--np", type=list_of(ranks), help="numbers of ranks, default 2,4,8")
    parser.add_argument("--sizes", type=list_of(size), help="bytes per block, default 8,1K,16K,256K,4M")
    parser.add_argument("--repetitions", type=count, metavar="N",
                        help="launches of each library, default 5, between hosts 3")
    parser.add_argument("--libraries", type=list_of(one_of(NETWORK_LIBRARIES)),
                        help=",".join(launch.LIBRARIES) + "; between hosts openmpi-ucx, too")
    parser.add_argument("--timeout", type=count, metavar="S",
                        help="seconds that a launch may take, default 600, between hosts 1800")
    between = parser.add_argument_group("between hosts")
    between.add_argument("--network", action="store_true",
                         help="measure between hosts that are simulated on this machine; only as root")
    between.add_argument("--hosts", type=list_of(ranks), help="numbers of hosts, default 2 and 3")
    between.add_argument("--per-host", type=list_of(count), help="ranks on each host, default 1 and 2")
    between.add_argument("--networks", type=list_of(one_of(NETWORKS)), help="what the cables let through: "
                         + ",".join(NETWORKS))
    add_others(parser)
    options = parser.parse_args(arguments)
    options.chosen_benches = options.benches is not None
    settle_others(parser, options)
    if options.network:
        settle_network(parser, options)
    else:
        settle_local(parser, options)
    settle(options)
    return options


def add_others(parser):
    """What takes the place of the benches."""
    counts = parser.add_argument_group("instructions instead of times")
    counts.add_argument("--instructions", action="store_true",
                        help="count the instructions of the smallest calls, by callgrind, beside another commit")
    counts.add_argument("--against", metavar="COMMIT", help="which one, default that of perf/reference/instructions.json")
    counts.add_argument("--write-reference", action="store_true", help="make the other commit that of the reference")
    paths = parser.add_argument_group("the special paths of the engine")
    paths.add_argument("--ablate", nargs="*", metavar="NAME",
                       help="measure what each gains, or these, in a build in which they can be switched off")
    paths.add_argument("--list", action="store_true", help="only list their names, and what they do")
    paths.add_argument("--pairs", type=count, metavar="N", help="of launches with it and without, default 15, quick 3")
    paths.add_argument("--table", metavar="FILE", help="where the table goes, too, default build/ablation.txt")


def settle_others(parser, options):
    chosen = [options.network, options.instructions, options.ablate is not None]
    if sum(chosen) > 1:
        parser.error("--network, --instructions and --ablate exclude each other")
    if not options.instructions and (options.against or options.write_reference):
        parser.error("--against and --write-reference are for counting, add --instructions")
    if options.ablate is None and (options.list or options.pairs or options.table):
        parser.error("--list, --pairs and --table are for special paths, add --ablate")
    for name in options.ablate or []:
        if name not in special_paths.listed():
            parser.error(special_paths.unknown(name))
    if options.instructions:
        options.repetitions = options.repetitions or 2
    if options.ablate is not None:
        options.pairs = options.pairs or (3 if options.quick else 15)


def settle_network(parser, options):
    """What is measured between hosts, which is less: some benches and sizes say nothing there, or take too long."""
    if options.np:
        parser.error("--np is for one host, give --hosts and --per-host to --network")
    options.benches = options.benches or NETWORK_BENCHES
    unfit = [bench for bench in options.benches if bench not in NETWORK_BENCHES]
    if unfit:
        parser.error(f"--network does not measure {', '.join(unfit)}, choose from {', '.join(NETWORK_BENCHES)}")
    if options.hosts or options.per_host:
        shapes = [(hosts, per_host) for hosts in options.hosts or [2] for per_host in options.per_host or [1]]
    else:
        shapes = [(2, 1)] if options.quick else [(2, 1), (2, 2), (3, 1)]
    options.shapes = [Shape(*shape) for shape in shapes]
    options.networks = options.networks or list(NETWORKS)
    options.libraries = options.libraries or NETWORK_LIBRARIES
    options.repetitions = options.repetitions or (2 if options.quick else 3)
    options.timeout = options.timeout or 1800


def settle_local(parser, options):
    if options.hosts or options.per_host or options.networks:
        parser.error("--hosts, --per-host and --networks are for measuring between hosts, add --network")
    options.benches = options.benches or BENCHES
    options.libraries = options.libraries or launch.LIBRARIES
    unfit = [library for library in options.libraries if library not in launch.LIBRARIES]
    if unfit:
        parser.error(f"{', '.join(unfit)} is for measuring between hosts, add --network")
    options.np = options.np or ([2, 4] if options.quick else [2, 4, 8])
    options.repetitions = options.repetitions or (2 if options.quick else 5)
    options.timeout = options.timeout or 600


def settle(options):
    sizes = ["8", "1K", "16K", "256K"] + ([] if options.quick else ["4M"])
    options.sizes = options.sizes or [size(text) for text in sizes]


def driver_arguments(options, np, benches, sizes, cores, operations=None):
    """What one launch of a driver is told to measure."""
    short = options.quick or options.network  # there are calls of half a second between hosts
    arguments = ["--benches", ",".join(benches), "--ops", ",".join(operations or options.ops)]
    arguments += ["--sizes", ",".join(str(bytes) for bytes in sizes)]
    arguments += ["--budget-ms", "20" if options.quick else "100"]
    arguments += ["--minimum-iterations", "5" if short or np > cores else "10"]
    arguments += ["--independence-iterations", "8" if short else "20"]
    return arguments
