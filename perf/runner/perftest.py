# SPDX-License-Identifier: BSD-3-Clause
"""What UCX's own ucx_perftest finds for copies between two processes."""
import csv
import os
import socket
import subprocess
import tempfile
import time

from . import launch

# One that our programs measure: its test, and how many copies may be under way at a time, where it can be told.
TESTS = {"put": ("ucp_put_lat", None), "get": ("ucp_get", 1), "put_stream": ("ucp_put_bw", 64),
         "get_stream": ("ucp_get", 64)}
WORK = 256 * 1024**2  # bytes of a test
PATIENCE = 100        # tenths of a second until the server listens


def iterations(bytes):
    return max(100, min(100_000, WORK // bytes))


def batch(sizes):
    """Its file of tests, one per line, with a name that tells what it measures."""
    lines = []
    for bytes in sizes:
        for op, (test, window) in TESTS.items():
            limit = f" -O {window}" if window else ""
            lines.append(f"{op}:{bytes} -t {test} -s {bytes}{limit} -n {iterations(bytes)} -w {iterations(bytes) // 10}\n")
    return "".join(lines)


def records(output, mode):
    """Of its CSV, whose first column has the file's name as its title and our names in its lines. The rate of messages
    has more digits than the time."""
    lines = output.splitlines()
    heads = [number for number, line in enumerate(lines) if ",iterations," in line]
    if not heads:
        raise launch.Failed("ucx_perftest printed no table")
    titles = ["name", *lines[heads[0]].split(",")[1:]]
    found = []
    for row in csv.DictReader(lines[heads[0] + 1:], titles):
        try:
            op, bytes = row["name"].split(":")
            found.append(dict(bench="copies", op=op, np=2, bytes=int(bytes), mode=mode, library="perftest",
                              us=round(1e6 / float(row["overall_mr"]), 4)))
        except (KeyError, TypeError, ValueError, ZeroDivisionError):
            raise launch.Failed(f"unreadable line of ucx_perftest: {row}") from None
    return found


def free_port():
    with socket.socket() as one:
        one.bind(("localhost", 0))
        return one.getsockname()[1]


def run(sizes, mode, settings, timeout):
    """The records of one run of all tests, both of its processes pinned as our ranks are."""
    program = launch.installed("ucx_perftest")
    cores = sorted(os.sched_getaffinity(0))
    environment = {**os.environ, **settings}
    with tempfile.NamedTemporaryFile("w", suffix=".tests") as tests:
        tests.write(batch(sizes))
        tests.flush()
        arguments = ["-b", tests.name, "-p", str(free_port()), "-f", "-v"]
        server = subprocess.Popen([program, "-c", str(cores[0]), *arguments], env=environment, start_new_session=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            client = [program, "localhost", "-c", str(cores[1 % len(cores)]), *arguments]
            return records(connected(client, environment, server, timeout), mode)
        finally:
            launch.stop(server)


def connected(client, environment, server, timeout):
    """What the client prints; it is started again for as long as no process listens."""
    for _ in range(PATIENCE):
        try:
            done = subprocess.run(client, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                                  timeout=timeout)
        except subprocess.TimeoutExpired:
            raise launch.Failed(f"ucx_perftest has not finished after {timeout} s") from None
        said = (done.stderr + done.stdout).strip()
        if done.returncode == 0:
            return done.stdout
        if "refused" not in said or server.poll() is not None:
            break
        time.sleep(0.1)
    raise launch.Failed("ucx_perftest: " + (said.splitlines() or ["no message"])[0])
