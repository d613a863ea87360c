# SPDX-License-Identifier: BSD-3-Clause
"""A heap that cannot be had: refused at once, in one line, and nothing is left. heap_test.py WEFT PROGRAM ARGUMENTS...

The system's limits are made small in namespaces of the test's own, so that a library that tries its luck does not
take the memory of the host.
"""

import os
import shutil
import subprocess
import sys
import unittest

WEFT = ""
PROGRAM: list[str] = []
PATIENCE = 60
NAMESPACES = ["unshare", "--ipc", "--mount", "--propagation", "private"]


def may_unshare():
    return shutil.which("unshare") and subprocess.run([*NAMESPACES, "true"], stderr=subprocess.DEVNULL,
                                                      check=False).returncode == 0


@unittest.skipUnless(may_unshare(), "needs the right to make namespaces")
class Heap(unittest.TestCase):
    def run_job(self, heap, shmmax, files, ranks=2, transports=None, **limits):
        """The job's result in namespaces with these limits of System V segments and room for files in /dev/shm."""
        small = "".join(f"echo {value} > /proc/sys/kernel/{name} && " for name, value in
                        {"shmmax": shmmax, **limits}.items())
        script = (f"mount -t tmpfs -o size={files} tmpfs /dev/shm && {small}"
                  '"$@"; status=$?; ls /dev/shm >&2; ipcs -m | grep 0x >&2; exit $status')
        return subprocess.run([*NAMESPACES, "sh", "-c", script, "sh", WEFT, "run", "-n", str(ranks), *PROGRAM],
                              capture_output=True, text=True, timeout=PATIENCE, check=False,
                              env=dict(os.environ, WEFT_HEAP_SIZE=heap, LC_ALL="C",
                                       **({"UCX_TLS": transports} if transports else {})))

    def assert_refused(self, result):
        self.assertNotEqual(result.returncode, 0)
        self.assertEqual(result.stdout, "")
        lines = [l for l in result.stderr.splitlines() if not l.startswith("weft run:")]
        self.assertTrue(lines, result.stderr)
        for line in lines:
            self.assertRegex(line, r"weft_init: cannot reserve \d+ MiB of shared memory.*lower WEFT_HEAP_SIZE")
        self.assertLessEqual(len(lines), 2, "one line a rank")

    def test_more_than_the_memory_of_the_host(self):
        for heap in ("1T", "16T"):
            with self.subTest(heap=heap):
                self.assert_refused(self.run_job(heap, 1 << 62, "64m"))

    def test_more_than_the_limits(self):
        self.assert_refused(self.run_job("64M", 1 << 26, "64m"))

    def test_files_take_the_place_of_limited_segments(self):
        result = self.run_job("128M", 1 << 26, "2g")
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_files_take_the_place_in_the_users_own_transports(self):
        for transports in "sm", "self,shm", "mm,self,cma", "^tcp", "all":
            with self.subTest(transports=transports):
                result = self.run_job("128M", 1 << 26, "2g", transports=transports)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
        result = self.run_job("128M", 1 << 26, "2g", transports="self,sysv")
        lines = [l for l in result.stderr.splitlines() if not l.startswith("weft run:")]
        self.assertEqual((result.returncode, result.stdout), (1, ""), result.stderr)
        self.assertIn(len(lines), (1, 2), result.stderr)  # the first rank that ends may end the other one
        for line in lines:
            self.assertRegex(line, "UCX_TLS=self,sysv asks for System V segments, .* raise kernel.shmmni, .*shmmax .* or leave")

    def test_files_take_the_place_where_there_are_segments_for_some_ranks_only(self):
        # Fails when each rank looks for itself, or does not try the small segments of UCX.
        pages = (128 << 20) // 4096 * 2 + (256 << 20) // 4096  # of the large one of a rank
        for limits in {"shmmni": 1}, {"shmmni": 5}, {"shmall": pages + 100}:
            with self.subTest(**limits):
                result = self.run_job("128M", 1 << 40, "2g", **limits)
                self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_neither_segments_nor_files(self):
        self.assert_refused(self.run_job("64M", 1 << 40, "64m", shmmni=3))


if __name__ == "__main__":
    WEFT, *PROGRAM = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
