# SPDX-License-Identifier: BSD-3-Clause
"""Who reaches the PMIx server of a job: port_test.py WEFT FAULT_CLIENT [unittest arguments]."""

import os
import signal
import subprocess
import sys
import tempfile
import unittest

WEFT = ""
FAULT_CLIENT = ""
PATIENCE = 60
NOBODY = 65534

# Connects as another user, says how it went, and holds on.
VISITOR = """
import encodings.idna, os, socket, sys, time
port, user = int(sys.argv[1]), int(sys.argv[2])
os.setgroups([]) if os.geteuid() == 0 else None
os.setuid(user)
visitors = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
def closed(visitor):
    visitor.settimeout(20 if user else 0.5)
    try:
        return visitor.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True
print(*[closed(visitor) for visitor in visitors], flush=True)
time.sleep(600)
"""


# Connects as another user again and again, until it is killed: leaves at once, or stays until it is turned away. Says
# when it is in full swing.
FLOOD = """
import encodings.idna, os, socket, sys
port, user, stays = map(int, sys.argv[1:])
os.setgroups([])
os.setuid(user)
count = 0
while True:
    try:
        with socket.create_connection(("127.0.0.1", port)) as visitor:
            if stays:
                visitor.recv(1)
    except OSError:
        pass
    count += 1
    if count == 50:
        print("on", flush=True)
"""


def listening_sockets(pid):
    """The local addresses at which the process listens, as the kernel writes them."""
    inodes = set()
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            inodes.add(os.readlink(f"/proc/{pid}/fd/{name}"))
        except OSError:
            pass
    found = []
    for table in "tcp", "tcp6":
        with open(f"/proc/{pid}/net/{table}", encoding="ascii") as file:
            rows = [line.split() for line in file.readlines()[1:]]
        found += [row[1] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in inodes]
    return found


def name_of(pid):
    with open(f"/proc/{pid}/comm", encoding="ascii") as file:
        return file.read().strip()


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return {int(child): name_of(child) for child in file.read().split()}


class PortTest(unittest.TestCase):
    # Rank 0 says where the server is; all join when they are told to.
    WAIT = 'echo $PMIX_SERVER_URI41; while [ ! -e "$0" ]; do sleep 0.05; done; exec "$1" joins'

    def start(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.go = os.path.join(folder.name, "go")
        process = subprocess.Popen([WEFT, "run", "-n", "2", "sh", "-c", self.WAIT, self.go, FAULT_CLIENT],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, process)
        return process, int(process.stdout.readline().rsplit(":", 1)[1])

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def visit(self, port, user):
        visitor = subprocess.Popen([sys.executable, "-S", "-c", VISITOR, str(port), str(user)], stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end, visitor)
        return visitor.stdout.readline().split()

    def join(self, process):
        with open(self.go, "w", encoding="ascii"):
            pass
        out, error = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, out.count("one of 2")), (0, 2), error)

    @unittest.skipUnless(os.geteuid() == 0, "only root can be another user")
    def test_other_users_are_turned_away(self):
        process, port = self.start()
        self.assertEqual(self.visit(port, NOBODY), ["True"] * 3)
        # They are still there: the server does not wait for what they say.
        self.join(process)

    @unittest.skipUnless(os.geteuid() == 0, "only root can be another user")
    def test_a_flood_of_other_users_keeps_no_rank_from_joining(self):
        # Fails when the table of all connections is read for each.
        process, port = self.start()
        floods = [subprocess.Popen([sys.executable, "-S", "-c", FLOOD, str(port), str(NOBODY), str(stays)],
                                   stdout=subprocess.PIPE, text=True) for stays in (0, 0, 1, 1)]
        for flood in floods:
            self.addCleanup(self.end, flood)
        for flood in floods:
            self.assertEqual(flood.stdout.readline(), "on\n")
        self.join(process)

    @unittest.skipUnless(os.geteuid() == 0, "only root can be itself")
    def test_root_and_the_user_are_not(self):
        _, port = self.start()
        self.assertEqual(self.visit(port, 0), ["False"] * 3)

    def test_only_the_server_listens_and_on_loopback(self):
        process, port = self.start()
        (server,) = [pid for pid, name in children(process.pid).items() if name == "weft-pmix"]
        self.assertEqual(listening_sockets(server), [f"0100007F:{port:04X}"])
        for pid in process.pid, *[pid for pid in children(process.pid) if pid != server]:
            self.assertEqual(listening_sockets(pid), [])
        self.join(process)

    def test_a_server_that_dies_is_told(self):
        process, _ = self.start()
        (server,) = [pid for pid, name in children(process.pid).items() if name == "weft-pmix"]
        os.kill(server, signal.SIGSEGV)
        _, error = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, error),
                         (1, "weft run: the PMIx server of the job died; the job was ended\n"))


if __name__ == "__main__":
    WEFT, FAULT_CLIENT = (os.path.abspath(path) for path in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
