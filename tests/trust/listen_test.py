# SPDX-License-Identifier: BSD-3-Clause
"""The ranks of a job on one host listen nowhere: listen_test.py WEFT PROGRAM

PROGRAM prints a line when it is in the job, and ends with its input.
"""

import glob
import os
import subprocess
import sys
import unittest

WEFT, PROGRAM = sys.argv[1:3]
LISTENING = "0A"


def listening_sockets():
    """The inodes of all sockets of this host that listen for TCP connections."""
    inodes = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(table, encoding="ascii") as file:
            rows = [line.split() for line in file.readlines()[1:]]
        inodes |= {row[9] for row in rows if row[3] == LISTENING}
    return inodes


def sockets_of(pid):
    links = []
    for name in glob.glob(f"/proc/{pid}/fd/*"):
        try:
            links.append(os.readlink(name))
        except FileNotFoundError:
            pass
    return {link[len("socket:["):-1] for link in links if link.startswith("socket:[")}


class Listen(unittest.TestCase):
    def listeners(self, *arguments, **settings):
        job = subprocess.Popen([WEFT, "run", *arguments, PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True, env=dict(os.environ, **settings))
        try:
            ranks = [job.stdout.readline().split()[-1] for _ in range(2)]
            return [len(sockets_of(pid) & listening_sockets()) for pid in ranks]
        finally:
            job.communicate("\n", timeout=60)
            self.assertEqual(job.returncode, 0)

    def test_nobody_listens(self):
        for arguments in (("-n", "2"), ("-n", "2", "--nodes", "2")):
            for lane in ("direct", "ucp"):
                with self.subTest(arguments=arguments, lane=lane):
                    self.assertEqual(self.listeners(*arguments, WEFT_LANE=lane), [0, 0])

    def test_the_look_finds_listeners(self):
        found = self.listeners("-n", "2", "--nodes", "2", UCX_TLS="tcp,self", UCX_NET_DEVICES="lo")
        self.assertNotIn(0, found)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
