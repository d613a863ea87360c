#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that an archive holds no mutable global, be it static in a function or thread-local.

usage: check_globals.py ARCHIVE [ALLOWED]

ALLOWED has one name per line, as the demangler prints it, followed by '#' and the reason. A table that is
const but built at run time counts as mutable, for the linker puts it with the variables: make it constexpr.
"""

import re
import subprocess
import sys
from pathlib import Path

# objdump -t: value, seven flag characters, section, tab, size, visibility, name.
VISIBILITY = r"(?:\.hidden |\.internal |\.protected |0x\w+ )?"
SYMBOL = re.compile(rf"^[0-9a-f]+ (.{{7}}) (\S+)\t[0-9a-f]+ +{VISIBILITY}(.+)$")
# Constants that only wait for their relocation, such as vtables, are in .data.rel.ro and count as read-only.
WRITABLE = re.compile(r"^(\.(t?data|t?bss|ldata|lbss)(\.|$)(?!rel\.ro)|\*COM\*)")
# What the compiler makes itself, and what inline code of the libraries brings along.
FOREIGN = re.compile(r"^(std|fmt|spdlog|__gnu_cxx)::|^guard variable for |^(TLS|DW\.ref|__)|^\.")


def mutable_globals(archive):
    """Pairs of object file and demangled name."""
    listing = subprocess.run(["objdump", "-tC", archive], check=True, capture_output=True, text=True).stdout
    member = Path(archive).name
    for line in listing.splitlines():
        if ":     file format" in line:
            member = line.split(":", 1)[0]
        match = SYMBOL.match(line)
        if not match:
            continue
        flags, section, name = match.groups()
        is_section_or_file = "d" in flags or "f" in flags
        if WRITABLE.match(section) and not is_section_or_file and not FOREIGN.match(name):
            yield member, name


def read_allowed(path):
    allowed = set()
    for line in Path(path).read_text().splitlines():
        name, mark, reason = (part.strip() for part in line.partition("#"))
        if name and not reason:
            sys.exit(f"{path}: '{name}' is allowed without a reason, add one after '#'")
        if name:
            allowed.add(name)
    return allowed


def check(archive, allowed=frozenset()):
    found = mutable_globals(archive)
    return sorted({f"{member}: mutable global: {name}" for member, name in found if name not in allowed})


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    problems = check(sys.argv[1], read_allowed(sys.argv[2]) if len(sys.argv) == 3 else frozenset())
    print("\n".join(problems) or "no mutable globals")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
