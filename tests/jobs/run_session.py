# SPDX-License-Identifier: BSD-3-Clause
"""Runs a session: all suites of a list in one job, each a test of its own.

A suite that fails, dies or hangs is named, with what its ranks printed and what the launcher reported. The session
is then started again behind it, so that it hides nothing. Prints a line for each suite:

    PASS locks.fair 0.31 s

With SUITE_ONLY, a regular expression, only the suites with such a name are run. SUITE_RESULTS names a file to which
a line of JSON is added for each suite.
"""

import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import processes  # noqa: E402

SKIPPED = 77  # the status of a launcher that cannot run here
PATIENCE = 5  # seconds for the launcher to end when it is asked to, and for ranks behind one that has failed


def read(file):
    launch, variables, runs = ["weft", "1", "1"], {}, []
    for line in pathlib.Path(file).read_text().splitlines():
        kind, *fields = line.split("\t")
        if kind == "launch":
            launch = fields
        elif kind == "set":
            variables.update([fields[0].split("=", 1)])
        else:
            runs.append({"name": fields[0], "limit": float(fields[1]), "words": fields[2:]})
    return launch, variables, runs


def select(runs):
    wanted = os.environ.get("SUITE_ONLY")
    if not wanted:
        return runs
    return [r for r in runs if re.search(wanted, r["name"])]


def launcher(chosen, which, ranks, hosts):
    if which == "weft":
        return [chosen.weft, "run", "-n", ranks, *(["--nodes", hosts] if hosts != "1" else [])]
    if which == "mpirun":
        return [chosen.mpirun, "-n", ranks]
    slurm = pathlib.Path(__file__).resolve().parent.parent / "slurm" / "private_slurm.py"
    return [sys.executable, "-B", str(slurm), "-n", ranks, "-N", hosts, "--timeout", "600"]


class Job:
    """The processes of a session, and what they say of how far they are."""

    def __init__(self, command, folder, variables, runs):
        self.folder = pathlib.Path(folder)
        self.listed = self.folder / "list"
        self.listed.write_text("".join("\t".join([str(k), *r["words"]]) + "\n" for k, r in enumerate(runs)))
        self.progress = self.folder / "progress"
        self.progress.write_text("")
        self.said = self.folder / "launcher"
        with self.said.open("wb") as out:
            self.process = subprocess.Popen([*command, "--session", str(self.listed), str(self.folder)], stdout=out,
                                            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                            env={**os.environ, **variables}, start_new_session=True)
        self.lines_read = 0

    def seconds_of_cores(self):
        """What the processes of the job that are there have used."""
        used = sum(int(fields[11]) + int(fields[12]) for _, fields in processes.stats()
                   if int(fields[3]) == self.process.pid)  # their session
        return used / os.sysconf("SC_CLK_TCK")

    def news(self):
        """The lines of progress that are new and complete."""
        lines = self.progress.read_text().split("\n")[:-1]
        new = lines[self.lines_read:]
        self.lines_read = len(lines)
        return new

    def a_rank_has_failed(self, number):
        return (self.folder / f"failed.{number}").exists()

    def cannot_run(self):
        """Waits until the job has begun or its launcher has ended."""
        while self.process.poll() is None and not self.progress.read_text():
            time.sleep(0.01)
        return self.process.returncode == SKIPPED

    def end(self):
        """Asks the launcher to end the job, which makes it report the waits, then ends it."""
        for how in (signal.SIGTERM, signal.SIGKILL):
            if self.process.poll() is None:
                self.process.send_signal(how)
                try:
                    self.process.wait(PATIENCE)
                except subprocess.TimeoutExpired:
                    pass
        if self.process.returncode is None or self.process.returncode < 0:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)  # the group is this job's own
            except ProcessLookupError:
                pass
        self.process.wait()

    def output(self, number):
        text = ""
        for f in sorted(self.folder.glob(f"{number}.*")):
            if said := f.read_text(errors="replace"):
                text += f"--- rank {f.suffix[1:]}\n{said[-20000:]}"
        return text + f"--- launcher\n{self.said.read_text(errors='replace')[-20000:]}"


def follow(job, runs, report):
    """Reports each suite that ends. Returns how many were reported when the job is over, or a suite is stuck."""
    current, begun, failed_at = None, time.monotonic(), None
    last_end, used = begun, 0

    def reported(number, verdict, why=""):
        nonlocal used
        before, used = used, job.seconds_of_cores() or used
        report(runs[number], verdict, time.monotonic() - begun, why and f"{why}\n{job.output(number)}", used - before)

    done = 0
    while True:
        over = job.process.poll() is not None
        for line in job.news():
            word, number, *status = line.split()
            if word == "begin":
                current, begun, failed_at = int(number), time.monotonic(), None
            else:
                bad = status != ["0"]
                reported(current, "FAIL" if bad else "PASS", "a rank failed" if bad else "")
                done, current, last_end = int(number) + 1, None, time.monotonic()
        now = time.monotonic()
        if over:
            if done == len(runs) and job.process.returncode != 0:
                report({"name": "end of the session"}, "FAIL", now - last_end,
                       f"the launcher ended with status {job.process.returncode}\n{job.output('none')}")
            elif done < len(runs):
                if current is None:
                    begun = last_end
                reported(done, "FAIL", f"the job ended in this suite, with status {job.process.returncode}")
                done += 1
            return done
        if current is not None:
            if failed_at is None and job.a_rank_has_failed(current):
                failed_at = now
            stuck = now - begun > runs[current]["limit"]
            if stuck or (failed_at is not None and now - failed_at > PATIENCE):
                job.end()
                reported(current, "FAIL", f"no end after {now - begun:.0f} s" if stuck else "a rank failed, and others wait")
                return current + 1
        elif now - last_end > 120:
            job.end()
            if done < len(runs):
                begun = last_end
                reported(done, "FAIL", "the job did not come to this suite")
                return done + 1
            report({"name": "end of the session"}, "FAIL", now - last_end, "the job did not end\n" + job.output("none"))
            return done
        time.sleep(0.01)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("session", help="the file that lists its settings and suites")
    options.add_argument("program", help="weft_jobs")
    options.add_argument("--weft", default="weft", help="the tool weft")
    options.add_argument("--mpirun", default="mpirun", help="Open MPI's launcher")
    options.add_argument("--name", default="", help="of the session, for the results")
    chosen = options.parse_args()

    launch, variables, runs = read(chosen.session)
    runs = select(runs)

    failures = 0
    results = os.environ.get("SUITE_RESULTS")

    def report(run, verdict, seconds, text, cores=0):
        nonlocal failures
        failures += verdict != "PASS"
        print(f"{verdict} {run['name']} {seconds:.2f} s, {cores:.2f} s of cores{': ' + text if text else ''}", flush=True)
        if results:
            with open(results, "a", encoding="utf-8") as out:
                out.write(json.dumps({"session": chosen.name, "suite": run["name"], "verdict": verdict,
                                      "seconds": round(seconds, 3), "cores": round(cores, 2)}) + "\n")

    while runs:
        with tempfile.TemporaryDirectory(prefix="weft-session-") as folder:
            job = Job([*launcher(chosen, *launch), chosen.program], folder, variables, runs)
            try:
                if launch[0] == "slurm" and job.cannot_run():
                    print(job.output("none"))
                    return SKIPPED
                runs = runs[follow(job, runs, report):]
            finally:
                job.end()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
