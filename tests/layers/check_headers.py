#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that each public header compiles alone: *.h of include/ and its weft/ as C11 and C++20, *.hpp as C++20,
those of upc_runtime/include/, of which translated programs are C; that C++17 is refused, and what WEFT_NO_GLOBAL_NAMES
leaves out. Programs may be compiled with any warnings, so there is none, in what its constants stand for either.

usage: check_headers.py ROOT CC CXX
"""

import os
import re
import subprocess
import sys
from pathlib import Path

STRICT = ["-Wall", "-Wextra", "-Wshadow", "-Werror", "-pedantic", "-fsyntax-only"]
CONSTANT = re.compile(r"^ *# *define +((?:CRAY_)?UPC_\w+|MYTHREAD|THREADS) ", re.MULTILINE)


def compile_alone(command, language, api, header, folder=None):
    """The compiler's complaint, or None. Included as users do it: '#pragma once' is wrong in a main file."""
    source = f"#include <{header.relative_to(folder or api)}>\nint weft_a_header_is_no_empty_unit;\n"
    for name in dict.fromkeys(CONSTANT.findall(header.read_text(encoding="utf-8"))):
        source += f"#ifdef {name}\nenum {{ size_of_{name} = sizeof({name}) }};\n#endif\n"
    arguments = [*command, *STRICT, "-I", str(api), *(["-I", str(folder)] if folder else []), "-x", language, "-"]
    result = subprocess.run(arguments, input=source, capture_output=True, text=True)
    if result.returncode == 0:
        return None
    return f"{header.relative_to(folder or api)} does not compile alone as {language}:\n{result.stderr.rstrip()}"


def refusal_of_old_standards(cxx, api):
    """C++17 gets one error that says what to do, and no errors that follow from it. Or the complaint."""
    source = "#include <weft/weft.hpp>\nint main() { weft::nothing(); }\n"
    result = subprocess.run([cxx, "-std=c++17", "-fsyntax-only", "-I", str(api), "-x", "c++", "-"], input=source,
                            capture_output=True, text=True, env=dict(os.environ, LC_ALL="C"))
    errors = re.findall(r"(?<!fatal )error: (.*)", result.stderr)
    if len(errors) == 1 and "Weft needs C++20: compile with -std=c++20" in errors[0]:
        return None
    return f"C++17 is not refused by one error but by {len(errors)}:\n{result.stderr[:2000]}"


def names_without_global_ones(cxx, api):
    """WEFT_NO_GLOBAL_NAMES leaves every name that is no constant UPC_... to the program. Or the complaint."""
    source = """#define WEFT_NO_GLOBAL_NAMES
#include <weft/weft.hpp>
enum { MYTHREAD, THREADS };
struct upc_barrier {}; struct upc_notify {}; struct upc_wait {}; struct upc_fence {}; struct upc_test {};
void all(upc_coll_handle_t h) {
  weft::upc_barrier(); weft::upc_barrier(1); weft::upc_notify(); weft::upc_notify(1); weft::upc_wait();
  weft::upc_wait(1); weft::upc_wait(h); weft::upc_wait(upc_coll_handle_t(h)); weft::upc_fence();
}
"""
    arguments = [cxx, "-std=c++20", *STRICT, "-I", str(api), "-x", "c++"]
    result = subprocess.run([*arguments, "-"], input=source, capture_output=True, text=True)
    if result.returncode != 0:
        return f"WEFT_NO_GLOBAL_NAMES leaves names in the way:\n{result.stderr[:2000]}"
    macros = subprocess.run([*arguments, "-dM", "-E", "-"], input=source, capture_output=True, text=True, check=True)
    left = re.findall(r"^#define ((?!UPC_|CRAY_UPC_)\w*upc_\w*|MYTHREAD|THREADS)\b", macros.stdout, re.M)
    return f"WEFT_NO_GLOBAL_NAMES leaves macros: {left}" if left else None


def check(root, cc, cxx):
    api = Path(root, "include").resolve()
    c = [cc, "-std=c11"], "c"
    cpp = [cxx, "-std=c++20", "-Wold-style-cast"], "c++"
    for_both = sorted(api.glob("*.h")) + sorted(api.glob("weft/*.h"))
    jobs = [(header, way) for header in for_both for way in (c, cpp)]
    jobs += [(header, cpp) for header in sorted(api.glob("weft/*.hpp"))]
    if not jobs:
        return [f"there is no public header in {api}"]
    problems = [compile_alone(command, language, api, header) for header, (command, language) in jobs]
    # Those of UPC programs: what translated text includes is C.
    upc = Path(root, "upc_runtime/include").resolve()
    for header in sorted(upc.rglob("*.h")):
        ways = (c,) if "upcr" in str(header.relative_to(upc)) else (c, cpp)
        problems += [compile_alone(command, language, api, header, upc) for command, language in ways]
    return [problem for problem in problems if problem]


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    root, _, cxx = sys.argv[1:]
    api = Path(root, "include").resolve()
    whole = [refusal_of_old_standards(cxx, api), names_without_global_ones(cxx, api)]
    problems = check(*sys.argv[1:]) + [problem for problem in whole if problem]
    print("\n".join(problems) or "the public headers are clean")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
