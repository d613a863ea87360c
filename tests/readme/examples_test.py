# SPDX-License-Identifier: BSD-3-Clause
"""The examples of the pages, compiled and run: examples_test.py SOURCE BUILD

What README.md shows of examples/ is what is there. All blocks of C++ of docs/semantics.md are functions of one program of
three threads, on one host and on two. An assertion that does not hold, or an error that no block expects, fails the test.
Each block of docs/tutorial.md and docs/recipes.md is a whole program of four ranks, in turns on one host and on two: it ends
with status 0, and prints what the block of text below it says, in any order of its lines. The last of the tutorial is
traced, and examples/who_waited.py draws the trace. The lines of programs that stand twice are those of docs/functions.md
(pairs.py).
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import pairs

BLOCK = re.compile(r"^```cpp\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROGRAM = re.compile(r"^```cpp\n([^`]*?int main\([^`]*?)^```$(?:(?:(?!```|^#).)*?^```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
TIME = re.compile(r"[0-9.]+ ms")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
HEAD = """#undef NDEBUG
#include <cassert>
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>
#include <weft/weft.hpp>

"""


def program_of(page):
    """Its first block is at hand in all others."""
    found = [(HEADING.findall(page[: block.start()])[-1], block.group(1)) for block in BLOCK.finditer(page)]
    (_, common), *examples = found
    text = HEAD + "namespace {\n" + common
    for number, (_, body) in enumerate(examples):
        text += f"void example_{number}() {{\n{body}}}\n"
    calls = "".join(f'    what = "{heading}";\n    example_{number}();\n' for number, (heading, _) in enumerate(examples))
    text += ("} // namespace\n\nint main() {\n  weft_init(nullptr, nullptr);\n  const char* what = \"\";\n  try {\n" + calls +
             "  } catch (const weft::error& e) {\n    std::fprintf(stderr, \"%s: %s\\n\", what, e.what());\n    return 1;\n  }\n"
             "  weft_finalize();\n}\n")
    return text, len(examples)


def compiled(source, build, text, program):
    """False: its MPI is not on this machine."""
    compiler = "mpicxx.openmpi" if "weft/mpi.h" in text else "c++"
    if not shutil.which(compiler):
        return False
    with open(program + ".cpp", "w", encoding="utf-8") as file:
        file.write(text)
    subprocess.run([compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-Wno-unused-variable", "-I",
                    os.path.join(source, "include"), "-I", os.path.join(source, "mpi", "include"), program + ".cpp", "-o", program, "-L", os.path.join(build, "api"),
                    "-lweft", f"-Wl,-rpath,{os.path.abspath(build)}/api", *(["-fopenmp"] if "omp.h" in text else []),
                    *(["-DOMPI_SKIP_MPICXX"] if "weft/mpi.h" in text else [])], check=True)
    return True


def run(build, ranks, hosts, program, launcher="weft", **environment):
    command = {"weft": ["run", "-n", str(ranks), "--nodes", str(hosts)], "mpirun": ["-n", str(ranks)]}[launcher]
    return subprocess.run([os.path.join(build, "counted", launcher), *command, program], check=True, timeout=100, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=os.environ | environment).stdout


def follow(source, build, name, folder):
    """Compiles and runs the programs of a page: how many. The last leaves its trace in the folder."""
    with open(os.path.join(source, "docs", name), encoding="utf-8") as file:
        programs = PROGRAM.findall(file.read())
    written = [os.path.join(folder, f"{name}.{k}") for k in range(len(programs))]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        there = list(pool.map(lambda k: compiled(source, build, programs[k][0], written[k]), range(len(programs))))
    for k, (text, wanted) in enumerate(programs):
        if not there[k]:
            print(f"left out: program {k + 1} of {name}, its MPI is not here")
            continue
        said = run(build, 4, 1 + k % 2, written[k], "mpirun" if "weft/mpi.h" in text else "weft",
                   **({"WEFT_TRACE": os.path.join(folder, "job.json")} if k + 1 == len(programs) else {}))
        if sorted(TIME.sub("", said).splitlines()) != sorted(TIME.sub("", wanted).splitlines()):
            sys.exit(f"program {k + 1} of {name} prints\n{said}and the page says\n{wanted}")
    return len(programs)


def draw(source, folder):
    drawn = subprocess.run([sys.executable, "-B", os.path.join(source, "examples", "who_waited.py"),
                            f"depth 2={folder}/job.json"], check=True, text=True, stdout=subprocess.PIPE).stdout
    with open(os.path.join(source, "docs", "who_waited.svg"), encoding="utf-8") as file:
        shown = file.read()
    for picture in (drawn, shown):
        rows = [text.text for text in xml.etree.ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")]
        if not {"rank 0", "rank 3", "waits"} <= set(rows):
            sys.exit(f"who_waited.py has drawn {rows}")


def compare_with_readme(source):
    with open(os.path.join(source, "README.md"), encoding="utf-8") as file:
        page = file.read()
    for name in re.findall(r"\[examples/(\w+\.cpp)\]", page):
        with open(os.path.join(source, "examples", name), encoding="utf-8") as file:
            licence, shown = file.read().split("\n", 1)
            if "SPDX" not in licence or f"```cpp\n{shown}```" not in page:
                sys.exit(f"README.md shows another examples/{name} than is there")


def main(source, build):
    compare_with_readme(source)
    pairs.compare(source)
    with open(os.path.join(source, "docs", "semantics.md"), encoding="utf-8") as file:
        text, examples = program_of(file.read())
    if examples < 20:
        sys.exit(f"only {examples} examples were found, there are more")
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "examples")
        compiled(source, build, text, program)
        for hosts in (1, 2):
            run(build, 3, hosts, program)
        steps = follow(source, build, "tutorial.md", folder)
        draw(source, folder)
        recipes = follow(source, build, "recipes.md", folder)
    if steps < 7 or recipes < 6:
        sys.exit(f"only {steps} steps and {recipes} recipes were found, there are more")
    print(f"{examples} examples, {steps} steps and {recipes} recipes")


if __name__ == "__main__":
    main(*sys.argv[1:])
