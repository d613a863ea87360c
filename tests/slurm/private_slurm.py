#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program under a Slurm of its own: brings one up here, runs srun --mpi=pmix or another, and takes it down.

Everything listens on loopback, at ports that are free, and keeps its state in a temporary folder. The exit
status is srun's; 77 means that it could not be tried here, with the reason printed.
"""

import argparse
import ctypes
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from processes import descendants, kill_all  # noqa: E402

SKIPPED = 77
PROGRAMS = ("munged", "munge", "slurmctld", "slurmd", "srun", "sinfo", "scancel")
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
libc = ctypes.CDLL(None, use_errno=True)


class Interrupted(Exception):
    """A signal asked this script to end, or its time was up."""


class NotUp(Exception):
    """A daemon ended or did not answer in time."""


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def end_with_parent():
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def free_ports(count):
    """Ports on which no process listens, below the range from which the kernel hands out its own."""
    found = {}
    while len(found) < count:
        port = random.randrange(11000, 32000)
        candidate = socket.socket()
        try:
            candidate.bind(("127.0.0.1", port))
            found[port] = candidate
        except OSError:
            candidate.close()
    for candidate in found.values():
        candidate.close()
    return list(found)


def listens(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def configuration(state, control, ports):
    host = socket.gethostname().split(".")[0]
    lines = [
        "ClusterName=weft",
        f"SlurmctldHost={host}(127.0.0.1)",
        f"SlurmctldPort={control}",
        "CommunicationParameters=NoInAddrAny,NoCtldInAddrAny",
        "AuthType=auth/munge",
        f"AuthInfo=socket={state}/munge/socket",
        "SlurmUser=root",
        f"StateSaveLocation={state}/control",
        f"SlurmctldPidFile={state}/control.pid",
        f"SlurmdPidFile={state}/%n.pid",
        f"SlurmdSpoolDir={state}/spool.%n",
        # Each node needs its own: the PMIx plugin makes a folder of the same name on every node.
        f"TmpFS={state}/tmp.%n",
        "ProctrackType=proctrack/linuxproc",
        "TaskPlugin=task/none",
        "SelectType=select/linear",
        "SchedulerType=sched/builtin",
        "MpiDefault=pmix",
        "ReturnToService=2",
        "PropagateResourceLimits=NONE",
        "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:64",
    ]
    lines += [
        f"NodeName=n{i} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 State=UNKNOWN"
        for i, port in enumerate(ports, 1)
    ]
    return "\n".join(lines) + "\n"


def all_reaped():
    """Takes the exit statuses that are there. One whose main thread is done may have threads that are not."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
        return False
    except ChildProcessError:
        return True


def until(condition, seconds):
    """Whether the condition came true in time. The daemons offer nothing to wait on, one can only look."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


class PrivateSlurm:
    def __init__(self, nodes):
        self.nodes = nodes
        self.ports = free_ports(1 + nodes)  # the controller's, then the nodes'
        self.daemons = []
        self.state = Path(tempfile.mkdtemp(prefix="weft-slurm-", dir="/tmp"))
        # Outer settings, of a real Slurm for example, must not reach ours.
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("SLURM")}
        self.environment["SLURM_CONF"] = str(self.state / "slurm.conf")

    def start(self):
        self.write_state()
        munge = self.state / "munge"
        self.daemon("munged", "--foreground", f"--key-file={munge}/key", f"--socket={munge}/socket",
                    f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed")
        self.wait_for("munged", lambda: self.quietly("munge", "-n", "-S", str(munge / "socket"))[0] == 0)
        if "pmix" not in self.quietly("srun", "--mpi=list")[1]:
            self.stop()
            skip("this Slurm has no PMIx plugin")
        self.daemon("slurmctld", "-D")
        # Who finds the controller absent tries again only after a second.
        self.wait_for("slurmctld", lambda: listens(self.ports[0]))
        for i in range(1, self.nodes + 1):
            self.daemon("slurmd", "-D", "-N", f"n{i}")
        idle = ["idle"] * self.nodes
        self.wait_for("the nodes", lambda: self.quietly("sinfo", "-hN", "-o", "%t")[1].split() == idle)

    def write_state(self):
        nodes = range(1, self.nodes + 1)
        folders = ["munge", "control", "log"] + [f"{kind}.n{i}" for kind in ("spool", "tmp") for i in nodes]
        for folder in folders:
            (self.state / folder).mkdir()
        for folder in (self.state, self.state / "munge"):
            folder.chmod(0o755)  # munged refuses a socket that not every user can reach
        key = self.state / "munge" / "key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(1024))
        (self.state / "slurm.conf").write_text(configuration(self.state, self.ports[0], self.ports[1:]))

    def daemon(self, *command):
        # In the foreground each stays our child, known by its id, and ends with us whatever happens.
        name = "-".join([command[0], *command[-1:]]) if command[0] == "slurmd" else command[0]
        with open(self.state / "log" / name, "wb") as log:
            process = subprocess.Popen(
                command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, preexec_fn=end_with_parent)
        self.daemons.append(process)

    def quietly(self, *command):
        result = subprocess.run(command, env=self.environment, stdin=subprocess.DEVNULL, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return result.returncode, result.stdout

    def wait_for(self, what, condition):
        def up_or_dead():
            return condition() or any(daemon.poll() is not None for daemon in self.daemons)

        if not until(up_or_dead, 30) or not condition():
            raise NotUp(what)

    def srun(self, tasks, mpi, command):
        return self.run(["srun", f"-N{self.nodes}", f"-n{tasks}", "--overcommit", f"--mpi={mpi}", *command])

    def run(self, command):
        job = subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, preexec_fn=end_with_parent)
        try:
            status = job.wait()
        except Interrupted:
            job.terminate()  # srun then ends its ranks on all nodes
            raise
        return status if status >= 0 else 128 - status

    def job_processes(self):
        """Everything below us that is no daemon and no helper of the controller's."""
        daemons = {daemon.pid for daemon in self.daemons}
        controller = [daemon.pid for daemon in self.daemons if daemon.args[0] == "slurmctld"]
        return set(descendants([os.getpid()])) - daemons - set(descendants(controller))

    def stop(self):
        """Ends what was started, orphans included: they became our children, and are found as such.

        What is left of the job ends first, while its daemons still listen. They have nothing worth saving.
        """
        for seconds in (5, 0):
            if until(lambda: not self.job_processes(), seconds):
                break
            kill_all(self.job_processes())
        kill_all([daemon.pid for daemon in self.daemons])
        for daemon in self.daemons:
            daemon.wait()
        kill_all(descendants([os.getpid()]))
        until(all_reaped, 5)
        shutil.rmtree(self.state, ignore_errors=True)

    def print_logs(self):
        for log in sorted((self.state / "log").iterdir()):
            lines = log.read_text(errors="replace").splitlines()[-15:]
            print(f"--- the end of {log.name}'s log", *lines, sep="\n", file=sys.stderr)


def on_signal(number, _):
    raise Interrupted("its time was up" if number == signal.SIGALRM else signal.Signals(number).name)


def run_once(arguments):
    slurm = PrivateSlurm(arguments.nodes)
    try:
        slurm.start()
        command = [arguments.program, *arguments.arguments]
        return slurm.run(command) if arguments.as_is else slurm.srun(arguments.tasks, arguments.mpi, command)
    except NotUp:
        slurm.print_logs()
        raise
    finally:
        # A second signal must not stop the taking down half way.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
            signal.signal(number, signal.SIG_IGN)
        slurm.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-N", "--nodes", type=int, default=2)
    parser.add_argument("-n", "--tasks", type=int, default=4)
    parser.add_argument("--mpi", default="pmix", help="srun's means for the ranks to find each other")
    parser.add_argument("--as-is", action="store_true", help="the program is a command that calls srun itself")
    parser.add_argument("--timeout", type=int, default=100, help="seconds until the job is ended")
    parser.add_argument("program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()

    if os.geteuid() != 0:
        skip("only root can run the daemons of Slurm")
    absent = [name for name in PROGRAMS if shutil.which(name) is None]
    if absent:
        skip(f"not installed: {' '.join(absent)}")

    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        sys.exit("private_slurm: the kernel does not let orphans come to this process")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, on_signal)
    signal.alarm(arguments.timeout)
    try:
        sys.exit(run_once(arguments))
    except Interrupted as reason:
        sys.exit(f"private_slurm: ended before the job was: {reason}")
    except NotUp as what:
        sys.exit(f"private_slurm: {what} did not come up")


if __name__ == "__main__":
    main()
