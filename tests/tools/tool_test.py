# SPDX-License-Identifier: BSD-3-Clause
"""Tests of `weft info`, `weft doctor`, `weft help` and their usage: tool_test.py WEFT MANUAL_PAGE [unittest arguments]."""

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import unittest

WEFT = ""
MANUAL = ""

ROOTED = ["broadcast", "scatter", "gather", "broadcast_x", "scatter_x", "gather_x"]
IN_PLACE = ["gather_all", "exchange", "permute", "gather_all_x", "exchange_x", "permute_x"]
ALL = ["barrier"] + ROOTED + IN_PLACE


def weft(*arguments, **settings):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("WEFT_")}
    environment.update(settings)
    return subprocess.run([WEFT, *arguments], capture_output=True, text=True, timeout=60, env=environment,
                          check=False)


class ToolTest(unittest.TestCase):
    def output(self, *arguments, **settings):
        result = weft(*arguments, **settings)
        self.assertEqual(result.returncode, 0, f"{arguments}: {result.stdout}{result.stderr}")
        self.assertEqual(result.stderr, "", arguments)
        return result.stdout

    def refusal(self, *arguments, **settings):
        result = weft(*arguments, **settings)
        self.assertEqual(result.returncode, 2, f"{arguments}: {result.stdout}")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertEqual(result.stdout, "", arguments)
        return result.stderr


class Info(ToolTest):
    def test_prints_defaults_and_present_values(self):
        line = re.search("^WEFT_HEAP_SIZE .*$", self.output("info", WEFT_HEAP_SIZE="1G"), re.MULTILINE).group()
        self.assertEqual(line.split()[:4], ["WEFT_HEAP_SIZE", "size", "256M", "1G"])

    def test_columns_stay_in_their_places(self):
        text = self.output("info", WEFT_ALGORITHM="broadcast=knomial,gather_all=ring", WEFT_NET_DEVICES="eth0,eth1,eth2")
        tables = {table.split(" ")[0]: table.splitlines() for table in text.split("\n\n")}
        for name, *columns in (("setting", "type", "default", "now", "meaning"), ("path", "between", "payload"),
                               ("operation", "way", "what", "fits")):
            first, *rows = tables[name]
            self.assertGreater(len(rows), 1)
            for row in rows:
                self.assertTrue(all(row[first.index(f" {column}")] == " " for column in columns), row)

    def test_prints_versions_algorithms_and_costs(self):
        text = self.output("info", WEFT_COSTS="latency=1500")
        for part in "\nUCX ", "\nPMIx ", "\nusable cores ", "\nmemory of an outstanding operation ":
            self.assertIn(part, text)
        self.assertRegex(text, "gather_all +ring ")
        self.assertIn("latency=1500 ns", text)

    def test_counts_the_memory_of_a_rank(self):
        def line(text, what):
            return int(re.search(rf"^ *{what}.*? +(\d+) ", text, re.MULTILINE)[1])
        few, more = (self.output("info", "--ranks", str(n), "--nodes", str(n // 64)) for n in (32768, 65536))
        self.assertEqual(2 * line(few, "where each rank is"), line(more, "where each rank is"))
        self.assertEqual(line(few, "of each rank of its node"), line(more, "of each rank of its node"))
        self.assertEqual(line(more, "in all, at the start"), sum(line(more, what) for what in (
            "the process, with a mailbox", "of each rank of its node", "its memory", "where each rank is")))
        self.assertLess(line(more, "in all, at the start"), 16 << 20)
        each = line(more, "taken for far ranks")
        self.assertEqual(line(more, "for those of rounds"), 20 * each)
        self.assertEqual(line(more, "for all, where"), (65536 - 64) * each)
        for wrong in (("--ranks", "0"), ("--ranks", "4", "--nodes", "5"), ("--ranks", "4097"), ("--nodes", "2"),
                      ("--ranks", "100000000"), ("--ranks", "4", "--nodes", "0")):
            self.refusal("info", *wrong)

    def test_a_bad_value_is_refused_and_an_unknown_setting_is_told(self):
        for name in "WEFT_HEAP_SIZE", "WEFT_LANE", "WEFT_ALGORITHM", "WEFT_COSTS":
            result = weft("info", **{name: "nonsense"})
            self.assertEqual(result.returncode, 2)
            self.assertIn(f"weft info: {name}=nonsense: must be ", result.stderr)
        result = weft("info", WEFT_HEAPSIZE="1G")
        self.assertEqual(result.returncode, 0)
        self.assertIn("WEFT_HEAPSIZE is not a setting; did you mean WEFT_HEAP_SIZE?", result.stderr)


    def test_json_has_what_the_tables_have(self):
        said = json.loads(self.output("info", "--json", WEFT_LOG="off", WEFT_NET_DEVICES='a"b'))
        table = self.output("info")
        self.assertEqual({each["name"]: each["now"] for each in said["settings"]}["WEFT_NET_DEVICES"], 'a"b')
        for setting in said["settings"]:
            self.assertRegex(table, rf"(?m)^{setting['name']} +{setting['type']} ")
        for way in said["algorithms"]:
            self.assertRegex(table, rf"(?m)^{way['operation']} +{way['way']} ")
        for name in "weft", "ucx", "pmix":
            self.assertIn(said[name], table)

    def test_one_setting(self):
        first, row = self.output("info", "WEFT_HEAP_SIZE", WEFT_HEAP_SIZE="1G").splitlines()
        self.assertEqual(first.split(), ["setting", "type", "default", "now", "meaning"])
        self.assertEqual(row.split()[:4], ["WEFT_HEAP_SIZE", "size", "256M", "1G"])
        self.assertEqual([each["name"] for each in json.loads(self.output("info", "--json", "WEFT_LOG"))], ["WEFT_LOG"])
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([WEFT, "info"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (1, "weft: cannot write its output: No space left on device; send it to another place\n"))
        self.assertIn("WEFT_HEPSIZE is not a setting; did you mean WEFT_HEAP_SIZE?", self.refusal("info", "WEFT_HEPSIZE"))


class Doctor(ToolTest):
    def said(self, *command, status=0, limit=None, **settings):
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith(("WEFT_", "UCX_", "SLURM_", "PMI"))} | settings
        before = (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))) if limit else None
        done = subprocess.run([*command, WEFT, "doctor"], capture_output=True, text=True, timeout=60, env=environment,
                              preexec_fn=before, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def test_alone_it_looks_at_the_host_and_tries_a_job(self):
        text = self.said()
        for subject in "versions: weft ", "settings: ", "cores: ", "limits: ", "memory: ", "networks: ", "launchers: weft run":
            self.assertIn(subject, text)
        self.assertRegex(text, r"(?m)^ok +job: 2 ranks on 1 host; 2 on this one")
        self.assertRegex(text, r"(?m)^ok +copies: to rank 1 on this host: 8 bytes in [\d.]+ us, 1 MiB at \d+ MB/s$")
        self.assertRegex(text, r"(?m)^weft doctor: 0 wrong, \d+ to note$")

    def test_in_a_job_rank_0_alone_says_what_is_right(self):
        text = self.said(WEFT, "run", "-n", "2", "--nodes", "2", UCX_TLS="tcp", WEFT_HEAP_SIZE="8M")
        self.assertRegex(text, r"(?m)^ok +job: 2 ranks on 1 host; 1 on this one")
        self.assertRegex(text, r"(?m)^ok +copies: to rank 1 on host \S+: 8 bytes in ")
        self.assertNotIn("launchers:", text)
        self.assertNotIn("rank 1: ", text)

    def test_what_is_wrong_is_said_with_the_way_out(self):
        for settings, line in (({"WEFT_HEAP_SIZ": "1G"}, "note  settings: WEFT_HEAP_SIZ is not a setting"),):
            self.assertIn(line, self.said(**settings))
        for settings, line in (
                ({"WEFT_HEAP_SIZE": "much"}, "wrong settings: WEFT_HEAP_SIZE=much: must be a size like 64K"),
                ({"WEFT_HEAP_SIZE": "16T"}, "wrong memory: cannot reserve "),
                ({"WEFT_NET_DEVICES": "eth77"}, "wrong networks: WEFT_NET_DEVICES=eth77: "),
                ({"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "1"}, "wrong job: SLURM_STEP_NUM_TASKS=4: ")):
            self.assertIn(line, self.said(status=1, **settings))
        text = self.said(status=1, limit=24)
        self.assertRegex(text, r"wrong ulimit -n: .* raise it, as in ulimit -n \d+")
        self.assertIn("wrong job: a trial of two ranks on this host did not end well", text)

    def test_every_rank_says_what_is_wrong_with_it(self):
        text = self.said(WEFT, "run", "-n", "2", status=1, WEFT_HEAP_SIZE="16T")
        self.assertRegex(text, r"(?m)^rank 1: wrong memory: cannot reserve ")
        self.assertRegex(text, r"(?m)^rank 1: wrong job: weft_init: ")


class Help(ToolTest):
    def exported(self):
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "layers", "exported_symbols.txt")
        with open(path, encoding="utf-8") as file:
            names = [line.split()[0] for line in file if not line.startswith("#")]
        return [name for name in names if not name.startswith("_Z")]

    def test_it_knows_every_call(self):
        names = self.exported()
        self.assertGreater(len(names), 200)
        for name in names:
            text = self.output("help", name)
            self.assertRegex(text, r"^#include <\S+>\n")
            declared = name in text or re.search(r"(?m)^upc_all_\w+T: ", text)
            self.assertTrue(declared and len(text.split()) > 20, f"{name}: {text}")

    def test_it_says_what_the_header_says(self):
        text = self.output("help", "upc_all_exchange")
        self.assertIn("upc_coll_handle_t upc_all_exchange(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,", text)
        self.assertIn("Copies the i-th block of nbytes bytes of thread j to the j-th block of thread i.", text)
        self.assertIn("Errors of all: dst or src is null", self.output("help", "upc_collective.h"))
        self.assertIn("class shared_array {", self.output("help", "weft::shared_array"))
        self.assertIn("first half of the split barrier", self.output("help", "upc_notify"))
        self.assertNotIn("WEFT_EXPORT", text)
        self.assertTrue(self.output("help", "weft/reduction.h").startswith("#include <weft/reduction.h>\n\nReductions and"))
        # What is beside the library: for UPC programs.
        self.assertIn("#include <upc_io.h>", self.output("help", "upc_all_fread_shared"))
        self.assertIn("#include <weft/semaphore.h>", self.output("help", "bupc_sem_waitN"))

    def test_a_class_is_told_with_its_public_members(self):
        for name, members in {"job": "team all() const;", "team": "team split(int color, int key = 0) const;", "value": "bool ready();",
                              "pending": "void wait(line_of_call where = line_of_call::here());", "error": "~error() override;",
                              "mutex": "bool try_lock();", "atomic_domain": "T inc(upc_shared_ptr_t target) const;",
                              "array": "remote_span<T> on(long long rank, line_of_call where = line_of_call::here()) const;", "remote_span": "remote_span first(std::size_t count) const;",
                              "signals": "std::size_t size() const noexcept;", "own_indices": "std::size_t size() const;"}.items():
            text = self.output("help", "weft::" + name)
            self.assertRegex(text, rf"(?m)^    (template .*)?class .*\b{name}\b")
            self.assertIn("\n      " + members + "\n", text)
            self.assertNotIn("return ", text)
            self.assertNotIn("private:", text)
        self.assertIn("class team {", self.output("help", "weft::team::rank_of"))
        self.assertIn("no header declares weft::team::rank_off", self.refusal("help", "weft::team::rank_off"))
        self.assertRegex(self.output("help", "weft::exchange"), r"pending exchange\(Dst&& dst, const Src& src, const team& of = \{\},\n +line_of_call where = line_of_call::here\(\)\);\n\nBlock i of src")
        self.assertIn("MPI_Iallgather", self.output("help", "weft::gather_all"))
        self.assertIn("In C upc_all_reduce_allT", self.output("help", "upc_all_reduce_all"))
        self.assertIn("void barrier(const team& of = {}, line_of_call where = line_of_call::here());", self.output("help", "weft::barrier"))

    def test_a_wrong_name_is_told_the_right_one(self):
        self.assertIn("no header declares upc_al_exchange; did you mean upc_all_exchange?",
                      self.refusal("help", "upc_al_exchange"))
        self.assertIn("docs/functions.md lists what there is", self.refusal("help", "qqqqqqqq"))
        self.assertIn("there are no headers of weft in ", self.refusal("help", "upc_wait", "--headers", "/nowhere"))
        self.assertIn("name a call", self.refusal("help"))

    def test_a_page_for_each_name(self):
        with tempfile.TemporaryDirectory() as folder:
            pages = os.path.join(folder, "man3")
            self.output("help", "--man", pages)
            for name in [*self.exported(), "upc_all_fopen", "bupc_sem_post"]:
                with open(os.path.join(pages, name + ".3"), encoding="utf-8") as file:
                    page = file.read()
                if re.search(r"^upc_all_(prefix_)?reduce(_all)?[A-Z]", name):  # one page for all types
                    name = re.sub(r"[A-Z]+(_team)?$", "T", name)
                if page.startswith(".so man3/"):
                    with open(os.path.join(folder, page[4:].strip()), encoding="utf-8") as file:
                        page = file.read()
                for part in ".SH NAME\n", ".SH SYNOPSIS\n", ".SH DESCRIPTION\n", "#include <":
                    self.assertIn(part, page, name)
                self.assertRegex(page, rf"(?m)^.*\b{name}\b.* \\- \S+", name)


class Usage(ToolTest):
    def test_every_option_is_in_the_manual_page(self):
        with open(MANUAL, encoding="utf-8") as file:
            page = file.read().replace("\\-", "-")
        for command in "run", "info", "plan", "doctor", "help":
            text = self.output(command, "--help")
            self.assertIn(f"weft {command}", page)
            for option in re.findall("--[a-z-]+", text.split("Options:")[1].split("\n\n")[0]):
                self.assertIn(option, page, f"of weft {command}")
        for operation in ALL:
            self.assertRegex(page, rf"\b{operation}\b")
            self.assertRegex(self.output("plan", "--help"), rf"\b{operation}\b")

    def test_the_examples_of_the_help_work(self):
        text = self.output("plan", "--help")
        examples = re.findall("^  weft (plan [^|>\n]*)", text, re.MULTILINE)
        self.assertGreaterEqual(len(examples), 2)
        for example in examples:
            self.assertNotEqual(self.output(*example.split()), "")

    def test_a_wrong_subcommand_is_told_the_right_one(self):
        for wrong, meant in (("rum", "run"), ("runn", "run"), ("inf", "info"), ("plam", "plan"), ("docter", "doctor"), ("--verson", None)):
            said = self.refusal(wrong, "-n", "2", "true")
            self.assertEqual(f"weft: {wrong} is no subcommand; did you mean {meant}?" in said, meant is not None, said)
        self.assertIn("xyz is no subcommand; there are run, mpi, info, plan, doctor and help", self.refusal("xyz"))
        self.assertIn("A subcommand is required", self.refusal())

    def test_a_wrong_option_is_told_the_right_one(self):
        for words, wrong, meant in ((("run", "--node", "2", "-n", "2", "true"), "--node", "--nodes"), (("info", "--jsn"), "--jsn", "--json"),
                                    (("plan", "exchange", "-n", "4", "--byts=8"), "--byts", "--bytes")):
            self.assertIn(f"weft: {wrong} is no option of weft {words[0]}; did you mean {meant}?", self.refusal(*words))
        self.assertIn("--wxyz is no option of weft doctor; weft doctor --help lists them", self.refusal("doctor", "--wxyz"))
        self.assertIn("--ranks is required", self.refusal("run", "true", "--node"))  # an option of the program
        self.assertIn("excange is none of them; did you mean exchange?", self.refusal("plan", "excange"))

    def test_version(self):
        self.assertRegex(self.output("--version"), r"^weft \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    WEFT, MANUAL = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
