# SPDX-License-Identifier: BSD-3-Clause
"""Starts one driver under the launcher of its library, and reads its records."""
import json
import os
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass, field

LIBRARIES = ["weft", "openmpi", "mpich"]
FOLDERS = ["perf", "tools", "bin", "."]
HEAP_SLACK = 256 * 1024**2  # what benches allocate for themselves: beside 128 MiB


class Missing(Exception):
    """A program that is not there."""


class Failed(Exception):
    """A launch that gave no usable records."""


@dataclass
class Program:
    launcher: str
    driver: str


def built(name, build):
    """The executable of that name in the build directory."""
    for folder in FOLDERS:
        path = os.path.join(build, folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return os.path.abspath(path)
    raise Missing(f"no {name} in {build}")


def installed(name):
    path = shutil.which(name)
    if path is None:
        raise Missing(f"no {name} on this machine")
    return path


def find(library, build):
    launcher = built("weft", build) if library == "weft" else installed(f"mpirun.{library}")
    return Program(launcher, built(f"weft_bench_{library}", build))


def openmpi_arguments(oversubscribed):
    arguments = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    # The driver pins its ranks itself, in the same way for every library.
    arguments += ["--bind-to", "none", "--oversubscribe"]
    if oversubscribed:
        arguments += ["--mca", "mpi_yield_when_idle", "1"]
    return arguments + ["--mca", "pml", "ob1", "--mca", "btl", "vader,self"]


@dataclass
class Job:
    library: str
    program: Program
    np: int
    oversubscribed: bool
    largest: int
    nodes: int = field(default=1, kw_only=True)  # of Weft: simulated hosts on this one

    def command(self, arguments, _=()):
        launcher = [self.program.launcher]
        if self.library == "weft":
            launcher.append("run")
        elif self.library == "openmpi":
            launcher += openmpi_arguments(self.oversubscribed)
        hosts = ["--nodes", str(self.nodes)] if self.nodes > 1 else []
        return launcher + ["-n", str(self.np), *hosts, self.program.driver] + arguments

    def heap_size(self):
        """Of each rank: two pairs of buffers, each with a block for every rank."""
        return 4 * self.np * self.largest + HEAP_SLACK

    def environment(self, settings):
        environment = {**os.environ, **settings}
        if self.library == "weft":
            environment.setdefault("WEFT_HEAP_SIZE", str(self.heap_size()))
        return environment

    def run(self, arguments, timeout, **settings):
        """The records of one launch, in an environment with these settings."""
        return records_in(self.output(arguments, timeout, **settings))

    def output(self, arguments, timeout, **settings):
        """What one launch prints. Whatever happens, no process of it is left when this returns."""
        with tempfile.TemporaryFile("w+") as errors:
            process = subprocess.Popen(self.command(arguments, settings), env=self.environment(settings), text=True,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
                                       start_new_session=True)
            try:
                output, _ = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                raise Failed(f"not finished after {timeout} s, raise --timeout or measure less") from None
            finally:
                stop(process)
            if process.returncode != 0:
                raise Failed(f"status {process.returncode}: {first_line(errors)}")
        return output


def stop(process):
    """Ends a launcher that still runs: gently, because it must end its ranks, then by force."""
    for request, patience in ((signal.SIGTERM, 10), (signal.SIGKILL, None)):
        if process.poll() is not None:
            return
        os.killpg(process.pid, request)
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            continue


def first_line(errors):
    """What the driver said, else the first line that a rank printed."""
    errors.seek(0)
    lines = [line.strip() for line in errors if line.strip()]
    own = [line for line in lines if "weft_bench" in line]
    return (own or lines or ["no message"])[0]


def records_in(output):
    records = []
    for line in output.splitlines():
        if line.startswith("{"):
            try:
                records.append(json.loads(line))
            except json.JSONDecodeError:
                raise Failed(f"unreadable record: {line}") from None
    if not records:
        raise Failed("no records")
    return records
