# SPDX-License-Identifier: BSD-3-Clause
"""How a program finds out what started it: start_test.py WEFT FAULT_CLIENT LIBRARY [unittest arguments]."""

import ctypes.util
import os
import shutil
import socket
import subprocess
import sys
import unittest

WEFT = ""
FAULT_CLIENT = ""
LIBRARY = ""
PATIENCE = 100
REFUSED = 3

# One environment of each launcher that is not PMIx, as the second of three processes has it.
OTHERS = {
    "MPICH": {"PMI_SIZE": "3", "PMI_RANK": "1", "PMI_FD": "9"},
    "Intel MPI": {"MPI_LOCALNRANKS": "3", "MPI_LOCALRANKID": "1"},
    "Open MPI": {"OMPI_COMM_WORLD_SIZE": "3", "OMPI_COMM_WORLD_RANK": "1"},
    "srun": {"SLURM_NTASKS": "3", "SLURM_STEP_NUM_TASKS": "3", "SLURM_PROCID": "1"},
    "MVAPICH2": {"MV2_COMM_WORLD_SIZE": "3", "MV2_COMM_WORLD_RANK": "1"},
    "Flux": {"FLUX_JOB_SIZE": "3", "FLUX_TASK_RANK": "1"},
    "jsrun": {"JSM_NAMESPACE_SIZE": "3", "JSM_NAMESPACE_RANK": "1"},
    "PALS": {"PALS_SIZE": "3", "PALS_RANKID": "1"},
}


def clean_environment(**added):
    foreign = {name for other in OTHERS.values() for name in other}
    kept = {k: v for k, v in os.environ.items() if k not in foreign and not k.startswith("PMIX_")}
    return {**kept, **added}


def run(*command, **variables):
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL,
                          env=clean_environment(**variables), check=False)


class StartTest(unittest.TestCase):
    def assert_refused(self, result, *parts):
        self.assertEqual((result.returncode, result.stdout), (REFUSED, ""), result.stderr)
        # PMIx may have said something before.
        said = result.stderr.splitlines()[-1]
        for part in parts:
            self.assertIn(part, said)


class OtherLaunchers(StartTest):
    def test_each_is_named_with_the_way_out(self):
        for name, variables in OTHERS.items():
            result = run(FAULT_CLIENT, "joins", **variables)
            self.assert_refused(result, name, "=3", "weft run -n 1 before the program")

    def test_the_way_out_of_srun(self):
        self.assert_refused(run(FAULT_CLIENT, "joins", **OTHERS["srun"]), "SLURM_STEP_NUM_TASKS", "add --mpi=pmix")

    def test_one_process_of_each_is_alone(self):
        for variables in OTHERS.values():
            one = {k: "1" if v == "3" else v for k, v in variables.items()}
            self.assertEqual(run(FAULT_CLIENT, "joins", **one).stdout, "one of 1\n")

    def test_a_shell_of_an_allocation_is_no_rank(self):
        for variables in {"SLURM_NTASKS": "4"}, {"SLURM_NTASKS": "4", "SLURM_PROCID": "0"}, {"PMI_SIZE": "4"}:
            self.assertEqual(run(FAULT_CLIENT, "joins", **variables).stdout, "one of 1\n")

    def test_a_job_of_one_in_each(self):
        for variables in OTHERS.values():
            result = run(WEFT, "run", "-n", "1", FAULT_CLIENT, "joins", **variables)
            self.assertEqual(result.stdout, "one of 1\n", result.stderr)

    @unittest.skipUnless(shutil.which("mpirun.mpich"), "MPICH is not installed")
    def test_mpich(self):
        result = run("mpirun.mpich", "-n", "2", FAULT_CLIENT, "joins")
        self.assertNotEqual(result.returncode, 0)
        self.assertNotIn("one of", result.stdout)
        self.assertIn("PMI_SIZE=2", result.stderr)
        result = run("mpirun.mpich", "-n", "2", WEFT, "run", "-n", "1", FAULT_CLIENT, "joins")
        self.assertEqual(result.stdout, "one of 1\n" * 2, result.stderr)


def variables_of_a_rank():
    text = run(WEFT, "run", "-n", "2", "sh", "-c", "[ $PMIX_RANK = 0 ] || env").stdout
    return dict(line.split("=", 1) for line in text.splitlines() if line.startswith("PMIX_"))


class StaleVariables(StartTest):
    def test_the_job_is_gone(self):
        stale = variables_of_a_rank()
        self.assertEqual(stale["PMIX_RANK"], "1")
        parts = "rank 1 of the job weft-", "UNREACHABLE", "env -u PMIX_NAMESPACE"
        self.assert_refused(run(FAULT_CLIENT, "joins", **stale), *parts)
        del stale["PMIX_NAMESPACE"]
        self.assertEqual(run(FAULT_CLIENT, "joins", **stale).stdout, "one of 1\n")

    def test_a_new_job_in_the_environment_of_another(self):
        result = run(WEFT, "run", "-n", "2", FAULT_CLIENT, "joins", **variables_of_a_rank())
        self.assertEqual(result.stdout, "one of 2\n" * 2, result.stderr)

    def test_half_of_them(self):
        self.assert_refused(run(FAULT_CLIENT, "joins", PMIX_NAMESPACE="gone"), "of the job gone")
        self.assert_refused(run(FAULT_CLIENT, "joins", PMIX_NAMESPACE="gone", PMIX_RANK="0"), "rank 0 of the job gone")

    def test_what_a_rank_starts(self):
        result = run(WEFT, "run", "-n", "2", FAULT_CLIENT, "starts_another")
        self.assertEqual((result.returncode, result.stdout), (REFUSED, ""), result.stderr)
        self.assertIn("which is rank 1 of the job weft-", result.stderr)
        self.assertIn("weft run -n 1", result.stderr)


# A program that uses both: MPI first, then this library.
MPI_PROGRAM = """
import ctypes, os, sys
library, mpi = sys.argv[1:]
mpi = ctypes.CDLL(mpi, mode=ctypes.RTLD_GLOBAL)
mpi.MPI_Init(None, None)
weft = ctypes.CDLL(library)
weft.weft_init(None, None)
os.write(1, b"one of %d\\n" % weft.upc_threads())  # at once: mpirun mixes what comes in pieces
weft.weft_finalize()
mpi.MPI_Finalize()
"""


class MpiPrograms(StartTest):
    """MPI's world and the job of this library are the same processes, or there is an error."""

    def program(self, mpi):
        if ".so" not in os.path.basename(LIBRARY):
            self.skipTest("the library is no shared one")
        name = ctypes.util.find_library(mpi)
        if name is None:
            self.skipTest(f"lib{mpi} is not installed")
        return [sys.executable, "-S", "-c", MPI_PROGRAM, LIBRARY, name]

    def assert_refused_with(self, result, *parts):
        self.assertEqual((result.returncode, result.stdout), (1, ""), result.stderr)
        for part in parts:
            self.assertIn(part, result.stderr)

    def test_open_mpi_under_weft_run(self):
        self.assert_refused_with(run(WEFT, "run", "-n", "2", *self.program("mpi")), "weft_init: weft run started",
                                 "of 2, but MPI_Init has made it a job of its own (PMIX_NAMESPACE=", "mpirun")

    def test_mpich_under_weft_run(self):
        self.assert_refused_with(run(WEFT, "run", "-n", "2", *self.program("mpich")),
                                 "weft_init: this job has 2 ranks, but to MPI_Init this process was alone", "mpirun")

    def test_one_rank_is_one_process_of_mpi(self):
        for mpi in "mpi", "mpich":
            self.assertEqual(run(WEFT, "run", "-n", "1", *self.program(mpi)).stdout, "one of 1\n")

    @unittest.skipUnless(shutil.which("mpirun.openmpi"), "Open MPI is not installed")
    def test_open_mpi_under_its_own_launcher(self):
        launcher = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n"]
        self.assertEqual(run(*launcher, "2", *self.program("mpi")).stdout, "one of 2\n" * 2)
        # A rank may start another launcher.
        result = run(WEFT, "run", "-n", "2", "sh", "-c", '[ $PMIX_RANK = 1 ] || exec "$@"', "sh", *launcher, "1",
                     *self.program("mpi"))
        self.assertEqual(result.stdout, "one of 1\n", result.stderr)


class SilentServer(StartTest):
    def test_a_port_that_belongs_to_another_program_now(self):
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            stale = variables_of_a_rank()
            for name in stale:
                if name.startswith("PMIX_SERVER_URI"):
                    stale[name] = f"pmix-server.1;tcp4://127.0.0.1:{silent.getsockname()[1]}"
            self.assert_refused(run(FAULT_CLIENT, "joins", **stale), "rank 1 of the job weft-", "TIMEOUT")


if __name__ == "__main__":
    WEFT, FAULT_CLIENT, LIBRARY = (os.path.abspath(path) for path in sys.argv[1:4])
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
