# SPDX-License-Identifier: BSD-3-Clause
"""Follows the README and the manual page line by line, in an empty directory, as a new user would:

follow.py SOURCE BUILD COMPILERS, where COMPILERS is gnu or clang

Every fenced block is written to the file that the text before it names, or run by a shell. `~` is the empty
directory; nothing is changed but paths. A line that fails is a failed test.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

COMPILERS = {"gnu": {"cc": "gcc", "c++": "g++"}, "clang": {"cc": "clang", "c++": "clang++"}}
# A job in Slurm needs a cluster: this makes one.
SLURM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../slurm/private_slurm.py")
SKIPPED = 77
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"[\w./]*?(\w+\.(?:cpp|c)|CMakeLists\.txt)\b")


def blocks(text):
    """(language, name of the file that the text before it speaks of last, content) of each block, in order."""
    for fence in FENCE.finditer(text):
        named = FILE.findall(FENCE.sub("", text[: fence.start()]))
        yield fence.group(1), named[-1] if named else None, fence.group(2)


def examples(page):
    """The command lines of the manual page's EXAMPLES."""
    part = page.split(".SH EXAMPLES\n")[1].split(".SH ")[0]
    return [line.replace("\\-", "-") for line in part.splitlines() if line and not line.startswith(".")]


def shims(folder, compilers):
    """cc and c++ that warn of everything and take no warning."""
    os.makedirs(folder)
    for name, real in compilers.items():
        path = shutil.which(real)
        if path is None:
            raise SystemExit(f"{real} is not on this machine")
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            casts = "-Wold-style-cast" if name == "c++" else ""
            file.write(f'#!/bin/sh\nexec {path} -Wall -Wextra -Wshadow {casts} -Werror "$@"\n')
        os.chmod(os.path.join(folder, name), 0o755)


class Reader:
    def __init__(self, source, build, home, compilers):
        self.home, self.lines = home, 0
        shims(os.path.join(home, "shims"), COMPILERS[compilers])
        libdir = re.search("^CMAKE_INSTALL_LIBDIR:[^=]*=(.*)$", self.read(build, "CMakeCache.txt"), re.MULTILINE)
        install = f"cmake --install '{build}' --prefix ~/weft"
        self.instead = [("./run install ~/weft", install), ("weft/lib/", f"weft/{libdir.group(1)}/")]
        self.exports = ""
        self.source = source
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("WEFT_", "CMAKE_", "PMIX_", "OMPI_")) and name not in ("CC", "CXX")}
        self.environment.update(HOME=home, PATH=f"{home}/shims:{os.environ['PATH']}")

    @staticmethod
    def read(*path):
        with open(os.path.join(*path), encoding="utf-8") as file:
            return file.read()

    def write(self, name, text):
        with open(os.path.join(self.home, name), "w", encoding="utf-8") as file:
            file.write(text)

    def run(self, line):
        if line.startswith("mpirun") and not shutil.which("mpirun.openmpi"):
            print(f"left out: {line}")
            return
        for written, instead in self.instead:
            line = line.replace(written, instead)
        if line.startswith("mpirun"):
            line = line.replace("mpirun", "mpirun.openmpi", 1)
        slurm = [sys.executable, "-B", SLURM, "-N", "1", "--as-is"] if line.startswith("srun ") else []
        start = time.monotonic()
        done = subprocess.run([*slurm, "bash", "-ec", self.exports + line], cwd=self.home, env=self.environment,
                              text=True, timeout=150, capture_output=True, check=False, stdin=subprocess.DEVNULL)
        if slurm and done.returncode == SKIPPED:
            print(f"left out: {line}: {done.stdout.strip()}")
            return
        print(f"{time.monotonic() - start:5.1f} s  {line}", flush=True)
        if done.returncode != 0 or "warning" in done.stderr:
            raise SystemExit(f"status {done.returncode}\n{done.stdout}{done.stderr}")
        if line.startswith("export "):
            self.exports += line + "\n"
        self.lines += 1

    def follow_readme(self):
        found = list(blocks(self.read(self.source, "README.md")))
        for language, name, text in found:  # a program may stand below the line that compiles it
            if language != "sh":
                self.write(name, text)
        for language, _, text in found:
            for line in text.splitlines() if language == "sh" else ():
                self.run(line)
        for language, name, _ in found:
            if language == "cpp":
                program = name.removesuffix(".cpp")
                self.run(f"c++ -std=c++20 -o {program} {name} $(pkg-config --cflags --libs weft)")
                self.run(f"weft run -n 4 ./{program}")

    def follow_manual(self):
        shutil.copy(os.path.join(self.home, "overlap"), os.path.join(self.home, "app"))
        for line in examples(self.read(self.source, "docs/man/weft.1")):
            self.run(line if shutil.which("dot") else line.replace("| dot -Tsvg", "| cat"))


def main(source, build, compilers):
    with tempfile.TemporaryDirectory() as home:
        reader = Reader(source, os.path.abspath(build), home, compilers)
        reader.follow_readme()
        if compilers == "gnu":  # no line of it compiles
            reader.follow_manual()
        if reader.lines < 20:
            raise SystemExit(f"only {reader.lines} lines were found, there are more")
        print(f"followed: {reader.lines} lines")


if __name__ == "__main__":
    main(*sys.argv[1:])
