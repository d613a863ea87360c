# SPDX-License-Identifier: BSD-3-Clause
"""The driver over a library made for the test: every bench gives its record, and wrong data end the run."""
import json
import os
import subprocess
import sys
import unittest

DRIVER = sys.argv.pop(1)
SHORT = ["--budget-ms", "2", "--minimum-iterations", "25", "--independence-iterations", "3", "--idle-seconds", "0.05",
         "--beside-bytes", "1M", "--no-pin"]
ALL = "blocking,loop,overlap,pipeline,independence,post,completion,beside,skewed,idle"
OPERATIONS = ["barrier", "broadcast", "scatter", "gather", "gather_all", "exchange", "permute", "team_reduce",
              "team_allreduce", "reduce_all", "prefix_reduce"]
MPIS = OPERATIONS[1:6]  # those that complete in any order with MPI too


def run(*arguments, ranks=3, fault=""):
    environment = dict(os.environ, WEFT_BENCH_RANKS=str(ranks), WEFT_BENCH_FAULT=fault)
    return subprocess.run([DRIVER, *SHORT, *arguments], env=environment, capture_output=True, text=True, timeout=120)


class Records(unittest.TestCase):
    def test_every_bench_operation_and_size_has_one_record(self):
        done = run("--benches", ALL, "--sizes", "8,16K")
        self.assertEqual(done.returncode, 0, done.stderr)
        records = [json.loads(line) for line in done.stdout.splitlines()]
        found = [(one["bench"], one["op"], one["bytes"]) for one in records]
        expected = []
        for bench in ("blocking", "loop"):
            expected += [(bench, "barrier", 0)]
            expected += [(bench, op, bytes) for op in OPERATIONS[1:] for bytes in (8, 16384)]
        for bench in ("overlap", "pipeline", "independence"):
            expected += [(bench, op, 16384) for op in OPERATIONS[1:]]
        expected += [("post", "barrier", 0)] + [("post", op, bytes) for op in OPERATIONS[1:] for bytes in (8, 16384)]
        expected += [("completion", op, 8) for op in MPIS]
        expected += [("beside", "exchange", 8)]
        expected += [("skewed", "exchange", 8), ("skewed", "exchange", 16384)]
        expected += [("idle", "none", 0)]
        self.assertEqual(found, expected)
        for one in records:
            self.assertEqual((one["np"], one["mode"], one["library"]), (3, "MY/MY", "forked"))
            self.assertGreaterEqual(one["us"], 0)

    def test_the_loop_reports_the_mean_of_all_its_iterations(self):
        one = json.loads(run("--benches", "loop", "--ops", "exchange", "--sizes", "1K").stdout)
        self.assertAlmostEqual(one["us"], one["total_us"] / one["iterations"], delta=0.001)

    def test_a_late_rank_is_not_waited_for_longer_than_its_post(self):
        one = json.loads(run("--benches", "independence", "--ops", "exchange", "--sizes", "16K").stdout)
        self.assertLess(one["us"], one["compute_us"])

    def test_the_time_beside_a_large_exchange_is_told_in_terms_of_the_time_alone(self):
        one = json.loads(run("--benches", "beside", "--ops", "exchange").stdout)
        self.assertAlmostEqual(one["ratio"], (one["us"] - one["piece_us"]) / one["alone_us"], delta=0.01)
        self.assertGreater(one["samples"], 0)


class WrongData(unittest.TestCase):
    def check(self, fault, *arguments):
        done = run(*arguments, fault=fault)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("does not hold what was sent", done.stderr)

    def test_a_block_that_did_not_arrive(self):
        for bench in ("blocking", "loop", "overlap", "pipeline", "independence", "post", "beside"):
            with self.subTest(bench):
                self.check("stale", "--benches", bench, "--ops", "exchange", "--sizes", "16K")

    def test_blocks_in_the_wrong_place(self):
        for op in ("gather", "gather_all", "exchange", "permute"):
            with self.subTest(op):
                self.check("misplaced", "--benches", "blocking", "--ops", op, "--sizes", "1K")

    def test_a_byte_of_an_unequal_block(self):
        for fault, way in (("stale", 2), ("swapped", 1)):
            done = run("--benches", "skewed", "--ops", "exchange", "--sizes", "16K", fault=fault)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f"way {way}: the destination of rank", done.stderr)

    def test_words_in_the_wrong_order(self):
        for bench in ("blocking", "loop", "overlap", "pipeline", "independence", "post", "beside"):
            with self.subTest(bench):
                self.check("swapped", "--benches", bench, "--ops", "exchange", "--sizes", "16K")


class LostCompletions(unittest.TestCase):
    def test_an_operation_that_is_reported_twice(self):
        done = run("--benches", "completion", "--ops", "exchange", fault="lost")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("wait_any reported operation", done.stderr)

    def test_an_operation_that_is_never_reported(self):
        done = run("--benches", "completion", "--ops", "exchange", fault="forgotten")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("wait_some completed 0", done.stderr)


class Refusals(unittest.TestCase):
    def test_one_rank(self):
        done = run(ranks=1)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("start at least two", done.stderr)

    def test_no_launcher_that_gives_a_rank(self):
        done = subprocess.run([DRIVER], capture_output=True, text=True, timeout=120)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("cannot pin the rank", done.stderr)

    def test_a_size_that_is_no_multiple_of_eight(self):
        done = run("--ops", "exchange", "--sizes", "12")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("not a multiple of 8", done.stderr)


unittest.main()
