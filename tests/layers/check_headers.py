#!/usr/bin/env python3
"""Checks that each public header compiles alone: *.h of api/include/ and its weft/ as C11 and C++20, *.hpp as C++20.
Programs may be compiled with any warnings, so there is none, in what its constants stand for either.

usage: check_headers.py ROOT CC CXX
"""

import re
import subprocess
import sys
from pathlib import Path

STRICT = ["-Wall", "-Wextra", "-Wshadow", "-Werror", "-pedantic", "-fsyntax-only"]
CONSTANT = re.compile(r"^ *# *define +((?:CRAY_)?UPC_\w+|MYTHREAD|THREADS) ", re.MULTILINE)


def compile_alone(command, language, api, header):
    """The compiler's complaint, or None. Included as users do it: '#pragma once' is wrong in a main file."""
    source = f"#include <{header.relative_to(api)}>\nint weft_a_header_is_no_empty_unit;\n"
    for name in dict.fromkeys(CONSTANT.findall(header.read_text(encoding="utf-8"))):
        source += f"#ifdef {name}\nenum {{ size_of_{name} = sizeof({name}) }};\n#endif\n"
    arguments = [*command, *STRICT, "-I", str(api), "-x", language, "-"]
    result = subprocess.run(arguments, input=source, capture_output=True, text=True)
    if result.returncode == 0:
        return None
    return f"{header.relative_to(api)} does not compile alone as {language}:\n{result.stderr.rstrip()}"


def check(root, cc, cxx):
    api = Path(root, "api/include").resolve()
    c = [cc, "-std=c11"], "c"
    cpp = [cxx, "-std=c++20", "-Wold-style-cast"], "c++"
    for_both = sorted(api.glob("*.h")) + sorted(api.glob("weft/*.h"))
    jobs = [(header, way) for header in for_both for way in (c, cpp)]
    jobs += [(header, cpp) for header in sorted(api.glob("weft/*.hpp"))]
    if not jobs:
        return [f"there is no public header in {api}"]
    problems = [compile_alone(command, language, api, header) for header, (command, language) in jobs]
    return [problem for problem in problems if problem]


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    problems = check(*sys.argv[1:])
    print("\n".join(problems) or "the public headers are clean")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
