# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that lose a thread: deaths_test.py WEFT PROGRAM RANKS NODES [first seed [seeds]].

Every progress mode, a thread that is killed and one that just exits, in the midst of collectives.

Mutations that this catches: no process is watched, and no event of the launcher is heard (the others wait
until their alarm); a team with a dead member takes new operations; the requests in flight to the dead are not
taken back; the end waits for the dead.
"""

import itertools
import os
import subprocess
import sys
import unittest

WEFT, PROGRAM, RANKS, NODES = sys.argv[1:5]
FIRST, SEEDS = (int(x) for x in (sys.argv[5:7] + ["1", "1"][len(sys.argv[5:7]):]))
PATIENCE = 100


class Deaths(unittest.TestCase):
    def test_the_others_go_on(self):
        kinds = list(itertools.product(("dedicated", "helping", "caller"), ("kill", "exit")))
        # One seed alone tries each mode once and each end: half of the six. The next seed has the other half.
        chosen = [(seed, *kinds[k]) for seed in range(FIRST, FIRST + SEEDS) for k in range(len(kinds))
                  if SEEDS > 1 or (k % 2 + k // 2 + seed) % 2 == 0]
        for seed, mode, how in chosen:
            with self.subTest(seed=seed, mode=mode, how=how):
                result = subprocess.run(
                    [WEFT, "run", "-k", "-n", RANKS, "--nodes", NODES, PROGRAM, how, str(seed)], capture_output=True,
                    text=True, timeout=PATIENCE, check=False, env=dict(os.environ, WEFT_PROGRESS=mode))
                self.assertEqual(result.stdout.count("survived"), int(RANKS) - 1, result.stdout + result.stderr)
                self.assertNotEqual(result.returncode, 0)
                self.assertNotIn("terminate called", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
