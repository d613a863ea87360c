# SPDX-License-Identifier: BSD-3-Clause
"""Which suites run under which settings: the sessions of weft_jobs.

A setting is a value for each of ranks, hosts, lane, driving, path and spins. In the standard suite each suite meets
every pair of values that its own condition allows, with 7 ranks for many; in the long suite it meets every setting,
and plays many more cases at a few. Read by cmake/multirank.cmake:

    settings.py SUITES FOLDER > sessions.cmake     writes a list of suites for each session into FOLDER
    settings.py SUITES --table                     prints suite -> settings, and pairs covered of pairs there are
"""

import itertools
import pathlib
import re
import sys

STANDARD_RANKS = [1, 2, 3, 4, 7]
LONG_RANKS = [1, 2, 3, 4, 5, 8]
VALUES = {
    "ranks": sorted({*STANDARD_RANKS, *LONG_RANKS}),
    "hosts": [1, 2, 3],
    "lane": ["direct", "ucp"],
    "driving": ["auto", "dedicated", "caller"],
    "path": ["memory", "sockets"],
    "spins": ["default", "few"],
}
NAMES = list(VALUES)


def exists(s):
    """Between hosts there is something only if there are two, or if the lane makes each rank a host of its own."""
    between = s["hosts"] > 1 or (s["lane"] == "ucp" and s["ranks"] > 1)
    return s["hosts"] <= s["ranks"] and (between or s["path"] == "memory")


# Ways of handing data on that sessions with several hosts have in turns, so that all suites meet most of them.
WAYS = [
    "",
    "broadcast=knomial,gather_all=ring,exchange=bruck,reduce=dissemination,reduce_all=dissemination",
    "",
    "broadcast=chain,gather_all=bruck,exchange=paired,prefix_reduce=dissemination,team_allreduce=hierarchical",
    "broadcast=scatter,gather_all=doubling,exchange=spread,scatter=flat,gather=bundled,reduce=bundled,"
    "team_alltoallv=bundled,team_gatherv=bundled,team_scatterv=bundled",
    "broadcast=bundled,gather_all=flat,exchange=paired,team_allreduce=halved,team_reduce=bundled",
]


def ways_of(settings):
    """A way for each of the settings; doubling needs a power of two of hosts with as many ranks on each."""
    found, turn = [], 0
    for s in settings:
        hosts = s["ranks"] if s["lane"] == "ucp" else s["hosts"]
        if hosts < 2 or s["ranks"] < 3:
            found.append([])
            continue
        way = WAYS[turn % len(WAYS)]
        if "doubling" in way and (hosts & (hosts - 1) or s["ranks"] % hosts):
            way = ""
        else:
            turn += 1
        found.append(["WEFT_ALGORITHM=" + way] if way else [])
    return found


ALL = [s for s in (dict(zip(NAMES, values)) for values in itertools.product(*VALUES.values())) if exists(s)]


def pairs(s):
    return {((a, s[a]), (b, s[b])) for a, b in itertools.combinations(NAMES, 2)}


def meets(condition, s):
    return not condition or eval(condition, {}, dict(s))  # the conditions stand in our own CMake files


def allowed(condition, ranks=STANDARD_RANKS):
    return [s for s in ALL if s["ranks"] in ranks and meets(condition, s)]


def cost(s):
    """About how many seconds of cores a session takes, by measurement: two cores share all ranks and their progress
    threads. A thread that sleeps at once is woken for each word. Ranks that do so on one host interrupt all cores for
    it (membarrier)."""
    seconds = 1.1 * s["ranks"] ** 1.7 * {"auto": 1, "dedicated": 1.1, "caller": 0.75}[s["driving"]]
    if s["spins"] == "few":
        alone = s["hosts"] == 1 and s["lane"] == "direct"
        seconds *= 1 + (s["ranks"] - 1) / 6 if alone else 1.25
    return seconds * (1.1 if s["path"] == "sockets" else 1)


DEAR = 3  # sessions at dear settings play so many times fewer cases


def dear(s):
    """Whether a suite takes several times as long as at other settings, by measurement: many ranks that share two cores,
    and threads that sleep at once and are woken from other hosts or by several neighbours."""
    awake = s["driving"] == "caller" or s["spins"] == "default"
    through_sockets = s["lane"] == "ucp" and s["path"] == "sockets"
    return s["ranks"] >= 7 or (s["ranks"] >= 4 and (not awake or through_sockets)) or (not awake and s["lane"] == "ucp")


def arguments(text, s, seed):
    """The words of a suite's ARGS at a setting. Of {cases:N} a dear one has the DEARth part, and of {of:N}, a share, too."""
    many = DEAR if dear(s) else 1
    text = re.sub(r"\{cases:(\d+)\}", lambda m: str(max(min(2, int(m[1])), int(m[1]) // many)), text)
    text = re.sub(r"\{of:(\d+)\}", lambda m: str(int(m[1]) * many), text)
    return text.replace("{seed}", str(seed)).split()


def cover(conditions):
    """The fewest and cheapest settings that a greedy choice finds, so that each condition meets all of its pairs."""
    valid = {c: allowed(c) for c in conditions}
    missing = {c: set().union(*map(pairs, valid[c])) for c in conditions}
    weight = {c: conditions.count(c) for c in conditions}
    chosen = []
    while any(missing.values()):
        def gain(s):
            return sum(weight[c] * len(missing[c] & pairs(s)) for c in missing if s in valid[c])
        best = max(allowed(""), key=lambda s: (gain(s) / cost(s) ** 0.3, -s["ranks"]))
        chosen.append(best)
        for c in missing:
            if best in valid[c]:
                missing[c] -= pairs(best)
    return chosen


def needed(condition, settings, always):
    """Those of the settings that a suite runs in: without the dearest of which the others meet all pairs."""
    mine = [s for s in settings if meets(condition, s)]
    for dear in sorted((s for s in mine if s not in always), key=cost, reverse=True):
        others = [s for s in mine if s is not dear]
        if pairs(dear) <= set().union(*map(pairs, others)):
            mine = others
    return mine


def fewest_for_long():
    """Each setting once: on the UCP lane each rank is a host of its own, whatever the number of hosts."""
    return [s for s in allowed("", LONG_RANKS) if s["lane"] == "direct" or s["hosts"] == 1]


# Where the long suite plays LONG_ARGS: each lane, path and driving, and hosts of one rank, of as many and of unequal
# ones. All settings take two hours of two cores with the cases of the standard suite already.
DEEP = ["2", "3:2", "4:1:ucp", "4:2:direct:auto:sockets", "5:3:direct:dedicated", "3:1:ucp:auto:sockets:few", "8:2",
        "4:1:direct:caller"]

# The sessions that ./run check plays: several hosts of which one has two ranks, and sockets.
# They play all suites.
SMOKE = [lambda s: s["ranks"] == 3 and s["hosts"] == 2 and s["lane"] == "direct",
         lambda s: 1 < s["ranks"] < 4 and s["lane"] == "ucp" and s["path"] == "sockets"]


def name_of(s):
    words = [f"n{s['ranks']}"]
    words += [f"h{s['hosts']}"] if s["hosts"] > 1 else []
    words += [s["lane"]]
    words += [s[k] for k in ("driving", "path", "spins") if s[k] != VALUES[k][0]]
    return ".".join(words)


def environment(s):
    """The variables of a setting. Sockets between hosts are real ones where each rank is a host."""
    e = [f"WEFT_LANE={s['lane']}", "WEFT_HEAP_SIZE=1G"]
    e += [f"WEFT_PROGRESS={s['driving']}"] if s["driving"] != "auto" else []
    if s["path"] == "sockets":
        e += ["UCX_TLS=tcp,self", "UCX_NET_DEVICES=lo"] if s["lane"] == "ucp" else ["WEFT_PATH=sockets"]
    e += ["WEFT_SPINS=1", "WEFT_YIELDS=0"] if s["spins"] == "few" else []
    # A thread that sleeps there sleeps until it is woken: a wake that is missing is a hang. Not where no thread is left
    # to a rank that has rung, for the first ring on a new connection needs it.
    e += ["WEFT_SLEEP=1000000"] if s["spins"] == "few" and s["driving"] != "caller" else []
    return e


def parse_at(text):
    """'3:2:ucp:caller:sockets:few', of which the end may be left out."""
    given = text.split(":")
    s = {k: v[0] for k, v in VALUES.items()}
    s.update(zip(NAMES, given))
    s["ranks"], s["hosts"] = int(s["ranks"]), int(s["hosts"])
    for k, v in VALUES.items():
        if k != "ranks" and s[k] not in v:
            sys.exit(f"settings.py: {text}: {k} is {s[k]}, allowed: {', '.join(map(str, v))}")
    return s


def read(file):
    suites, groups = [], []
    for line in pathlib.Path(file).read_text().splitlines():
        kind, *fields = line.split("\t")
        record = dict(f.split("=", 1) for f in fields)
        (suites if kind == "suite" else groups).append(record)
    return suites, groups


def sessions(suites, groups):
    """Yields (name, setting, further variables, launcher, labels, suites with the arguments to use)."""
    plain = [s for s in suites if not s["session"]]
    standard = cover([s["where"] for s in plain if s["long"] == "0"])
    conditions = {s["where"] for s in plain}
    smoke = [next((s for s in standard if fits(s)), None) for fits in SMOKE]
    where = {c: needed(c, standard, smoke) for c in conditions}
    for number, (setting, way) in enumerate(zip(standard, ways_of(standard))):
        mine = [s for s in plain if s["long"] == "0" and setting in where[s["where"]]]
        if mine:
            yield name_of(setting), setting, way, "weft", ["smoke"] if setting in smoke else [], mine, number
    full = fewest_for_long()
    for number, (setting, way) in enumerate(zip(full, ways_of(full))):
        mine = [s for s in plain if meets(s["where"], setting)]
        if mine:
            yield "long." + name_of(setting), setting, way, "weft", ["long"], mine, 1000 + number
    deep = [parse_at(at) for at in DEEP]
    for number, (setting, way) in enumerate(zip(deep, ways_of(deep))):
        mine = [dict(s, args=s["long_args"]) for s in plain if s["long_args"] and meets(s["where"], setting)]
        yield "deep." + name_of(setting), setting, way, "weft", ["long"], mine, 2000 + number
    for g in groups:
        mine = [s for s in suites if g["name"] in s["session"].split()]
        if not mine:
            continue
        for at in g["at"].split():
            setting = parse_at(at)
            here = [s for s in mine if meets(s["where"], setting)]
            if here:
                yield (f"{g['name']}.{name_of(setting)}", setting, g["settings"].split(), g["launcher"] or "weft",
                       g["labels"].split(), here, 0)


def table(suites, groups):
    found = {}
    for name, setting, _, _, labels, mine, _ in sessions(suites, groups):
        if "long" not in labels:
            for s in mine:
                found.setdefault(s["name"], []).append((name, setting))
    print(f"{'suite':36} {'settings':>8} {'pairs met':>10} {'pairs there are':>16}")
    short = 0
    for s in suites:
        met = found.get(s["name"], [])
        there = set() if s["session"] else set().union(*map(pairs, allowed(s["where"])))
        covered = set().union(*(pairs(m) for _, m in met)) & there if met else set()
        short += len(there) - len(covered) if s["long"] == "0" else 0
        print(f"{s['name']:36} {len(met):8} {len(covered):10} {len(there):16}")
    print(f"pairs that a suite of the standard suite does not meet: {short}")
    return 1 if short else 0


def main():
    suites, groups = read(sys.argv[1])
    if sys.argv[2] == "--table":
        sys.exit(table(suites, groups))
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for name, setting, further, launcher, labels, mine, number in sessions(suites, groups):
        lines = [f"launch\t{launcher}\t{setting['ranks']}\t{setting['hosts']}"]
        lines += [f"set\t{v}" for v in environment(setting) + further]
        lines += ["\t".join(["run", s["name"], s["timeout"], s["program"], *arguments(s["args"], setting, number + 1)])
                  for s in mine]
        (folder / name).write_text("\n".join(lines) + "\n")
        # Ranks that sleep where they wait keep one core busy, not two. The longest begin first.
        cores = 1 if setting["spins"] == "few" else 2
        lasts = 2 + len(mine) * (6 if dear(setting) else 2) // 10
        print(f'weft_add_session({name} {cores} {lasts} "{";".join(labels)}")')


if __name__ == "__main__":
    main()
