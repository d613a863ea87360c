# SPDX-License-Identifier: BSD-3-Clause
"""The packages of `./run demo` are enough: packages_test.py SOURCE BUILD

Every header that the library, the tool and the examples include, every library that they load and every program that
the demo starts belongs to a package. On a fresh machine it is there if it is in the groups that `./run demo` installs,
or what these depend on, or essential. Which package a file belongs to, and what a package depends on, dpkg knows here.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

SKIPPED = 77
EXAMPLES = ("independence", "ft", "is")
# What ./run itself calls, and what it configures and builds with.
BUILD_TOOLS = ("cmake", "ninja", "cc", "c++", "pkg-config", "make")


def said_by(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=True, **options).stdout


def demo_module(source):
    sys.path.insert(0, str(source / "examples"))
    spec = importlib.util.spec_from_file_location("demo", source / "examples/demo.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def groups_of(source, *groups):
    lines = [line.split("#")[0].split() for line in (source / "packages.txt").read_text().splitlines()]
    return {line[1] for line in lines if line and line[0] in groups}


class Installed:
    """The packages of this machine: what depends on what, and what is there anyhow."""

    def __init__(self):
        fields = r"${Package}\t${Essential}\t${Depends}, ${Pre-Depends}\t${Provides}\n"
        self.depends, self.provided_by, self.essential = {}, {}, set()
        for line in said_by("dpkg-query", "-W", "-f", fields).splitlines():
            name, essential, depends, provides = line.split("\t")
            # Of several that would do apt takes the first.
            firsts = (one.split("|")[0].split() for one in depends.split(","))
            self.depends.setdefault(name, set()).update(words[0].split(":")[0] for words in firsts if words)
            for one in provides.split(","):
                if one.strip():
                    self.provided_by.setdefault(one.split()[0], set()).add(name)
            if essential == "yes":
                self.essential.add(name)

    def closure(self, packages):
        found, rest = set(), list(packages | self.essential)
        while rest:
            name = rest.pop()
            if name not in found:
                found.add(name)
                rest += self.depends[name] if name in self.depends else self.provided_by.get(name, set())
        return found

    @staticmethod
    def owners(paths):
        """{package: one of its files}, by whichever name dpkg has a file; what belongs to none is left out."""
        names = {}
        for path in paths:
            for name in path, os.path.realpath(path):
                names[name] = names[name[4:] if name.startswith("/usr/") else f"/usr{name}"] = path
        said = subprocess.run(["dpkg-query", "-S", *names], capture_output=True, text=True, check=False).stdout
        found = re.findall(r"^([a-z0-9][a-z0-9.+-]+)(?:[:,].*?)?: (/.*)$", said, re.MULTILINE)
        return {package: names[name] for package, name in found if name in names}


def headers(source, build):
    """Of the objects that are no tests, and of the MPI forms."""
    found, wanted = set(), False
    for line in said_by("ninja", "-C", str(build), "-t", "deps").splitlines():
        if line.startswith(" "):
            found |= {line.strip()} if wanted else set()
        else:
            wanted = not line.startswith(("tests/", "perf/"))
    for mpi in "openmpi", "mpich":
        for program in EXAMPLES:
            said = said_by(f"mpicxx.{mpi}", "-M", "-std=c++20", f"-I{source}",
                           str(source / f"examples/{program}/{program}_mpi.cpp"))
            found |= set(said.split())
    return {path for path in found if path.startswith("/") and not path.startswith(str(source))}


def libraries(build):
    programs = [build / "bin/weft", *(build / "examples" / (program + form) for program in EXAMPLES
                                      for form in ("", "_openmpi", "_mpich"))]
    said = "".join(said_by("ldd", str(program)) for program in programs)
    return {path for path in re.findall(r"=> (/\S+)", said) if not path.startswith(str(build))}


def programs(demo):
    mpi = [f"{tool}.{name}" for name in demo.NAMES if name != "weft" for tool in ("mpirun", "mpicxx")]
    names = [*BUILD_TOOLS, "python3", "timeout", "awk", *mpi]
    absent = [name for name in names if shutil.which(name) is None]
    if absent:
        sys.exit(f"packages_test: not on this machine, although ./run test installs it: {', '.join(absent)}")
    return {shutil.which(name) for name in names}


def lacking(installed, packages, owners):
    """What is used and would not be there, by package."""
    there = installed.closure(packages)
    return {owner: path for owner, path in owners.items() if owner not in there}


def main(source, build):
    if shutil.which("dpkg-query") is None:
        print("skipped: there is no dpkg")
        sys.exit(SKIPPED)
    installed, demo = Installed(), demo_module(source)
    used = headers(source, build) | libraries(build) | programs(demo)
    owners = installed.owners(used)
    wanted = groups_of(source, "build", "demo")
    missing = lacking(installed, wanted, owners)
    for owner, path in missing.items():
        print(f"packages.txt: the groups build and demo lack {owner}, which has {path}")
    for some in {"mpich", "libmpich-dev"}, {"openmpi-bin", "libopenmpi-dev"}, {"libfftw3-dev"}:
        if not lacking(installed, wanted - some, owners):  # else this test could not fail
            print(f"packages_test: {', '.join(sorted(some))} are not missed where they are left out")
            missing.update(dict.fromkeys(some))
    if lacking(installed, groups_of(source, "plot"), installed.owners({shutil.which("gnuplot") or "/"})):
        missing["gnuplot"] = print("packages.txt: the group plot lacks gnuplot")
    print(f"looked at {len(used)} files of {len(owners)} packages")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(*(Path(argument).resolve() for argument in sys.argv[1:])))
