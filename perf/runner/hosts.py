# SPDX-License-Identifier: BSD-3-Clause
"""Simulated hosts: each with a network, a name, shared memory and mounts of its own, joined by cables and a switch.

To be made inside of a sandbox: the switch stands in its network namespace, and what is left open goes with it."""
import os
import subprocess

DEVICE = "eth0"
SUBNET = "10.77.0"
BUCKET = ["burst", "192kb", "latency", "100ms"]
TOOLS = ["ip", "tc", "unshare", "nsenter", "mount"]

# A host is this process; it says when it is ready, and stays.
HOLDER = """
mount --make-rprivate / && mount -t tmpfs tmpfs /dev/shm && mount -t sysfs sysfs /sys &&
echo "$1" > /proc/sys/kernel/hostname && ip link set lo up && echo ready && exec sleep infinity
"""

# Started instead of ssh by the launchers of MPI: agent HOST COMMAND...
AGENT = """#!/bin/sh
host=$1
shift
exec nsenter --target "$(cat "{folder}/$host")" --net --uts --ipc --mount --wd="$PWD" sh -c "$*"
"""


class NotMade(Exception):
    """A host or a cable that the system refused."""


def system(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise NotMade(f"{' '.join(command)}: {done.stderr.strip() or done.returncode}")


def name_of(number):
    return f"weft{number}"


def address_of(number):
    return f"{SUBNET}.{number + 1}"


class Hosts:
    """`count` hosts, numbered from 0, and the switch between them."""

    def __init__(self, folder, count):
        self.folder, self.count = folder, count
        self.names = [name_of(number) for number in range(count)]
        self.agent = os.path.join(folder, "agent")
        self.holders = []

    def __enter__(self):
        try:
            self.make()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def make(self):
        self.write_agent()
        self.write_names()
        system("ip", "link", "add", "switch", "type", "bridge")
        system("ip", "link", "set", "switch", "up")
        for number, name in enumerate(self.names):
            self.start(name)
            self.connect(number)

    def write_agent(self):
        with open(self.agent, "w", encoding="utf-8") as file:
            file.write(AGENT.format(folder=self.folder))
        os.chmod(self.agent, 0o755)

    def write_names(self):
        """The hosts inherit this: they are made from the mounts of the sandbox."""
        path = os.path.join(self.folder, "hosts")
        with open(path, "w", encoding="ascii") as file:
            file.write("127.0.0.1 localhost\n")
            file.writelines(f"{address_of(number)} {name}\n" for number, name in enumerate(self.names))
        system("mount", "--bind", path, "/etc/hosts")

    def start(self, name):
        holder = subprocess.Popen(["unshare", "--net", "--uts", "--ipc", "--mount", "sh", "-c", HOLDER, "sh", name],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.holders.append(holder)
        if holder.stdout.readline() != "ready\n":
            raise NotMade(f"the host {name}: {holder.stderr.read().strip()}")
        with open(os.path.join(self.folder, name), "w", encoding="ascii") as file:
            file.write(str(holder.pid))

    def connect(self, number):
        holder = str(self.holders[number].pid)
        system("ip", "link", "add", f"port{number}", "type", "veth", "peer", "name", DEVICE, "netns", holder)
        system("ip", "link", "set", f"port{number}", "master", "switch", "up")
        self.inside(number, "ip", "address", "add", f"{address_of(number)}/24", "dev", DEVICE)
        self.inside(number, "ip", "link", "set", DEVICE, "up")

    def inside(self, number, *command):
        system(*self.enter(number), *command)

    def enter(self, number):
        """What to put before a command that is to run on this host."""
        return ["nsenter", "--target", str(self.holders[number].pid), "--net", "--uts", "--ipc", "--mount"]

    def limit(self, rate):
        """Holds every cable to this rate in each direction, or to none."""
        action = ["replace" if rate else "delete"]
        shape = ["root", "tbf", "rate", rate, *BUCKET] if rate else ["root"]
        for number in range(self.count):
            for end, run in ((f"port{number}", system), (DEVICE, lambda *command: self.inside(number, *command))):
                try:
                    run("tc", "qdisc", *action, "dev", end, *shape)
                except NotMade:
                    if rate:
                        raise  # there was none to delete otherwise

    def close(self):
        """Ends the hosts with all that still runs on them."""
        self.sweep()
        for holder in self.holders:
            holder.kill()
            holder.communicate()
        self.holders = []
        for device in ("switch", *(f"port{number}" for number in range(self.count))):
            subprocess.run(["ip", "link", "delete", device], stderr=subprocess.DEVNULL)
        subprocess.run(["umount", "/etc/hosts"], stderr=subprocess.DEVNULL)

    def sweep(self):
        """Ends what a launch has left: all processes of the sandbox but this one and the hosts themselves."""
        kept = {os.getpid(), *(holder.pid for holder in self.holders)}
        for pid in [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]:
            if pid not in kept:
                end(pid)


def end(pid):
    """By force; an orphan has become ours, so that its status is to be taken."""
    try:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
    except (ProcessLookupError, ChildProcessError):
        pass
