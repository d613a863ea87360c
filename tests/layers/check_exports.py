#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that a shared library shows the symbols of a list: no one more, and no one less.

usage: check_exports.py LIBRARY LIST [--write]

A line of LIST has the name as the linker knows it and, if that is another, what the demangler prints, for the
reader. A program that is linked already needs each symbol that it was linked with: one that goes breaks it, one that
comes is kept for ever. --write makes the list anew, if that is meant.
"""

import subprocess
import sys
from pathlib import Path

HEADER = "# What libweft.so shows to programs, see check_exports.py.\n"


def exported(library):
    """The names that the dynamic linker finds in it."""
    listing = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    # Of a symbol that has a version nm shows it behind '@'. The version's own name is no symbol.
    symbols = (line.split() for line in listing.splitlines())
    return {name.partition("@")[0] for *_, kind, name in symbols if kind != "A"}


def listed(path):
    lines = Path(path).read_text().splitlines()
    return {line.split()[0] for line in lines if line and not line.startswith("#")}


def demangled(names):
    """By name, as far as it has another form."""
    names = sorted(names)
    done = subprocess.run(["c++filt"], input="\n".join(names), check=True, capture_output=True, text=True).stdout
    return {name: text for name, text in zip(names, done.splitlines()) if text != name}


def lines_of(names):
    """In the order of what is read."""
    readable = demangled(names)
    in_order = sorted(names, key=lambda name: (readable.get(name, name), name))
    return [f"{name} {readable.get(name, '')}".rstrip() for name in in_order]


def check(library, path):
    found, known = exported(library), listed(path)
    return [f"added:   {line}" for line in lines_of(found - known)] + \
           [f"removed: {line}" for line in lines_of(known - found)]


def main():
    words = [word for word in sys.argv[1:] if word != "--write"]
    if len(words) != 2:
        sys.exit(__doc__)
    library, path = words
    if "--write" in sys.argv:
        Path(path).write_text(HEADER + "".join(line + "\n" for line in lines_of(exported(library))))
        return
    problems = check(library, path)
    print("\n".join(problems) or "the library shows what is listed")
    if problems:
        again = " ".join(str(Path(word).resolve()) for word in (sys.argv[0], library, path))
        sys.exit(f"{len(problems)} symbols differ. If that is meant: {again} --write")


if __name__ == "__main__":
    main()
