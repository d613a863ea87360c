#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The checks of this folder must fail when something is planted: each is run on small trees with one fault.

usage: checks_test.py CC CXX
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import check_exports
import check_globals
import check_headers
import check_includes

CC, CXX = sys.argv[1:3]

CLEAN = {
    "include/upc.h": "#pragma once\n#include <stddef.h>\n",
    "include/weft/weft.hpp": "#pragma once\n#include <upc.h>\n",
    "api/calls/call.cpp": '#include "engine/collectives/exchange.hpp"\n#include "include/upc.h"\n',
    "api/checks/checks.hpp": "#pragma once\n",
    "engine/error.hpp": "#pragma once\n",
    "engine/team.hpp": '#include "engine/topology/topology.hpp"\n#include "engine/memory/cells.hpp"\n',
    "engine/topology/topology.hpp": "#include <vector>\n",
    "engine/plan/plan.hpp": '#include "engine/topology/topology.hpp"\n#include <vector>\n',
    "engine/memory/cells.hpp": "#include <atomic>\n",
    "engine/collectives/exchange.hpp": '#include "engine/plan/plan.hpp"\n#include "engine/team.hpp"\n',
    "engine/transport/transport.hpp": '#include "engine/memory/cells.hpp"\n#include "message.hpp"\n',
    "engine/transport/message.hpp": "#pragma once\n",
    "engine/transport/ucx/worker.hpp": '#include <ucp/api/ucp.h>\n#include "../transport.hpp"\n',
    "progress/execution/executor.hpp": '#include "engine/transport/transport.hpp"\n#include <atomic>\n',
    "progress/driving/engine.hpp": '#include "progress/execution/executor.hpp"\n',
    "pmix_boot/client/job.hpp": "#include <pmix.h>\n#include <unistd.h>\n",
    "testing/threads/transport.hpp": '#include "engine/transport/transport.hpp"\n',
    "verify/verifier.hpp": '#include "engine/plan/plan.hpp"\n',
    "tools/info.cpp": '#include "engine/plan/plan.hpp"\n#include <CLI/CLI.hpp>\n',
    "examples/ring.cpp": "#include <upc.h>\n",
    "tests/any.cpp": '#include "include/upc.h"\n#include <gtest/gtest.h>\n',
}

# One forbidden include each: the file, and the line that is added to it.
PLANTED = [
    ("engine/plan/plan.hpp", '#include "engine/transport/transport.hpp"'),
    ("engine/plan/plan.hpp", '#include "../transport/transport.hpp"'),
    ("engine/plan/plan.hpp", '#include "engine/transport/ucx/worker.hpp"'),
    ("engine/plan/plan.hpp", '#include "engine/team.hpp"'),
    ("engine/plan/plan.hpp", '#include "engine/memory/cells.hpp"'),
    ("engine/plan/plan.hpp", '#include "progress/execution/executor.hpp"'),
    ("engine/plan/plan.hpp", '#include "pmix_boot/client/job.hpp"'),
    ("engine/plan/plan.hpp", "  #  include <ucp/api/ucp.h>"),
    ("engine/plan/plan.hpp", "#include <pmix.h>"),
    ("engine/plan/plan.hpp", "#include <upc.h>"),
    ("engine/plan/plan.hpp", "#include <weft/weft.hpp>"),
    ("engine/topology/topology.hpp", '#include "engine/plan/plan.hpp"'),
    ("engine/error.hpp", '#include "progress/execution/executor.hpp"'),
    ("engine/collectives/exchange.hpp", '#include "engine/transport/transport.hpp"'),
    ("engine/collectives/exchange.hpp", '#include "progress/execution/executor.hpp"'),
    ("engine/collectives/exchange.hpp", '#include "include/upc.h"'),
    ("engine/collectives/exchange.hpp", '#include "verify/verifier.hpp"'),
    ("progress/execution/executor.hpp", '#include "testing/threads/transport.hpp"'),
    ("testing/threads/transport.hpp", '#include "progress/execution/executor.hpp"'),
    ("verify/verifier.hpp", '#include "engine/transport/transport.hpp"'),
    ("verify/verifier.hpp", '#include "progress/execution/executor.hpp"'),
    ("engine/transport/transport.hpp", "#include <ucp/api/ucp.h>"),
    ("engine/transport/transport.hpp", '#include "engine/transport/ucx/worker.hpp"'),
    ("engine/transport/transport.hpp", '#include "engine/collectives/exchange.hpp"'),
    ("engine/transport/ucx/worker.hpp", '#include "progress/execution/executor.hpp"'),
    ("engine/transport/ucx/worker.hpp", "#include <pmix.h>"),
    ("progress/execution/executor.hpp", "#include <pmix.h>"),
    ("progress/execution/executor.hpp", '#include "progress/driving/engine.hpp"'),
    ("progress/execution/executor.hpp", "#include <ucp/api/ucp.h>"),
    ("progress/driving/engine.hpp", '#include "pmix_boot/client/job.hpp"'),
    ("progress/driving/engine.hpp", '#include "include/upc.h"'),
    ("pmix_boot/client/job.hpp", "#include <ucp/api/ucp.h>"),
    ("pmix_boot/client/job.hpp", '#include "engine/error.hpp"'),
    ("pmix_boot/client/job.hpp", "#include <nlohmann/json.hpp>"),
    ("include/upc.h", '#include "engine/error.hpp"'),
    ("include/upc.h", "#include <fmt/core.h>"),
    ("engine/plan/plan.hpp", "#include <fmt/core.h>"),
    ("api/calls/call.cpp", "#include <spdlog/spdlog.h>"),
    ("api/checks/checks.hpp", '#include "api/calls/call.cpp"'),
    ("tools/info.cpp", "#include <ucp/api/ucp.h>"),
    ("tools/info.cpp", '#include "api/calls/call.cpp"'),
    ("examples/ring.cpp", '#include "engine/plan/plan.hpp"'),
]

GLOBALS = """
#include <string>
namespace weft {
struct base { virtual ~base() = default; virtual int f() const { return 1; } };
struct derived : base { int f() const override; };
int derived::f() const { return 2; }
extern const char* const names[2]; const char* const names[2] = {"a", "b"};
constexpr int table[] = {1, 2, 3};
int sum(int i) { static const int squares[] = {0, 1, 4}; return squares[i] + table[i]; }
%s
}
"""
PLANTED_GLOBALS = {
    "int counter = 3;": "weft::counter",
    "int zero;": "weft::zero",
    "thread_local int mine; int* p() { return &mine; }": "weft::mine",
    "static int hidden; int bump() { return ++hidden; }": "weft::hidden",
    "namespace { int unnamed; } int next() { return ++unnamed; }": "weft::(anonymous namespace)::unnamed",
    "int again() { static int calls; return ++calls; }": "weft::again()::calls",
    "inline int everywhere = 1; int* q() { return &everywhere; }": "weft::everywhere",
    "const std::string& text() { static std::string s(40, 'x'); return s; }": "weft::text[abi:cxx11]()::s",
}


def plant(tree, root):
    for name, text in tree.items():
        path = Path(root, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


class Includes(unittest.TestCase):
    def problems(self, tree):
        with tempfile.TemporaryDirectory() as root:
            plant(tree, root)
            return check_includes.check(root)

    def test_clean_tree_passes(self):
        self.assertEqual(self.problems(CLEAN), [])

    def test_each_planted_include_is_found(self):
        for name, line in PLANTED:
            with self.subTest(file=name, line=line):
                problems = self.problems(CLEAN | {name: CLEAN[name] + line + "\n"})
                where = f"{name}:{CLEAN[name].count(chr(10)) + 1}: "
                self.assertTrue(any(problem.startswith(where) for problem in problems), problems)

    def test_a_folder_without_a_rule_is_found(self):
        for name in ("engine/new/x.hpp", "api/x.hpp", "progress/x.hpp", "api/calls/new/x.hpp"):
            with self.subTest(file=name):
                self.assertEqual(len(self.problems(CLEAN | {name: ""})), 1)

    def test_files_and_folders_in_a_circle_are_found(self):
        files = {"progress/execution/a.hpp": '#include "b.hpp"\n', "progress/execution/b.hpp": '#include "a.hpp"\n'}
        self.assertEqual(len(self.problems(CLEAN | files)), 1)
        both_ways = {"engine/memory/a.hpp": '#include "engine/collectives/exchange.hpp"\n',
                     "engine/collectives/b.hpp": '#include "engine/memory/cells.hpp"\n'}
        self.assertTrue(any("folders in a circle" in p for p in self.problems(CLEAN | both_ways)))

    def test_a_template_that_calls_upwards_is_found(self):
        above = {"progress/execution/steps.hpp": "struct steps {\n  taking<T> taken;\n  int carry(int n);\n};\n"}
        beside = {"engine/plan/known.hpp": "struct known {\n  int taken(int n);\n};\n"}
        text = "template <class C, class N> int run(C& c, const N& n) {\n  // %s\n  return %s;\n}\n"
        upwards = ("c.taken.step(1)", "n.taken.template step<C>(1)", "c.carry(2)", "c.template carry<N>(2)")
        for call in (*upwards, "c.unknown(1)", "run(c.carry)", "other.carry(1)"):
            with self.subTest(call=call):
                problems = self.problems(CLEAN | above | {"engine/plan/run.hpp": text % ("c.carry(1)", call)})
                self.assertEqual([problem.partition(": ")[0] for problem in problems],
                                 ["engine/plan/run.hpp:3"] if call in upwards else [])
        self.assertEqual(self.problems(CLEAN | above | beside | {"engine/plan/run.hpp": text % ("", upwards[0])}), [])
        self.assertEqual(self.problems(CLEAN | above | {"engine/operations/run.hpp": text % ("", upwards[0])}), [])
        self.assertEqual(self.problems(CLEAN | above | {"progress/control/run.hpp": text % ("", upwards[0])}), [])

    def test_long_file_is_found_and_the_build_is_not_looked_at(self):
        self.assertEqual(self.problems({"tests/x.cpp": "\n" * 400, "build/x.cpp": "\n" * 401}), [])
        self.assertEqual(len(self.problems({"tests/x.cpp": "\n" * 401})), 1)


class Globals(unittest.TestCase):
    def problems(self, code):
        with tempfile.TemporaryDirectory() as folder:
            unit, archive = Path(folder, "unit.o"), Path(folder, "libunit.a")
            subprocess.run([CXX, "-std=c++20", "-fPIC", "-c", "-x", "c++", "-", "-o", unit],
                           input=GLOBALS % code, text=True, check=True)
            subprocess.run(["ar", "rcs", archive, unit], check=True)
            return check_globals.check(archive)

    def test_constants_and_vtables_pass(self):
        self.assertEqual(self.problems(""), [])

    def test_each_planted_global_is_found(self):
        for code, name in PLANTED_GLOBALS.items():
            with self.subTest(code=code):
                self.assertEqual(self.problems(code), [f"unit.o: mutable global: {name}"])


class Exports(unittest.TestCase):
    LISTED = "# a comment\nc_call\n_ZN4weft4callEi weft::call(int)\n"
    SHOWN = 'extern "C" void c_call() {} namespace weft { void call(int) {} }'

    def problems(self, code):
        with tempfile.TemporaryDirectory() as folder:
            library, names = Path(folder, "lib.so"), Path(folder, "names.txt")
            names.write_text(self.LISTED)
            subprocess.run([CXX, "-shared", "-fPIC", "-x", "c++", "-", "-o", library], input=code, text=True, check=True)
            return check_exports.check(library, names)

    def test_what_is_listed_and_what_is_hidden_pass(self):
        self.assertEqual(self.problems(self.SHOWN), [])
        hidden = '__attribute__((visibility("hidden"))) int kept; static int own; int* f();'
        self.assertEqual(self.problems(self.SHOWN + hidden), [])

    def test_what_comes_and_what_goes_is_found(self):
        self.assertEqual(self.problems(self.SHOWN + "namespace weft { int more; void call(long) {} }"),
                         ["added:   _ZN4weft4callEl weft::call(long)", "added:   _ZN4weft4moreE weft::more"])
        self.assertEqual(self.problems('extern "C" void c_call() {}'), ["removed: _ZN4weft4callEi weft::call(int)"])

    def test_what_is_written_is_what_is_there(self):
        self.assertEqual(check_exports.lines_of({"_ZN4weft4callEi", "c_call"}), self.LISTED.splitlines()[1:])


class Headers(unittest.TestCase):
    def problems(self, tree):
        with tempfile.TemporaryDirectory() as root:
            plant(tree, root)
            return check_headers.check(root, CC, CXX)

    def test_clean_headers_pass(self):
        headers = ("include/upc.h", "include/weft/weft.hpp")
        self.assertEqual(self.problems({name: CLEAN[name] for name in headers}), [])

    def test_no_headers_at_all_is_a_fault(self):
        self.assertEqual(len(self.problems({})), 1)

    def test_a_header_that_leans_on_another_is_found_in_both_languages(self):
        self.assertEqual(len(self.problems({"include/a.h": "#pragma once\nsize_t f(void);\n"})), 2)

    def test_what_only_one_language_allows_is_found(self):
        self.assertEqual(len(self.problems({"include/a.h": "class a;\n"})), 1)
        self.assertEqual(len(self.problems({"include/weft/a.h": "class a;\n"})), 1)
        self.assertEqual(len(self.problems({"include/a.h": "int f(int restrict_me, int* restrict p);\n"})), 1)
        self.assertEqual(len(self.problems({"include/weft/a.hpp": "int f() { int unused; return 0; }\n"})), 1)

    def test_what_a_program_may_warn_of_is_found(self):
        self.assertEqual(len(self.problems({"include/weft/a.hpp": "struct a { a(int x) : x(x) {} int x; };\n"})), 1)
        self.assertEqual(len(self.problems({"include/weft/a.hpp": "inline int f(long x) { return (int)x; }\n"})), 1)
        self.assertEqual(len(self.problems({"include/a.h": "#define UPC_A ((long)0)\n"})), 1)
        self.assertEqual(len(self.problems({"include/a.h": "#define UPC_A (0)\n"})), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
