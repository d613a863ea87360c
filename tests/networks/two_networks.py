# SPDX-License-Identifier: BSD-3-Clause
"""Simulated hosts with two networks: one for the launcher (eth0), one for the data of the ranks (eth1)."""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "perf"))

from runner import hosts, sandbox  # noqa: E402, F401

DATA = "eth1"


def data_address(number):
    return f"10.78.0.{number + 1}"


class Hosts(hosts.Hosts):
    def make(self):
        hosts.system("ip", "link", "add", "data", "type", "bridge")
        hosts.system("ip", "link", "set", "data", "up")
        super().make()

    def connect(self, number):
        super().connect(number)
        holder = str(self.holders[number].pid)
        hosts.system("ip", "link", "add", f"data{number}", "type", "veth", "peer", "name", DATA, "netns", holder)
        hosts.system("ip", "link", "set", f"data{number}", "master", "data", "up")
        self.inside(number, "ip", "address", "add", f"{data_address(number)}/24", "dev", DATA)
        self.inside(number, "ip", "link", "set", DATA, "up")

    def unplug(self, number):
        """What the host sends on its second network, and what is sent to it there, gets lost."""
        hosts.system("ip", "link", "set", f"data{number}", "nomaster")

    def block(self, number, other):
        """What the host sends to another one on the second network gets lost."""
        self.inside(number, "ip", "route", "add", "blackhole", f"{data_address(other)}/32")

    def know_each_other(self):
        """They need not ask for the addresses of each other's cards, which would tell them that no host is there."""
        for number in range(self.count):
            for other in range(self.count):
                if other != number:
                    self.inside(number, "ip", "neighbour", "replace", data_address(other), "dev", DATA,
                                "lladdr", "02:00:00:00:00:01", "nud", "permanent")

    def close(self):
        super().close()
        for device in ("data", *(f"data{number}" for number in range(self.count))):
            subprocess.run(["ip", "link", "delete", device], stderr=subprocess.DEVNULL)

    def launch(self, program, *arguments, **settings):
        """A job with a rank on each host, started by Open MPI's launcher, which speaks PMIx."""
        command = [*self.enter(0), "mpirun", "--allow-run-as-root", "--bind-to", "none",
                   "--host", ",".join(f"{name}:1" for name in self.names), "-n", str(self.count),
                   "--mca", "plm_rsh_agent", self.agent, "--mca", "orte_keep_fqdn_hostnames", "1",
                   "--mca", "oob_tcp_if_include", f"{hosts.SUBNET}.0/24"]
        for name in settings:
            command += ["-x", name]
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("WEFT_", "UCX_"))}
        return subprocess.Popen([*command, program, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True,
                                env={**environment, **settings, "TMPDIR": self.folder})
