# SPDX-License-Identifier: BSD-3-Clause
"""Lets every step-th allocation of a program fail, one at a time, and says what came of it.

   shortage_test.py weft program ranks nodes thread sweep|whole step

sweep: many in one job, and a new one behind those that end the job. whole: one job for each, from its first
allocation to its last; and one in which the first of each of the library's own threads fails.
"""
import concurrent.futures
import re
import subprocess
import sys

#What a job may end with.
ends = re.compile(r"^.*(out of memory for .*|bad_alloc( \(.*\))?|weft_init: .*(cannot connect to|could not reach|fence of the job).*); "
                  r"the job ends", re.M)
limit_seconds = 60


class tally:
    def __init__(self):
        self.injections, self.ended, self.hangs, self.terminates, self.others = 0, 0, 0, 0, 0

    def bad(self) -> int:
        return self.hangs + self.terminates + self.others

    def __str__(self) -> str:
        return (f"{self.injections} injections: {self.ended} ended the job with a line; {self.hangs} hangs, "
                f"{self.terminates} terminates, {self.others} other ends")


def play(command: list[str], count: tally) -> str:
    """What the job printed."""
    try:
        job = subprocess.run(command, capture_output=True, text=True, timeout=limit_seconds)
    except subprocess.TimeoutExpired as late:
        count.hangs += 1
        print(f"HANG: {' '.join(command)}\n{late.stdout}\n{late.stderr}")
        return (late.stdout or b"").decode()
    if job.returncode == 0:
        return job.stdout
    why = ends.search(job.stderr)
    name = f"{command[-2]} {(re.findall('allocation (.*)', job.stdout) or command)[-1]}"
    if "terminate called" in job.stderr:
        count.terminates += 1
    elif "alarm clock" in job.stderr:
        count.hangs += 1
    elif not why:
        count.others += 1
    else:
        count.ended += 1
        print(f"{name}: {why.group(0)}")
        return job.stdout
    print(f"BAD {name}: status {job.returncode}: {' '.join(command)}\n{job.stdout[-300:]}\n{job.stderr}")
    return job.stdout


over = "all allocations have failed"


def sweep(command: list[str], step: int, count: tally) -> None:
    first, printed = 1, ""
    while over not in printed:
        printed = play(command + [str(first), str(step)], count)
        numbers = re.findall(r"allocation (\d+)", printed)
        count.injections += len(numbers)
        first = int(numbers[-1]) + step if numbers else first + step


def whole(command: list[str], step: int, count: tally) -> None:
    """Two jobs at a time; threads make the numbers differ from job to job, so some beyond the last, too."""
    beyond, n = 0, 1
    play(command + ["0"], count)
    with concurrent.futures.ThreadPoolExecutor(2) as two:
        while beyond < 4:
            numbers = [n + k * step for k in range(4)]
            beyond += sum(over in printed for printed in
                          two.map(lambda k: play(command + [str(k)], count), numbers))
            count.injections += len(numbers)
            n = numbers[-1] + step
    count.injections -= beyond


def main() -> int:
    weft, program, ranks, nodes, thread, how, step = sys.argv[1:]
    count = tally()
    command = [weft, "run", "-n", ranks, "--nodes", nodes, program, how, thread]
    {
  "sweep" : sweep, "whole" : whole}[how](command, int(step), count)
    print(count)
    return 1 if count.bad() else 0


if __name__ == "__main__":
    sys.exit(main())
