#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""weftcc, as it is installed: with a translator, with a compiler, and what it says where it can do nothing.

usage: weftcc_test.py BUILD WEFT CC
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import walks

HERE = pathlib.Path(__file__).resolve().parent
BUILD, WEFT, CC = sys.argv[1:4]
TRANSLATOR = f"{sys.executable} -B {HERE / 'stub_translator.py'}"

# What clang-upc makes of `shared int x[4 * THREADS]; shared long y;` and a main of them: written in C.
COMPILED = """
#include <stdint.h>
#include <stdio.h>
typedef struct { uint64_t vaddr; uint32_t thread, phase; } pointer;
extern int THREADS, MYTHREAD, __upc_forall_depth;
extern char __upc_shared_start[];
uint32_t __getsi2(pointer); void __putsi2(pointer, uint32_t);
uint64_t __getsdi2(pointer); void __putsdi2(pointer, uint64_t);
void __upc_barrier(int); void upc_memget(void*, pointer, size_t);
__attribute__((section("upc_shared"))) int before[5], x[4];
__attribute__((section("upc_shared"))) long y;
static pointer at(void* p, int thread) {
  pointer q = {(uint64_t)(uintptr_t)p - (uint64_t)(uintptr_t)__upc_shared_start, (uint32_t)thread, 0};
  return q;
}
static void init(void) { if (MYTHREAD == 0) __putsdi2(at(&y, 0), 77); }
__attribute__((section("upc_init_array"), used)) static void (*const listed)(void) = init;
int upc_main(int argc, char** argv) {
  for (int t = 0; t < THREADS; t++) __putsi2(at(&x[MYTHREAD % 4], t), 10 * MYTHREAD + t);
  __upc_barrier(-2147483647 - 1);
  int right = __getsdi2(at(&y, 0)) == 77, copy;
  for (int t = 0; t < THREADS; t++) {
    right &= __getsi2(at(&x[t % 4], MYTHREAD)) == (uint32_t)(10 * t + MYTHREAD);
    upc_memget(&copy, at(&x[t % 4], MYTHREAD), 4);
    right &= copy == 10 * t + MYTHREAD;
  }
  if (!right) printf("thread %d is wrong\\n", MYTHREAD);
  __upc_barrier(1);
  if (MYTHREAD == 0) printf("compiled, %d threads, %d\\n", THREADS, __upc_forall_depth);
  return right ? 0 : 1;
}
"""
COMPILER = """#!/bin/sh
# clang-upc's part of the test: C is what it gets.
for word in "$@"; do
  shift
  case $word in -fupc-*) ;; *) set -- "$@" "$word" ;; esac
done
exec CC -x c "$@"
"""


class Weftcc(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="weftcc test "))
        cls.prefix = cls.folder / "pre fix"
        done = subprocess.run(["cmake", "--install", BUILD, "--prefix", cls.prefix], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def weftcc(self, *arguments, translator=TRANSLATOR, **environment):
        env = {**os.environ, "CC": CC, "WEFT_UPC_TRANSLATOR": translator, **environment}
        return subprocess.run([self.prefix / "bin/weftcc", *map(str, arguments)], cwd=self.folder, env=env,
                              capture_output=True, text=True)

    def compile(self, *arguments, **more):
        done = self.weftcc(*arguments, **more)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def job(self, ranks, program, *arguments, hosts=1):
        """One thread needs no launcher."""
        launcher = [WEFT, "run", "-n", str(ranks), "--nodes", str(hosts)] if ranks > 1 else []
        return subprocess.run([*launcher, self.folder / program, *arguments], capture_output=True, text=True, timeout=60)

    def loops_from_own_to_own(self, output, text, *options):
        """Compiles it: how many loops go from own element to own element in what is compiled."""
        done = self.weftcc("--keep", "-O2", "-o", output, *options, text)
        self.assertEqual(done.returncode, 0, done.stderr)
        kept = pathlib.Path(re.search(r"what it makes is in (\S+)", done.stderr).group(1))
        adapted = (kept / "adapted.c").read_text()
        shutil.rmtree(kept)
        self.assertNotIn("\x01", adapted)
        return adapted.count("(upcri_walk_t ")

    def one_line(self, done, *words):
        self.assertNotEqual(done.returncode, 0)
        lines = [line for line in done.stderr.splitlines() if not re.match(r"weft run: |weft: error: rank \d has died", line)]
        self.assertEqual(len(lines), 1, done.stderr)
        for word in words:
            self.assertIn(word, lines[0])

    def test_a_program_is_translated_and_runs(self):
        self.compile("-O2", "-Wall", "-o", "histogram", HERE / "histogram.upc")
        done = self.job(3, "histogram", hosts=3)
        mean = sum((3 * i - 1) ** 2 for i in range(12)) / 12
        self.assertEqual((done.returncode, done.stdout), (0, f"3 threads, {mean:.3f} on average, 1 words\n"), done.stderr)
        # What main returns is what the job returns.
        self.assertEqual(self.job(2, "histogram", "two", "words").returncode, 3)

    def test_loops_go_from_own_element_to_own_element(self):
        # Each upc_forall against a loop of C over all numbers, by the numbers that came and by what the variable is behind it.
        loops, strided = [], 0
        for kind in "int", "long", "unsigned long":
            for affinity in "i", "&a[i]":
                for begin, condition, step, becomes in (
                        ("0", "< n", "i++", True), ("0", "<= n", "++i", True), ("3", "< 2 * n - 1", "i = i + 1", True),
                        ("0", "< THREADS", "i++", True), ("7", "< 3", "i++", True), ("5", "<= 5", "i++", True),
                        ("lo", "< n + lo", "i++", True), ("0", "< n", "i += 2", False), ("0", "< n / 2 + i / 2", "i++", False),
                        ("0", "< twice(n)", "i++", False), ("0", "< bounds[1]", "i++", False)):
                    strided += becomes
                    other = re.sub(r"\bi\b", "j", f"j = {begin}; j {condition}; {step}")
                    loops.append(f"{{ {kind} i = 99, j; sum = 0; want = 0; upc_forall (i = {begin}; i {condition}; {step}; {affinity}) {{ "
                                 f"if (i == 4) continue; sum += 100 * i + 1; }} "
                                 f"for ({other}) if (j % THREADS == MYTHREAD && j != 4) want += 100 * j + 1; "
                                 f"if (sum != want || i != j) wrong++; }}\n")
        text = self.folder / "loops.upc"
        text.write_text("#include <upc.h>\n#include <stdio.h>\nshared int a[40 * THREADS];\nint bounds[2] = {4, 11};\n"
                        "int twice(int n) {\n  return 2 * n;\n}\nint main(int argc, char** argv) {\n"
                        "  int n = 13, lo = 1, wrong = 0;\n  long sum = 0, want = 0;\n" + "".join(loops) +
                        '  printf("%d wrong\\n", wrong);\n  fflush(stdout);\n  upc_barrier;\n  return wrong;\n}\n')
        self.assertEqual(self.loops_from_own_to_own("loops", text), strided)
        self.compile("-O2", "-T", "3", "-o", "loops_of_3", text)
        self.compile("-O2", "--every-element", "-o", "every_element", text)
        for ranks, program in (1, "loops"), (5, "loops"), (3, "loops_of_3"), (1, "every_element"):
            done = self.job(ranks, program)
            self.assertEqual((done.returncode, done.stdout), (0, "0 wrong\n" * ranks), f"{program}: {done.stderr}")

    def test_loops_of_berkeleys_translator_do_too(self):
        loops, strided = [], 0
        for kind, one in ("int", "1"), ("_INT64", "1LL"):
            for test in "i % t", "mod", "element":
                for begin, condition, step, becomes in (
                        ("0", "< n", one, True), ("0", "<= 15", one, True), ("3", "< (((int) upcr_threads () ) * 4)", one, True),
                        ("7", "< 3", one, True), ("lo", "< n + lo", one, True), ("0", "< n", "2", False),
                        ("0", "< twice(n)", one, False)):
                    strided += becomes
                    of_all = f"    i = {begin};\n#line 3 \"a.upc\"\n    while(i {condition})\n#line 3 \"a.upc\"\n    {{\n"
                    tests = {"element": "      p = UPCR_ADD_PSHARED1(a, 4ULL, i);\n      c = upcr_hasMyAffinity_pshared(p);\n      if(c != 0)\n",
                             "i % t": "      t = upcr_threads();\n      m = upcr_mythread();\n      if((i % t) == m)\n",
                             "mod": f"      t = upcr_threads();\n      m = upcr_mythread();\n      if(_I{4 if one == '1' else 8}MOD(i, t) == m)\n"}
                    of_own = (of_all + tests[test] + "      {\n        if(i == 4)\n        {\n          goto _LABEL;\n        }\n        sum = sum + (i * 100 + 1);\n"
                              f"      }}\n#line 5 \"a.upc\"\n      _LABEL :;\n#line 5 \"a.upc\"\n      i = i + {step};\n    }}\n").replace("_LABEL", f"_{len(loops)}")
                    private = of_all + f"      if (i % (int)upcr_threads() == MYTHREAD && i != 4) want += i * 100 + 1;\n      i = i + {step};\n    }}\n"
                    loops.append(f"  {{\n    {kind} i = 99, j; sum = 0; want = 0;\n    (*((_INT32 *) UPCR_TLD_ADDR( upcr_forall_control ))) = 1;\n"
                                 f"#line 2 \"a.upc\"\n{of_own}    (*((_INT32 *) UPCR_TLD_ADDR( upcr_forall_control ))) = 0;\n    j = i;\n"
                                 f"{private}    if (sum != want || i != j) wrong++;\n  }}\n")
        text = self.folder / "berkeley.trans.c"
        text.write_text("#include \"upcr.h\"\n#include \"upcr_proxy.h\"\n#define UPCR_SHARED_SIZE_ 16\n#define UPCR_PSHARED_SIZE_ 16\n"
                        "upcr_pshared_ptr_t a;\nvoid UPCRI_ALLOC_b(void) {\nupcr_startup_pshalloc_t info[] = {\n"
                        "UPCRT_STARTUP_PSHALLOC(a, 4, 40, 1, 4, \"R1_i\"), };\nupcr_startup_pshalloc(info, 1);\n}\nvoid UPCRI_INIT_b(void) {\n}\n"
                        "int twice(int n) {\n  return 2 * n;\n}\nint user_main() {\n  int n = 13, lo = 1, wrong = 0, c, t, m;\n"
                        "  long sum = 0, want = 0;\n  upcr_pshared_ptr_t p;\n" + "".join(loops) +
                        '  printf("%d wrong\\n", wrong);\n  fflush(stdout);\n  upcr_barrier(0, 1);\n  return wrong;\n}\n')
        self.assertEqual(self.loops_from_own_to_own("berkeley", text), strided)
        for ranks in 1, 3:
            done = self.job(ranks, "berkeley")
            self.assertEqual((done.returncode, done.stdout), (0, "0 wrong\n" * ranks), done.stderr)

    def test_walks_have_the_iterations_of_loops_over_all_elements(self):
        # Of blocks, and of more affinities: walks.py says which.
        seed, loops = 1, 80
        text = self.folder / f"walks_{seed}.trans.c"
        program, expected = walks.program(seed, loops)
        text.write_text(program)
        made = self.folder / "walks.o"
        self.assertEqual(self.loops_from_own_to_own(made, text, "-c", "-DUPCRI_SETS_JOB", "-fwrapv"), expected)
        root = HERE.parent.parent
        done = subprocess.run([CC, "-std=gnu11", "-O1", "-D_GNU_SOURCE", "-DUPCRI_SETS_JOB", "-I", root, "-I", self.prefix / "include", "-o",
                               self.folder / "walks", root / "upc_runtime/library/forall.c", made, "-Wl,--defsym=main=user_main"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = subprocess.run([self.folder / "walks", str(seed)], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, "0 different\n"))

    def test_a_body_that_changes_its_loop_has_all_elements(self):
        # With one thread such a body is right; more than one have each their own loop.
        loops = []
        for change in "n--", "n = 3", "i += 2", "change(&n)", "{ int *p = &n; (*p)--; }", "k++":
            loops.append(f"n = 13; k = 2; sum = want = 0; upc_forall (i = 0; i < n; i++; &a[i + k]) {{ sum += i + 1; {change}; }} "
                         f"n = 13; k = 2; for (j = 0; j < n; j++) if ((j + k) % THREADS == MYTHREAD) "
                         f"{{ want += j + 1; {change.replace('i +=', 'j +=')}; }} if (sum != want || i != j) wrong++;\n")
        text = self.folder / "changes.upc"
        text.write_text("#include <upc.h>\n#include <stdio.h>\nshared int a[40 * THREADS];\nvoid change(int* n) {\n  *n = 5;\n}\n"
                        "int main(int argc, char** argv) {\n  int i, j, k, n, wrong = 0;\n  long sum, want;\n" + "".join(loops) +
                        '  printf("%d wrong\\n", wrong);\n  fflush(stdout);\n  return wrong;\n}\n')
        self.assertEqual(self.loops_from_own_to_own("changes", text), 0)
        for ranks in 1, 3:
            self.assertEqual(self.job(ranks, "changes").stdout, "0 wrong\n" * ranks)

    def test_a_loop_may_go_to_the_end_of_its_type(self):
        text = self.folder / "far.upc"
        text.write_text("#include <upc.h>\nint main(int argc, char** argv) {\n  int i, n = 2147483647;\n"
                        "  upc_forall (i = 2147483600; i < n; i++; i) { argc = argc + 1; }\n  return i == n && argc == 48 ? 0 : 9;\n}\n")
        self.assertEqual(self.loops_from_own_to_own("far", text), 1)
        self.assertEqual(self.job(1, "far").returncode, 0)

    def test_a_program_may_end_in_its_middle(self):
        text = self.folder / "leave.trans.c"
        text.write_text('#include "upcr.h"\nint user_main(int argc, char** argv) {\n'
                        "  if (argc > 1) exit(atoi(argv[1]));\n"
                        "  if (MYTHREAD == 1) upcr_global_exit(5);\n  upcr_barrier(0, 1);\n  return 0;\n}\n")
        self.compile("-o", "leave", text)
        self.assertEqual(self.job(2, "leave").returncode, 5)
        self.assertEqual(self.job(2, "leave", "4").returncode, 4)

    def test_it_is_compiled_in_steps(self):
        self.compile("--translate", HERE / "histogram.upc")
        text = self.folder / "histogram.trans.c"
        self.assertIn("UPCR_PUT_SHARED", text.read_text())
        for threads, other in (3, 1), (2, 3):
            self.compile("-c", "-T", threads, text)
            self.compile("-o", "in_steps", self.folder / "histogram.trans.o", "-lm")
            self.one_line(self.job(other, "in_steps"), "histogram_upc",
                          f"compiled for {threads} threads", f"the job has {other}")
        self.assertEqual(self.job(2, "in_steps").returncode, 0)

    def test_what_has_no_room_is_named(self):
        giant = self.folder / "giant.upc"
        giant.write_text("#include <upc.h>\nshared [] long giant[100000000000];\nint main() { giant[0] = 1; return 0; }\n")
        self.compile("-o", "giant", giant)
        self.one_line(self.job(1, "giant"), "giant = ", "WEFT_HEAP_SIZE")

    def test_a_compiler_has_its_variables_in_shared_memory(self):
        compiler = self.folder / "clang-upc"
        compiler.write_text(COMPILER.replace("CC", CC))
        compiler.chmod(0o755)
        (self.folder / "by_hand.upc").write_text(COMPILED)
        self.compile("-o", "by_hand", self.folder / "by_hand.upc", translator="./clang-upc")
        done = self.job(4, "by_hand", hosts=2)
        self.assertEqual((done.returncode, done.stdout), (0, "compiled, 4 threads, 0\n"), done.stderr)
        self.compile("-T", "4", "-o", "of_four", self.folder / "by_hand.upc", translator="./clang-upc")
        self.one_line(self.job(2, "of_four"), "the program = compiled for 4 threads", "the job has 2")

    def test_without_weftcc(self):
        self.compile("--translate", "-o", "plain.c", HERE / "histogram.upc")
        text = (self.folder / "plain.c").read_text()
        text = re.sub(r'#include.*(whirl2c|upcr_preinclude|weft-upc).*\n', "", text).replace("upcr_geninclude/", "")
        (self.folder / "plain.c").write_text(text + "UPCR_UNIT(histogram_upc, 3, 6, 0)\n")
        (self.folder / "main.c").write_text("#include <upcr_main.h>\n")
        path = next(self.prefix.rglob("weft-upc.pc")).parent
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "weft-upc"], check=True, capture_output=True, text=True,
                               env=dict(os.environ, PKG_CONFIG_PATH=str(path))).stdout.strip()
        subprocess.run(f"{CC} -Dmain=user_main -c plain.c {flags} && {CC} -o plain main.c plain.o {flags}", shell=True,
                       check=True, cwd=self.folder)
        (self.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.16)\nproject(p C)\nfind_package(weft REQUIRED COMPONENTS upc)\n"
            "add_executable(by_cmake main.c plain.c)\ntarget_link_libraries(by_cmake weft::upc)\n"
            "set_source_files_properties(plain.c PROPERTIES COMPILE_DEFINITIONS main=user_main)\n")
        for command in (["cmake", "-S", ".", "-B", "built", f"-DCMAKE_PREFIX_PATH={self.prefix}"], ["cmake", "--build", "built"]):
            done = subprocess.run(command, cwd=self.folder, env=dict(os.environ, CC=CC), capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for program in ("plain", "built/by_cmake"):
            done = subprocess.run([self.folder / program], capture_output=True, text=True, timeout=60)
            self.assertIn("1 threads", done.stdout, done.stderr)

    def test_what_it_cannot_do_it_says_in_a_line(self):
        upc = HERE / "histogram.upc"
        self.one_line(self.weftcc(upc, STUB_VERSION="4.0"), "version 4.0", "3.0 to 3.14")
        self.one_line(self.weftcc(upc, STUB_VERSION="3.15"), "version 3.15")
        self.one_line(self.weftcc(upc, STUB_POINTER="8"), "of 8 bytes")
        self.one_line(self.weftcc(upc, translator="/nowhere/upc2c"), "/nowhere/upc2c", "WEFT_UPC_TRANSLATOR")
        self.one_line(self.weftcc("-T", "none", upc), "-T none")
        self.one_line(self.weftcc("absent.upc"), "absent.upc")
        self.one_line(self.weftcc(), "no files")
        for option in "-E", "-shared", "-x":
            self.one_line(self.weftcc(option, upc), option, "--translate")
        self.one_line(self.weftcc(upc, "-include"), "-include: needs a value")
        self.one_line(self.weftcc(upc, "-o", "no/where"), "-o no/where", "no directory no")
        self.one_line(self.weftcc(self.folder), "is a directory")
        self.one_line(self.weftcc("-o", "pre fix", upc), "is a directory")
        self.one_line(self.weftcc(upc, CC="nocc"), "nocc", "set CC")
        self.one_line(self.weftcc(upc, TMPDIR="/nowhere"), "/nowhere", "TMPDIR")
        (self.folder / "again").mkdir()
        shutil.copy(upc, self.folder / "again")
        self.one_line(self.weftcc(upc, "again/histogram.upc"), "again/histogram.upc", "two files have the name histogram_upc")
        (self.folder / "of_c.c").write_text("int f(void) {\n  return 1;\n}\n")
        self.one_line(self.weftcc("of_c.c"), "no file has a main")
        self.one_line(self.weftcc("--translate", "of_c.c"), "of_c.c")
        self.one_line(self.weftcc("-c", "pre fix/bin/weftcc"), "neither .upc nor .c")
        if not any(map(shutil.which, ("clang-upc2c", "upc2c", "upcc", "clang-upc", "gupc"))):
            self.one_line(self.weftcc(upc, translator=""), "no UPC translator or compiler is installed")
        self.assertIn("usage: weftcc", self.weftcc("--help").stdout)
        self.assertIn("runtime specification 3.14", self.weftcc("--version").stdout)

    def test_translators_of_all_kinds(self):
        upc = self.folder / "small test.upc"
        upc.write_text("#include <upc.h>\nshared int x[THREADS];\nint main() {\n  x[MYTHREAD] = 1;\n  return 0;\n}\n")
        # In a folder with a blank in its name, and by a path that is not whole.
        for name, body, words in (("upc2c", f'exec {TRANSLATOR} "$@"', None), ("warns_upc2c", f'echo "a warning" >&2; exec {TRANSLATOR} "$@"', None),
                                  ("upcc", f'for file; do :; done; exec {TRANSLATOR} -o "$(basename "$file" .upc).trans.c" "$file"', None),
                                  ("fails", "exit 3", "failed"), ("dies", "kill -9 $$", "failed"), ("makes_nothing", "exit 0", "has made no text of it"),
                                  ("upcc_of_nothing", "exit 0", "has made no text of it"),
                                  ("makes_other", 'while [ "$1" != -o ]; do shift; done; echo "int x;" >"$2"', "no translated UPC")):
            tool = self.folder / "of others" / name
            tool.parent.mkdir(exist_ok=True)
            tool.write_text("#!/bin/sh\n" + body + "\n")
            tool.chmod(0o755)
            done = self.weftcc("-o", "small", "-include", "stdio.h", "-MD", "-MF", "small.d", upc, translator=f"./of others/{name}")
            if words:
                self.assertEqual((done.returncode, done.stderr.count("weftcc: ")), (1, 1), done.stderr)
                self.assertIn("small test.upc: ", done.stderr)
                self.assertIn(words, done.stderr)
            else:
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(self.job(1, "small").returncode, 0)
        self.compile("--translate", "-o", "of another name.c", upc)
        self.compile("-o", "small", "of another name.c", "-Xlinker", "--as-needed")
        self.assertEqual(self.job(1, "small").returncode, 0)

    def test_the_library_has_the_functions_of_the_language(self):
        # What the language declares is declared, or a macro, where translated text is compiled.
        include = ["-I", self.prefix / "include"]
        expand = lambda text, *more: subprocess.run([CC, "-std=gnu11", "-E", *more, *include, "-x", "c", "-"], input=text,
                                                    check=True, capture_output=True, text=True).stdout
        language = expand("#define shared\n#include <weft-upc/upc_language.h>\n", "-P")
        declared = set(re.findall(r"\bextern [^;(]*?\b(\w+)\(", language))
        self.assertGreater(len(declared), 250)
        names = "#include <upcr.h>\n"
        known = set(re.findall(r"\b(\w+)\s*\(", expand(names, "-P")))
        known |= set(re.findall(r"^#define (\w+)", expand(names, "-dM"), re.M))
        self.assertEqual(sorted(declared - known), [])

    def test_the_language_has_the_constants_of_the_library(self):
        # One name with two values is an error.
        source = '#include <upc_types.h>\n#include <upc_atomic.h>\n#include <upc_castable.h>\n#undef WEFT_EXPORT\n'
        constants = (self.prefix / "include/weft-upc/upc_language.h").read_text()
        source += "\n".join(line for line in constants.splitlines() if re.match(r"#define UPC_|#define WEFT_REPRO", line))
        subprocess.run([CC, "-std=c11", "-Werror", "-fsyntax-only", "-I", self.prefix / "include", "-x", "c", "-"],
                       input=source + "\n", check=True, text=True)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
