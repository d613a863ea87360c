#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads every source of the library, the tools and the examples with clang, which must find nothing to warn of.

usage: check_clang.py ROOT BUILD [FOLDER...]; BUILD holds compile_commands.json
"""

import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

FOLDERS = ("api", "engine", "progress", "pmix_boot", "testing", "tools", "verify", "examples")


def warnings(entry):
    """What clang says of one source."""
    words = shlex.split(entry["command"])
    source = entry["file"]
    compiler = "clang" if source.endswith(".c") else "clang++"
    options = words[next(k for k, word in enumerate(words) if word.startswith("-")):]
    for pair in ("-o", "-include"):  # each file is read whole, without what gcc has precompiled
        while pair in options:
            del options[options.index(pair) : options.index(pair) + 2]
    options = [word for word in options if word not in ("-Winvalid-pch", "-fpch-preprocess") and
               not word.startswith("--param=")]
    done = subprocess.run([compiler, *options, "-fsyntax-only"], cwd=entry["directory"], capture_output=True,
                          text=True, check=False)
    return done.stderr


def main(root, build, *folders):
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = {entry["file"]: entry for entry in json.load(file)}
    chosen = [entry for name, entry in sorted(entries.items())
              if os.path.relpath(name, root).startswith(tuple(f"{folder}/" for folder in folders or FOLDERS))]
    if not chosen:
        return "no source was found"
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        said = "".join(pool.map(warnings, chosen))
    print(said, f"{len(chosen)} sources", sep="")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
