# SPDX-License-Identifier: BSD-3-Clause
"""Suites of others under `weft mpi`, beside plain MPI: suites_test.py SOURCE BUILD [unittest arguments].

mpi4py's own tests come from Debian's source package, or from the folder that MPI4PY_TESTS names. moves.c and
reductions.c are written after the list of MPICH's tests of collectives; what MPI itself gets wrong of them is printed.
Mutations that this catches: made_by_program says yes to a type of MPI itself (a maximum of pairs has a type that no
operator knows); place_of_block leaves no block out; extent_of calls all types contiguous (moves.c); call_function
takes its arguments the other way round (reductions.c); place_of_given is the same for all members (between hosts).
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import carried_test
from carried_test import LAUNCHERS, Programs

sys.path.insert(0, str(carried_test.HERE.parents[1] / "perf"))
import mpi_waits  # pylint: disable=wrong-import-position
from runner import sandbox  # pylint: disable=wrong-import-position
from runner.hosts import Hosts  # pylint: disable=wrong-import-position

# What runs in processes of its own, in windows and files, has no collectives.
LEFT_OUT = ("spawn", "dynproc", "rma", "win", "io", "file", "dl", "doc", "objmodel", "util_dtlib", "memory")
KEPT_BY_MPI = {"communicator of one rank", "two groups"}


def passed_on(said):
    return set(re.findall(r"passed on: (.*)", said))


class Collectives(Programs):
    def check(self, mpi):
        for source in ("moves.c", "reductions.c"):
            program = self.compile(mpi, source)
            for ranks, settings in ((2, {}), (2, {"WEFT_LANE": "ucp"}), (2, {"WEFT_CHECK": "1"}), (3, {}), (4, {})):
                with self.subTest(source=source, ranks=ranks, **settings):
                    result = self.launch(mpi, ranks, program, WEFT_STATISTICS="1", **settings)
                    self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
                    self.assertRegex(result.stdout, r"^\d{4,} checks, 0 wrong\n$")
                    self.assertLessEqual(passed_on(result.stderr), KEPT_BY_MPI)
                    if settings or (mpi == "mpich" and ranks > 2):  # whose waiting ranks keep the cores
                        continue
                    plain = self.launch(mpi, ranks, program, carried=False).stdout
                    self.assertEqual(re.search(r"\d+ checks", plain)[0], re.search(r"\d+ checks", result.stdout)[0])
                    wrong = sorted(set(re.findall(r": (\w+ of .*)", plain)))
                    if wrong:
                        print(f"plain {mpi}, {ranks} ranks, {source} has wrong: {'; '.join(wrong)}", file=sys.stderr)

    def test_open_mpi(self):
        self.check("openmpi")

    def test_mpich(self):
        self.check("mpich")


class ThoroughRandom(carried_test.Random):
    thorough = True


class ThoroughScenes(carried_test.Scenes):
    thorough = True


class ThoroughFortran(carried_test.Fortran):
    thorough = True


def between_hosts(mpi, ranks, *command):
    """Starts a program with libweft-mpi on two simulated hosts; its status."""
    def inside(folder):
        with Hosts(folder, 2) as hosts:
            library = f"{carried_test.BUILD}/mpi/libweft-mpi-{mpi}.so"
            return subprocess.run([*mpi_waits.launcher_of(mpi, int(ranks), hosts),
                                   *mpi_waits.preload_of(mpi, library, hosts), "-n", ranks, *command],
                                  stdin=subprocess.DEVNULL, check=False, timeout=300,
                                  env={**os.environ, "TMPDIR": hosts.folder}).returncode

    return sandbox.run_inside(inside)


class BetweenHosts(Programs):
    """Not MPICH 4.0 with two ranks of a host: it does not leave MPI_Finalize in half of the runs, without the library too,
    since ranks that wait for the launcher there do not go on for those that still disconnect."""

    def start(self, mpi, ranks, *command):
        result = subprocess.run([sys.executable, "-B", __file__, carried_test.SOURCE, carried_test.BUILD, "--between-hosts", mpi,
                                 str(ranks), *command], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def test_all(self):
        if os.geteuid() != 0 or not sandbox.allowed():
            self.skipTest("hosts are simulated by namespaces, as root")
        for mpi, ranks in (("openmpi", 2), ("openmpi", 4), ("mpich", 2)):
            for source in ("moves.c", "reductions.c"):
                with self.subTest(mpi=mpi, ranks=ranks, source=source):
                    self.assertRegex(self.start(mpi, ranks, self.compile(mpi, source)), "checks, 0 wrong\n$")
            for seed, most in (("12", "20000"), ("300", "200000")):
                with self.subTest(mpi=mpi, ranks=ranks, seed=seed):
                    # Open MPI 4.1 itself hangs with four ranks and seed 11. On one host all print the same.
                    command = [self.compile(mpi, "random.c"), "20", seed, most, "0"]
                    plain = self.output(mpi, ranks, *command, carried=False)
                    self.assertEqual(self.start(mpi, ranks, *command), plain)


class Solvers(Programs):
    def test_all(self):
        for ranks in (2, 3, 4):
            self.solve(ranks, "pipecg", "groppcg", "pipecr", "pipebcgs", "pipecg2", "pipefgmres")


# Aluminium, whose FFTs are split over the ranks: an all-to-all a band, waited for in the loop behind.
ABINIT = """
paral_kgb 1  npband 1  npfft {ranks}  bandpp 8  autoparal 0  wfoptalg 114  fftalg 402  istwfk 1
acell 3*7.6  natom 4  ntypat 1  typat 4*1  znucl 13  xred 0 0 0  0 0.5 0.5  0.5 0 0.5  0.5 0.5 0.02
nband 16  occopt 3  tsmear 0.02  ecut 24  kptopt 0  nkpt 1  kpt 0.125 0.25 0.375
nstep 3  nline 2  tolvrs 1.0d-30  prtwf 0  prtden 0  prteig 0
pp_dirpath "/usr/share/abinit/psp"  pseudos "13al.981214.fhi"
"""


class Abinit(Programs):
    """Its energies are the same, and every call is carried: with 2 ranks its operands are large enough for WEFT_MALLOC."""

    def test_all(self):
        if shutil.which("abinit") is None or not os.path.exists("/usr/share/abinit/psp/13al.981214.fhi"):
            self.skipTest("ABINIT is not installed (abinit, abinit-data)")
        self.compile("openmpi", "random.c")  # Open MPI and the library are there
        for ranks in (2, 4):
            energies = []
            for settings in (None, {}, {"WEFT_MALLOC": "1"}):
                with self.subTest(ranks=ranks, settings=settings), tempfile.TemporaryDirectory() as folder:
                    pathlib.Path(folder, "al.abi").write_text(ABINIT.format(ranks=ranks))
                    result = self.launch("openmpi", ranks, "-wdir", folder, "abinit", "al.abi", "--fft-ialltoall=yes",
                                         carried=settings is not None, OMP_NUM_THREADS="1", WEFT_STATISTICS="1", **settings or {})
                    self.assertEqual(result.returncode, 0, result.stdout[-3000:] + result.stderr)
                    energies.append(re.findall(r"^ *ETOT .*", result.stdout, re.MULTILINE))
                    self.assertEqual((len(energies[-1]), energies[-1]), (3, energies[0]))
                    if settings is None:
                        continue
                    self.assertRegex(result.stderr, r"MPI_Ialltoall +\d{3,}  carried")
                    self.assertEqual(passed_on(result.stderr), set())
                    in_place = int(re.search(r"bytes of large operands +(\d+)  in place", result.stderr)[1])
                    self.assertEqual(in_place > 0, ranks == 2 and settings != {})


def sources_of(package, folder):
    """The tests in Debian's source package, unpacked in this folder: nothing is installed, no list of apt is changed."""
    policy = subprocess.run(["apt-cache", "policy", f"python3-{package}"], capture_output=True, text=True, check=False)
    found = re.search(r"(https?://\S+) (\S+)/(\S+) \S+ Packages", policy.stdout)
    if found is None:
        return None
    base = pathlib.Path(folder)
    for needed in ("lists/partial", "archives/partial"):
        (base / needed).mkdir(parents=True)
    (base / "sources.list").write_text(f"deb-src {found[1]} {found[2]} {found[3]}\n")
    apt = ["apt-get", "-qq", "-o", f"Dir::Etc::SourceList={base}/sources.list", "-o", "Dir::Etc::SourceParts=-", "-o",
           f"Dir::State::Lists={base}/lists", "-o", f"Dir::Cache::Archives={base}/archives", "-o", "APT::Sandbox::User="]
    for command in (["update"], ["source", "--download-only", package]):
        if subprocess.run([*apt, *command], cwd=folder, capture_output=True, check=False).returncode != 0:
            return None
    archive = next(base.glob("*.orig.tar.*"))
    subprocess.run(["tar", "-xf", archive.name], cwd=folder, check=True)
    return next(base.glob("*/test/runtests.py"), None)


class Mpi4py(Programs):
    def run_tests(self, tests, ranks, carried):
        """How many tests ran on a rank, those that failed, and what was carried."""
        leave_out = [word for name in LEFT_OUT for word in ("-e", f"test_{name}")]
        result = subprocess.run([*([f"{carried_test.BUILD}/bin/weft", "mpi", "--with", "openmpi"] if carried else []),
                                 *LAUNCHERS["openmpi"], "-n", str(ranks), "/usr/bin/python3", str(tests), "--no-builddir", "-v",
                                 *leave_out], capture_output=True, text=True, timeout=900, check=False,
                                stdin=subprocess.DEVNULL, cwd=self.folder.name, env={**os.environ, "WEFT_STATISTICS": "1"})
        said = result.stdout + result.stderr
        ran = set(re.findall(r"^Ran (\d+) tests", said, re.MULTILINE))
        self.assertEqual(len(ran), 1, said[-3000:])
        return int(ran.pop()), set(re.findall(r"^(?:FAIL|ERROR): (.*)", said, re.MULTILINE)), said

    def test_all(self):
        if subprocess.run(["/usr/bin/python3", "-c", "import numpy, mpi4py.MPI"], capture_output=True, check=False).returncode != 0:
            self.skipTest("mpi4py or numpy is not installed (python3-mpi4py, python3-numpy)")
        self.compile("openmpi", "random.c")  # Open MPI and the library are there
        named = os.environ.get("MPI4PY_TESTS")
        with tempfile.TemporaryDirectory() as folder:
            tests = pathlib.Path(named) / "runtests.py" if named else sources_of("mpi4py", folder)
            if tests is None or not tests.exists():
                self.skipTest("the source package of mpi4py cannot be had: name its folder of tests in MPI4PY_TESTS")
            for ranks in (2, 4):
                with self.subTest(ranks=ranks):
                    plain = self.run_tests(tests, ranks, carried=False)
                    carried = self.run_tests(tests, ranks, carried=True)
                    self.assertGreater(carried[0], 500)
                    self.assertEqual(carried[:2], plain[:2], carried[2][-3000:])
                    for call in ("barrier", "bcast", "allgather", "alltoallw", "reduce", "scan", "reduce_scatter"):
                        self.assertRegex(carried[2], rf"MPI_I{call} +\d+  carried")
                    # And reductions of no elements.
                    self.assertLessEqual(passed_on(carried[2]), KEPT_BY_MPI | {"elements with gaps, large ones or none"})


if __name__ == "__main__":
    carried_test.SOURCE, carried_test.BUILD = (os.path.abspath(path) for path in sys.argv[1:3])
    if sys.argv[3:4] == ["--between-hosts"]:
        sys.exit(between_hosts(*sys.argv[4:]))
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
