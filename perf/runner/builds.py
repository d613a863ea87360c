# SPDX-License-Identifier: BSD-3-Clause
"""Builds that the runner makes itself, of the same kind as the one that it was given: of another commit, or with other
options."""
import os
import subprocess

from . import launch

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# What must be alike in two builds that are compared.
ALIKE = ("CMAKE_GENERATOR", "CMAKE_BUILD_TYPE", "CMAKE_C_COMPILER", "CMAKE_CXX_COMPILER", "CMAKE_C_COMPILER_LAUNCHER",
         "CMAKE_CXX_COMPILER_LAUNCHER", "BUILD_SHARED_LIBS")
LIBRARY_ALONE = {"WEFT_BUILD_TESTS": "OFF", "WEFT_BUILD_PERF": "OFF", "WEFT_BUILD_EXAMPLES": "OFF"}


def beside(build):
    """The folder of all builds."""
    return os.path.dirname(os.path.abspath(build))


def cache_of(build):
    """The variables of its CMakeCache.txt."""
    try:
        with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as file:
            entries = [line.rstrip("\n").partition("=") for line in file if line[0] not in "#/\n"]
    except FileNotFoundError:
        raise launch.Missing(f"no build in {build}") from None
    return {name.partition(":")[0]: value for name, _, value in entries}


def run(command, log):
    """What it says goes to the log, whose end is told when it fails."""
    with open(log, "a", encoding="utf-8") as file:
        status = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, check=False).returncode
    if status == 0:
        return
    with open(log, encoding="utf-8", errors="replace") as file:
        lines = [line.strip() for line in file if line.strip()]
    wrong = [line for line in lines if "error" in line.lower()] or lines or ["no message"]
    raise launch.Failed(f"{' '.join(command[:2])} failed: {wrong[-1]} (all of it is in {log})")


def make(like, source, folder, variables, targets):
    """Configures and builds `targets` of `source` in `folder`, with what `like` was built with."""
    os.makedirs(folder, exist_ok=True)
    log = os.path.join(folder, "runner.log")
    cache = cache_of(like)
    chosen = {name: cache[name] for name in ALIKE if cache.get(name)}
    generator = chosen.pop("CMAKE_GENERATOR", None)
    defined = [f"-D{name}={value}" for name, value in {**chosen, **variables}.items()]
    run(["cmake", "-S", source, "-B", folder, *(["-G", generator] if generator else []), *defined], log)
    jobs = [] if "CMAKE_BUILD_PARALLEL_LEVEL" in os.environ else ["-j", str(os.cpu_count() or 1)]
    run(["cmake", "--build", folder, *jobs, "--target", *targets], log)
    return folder


def git(root, *arguments):
    try:
        done = subprocess.run(["git", "-C", root, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False)
    except FileNotFoundError:
        raise launch.Missing("no git on this machine") from None
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
        raise launch.Failed(f"git {arguments[0]}: {said[-1]}")
    return done.stdout.strip()


def commit_named(root, name):
    """The whole name of a commit."""
    try:
        return git(root, "rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}")
    except launch.Failed:
        raise launch.Failed(f"'{name}' names no commit of {root}") from None


def of_commit(like, root, commit, program):
    """The build of the library of a commit, and of a program of today's: `program` is a file of CMake, which is included
    right behind project(weft), and the name of its target."""
    source = os.path.join(beside(like), "commits", commit[:12])
    if not os.path.isdir(source):
        git(root, "worktree", "add", "--force", "--detach", source, commit)
    elif git(source, "rev-parse", "HEAD") != commit:
        raise launch.Failed(f"{source} is not commit {commit[:12]}: remove it")
    included, target = program
    variables = {**LIBRARY_ALONE, "CMAKE_PROJECT_weft_INCLUDE": included}
    # As deep as the build that it stands beside: so a cache of compilers finds what it has.
    return make(like, source, os.path.join(source, "build", os.path.basename(os.path.abspath(like))), variables,
                ["weft_tool", target])
