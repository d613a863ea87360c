# SPDX-License-Identifier: BSD-3-Clause
"""Tests of `weft plan`: plan_test.py WEFT MANUAL_PAGE [unittest arguments]."""

import contextlib
import os
import pty
import random
import re
import subprocess
import sys
import tempfile
import unittest

import tool_test
from tool_test import ALL, IN_PLACE, ROOTED, ToolTest, weft

SIZED_BY_ROWS = ["scatter_x", "gather_x", "gather_all_x", "exchange_x", "permute_x"]
# ranks, nodes, groups, microseconds, messages, bytes, algorithm, mark
SCALE = r"^ +(\d+) +(\d+) +(\d+|-) +([0-9.]+) +(\d+) +(\d+)  (\w+)(.*)$"
MACHINES = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "tools", "machines")
MODES = [("no", "no"), ("my", "my"), ("all", "all"), ("no", "all"), ("all", "my")]


def peak_megabytes(*arguments):
    """The largest memory that the command had at once."""
    with subprocess.Popen([tool_test.WEFT, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as command:
        _, _, usage = os.wait4(command.pid, 0)
        command.returncode = 0
    return usage.ru_maxrss // 1000


class Plan(ToolTest):
    def test_every_operation_is_verified_in_its_modes_on_one_node_and_on_several(self):
        for operation in ALL:
            for into, out in MODES:
                for nodes in "1", "2", "4":
                    self.assertEqual(self.output("plan", operation, "-n", "4", "--nodes", nodes, "--in", into,
                                                 "--out", out, "--verify"), "verified\n")

    def test_in_place(self):
        for operation in IN_PLACE:
            for nodes in "1", "3":
                arguments = ("plan", operation, "-n", "5", "--nodes", nodes, "--in-place")
                self.assertEqual(self.output(*arguments, "--verify"), "verified\n")
        self.assertIn("64 bytes in place", self.output("plan", "permute", "--bytes", "64", "--in-place"))
        for operation in set(ALL) - set(IN_PLACE):
            self.assertIn(f"{operation} has no plan in place", self.refusal("plan", operation, "--in-place"))

    def test_permutations(self):
        for operation in "permute", "permute_x":
            for perm in "0,1,2", "1,0,2", "2,1,0":
                for more in (), ("--in-place",):
                    self.assertEqual(self.output("plan", operation, "-n", "3", "--nodes", "2", "--perm", perm,
                                                 "--verify", *more), "verified\n")
            for perm in "0,1", "0,1,1", "1,2,3":
                self.assertIn("name each rank once", self.refusal("plan", operation, "-n", "3", "--perm", perm))
        self.assertIn("exchange has no permutation", self.refusal("plan", "exchange", "--perm", "1,0"))

    def test_the_root_is_where_it_is_told_to_be(self):
        for operation in ROOTED:
            self.assertEqual(self.output("plan", operation, "-n", "3", "--nodes", "2", "--root", "2", "--verify"),
                             "verified\n")
            self.assertIn("do not fit", self.refusal("plan", operation, "-n", "3", "--root", "3"))
        self.assertIn("exchange has no root", self.refusal("plan", "exchange", "--root", "1"))

    def test_pictures(self):
        for operation in ALL:
            picture = self.output("plan", operation, "-n", "4", "--nodes", "2", "--rank", "3")
            self.assertIn("digraph plan {", picture)
            self.assertIn("rank 3 of 4", picture)
            self.assertEqual("bytes as the rows say" in picture, operation in SIZED_BY_ROWS, picture)
        self.assertIn("65536 bytes", self.output("plan", "exchange", "--bytes", "64K"))
        for operation in SIZED_BY_ROWS + ["barrier"]:
            self.assertIn("is not given the size", self.refusal("plan", operation, "--bytes", "8"))

    def test_algorithms_and_what_each_would_cost(self):
        job = ("plan", "gather_all", "-n", "4", "--nodes", "4", "--bytes", "1M")
        self.assertIn("gather_all by ring: about", self.output(*job, "--algorithm", "ring"))
        self.assertRegex(self.output(*job, "--algorithm", "ring"), "by ring: .*, chosen\n")
        self.assertRegex(self.output(*job, WEFT_ALGORITHM="gather_all=ring"), "by ring: .*, chosen\n")
        self.assertRegex(self.output(*job, "--algorithm", "ring", "--in", "my"), "by ring: does not fit")
        self.assertEqual(self.output(*job, "--algorithm", "ring", "--verify"), "verified\n")
        self.assertIn("flat, ring, bruck", self.refusal(*job, "--algorithm", "tree"))
        for operation in "barrier", "permute":
            costs = [int(re.search(rf"// {operation} in its only way: about (\d+) ns\n",
                                   self.output("plan", operation, "-n", "8", "--nodes", nodes)).group(1))
                     for nodes in ("1", "2")]
            self.assertLess(0, costs[0])
            self.assertLess(costs[0], costs[1])
        self.assertIn("scatter_x in its only way: the cost depends", self.output("plan", "scatter_x"))
        self.assertIn("no choice of algorithms", self.refusal("plan", "permute", "--algorithm", "ring"))

    def test_blocks_of_sizes_by_a_power_law(self):
        def times(*arguments):
            text = self.output("plan", "team_alltoallv", *arguments)
            return text, [int(ns) for ns in re.findall(r"about (\d+) ns", text)]

        # Without a skew as for blocks of one size, which the library itself predicts. Here a block too many or too
        # few in a part, an answer or a round trip is more than a fiftieth.
        for ranks, nodes in (8, 2), (64, 4):
            for bytes in "8", "200", "4K":
                job = ("-n", str(ranks), "--nodes", str(nodes), "--bytes", bytes)
                (_, equal), (_, skewed) = times(*job), times(*job, "--skew", "0")
                for own, here in zip(equal, skewed):
                    self.assertLess(abs(own - here), own / 50, (job, equal, skewed))
        text, (flat, bundled, pairwise, linear) = times("-n", "1024", "--nodes", "32", "--bytes", "64K", "--skew", "1")
        self.assertIn("the k-th largest of 65536 / k^1 bytes", text)
        self.assertRegex(text, "by bundled: .*, chosen\n")
        self.assertLess(10 * bundled, flat)
        self.assertLess(flat, pairwise)
        self.assertLess(linear, pairwise)
        # More alike are more bytes.
        self.assertLess(linear, times("-n", "1024", "--nodes", "32", "--bytes", "64K", "--skew", "0.5")[1][3])
        self.assertIn("it is for team_alltoallv", self.refusal("plan", "exchange", "--skew", "1"))
        self.assertIn("leave --scale", self.refusal("plan", "team_alltoallv", "--skew", "1", "--verify"))
        self.assertIn("at most 4096", self.refusal("plan", "team_alltoallv", "-n", "5000", "--skew", "1"))
        self.assertIn("--skew", self.refusal("plan", "team_alltoallv", "--skew", "-1"))

    def test_numbers_that_nobody_can_mean_are_refused_at_once(self):
        for wrong in (("-n", "1000000000"), ("-n", "-1"), ("-n", "0"), ("--nodes", "-2"), ("--rank", "-1"),
                      ("--root", "-1"), ("--bytes", "-8"), ("--bytes", "99999999999999999999")):
            self.refusal("plan", "broadcast", *wrong)
            self.refusal("plan", "broadcast", *wrong, "--verify")
        for wrong in "1000000000", "-4", "0":
            self.refusal("run", "-n", wrong, "true")

    def test_verifying_is_bounded_and_tells_what_it_takes(self):
        result = weft("plan", "exchange", "-n", "4000", "--verify")
        self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
        self.assertIn("more than 2 GiB to verify: verify fewer ranks", result.stderr.splitlines()[-1])
        self.assertEqual(result.stderr.count("\n"), 1, "refused before it is tried")
        for operation in "broadcast", "exchange":
            result = weft("plan", operation, "-n", "1000", "--nodes", "50", "--verify")
            self.assertEqual((result.returncode, result.stdout), (0, "verified\n"), result.stderr)
            told = re.fullmatch(r"weft plan: verifying \d+ steps of 1000 ranks: at most about (\d+) MB and \d+ s\n",
                                result.stderr)
            self.assertTrue(told, result.stderr)
            needed = peak_megabytes("plan", operation, "-n", "1000", "--nodes", "50", "--verify")
            self.assertLess(needed, int(told[1]))

    def test_a_terminal_shows_how_far_it_is(self):
        terminal, end = pty.openpty()
        subprocess.run([tool_test.WEFT, "plan", "exchange", "-n", "300", "--verify"], stdout=subprocess.DEVNULL, stderr=end,
                       timeout=60, check=True)
        os.close(end)
        shown = b""
        with contextlib.suppress(OSError):  # at its end, where the other end is closed
            while part := os.read(terminal, 65536):
                shown += part
        os.close(terminal)
        self.assertIn(b"\rweft plan: 100 %", shown)

    def test_a_table_of_scale_marks_what_takes_over_four_times_as_long(self):
        for settings, by, marked in (({}, "combined", [32]), ({"WEFT_ALGORITHM": "reduce_all=flat"}, "flat", [32])):
            text = self.output("plan", "reduce_all", "--scale", "16", "--in", "my", "--out", "my", **settings)
            rows = re.findall(SCALE, text, re.MULTILINE)
            self.assertEqual([int(row[0]) for row in rows], [2 ** k for k in range(1, 18)])
            self.assertEqual(rows[-1][6], by)
            steep = [int(row[0]) for row, last in zip(rows[1:], rows) if float(row[3]) > 4 * float(last[3])]
            self.assertEqual([int(row[0]) for row in rows if row[7]], steep)
            self.assertEqual(steep, marked)
            self.assertIn("the first between nodes", rows[4][7])
        self.assertEqual(rows[-1][4], str(16 * (131072 - 16)), "each rank of a node sends to every one of the others")
        self.assertEqual(rows[-1][5], str(16 * (131072 - 16) * 8))
        text = self.output("plan", "--scale")
        for operation in ALL:
            self.assertEqual(f"\n{operation} of " in "\n" + text, not operation.endswith("_x"), operation)

    def test_a_table_of_scale_is_of_no_other_ranks(self):
        self.assertIn("leave the others out", self.refusal("plan", "barrier", "--scale", "--verify"))
        self.assertIn("leave the others out", self.refusal("plan", "barrier", "--scale", "-n", "4"))
        self.assertIn("name the operation", self.refusal("plan", "--scale", "--bytes", "8"))
        self.assertIn("no predicted time", self.refusal("plan", "permute_x", "--scale"))

    def test_the_machines_that_are_installed(self):
        for name, ranks in (("vm", 128), ("hdr", 32768), ("slingshot", 131072)):
            text = self.output("plan", "exchange", "--scale", "--machine", name)
            rows = re.findall(SCALE, text, re.MULTILINE)
            self.assertEqual(int(rows[-1][0]), ranks, "as many as fit")
            self.assertEqual([int(row[2]) for row in rows][0], 1)
            self.assertIn(f"machine {name};", text)
            with open(os.path.join(MACHINES, name), encoding="utf-8") as file:
                lines = file.read()
            self.assertEqual(self.output("plan", "barrier", "--machine", os.path.join(MACHINES, name)),
                             self.output("plan", "barrier", "--machine", name))
            for figure in re.findall(r"^(?:latency|overhead|bandwidth)\w* = .*$", lines, re.MULTILINE):
                self.assertTrue("#" in figure or name == "vm", f"{name}: {figure}: from where?")
        # A team of more than a group pays for the longer way.
        inside, beyond = (self.output("plan", "barrier", "--machine", "slingshot", "-n", str(512 * 64 + more))
                          for more in (0, 1))
        self.assertIn("// machine slingshot, 512 nodes in 1 groups: WEFT_COSTS=latency=800,overhead=140,", inside)
        self.assertIn("// machine slingshot, 513 nodes in 2 groups: WEFT_COSTS=latency=1500,overhead=140,", beyond)
        costs = re.search("WEFT_COSTS=(.*)", inside)[1]
        choice = re.compile("// (?!machine).*")
        self.assertEqual(choice.findall(self.output("plan", "exchange", "-n", "256", "--machine", "slingshot")),
                         choice.findall(self.output("plan", "exchange", "-n", "256", "--nodes", "4", WEFT_COSTS=costs,
                                                    WEFT_PATH="memory")))

    def test_a_wrong_description_of_a_machine_is_told_by_line_and_rule(self):
        with open(os.path.join(MACHINES, "hdr"), encoding="utf-8") as file:
            right = file.read().splitlines()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.txt")

            def refused(lines):
                with open(path, "w", encoding="utf-8") as file:
                    file.write("\n".join(lines))
                return self.refusal("plan", "barrier", "--scale", "--machine", path)

            where = {line.split(" = ")[0]: k for k, line in enumerate(right) if " = " in line.split("#")[0]}
            self.assertEqual(len(where), 12)
            for name, k in where.items():
                def with_line(line, at=k):
                    return right[:at] + [line] + right[at + 1:]
                self.assertIn(f"{path}: no line has {name}: add {name} = VALUE, which must be ", refused(with_line("")))
                for value in ("", "x", "-1 ns", "0", "0 ns", "0 GB/s", "7 furlongs", "1e30", "nan"):
                    self.assertIn(f"{path}:{k + 1}: {name} = {value}: must be ", refused(with_line(f"{name} = {value}")))
                self.assertIn(f"{path}:{k + 2}: {name} is said by line {k + 1} too",
                              refused(right[:k + 1] + [right[k]] + right[k + 1:]))
            self.assertIn(f"{path}:1: \"latency 5\" is no line property = value", refused(["latency 5"]))
            self.assertIn(f"{path}:1: latncy is no property of a machine: there are hosts, cores, ", refused(["latncy = 5 ns"]))
            for name, worse in (("latency_between_groups", "1 ns"), ("bandwidth_between_groups", "99 GB/s")):
                k = where[name]
                self.assertIn(f"{path}:{k + 1}: {name} is better than ",
                              refused(right[:k] + [f"{name} = {worse}"] + right[k + 1:]))
            k = where["hosts_of_group"]
            self.assertIn(f"{path}:{k + 1}: hosts_of_group = 801 is more than hosts = 800",
                          refused(right[:k] + ["hosts_of_group = 801"] + right[k + 1:]))
        self.assertIn("cannot be read: name a file, or one of hdr, slingshot, vm",
                      self.refusal("plan", "barrier", "--machine", "./none"))
        self.assertIn("frontier is no machine that is installed: name one of hdr, slingshot, vm, or a file",
                      self.refusal("plan", "barrier", "--machine", "frontier"))
        self.assertIn("both say what transfers cost", self.refusal("plan", "barrier", "--machine", "vm", WEFT_COSTS="gap=1"))

    def test_no_description_of_a_machine_is_too_wrong_to_be_told_of(self):
        """Mutated descriptions: each is taken, or refused in one line that names the file and, where there is one, the line."""
        draw = random.Random(31)
        right = []
        for name in ("hdr", "slingshot", "vm"):
            with open(os.path.join(MACHINES, name), encoding="utf-8") as file:
                right.append(file.read().splitlines())
        values = ["", "-1", "-1 ns", "1e400", "1e-400", "inf", "nan", "-inf ns", "0x10", "9" * 30, "1e19", "1.5", "1,5 ns",
                  "null", "true", "[1]", "{}", "ns", "5 ns ns", "5\0 ns", "\x1b[2J", "\u2028", "=5 ns", "5 GB/s", "memory"]
        refused = 0
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.txt")
            for number in range(200):
                lines = list(draw.choice(right))
                for _ in range(draw.randint(1, 3)):
                    k = draw.choice([k for k, line in enumerate(lines) if "=" in line] or [0])
                    left, line = lines[k].partition("=")[0], lines[k]
                    lines[k:k + 1] = draw.choice([
                        [], [line, line], [f"{left}= {draw.choice(values)}"], [line.replace("=", ":")], [line.upper()],
                        [line * draw.choice([2, 5000])], [line[:draw.randrange(len(line) + 1)]],
                        [line[:3] + chr(draw.choice([0, 7, 11, 12, 13, 27, 127, 233])) + line[3:]], ['{"hosts": 5}']])
                    lines = lines[:draw.choice([len(lines), len(lines), k])] or [""]
                with open(path, "w", encoding="utf-8") as file:
                    file.write("\n".join(lines))
                result = weft("plan", "barrier", "--machine", path)
                if result.returncode == 0:
                    self.assertEqual(result.stderr, "", lines)
                    continue
                refused += 1
                self.assertEqual(result.returncode, 2, lines)
                self.assertEqual(result.stdout, "", lines)
                self.assertRegex(result.stderr, re.escape(path) + r":(\d+:| no line has )", lines)
                self.assertEqual([ord(c) for c in result.stderr[:-1] if not " " <= c <= "~"], [], lines)
                self.assertLess(len(result.stderr), 600, lines)
            self.assertGreater(refused, 100)
            os.mkfifo(os.path.join(folder, "pipe"))
            for other in ("pipe", ""):
                self.assertIn("cannot be read", self.refusal("plan", "barrier", "--machine", os.path.join(folder, other)))
            with open(path, "w", encoding="utf-8") as file:
                file.truncate(1 << 40)
            self.assertIn("has 1099511627776 bytes, and a description at most 1048576",
                          self.refusal("plan", "barrier", "--machine", path))
        self.assertIn('"" is no machine that is installed', self.refusal("plan", "barrier", "--machine", ""))

    def test_schedules(self):
        text = self.output("plan", "exchange", "-n", "6", "--nodes", "3", "--bytes", "64", "--machine", "hdr", "--goal")
        self.assertEqual(text.splitlines()[:3], ["// exchange of 64 bytes, IN_ALL OUT_ALL, 6 ranks on 3 nodes",
                                                 "// LogGOPSim -L 600 -o 105 -g 105 -G 0 -S 2147483647", "num_ranks 6"])
        self.assertEqual(re.findall(r"^rank (\d+) {$", text, re.MULTILINE), list("012345"))
        self.assertIn("one of them", self.refusal("plan", "barrier", "--goal", "--verify"))
        self.assertIn("leave the others out", self.refusal("plan", "barrier", "--goal", "--scale"))
        result = weft("plan", "exchange", "-n", "4000", "--goal")
        self.assertEqual((result.returncode, result.stderr.count("more than 2 GiB to write: write fewer ranks")), (2, 1))

    def test_more_ranks_than_a_machine_has_are_refused_beforehand(self):
        vm = "vm has 64 hosts of 2 cores, for 128 ranks"
        self.assertIn(f"-n 129 does not fit: {vm}", self.refusal("plan", "barrier", "--machine", "vm", "-n", "129"))
        self.assertIn(f"--nodes 65 does not fit: {vm}",
                      self.refusal("plan", "barrier", "--machine", "vm", "-n", "128", "--nodes", "65"))
        self.assertIn(f"5 ranks on 2 nodes do not fit: {vm}",
                      self.refusal("plan", "barrier", "--machine", "vm", "-n", "5", "--nodes", "2"))
        self.assertIn(f"--scale 3 is more than a node has: {vm}",
                      self.refusal("plan", "barrier", "--machine", "vm", "--scale", "3"))
        self.assertIn("rank 2 of 3", self.output("plan", "barrier", "--machine", "vm", "-n", "3", "--rank", "2"))

    def test_wrong_words_are_told_what_is_allowed(self):
        self.assertIn("foo is none of barrier", self.refusal("plan", "foo"))
        self.assertIn("foo is none of no, my, all", self.refusal("plan", "exchange", "--in", "foo"))
        self.assertIn("operation is required", self.refusal("plan"))
        self.assertIn("do not fit", self.refusal("plan", "barrier", "-n", "2", "--nodes", "3"))


if __name__ == "__main__":
    tool_test.WEFT = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
