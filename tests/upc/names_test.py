#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every name of the interface of translated programs has a test: names_test.py ROOT CC LIBRARY

The names are those that the headers define or declare, and those that the library shows. A name is tested if a suite
has it, or, of a function, if a suite has a macro that stands for it. What the library shows is listed in
exported_names.txt beside this.
"""

import pathlib
import re
import subprocess
import sys

ROOT, CC, LIBRARY = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
HERE = ROOT / "tests/upc"
INCLUDES = [f"-I{ROOT / folder}" for folder in ("upc_runtime/include", "include", ".")]


def preprocessed(source, *options):
    return subprocess.run([CC, "-std=gnu11", "-E", *INCLUDES, *options, "-x", "c", "-"], input=source, check=True,
                          capture_output=True, text=True).stdout


def main():
    suites = "".join(path.read_text(encoding="utf-8") for path in sorted(HERE.glob("*.c"))) + (HERE / "check.h").read_text()
    used = set(re.findall(r"\b\w+\b", suites + (HERE / "weftcc_test.py").read_text()))
    # What the suites use when the macros have become what they stand for; the headers' own text is left out.
    expanded = "".join(preprocessed(f'#include "tests/upc/{path.name}"\n') for path in sorted(HERE.glob("*.c")))
    own = True
    for line in expanded.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            own = "tests/upc/" in marker.group(1)
        elif own:
            used.update(re.findall(r"\b\w+\b", line))
    text = preprocessed("#include <upcr.h>\n#include <upcr_proxy.h>\n")
    functions = set(re.findall(r"\b((?:upcr|upcrt|bupc|upc_all_f)\w+)\s*\(", text))
    macros = set(re.findall(r"^#define ((?:UPCR|UPCRT|BUPC|bupc)_\w+)", preprocessed(
        "#include <upcr.h>\n#include <upcr_proxy.h>\n", "-dM"), re.M))
    shown = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], check=True, capture_output=True, text=True).stdout
    symbols = {line.split()[2].partition("@")[0] for line in shown.splitlines() if " A " not in line}
    listed = set((HERE / "exported_names.txt").read_text().split())
    internal = {name for name in functions | macros | symbols if name.startswith(("upcri_", "UPCRI_"))}
    elsewhere = {"UPCR_INLINE", "upcr_run"}  # of the headers themselves; main, which all programs of weftcc's test have
    missing = sorted((functions | macros | symbols) - used - internal - elsewhere)
    print(f"{len(functions)} functions, {len(macros)} macros and {len(symbols)} symbols")
    for name in missing:
        print(f"{name}: no suite has it")
    for name in sorted(symbols ^ listed):
        print(f"{name}: is {'shown, and not listed' if name in symbols else 'listed, and not shown'}")
    sys.exit(1 if missing or symbols != listed else 0)


if __name__ == "__main__":
    main()
