# SPDX-License-Identifier: BSD-3-Clause
"""Starts one driver on several simulated hosts, as a user would start it on real ones."""
import os
from dataclasses import dataclass

from . import launch
from .hosts import DEVICE, SUBNET, Hosts
from .shapes import Shape

PORT = 7077  # of the ranks' meeting point on the first host: no other process is there


def find(library, build):
    """Weft is started by Open MPI's launcher, which speaks PMIx."""
    driver = launch.built(f"weft_bench_{library.partition('-')[0]}", build)
    return launch.Program(launch.installed("mpirun.mpich" if library == "mpich" else "mpirun.openmpi"), driver)


def meeting(hosts):
    return f"{hosts.names[0]}:{PORT}"


def openmpi_arguments(hosts, per_host, library, yielding, settings):
    arguments = ["--allow-run-as-root", "--bind-to", "none", "--oversubscribe"]
    arguments += ["--host", ",".join(f"{name}:{per_host}" for name in hosts.names)]
    arguments += ["--mca", "plm_rsh_agent", hosts.agent, "--mca", "orte_keep_fqdn_hostnames", "1"]
    arguments += ["--mca", "oob_tcp_if_include", f"{SUBNET}.0/24"]
    if library == "openmpi":
        arguments += ["--mca", "pml", "ob1", "--mca", "btl", "tcp,vader,self"]
        arguments += ["--mca", "btl_tcp_if_include", f"{SUBNET}.0/24"]
    elif library == "openmpi-ucx":  # which it leaves out by itself where there is no better network than TCP
        arguments += ["--mca", "pml", "ucx", "--mca", "pml_ucx_tls", "any", "--mca", "pml_ucx_devices", "any"]
    if yielding and library != "weft":
        arguments += ["--mca", "mpi_yield_when_idle", "1"]
    for name in settings:  # the others' environment is not the launcher's
        arguments += ["-x", name]
    return arguments


def mpich_arguments(hosts, per_host):
    return ["-launcher", "rsh", "-launcher-exec", hosts.agent, "-iface", DEVICE,
            "-hosts", ",".join(f"{name}:{per_host}" for name in hosts.names)]


@dataclass
class Job(launch.Job):
    hosts: Hosts
    shape: Shape

    def settings(self):
        """The environment of the ranks, besides what all have."""
        found = {name: value for name, value in os.environ.items() if name.startswith(("WEFT_", "UCX_"))}
        if self.library != "weft":
            found.setdefault("UCX_NET_DEVICES", DEVICE)
            return found
        found.setdefault("WEFT_HEAP_SIZE", str(self.heap_size()))
        if self.oversubscribed:  # a host that has as many cores as ranks does not know that others use them
            found.setdefault("WEFT_SPINS", "0")
        return found

    def command(self, arguments, settings=()):
        """These settings are for all hosts, too."""
        if self.library == "mpich":
            options = mpich_arguments(self.hosts, self.shape.per_host)
        else:
            options = openmpi_arguments(self.hosts, self.shape.per_host, self.library, self.oversubscribed,
                                        [*self.settings(), *settings])
        return [*self.hosts.enter(0), self.program.launcher, *options, "-n", str(self.np), self.program.driver,
                "--meeting", meeting(self.hosts), "--processor-time", *arguments]

    def environment(self, settings):
        # Where the launchers keep their files: they go with the folder.
        return {**os.environ, **self.settings(), **settings, "TMPDIR": self.hosts.folder}

    def output(self, arguments, timeout, **settings):
        try:
            return super().output(arguments, timeout, **settings)
        finally:
            self.hosts.sweep()
