# SPDX-License-Identifier: BSD-3-Clause
"""Limits of the user that are too small for a start (ulimit): limits_test.py WEFT JOB_CLIENT [unittest arguments].

With each limit a job either does its work or ends soon with a line that names the limit: it does not hang, and does not
crash. A program that cannot even be loaded is left to the loader, which says so.
"""

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

WEFT = ""
JOB_CLIENT = ""
PATIENCE = 30
MPIRUN = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
LOADER = "error while loading shared libraries"


class Limits(unittest.TestCase):
    def run_within(self, kind, soft, hard, *command, **variables):
        def limit():
            resource.setrlimit(kind, (soft, hard))
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.tmp = holder.name
        os.chmod(self.tmp, 0o777)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PMIX_")}
        return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False,
                              stdin=subprocess.DEVNULL, preexec_fn=limit,
                              env=dict(environment, TMPDIR=self.tmp, LC_ALL="C", **variables))

    def assert_works_or_says(self, result, says, ranks=1):
        """True if it works."""
        self.assertEqual(os.listdir(self.tmp), [])
        lines = result.stderr.splitlines()
        if result.returncode == 0:
            self.assertEqual((len(result.stdout.splitlines()), lines), (ranks, []))
            return True
        self.assertGreater(result.returncode, 0, "died by a signal")
        self.assertNotIn("died by signal", result.stderr)
        said = [line for line in lines if not line.startswith("weft run: rank ")]
        self.assertTrue(said, result.stderr)
        self.assertLessEqual(len(said), max(ranks, 1), result.stderr)
        for line in said:
            self.assertRegex(line, f"{LOADER}|{says}")
        return False

    def sweep(self, limits, run, says, ranks=1):
        """Whether the largest works, and a smaller one is said."""
        works = []
        for limit in limits:
            with self.subTest(limit=limit):
                works.append(self.assert_works_or_says(run(limit), says, ranks))
        self.assertEqual((works[0], works[-1]), (False, True))


class Files(Limits):
    """Without the looks before PMIx and UCX begin (boot::require_files does nothing) these hang, or end with words of theirs."""

    SAYS = r"needs \d+ open files more, and the limit of \d+ \(ulimit -n\) leaves \d+; raise it, as in ulimit -n \d+"
    FEW = 18, 36, 80

    def files(self, soft, hard, *command):
        return self.run_within(resource.RLIMIT_NOFILE, soft, hard, *command)

    def sweep_launcher(self, limits):
        # The launcher raises its own up to the hard limit.
        self.sweep(limits, lambda n: self.files(min(n, 20), n, WEFT, "run", "-n", "2", "true"), self.SAYS, 0)

    def sweep_rank(self, limits):
        self.sweep(limits, lambda n: self.files(n, n, JOB_CLIENT, "ends"), self.SAYS)

    def sweep_ranks(self, limits):
        self.sweep(limits, lambda n: self.files(n, 500, WEFT, "run", "-n", "2", JOB_CLIENT, "ends"), self.SAYS, 2)

    def test_the_limit_that_is_named_is_enough(self):
        for soft, hard, command in (18, 18, [WEFT, "run", "-n", "2", "true"]), (18, 500, [JOB_CLIENT, "ends"]):
            error = self.files(soft, hard, *command).stderr
            enough = int(re.search(r"ulimit -n (\d+)", error).group(1))
            self.assertEqual(self.files(enough, hard if hard > enough else enough, *command).returncode, 0)

    def test_launcher(self):
        self.sweep_launcher(self.FEW)

    def test_rank(self):
        self.sweep_rank(self.FEW)

    def test_ranks(self):
        self.sweep_ranks(self.FEW)


class Threads(Limits):
    """Without the looks (boot::require_threads does nothing) PMIx hangs, or the process ends by an exception. The limit is not
    one of the superuser, so another user has it, which has no process."""

    SAYS = r"needs \d+ threads and processes more, and the limit of \d+ of this user \(ulimit -u\) leaves \d+; raise it, as in ulimit -u \d+"
    FEW = 1, 4, 8, 12, 16, 20, 24, 30, 60
    USER = "54321"

    def threads(self, number, *command):
        if os.geteuid() != 0 or shutil.which("setpriv") is None:
            self.skipTest("needs setpriv and the right to be another user")
        if subprocess.run(["ps", "-U", self.USER], capture_output=True, check=False).returncode == 0:
            self.skipTest(f"user {self.USER} has processes")
        # Nothing but the limit is other than in the job of any user.
        as_user = ["env", "-u", "SUITE_LAUNCHES", "setpriv", "--reuid", self.USER, "--regid", self.USER, "--clear-groups"]
        return self.run_within(resource.RLIMIT_NPROC, number, number, *as_user, *command)

    def test_rank(self):
        self.sweep(self.FEW, lambda n: self.threads(n, JOB_CLIENT, "ends"), self.SAYS)

    def test_ranks(self):
        self.sweep(self.FEW, lambda n: self.threads(n, WEFT, "run", "-n", "2", JOB_CLIENT, "ends"), self.SAYS, 2)

    def test_the_limit_that_is_named_is_enough(self):
        for command in [WEFT, "run", "-n", "2", "true"], [JOB_CLIENT, "ends"]:
            error = self.threads(2, *command).stderr
            enough = int(re.search(r"ulimit -u (\d+)", error.splitlines()[-1]).group(1))
            self.assertEqual(self.threads(enough, *command).returncode, 0)


class AllThreads(Threads):
    FEW = range(1, 61)


class AllFiles(Files):
    FEW = range(3, 71)


class Addresses(Limits):
    """Without the looks (boot::require_addresses does nothing) UCX dies by a signal, or PMIx says pages."""

    SAYS = r"needs \d+ MiB of addresses more than the limit of \d+ KiB \(ulimit -v\) leaves; raise it, as in ulimit -v \d+"
    FEW = 100, 2200, 8000
    DATA = 8, 40, 400

    def addresses(self, mebibytes, *command):
        bytes_ = mebibytes << 20
        return self.run_within(resource.RLIMIT_AS, bytes_, bytes_, *command)

    def test_rank(self):
        self.sweep(self.FEW, lambda m: self.addresses(m, JOB_CLIENT, "ends"), self.SAYS)

    def test_ranks(self):
        self.sweep(self.FEW, lambda m: self.addresses(m, WEFT, "run", "-n", "2", JOB_CLIENT, "ends"), self.SAYS, 2)


    def test_data(self):
        def data(mebibytes):
            bytes_ = mebibytes << 20
            return self.run_within(resource.RLIMIT_DATA, bytes_, bytes_, WEFT, "run", "-n", "2", JOB_CLIENT, "ends")
        self.sweep(self.DATA, data, self.SAYS.replace("addresses", "memory of its own").replace("-v", "-d"), 2)


class AllAddresses(Addresses):
    FEW = range(40, 3200, 60)  # below, what initialises itself before main finds no memory
    DATA = range(1, 120, 3)


if __name__ == "__main__":
    WEFT, JOB_CLIENT = (os.path.abspath(path) for path in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
