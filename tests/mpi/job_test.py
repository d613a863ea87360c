# SPDX-License-Identifier: BSD-3-Clause
"""Programs of MPI that use the library, too: job_test.py SOURCE BUILD LIBRARY [unittest arguments].

A program that uses both. Neither needs the other's launcher: the job is the communicator's, and so are the teams. Mutations that this catches:
team_registry::make takes the threads in the order of the job; exchange_job::fence drops what the last rank put;
exchange_job counts all ranks to one host (with WEFT_LANE=ucp nothing comes); weft_init_from_mpi keeps no duplicate.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SOURCE, BUILD, LIBRARY = "", "", ""
LAUNCHERS = {
    "openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"],
    "mpich": ["mpiexec.hydra"],
}


class Job(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)

    def compiler(self, mpi, language="mpicc"):
        found = shutil.which(f"{language}.{mpi}")
        if found is None or shutil.which(LAUNCHERS[mpi][0]) is None:
            self.skipTest(f"{mpi} is not installed")
        return found

    def compile(self, mpi, name):
        compiler = self.compiler(mpi)
        program = os.path.join(self.folder.name, f"{name}_{mpi}")
        folder = os.path.dirname(LIBRARY)
        if not os.path.exists(program):
            subprocess.run([compiler, "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-stringop-overflow", f"-I{BUILD}/include",
                            f"-I{SOURCE}/include", f"-I{SOURCE}/mpi/include", str(HERE / f"{name}.c"), "-o", program,
                            f"-L{folder}", "-lweft", f"-Wl,-rpath,{folder}"], check=True)
        return program

    def launch(self, mpi, ranks, *command, **settings):
        return subprocess.run([*LAUNCHERS[mpi], "-n", str(ranks), *command], capture_output=True, text=True, timeout=120,
                              check=False, stdin=subprocess.DEVNULL, env={**os.environ, "WEFT_HEAP_SIZE": "16M", **settings})

    def check(self, mpi):
        program = self.compile(mpi, "job")
        for ranks, communicators, settings in ((1, 5, {}), (4, 100, {}), (3, 50, {"WEFT_LANE": "ucp"}),
                                               (2, 5, {"WEFT_PROGRESS": "dedicated"})):
            with self.subTest(ranks=ranks, **settings):
                result = self.launch(mpi, ranks, program, str(communicators), **settings)
                self.assertEqual((result.returncode, result.stdout), (0, f"{ranks} threads of MPI are right\n"),
                                 result.stdout + result.stderr)

    def check_hybrid(self, mpi):
        """Names of UPC, and scopes of C++, inside of MPI: half of the ranks have each form."""
        program = os.path.join(self.folder.name, f"hybrid_{mpi}")
        folder = os.path.dirname(LIBRARY)
        subprocess.run([self.compiler(mpi, "mpicxx"), "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-DOMPI_SKIP_MPICXX",
                        "-DMPICH_SKIP_MPICXX", f"-I{BUILD}/include", f"-I{SOURCE}/include", f"-I{SOURCE}/mpi/include",
                        str(HERE / "hybrid.cpp"), "-o", program, f"-L{folder}", "-lweft", f"-Wl,-rpath,{folder}"], check=True)
        result = self.launch(mpi, 6, program)
        self.assertEqual((result.returncode, result.stdout), (0, "3 ranks of each form are right\n"), result.stdout + result.stderr)

    def check_fortran(self, mpi):
        """The program of docs/mpi.md, as it stands there."""
        page = pathlib.Path(SOURCE, "docs", "mpi.md").read_text(encoding="utf-8")
        folder = pathlib.Path(self.folder.name, mpi)
        folder.mkdir()
        for name, language in (("weft_fortran.c", "c"), ("team.f90", "fortran")):
            found = re.search(rf"`{re.escape(name)}`.*?```{language}\n(.*?)```", page, re.DOTALL)
            (folder / name).write_text(found[1], encoding="utf-8")
        libraries = os.path.dirname(LIBRARY)
        subprocess.run([self.compiler(mpi), f"-I{BUILD}/include", f"-I{SOURCE}/include", f"-I{SOURCE}/mpi/include", "-c",
                        "weft_fortran.c"], cwd=folder, check=True)
        subprocess.run([self.compiler(mpi, "mpif90"), "team.f90", "weft_fortran.o", "-o", "team", f"-L{libraries}", "-lweft",
                        f"-Wl,-rpath,{libraries}"], cwd=folder, check=True)
        result = self.launch(mpi, 4, str(folder / "team"))
        self.assertEqual((result.returncode, result.stdout), (0, "the rows have met\n"), result.stdout + result.stderr)

    def test_open_mpi(self):
        self.check("openmpi")

    def test_fortran_with_open_mpi(self):
        self.check_fortran("openmpi")

    def test_fortran_with_mpich(self):
        self.check_fortran("mpich")

    def test_mpich(self):
        self.check("mpich")

    def test_hybrid_with_open_mpi(self):
        self.check_hybrid("openmpi")

    def test_hybrid_with_mpich(self):
        self.check_hybrid("mpich")


if __name__ == "__main__":
    SOURCE, BUILD, LIBRARY = (os.path.abspath(path) for path in sys.argv[1:4])
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
