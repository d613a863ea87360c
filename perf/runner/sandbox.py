# SPDX-License-Identifier: BSD-3-Clause
"""A place of its own for simulated hosts: namespaces of which nothing is left, however the runner ends."""
import ctypes
import os
import signal
import subprocess
import sys
import tempfile

CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET = 0x00020000, 0x20000000, 0x40000000
PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None, use_errno=True)


def end_with_parent():
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def unshare(flags):
    if libc.unshare(flags) != 0:
        raise OSError(ctypes.get_errno(), "the system refuses namespaces")


def allowed():
    """Whether the kernel lets us make all that is needed."""
    flags = ["--mount", "--net", "--uts", "--ipc", "--pid", "--fork"]
    return subprocess.run(["unshare", *flags, "true"], stderr=subprocess.DEVNULL).returncode == 0


def run_inside(body):
    """Calls body(folder) in a child that is the first process of its own process, network and mount namespaces, and
    returns its status. When it ends, also by force, the kernel ends all others in there and takes the links and mounts
    down; the temporary folder is removed here. Signals to this process go on to it."""
    with tempfile.TemporaryDirectory(prefix="weft-perf-") as folder:
        sys.stdout.flush()
        sys.stderr.flush()
        # Until the handlers stand, a signal must wait, or it would end one of the two only.
        ours = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
        signal.pthread_sigmask(signal.SIG_BLOCK, ours)
        unshare(CLONE_NEWPID)  # for the child: it is the first process there
        child = os.fork()
        if child == 0:
            become_first(body, folder, ours)
        for number in ours:
            signal.signal(number, lambda number, _: os.kill(child, number))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ours)
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status)


def become_first(body, folder, signals):
    """Never returns: whatever happens, the process ends here, and with it all that are in its namespaces."""
    status = 1
    try:
        end_with_parent()
        os.setsid()  # an interrupt at the terminal comes once, from the parent
        for number in signals:
            signal.signal(number, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
        unshare(CLONE_NEWNS | CLONE_NEWNET)
        subprocess.run(["mount", "--make-rprivate", "/"], check=True)
        subprocess.run(["mount", "-t", "proc", "proc", "/proc"], check=True)
        status = body(folder)
    except KeyboardInterrupt:
        status = 130
    except Exception as error:  # pylint: disable=broad-except
        print(f"run_perf: {error}", file=sys.stderr)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
