# SPDX-License-Identifier: BSD-3-Clause
"""Switches off one mechanism after the other in copies of the sources, and expects the standard suite to notice.

Each mutation of mutations.json names the target to build and the tests or suites that guard the mechanism, as
suite.py takes them: the first of them that fails is printed. With --all the whole standard suite is run where none of
them does. A mutation that nothing finds is a defect, and so is one whose text is no longer there.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
import processes  # noqa: E402
COPIED = ["api", "cmake", "docs", "engine", "examples", "include", "malloc", "mpi", "packaging", "pmix_boot", "progress", "python", "testing", "tests",
          "tools", "upc_runtime", "verify", "CMakeLists.txt", "README.md"]


def units_of(mutation):
    """The folders of the unit tests that guard it, as WEFT_UNITS has them: the first word of a test's name."""
    if "weft_unit_tests" not in mutation["targets"]:
        return ""  # none is built
    return ";".join(sorted({name.split(".")[0] for name in mutation["tests"]}))


class Copy:
    """A copy of the sources with a build of its own."""

    def __init__(self, folder):
        self.sources, self.build, self.log = folder / "source", folder / "build", folder / "log"
        self.sources.mkdir(parents=True, exist_ok=True)
        for name in COPIED:
            source = SOURCE / name
            if source.is_dir():
                shutil.copytree(source, self.sources / name, dirs_exist_ok=True,
                                ignore=shutil.ignore_patterns("__pycache__"))
            elif source.exists():
                shutil.copy2(source, self.sources / name)
        self.log.write_text("")
        # Little optimisation: these builds are made for one run each.
        self.configured = ["cmake", "-S", str(self.sources), "-B", str(self.build), "-G", "Ninja",
                           "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O1", "-DWEFT_BUILD_TESTS=ON",
                           "-DWEFT_BUILD_PERF=OFF", "-DWEFT_BUILD_EXAMPLES=OFF"]
        self.units = None

    def configure(self, units):
        """Unit tests are built of these folders alone."""
        if self.units != units:
            self.units = units
            if self.run([*self.configured, f"-DWEFT_UNITS={units}"])[0] != 0:
                sys.exit(f"cmake could not configure the copy, see {self.log}")

    def run(self, command, **options):
        # Without a cache of compilers: with one, mutations of headers were not in what was tested, twice.
        # What hangs is ended with all that it has started.
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              env={**os.environ, "CCACHE_DISABLE": "1"}) as process:
            try:
                said, _ = process.communicate(**options)
            except subprocess.TimeoutExpired:
                processes.kill_all([*processes.descendants([process.pid]), process.pid])
                raise
        with self.log.open("a", encoding="utf-8") as out:
            out.write(f"$ {' '.join(command)}\n{said}")
        return process.returncode, said

    def tested(self, names, limit, cores):
        """The first test of these that fails, or 'hangs', or None."""
        try:
            status, said = self.run([sys.executable, "-B", str(self.sources / "tests" / "suite.py"), str(self.build),
                                     "--stop-on-failure", "--jobs", str(cores), *names], timeout=limit)
        except subprocess.TimeoutExpired:
            return "hangs"
        failed = re.findall(r"^failed: (.*)$", said, re.M)
        if status and not failed:
            raise RuntimeError(f"the tests could not be run: {said.strip().splitlines()[-1]}")
        return failed[0] if failed else None

    def verdict(self, mutation, limit, everything, cores):
        self.configure(units_of(mutation))
        file = self.sources / mutation["file"]
        good = file.read_text()
        if good.count(mutation["old"]) < 1:
            return False, "its text is no longer in " + mutation["file"]
        file.write_text(good.replace(mutation["old"], mutation["new"]))
        try:
            built = ["cmake", "--build", str(self.build), "-j", str(cores), "--target", *mutation["targets"]]
            if self.run(built)[0] != 0:
                return False, f"does not compile, see {self.log}"
            found = self.tested(mutation["tests"], limit, cores)
            if found is None and everything:
                self.configure("")
                self.run(["cmake", "--build", str(self.build), "-j", str(cores)])
                found = self.tested([], 3600, cores)
            return found is not None, f"found by {found}" if found else "is not found"
        except RuntimeError as error:
            return False, str(error)
        finally:
            file.write_text(good)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=pathlib.Path, help="where to copy and build")
    arguments.add_argument("--only", default="", help="only mutations with this in their description")
    arguments.add_argument("--limit", type=float, default=300, help="seconds that the named tests may take")
    arguments.add_argument("--all", action="store_true", help="the whole standard suite behind the named tests")
    arguments.add_argument("--copies", type=int, default=2, help="how many to try at a time, each on one core")
    arguments.add_argument("--part", default="1/1", help="only the Kth of N parts: K/N")
    chosen = arguments.parse_args()
    mutations = [m for m in json.loads((HERE / "mutations.json").read_text()) if chosen.only in m["what"]]
    # Behind each other what builds the same.
    mutations.sort(key=lambda m: (m["targets"], units_of(m), m["file"]))
    part, parts = map(int, chosen.part.split("/"))
    mutations = mutations[len(mutations) * (part - 1) // parts:len(mutations) * part // parts]

    copies = queue.SimpleQueue()
    for k in range(max(1, min(chosen.copies, len(mutations)))):
        copies.put(Copy(chosen.folder.resolve() / str(k)))

    def try_one(numbered):
        number, mutation = numbered
        copy, begun = copies.get(), time.monotonic()
        try:
            found, how = copy.verdict(mutation, chosen.limit, chosen.all, 2 if chosen.copies == 1 else 1)
        finally:
            copies.put(copy)
        print(f"[{number}/{len(mutations)}] {mutation['what']}: {how} ({time.monotonic() - begun:.0f} s)", flush=True)
        return found

    with concurrent.futures.ThreadPoolExecutor(chosen.copies) as pool:
        found = list(pool.map(try_one, enumerate(mutations, 1)))
    print(f"{sum(found)} of {len(mutations)} mutations are found")
    return 0 if found and all(found) else 1


if __name__ == "__main__":
    sys.exit(main())
