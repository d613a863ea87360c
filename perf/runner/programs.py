# SPDX-License-Identifier: BSD-3-Clause
"""Programs of Weft alone, and what they are measured beside."""
from . import launch, perftest

# The operations that one thread calls; an MPI's are called by all ranks.
ONE_SIDED = ["broadcast", "scatter", "gather", "exchange"]
COPY_SIZES = [8, 64, 512, 4096, 32768, 262144, 4194304]
# Copies between the ranks go through UCX, and it through shared memory.
SHARED_MEMORY = {"UCX_TLS": "shm,self"}


# Ranks and hosts of the jobs in which a rank is away.
HELD_SHAPES = [(2, 1), (4, 2), (3, 3)]


def job_of(name, options, np, cores, largest, nodes=1):
    program = launch.Program(launch.built("weft", options.build), launch.built(f"weft_bench_{name}", options.build))
    return launch.Job("weft", program, np, np > cores, largest, nodes)


def listed(sizes):
    return ",".join(str(bytes) for bytes in sizes)


def one_sided(options, job, arguments_of, cores):
    """One-sided collectives of Weft; of an MPI its blocking ones of the same operations and sizes."""
    operations = [op for op in options.ops if op in ONE_SIDED]
    if not operations:
        return []
    if job.library == "weft":
        own = job_of("one_sided", options, job.np, cores, max(options.sizes))
        return own.run(["--sizes", listed(options.sizes), "--ops", ",".join(operations), "--repetitions",
                        "5" if options.quick else "9"], options.timeout)
    found = job.run(arguments_of(["blocking"], operations), options.timeout)
    return [{**one, "bench": "one_sided", "mode": "thread 0 calls"} for one in found]


def copies(options, cores, note):
    """One-sided copies and ucx_perftest in turns."""
    job = job_of("copies", options, 2, cores, max(COPY_SIZES))
    beside, records = True, []
    for _ in range(options.repetitions):
        found = job.run(["--sizes", listed(COPY_SIZES), "--budget-ms", "10" if options.quick else "50"],
                        options.timeout, WEFT_LANE="ucp", **SHARED_MEMORY)
        records += found
        try:
            if beside:
                records += perftest.run(COPY_SIZES, found[0]["mode"], SHARED_MEMORY, options.timeout)
        except launch.Missing as error:
            note(f"copies stand alone: {error}, install ucx-utils")
            beside = False
        except launch.Failed as error:
            note(f"copies stand alone: {error}")
            beside = False
    return records


def sort(options, cores, _):
    """Sorts on one thread and on as many as have a core each."""
    elements = 1_000_000 if options.quick else 10_000_000
    arguments = ["--elements", str(elements), "--repetitions", str(options.repetitions)]
    return [record for np in sorted({1, *(np for np in options.np if np <= cores)})
            for record in job_of("sort", options, np, cores, 16 * elements).run(arguments, options.timeout)]


def held(options, cores, note):
    """Trials in which a rank posts and computes: each operation, mode and rank, on one host and on several."""
    arguments = ["--sizes", "8", "--absence-ms", "20"] if options.quick else []
    records = []
    for np, nodes in HELD_SHAPES:
        found = job_of("held", options, np, cores, 262144, nodes).run(arguments, options.timeout)
        note(f"held: {np} ranks on {nodes} host{'s' * (nodes > 1)}: {sum(one['trials'] for one in found)} trials, "
             f"{sum(one['held'] for one in found)} held")
        records += found
    return records


# Those that are measured once, by themselves, and not in turns with the libraries.
APART = {"sort": sort, "copies": copies, "held": held}
