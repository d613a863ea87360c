# SPDX-License-Identifier: BSD-3-Clause
"""Kills at random: random_kills.py WEFT JOB_CLIENT [--kills N] [--seed S].

One process of a job, a rank, the launcher, its PMIx server or Open MPI's mpirun, is killed at a random moment
of the job's start, run or end. Each time all must end in bounded time, the launcher's status must not be 0, and
nothing may be left: no process, no shared memory, no folder of ours in the temporary directory. In namespaces
of its own, in which every process and segment is one of the test; skipped (77) where they cannot be had.

One thing is not ours to clear up: UCX makes a System V segment of one page when it is loaded, before any line
of ours runs, and removes it some microseconds later. A process that is killed between the two leaves it.
"""

import argparse
import collections
import ctypes
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
BOUND = 60
INSIDE = "--inside"
MPIRUN = shutil.which("mpirun.openmpi")


def enter_namespaces():
    """Starts this script again as the first process of namespaces of its own."""
    command = ["unshare", "--fork", "--pid", "--mount", "--ipc", "--net", "--mount-proc", "--kill-child"]
    if os.geteuid() != 0 or shutil.which("unshare") is None or \
            subprocess.run([*command, "true"], capture_output=True, check=False).returncode != 0:
        print("skipped: only root can make namespaces, with unshare")
        sys.exit(SKIPPED)
    sys.exit(subprocess.run([*command, sys.executable, "-B", *sys.argv, INSIDE], check=False).returncode)


def bring_up_loopback():
    import fcntl
    import socket
    import struct
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        up_and_running = 0x41
        fcntl.ioctl(control, 0x8914, struct.pack("16sh14x", b"lo", up_and_running))  # SIOCSIFFLAGS


def reap():
    """The first process of a namespace inherits all orphans. Popen's own children are its own to reap."""
    for pid in processes():
        try:
            if parent_of(pid) == os.getpid() and pid not in own_children:
                os.waitpid(pid, os.WNOHANG)
        except (OSError, IndexError):
            pass


own_children = set()


def parent_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return int(file.read().rpartition(")")[2].split()[1])


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


def processes():
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit() and int(entry) != os.getpid()]


def until(holds, seconds):
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def segments():
    with open("/proc/sysvipc/shm", encoding="ascii") as file:
        return file.read().splitlines()[1:]


def made_at_load(segment):
    """Whether it may be the one that UCX makes when it is loaded: private, of one page, and of no process any more."""
    key, _, _, size, _, _, attached = (int(field) for field in segment.split()[:7])
    return key == 0 and size == os.sysconf("SC_PAGE_SIZE") and attached == 0


class Trial:
    def __init__(self, source, weft, client, tmp):
        self.launcher = source.choice(["weft", "mpirun"] if MPIRUN else ["weft"])
        self.victim = source.choice(["rank", "launcher"] + (["server"] if self.launcher == "weft" else []))
        self.phase = source.choice(["boot", "run", "end"])
        self.what = "ends" if self.phase == "end" else source.choice(["computes", "waits", "works"])
        self.ranks = source.randint(2, 4)
        # A job is ready after some 50 ms, and under mpirun after 150.
        self.delay = source.uniform(0, 0.15 if self.phase == "boot" and self.launcher == "mpirun" else 0.05)
        self.pick = source.random()
        self.tmp = tmp
        start = [weft, "run"] if self.launcher == "weft" else [MPIRUN, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
        self.command = [*start, "-n", str(self.ranks), client, self.what]
        self.client = os.path.basename(client)

    def __str__(self):
        return (f"{self.victim} under {self.launcher} at {self.phase} + {self.delay * 1000:.0f} ms, "
                f"{self.ranks} ranks, {self.what}")

    def victims(self):
        if self.victim == "launcher":
            return [self.process.pid]
        name = self.client if self.victim == "rank" else "weft-pmix"
        return [pid for pid in processes() if name_of(pid) == name]

    def ready(self):
        with open(self.output, encoding="ascii") as file:
            return file.read().count("ready") == self.ranks

    def wait_for_phase(self):
        ended = lambda: self.process.poll() is not None
        if self.phase != "boot":
            until(lambda: self.ready() or ended(), BOUND)
        time.sleep(self.delay)
        until(lambda: self.victims() or ended(), BOUND)

    def kill(self):
        """Whether there was something to kill."""
        victims = self.victims()
        if self.process.poll() is not None or not victims:
            return False
        os.kill(victims[int(self.pick * len(victims))], signal.SIGKILL)
        return True

    def run(self):
        """What is wrong afterwards, and whether the kill came before the job's end."""
        self.output = os.path.join(self.tmp, "output")
        environment = dict(os.environ, TMPDIR=self.tmp)
        with open(self.output, "wb") as output, tempfile.TemporaryFile() as error:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=output, stderr=error,
                                            env=environment)
            own_children.add(self.process.pid)
            self.wait_for_phase()
            try:
                killed = self.kill()
            except ProcessLookupError:
                killed = False
            try:
                wrong = self.look(killed, error)
            finally:
                self.clear()
            error.seek(0)
            self.said = error.read().decode(errors="replace")
        return wrong, killed

    def launcher_is_lost(self, error):
        """Seen of Open MPI's: a rank died at boot, the launcher said that it could not reach it, and neither it nor the
        other ranks ended. Whatever else they leave is wrong all the same."""
        if (self.launcher, self.victim, self.phase) != ("mpirun", "rank", "boot"):
            return False
        error.seek(0)
        return b"PMIX ERROR: UNREACHABLE" in error.read()

    def look(self, killed, error):
        wrong = []
        if not until(lambda: self.process.poll() is not None, BOUND):
            wrong.append("the launcher did not end")
        # A rank that has left the job may be killed without harm under mpirun's rules; never while it runs.
        elif killed and self.process.returncode == 0 and self.phase != "end":
            wrong.append("the status is 0")
        if not until(lambda: (reap(), processes())[1] in ([], [self.process.pid]) and self.process.poll() is not None, BOUND):
            wrong.append("left: " + ", ".join(f"{name_of(pid)} ({pid})" for pid in processes()))
        if wrong and self.process.poll() is None and self.launcher_is_lost(error):
            wrong = []
        wrong += [f"left: /dev/shm/{name}" for name in os.listdir("/dev/shm")]
        wrong += [f"left: segment {line}" for line in segments() if not (self.phase == "boot" and made_at_load(line))]
        wrong += [f"left: {name}" for name in os.listdir(self.tmp) if name.startswith("weft")]
        return wrong

    def clear(self):
        for pid in processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        self.process.wait()
        own_children.clear()
        until(lambda: (reap(), processes())[1] == [], BOUND)
        for name in os.listdir("/dev/shm"):
            os.unlink(os.path.join("/dev/shm", name))
        for line in segments():
            ctypes.CDLL(None).shmctl(int(line.split()[1]), 0, None)
        for name in os.listdir(self.tmp):
            path = os.path.join(self.tmp, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("weft")
    parser.add_argument("client")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(INSIDE, action="store_true")
    arguments = parser.parse_args()
    if not arguments.inside:
        enter_namespaces()
    bring_up_loopback()
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/dev/shm"], check=True)
    source = random.Random(arguments.seed)
    counts, failures, kills, trials = collections.Counter(), 0, 0, 0
    with tempfile.TemporaryDirectory() as tmp:
        while kills < arguments.kills and trials < 3 * arguments.kills:
            trial = Trial(source, os.path.abspath(arguments.weft), os.path.abspath(arguments.client), tmp)
            begin = time.monotonic()
            wrong, killed = trial.run()
            trials += 1
            kills += killed
            if killed:
                counts[f"{trial.launcher}: {trial.victim} at {trial.phase}"] += 1
            if wrong:
                failures += 1
                print(f"kill {kills}: {trial}: {'; '.join(wrong)}\n{trial.said}", flush=True)
            elif os.environ.get("RANDOM_KILLS_VERBOSE"):
                print(f"{time.monotonic() - begin:.1f} s {trial}{'' if killed else ' (too late)'}", flush=True)
    for name, count in sorted(counts.items()):
        print(f"{count:4} {name}")
    print(f"{kills} kills, {failures} with something wrong (seed {arguments.seed})")
    sys.exit(1 if failures or kills < arguments.kills else 0)


if __name__ == "__main__":
    main()
