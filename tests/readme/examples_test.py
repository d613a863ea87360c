# SPDX-License-Identifier: BSD-3-Clause
"""The examples of the pages, compiled and run: examples_test.py SOURCE BUILD

What README.md shows of examples/ is what is there; examples/ring.cpp has no target of the build, and is compiled here.
All blocks of C++ of docs/semantics.md are functions of one program of three threads, on one host and on two. An assertion
that does not hold, or an error that no block expects, fails the test.
"""
import os
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```cpp\n(.*?)^```$", re.MULTILINE | re.DOTALL)
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


def compile_and_run(source, build, written, program):
    subprocess.run(["c++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-Wno-unused-variable", "-I",
                    os.path.join(source, "include"), written, "-o", program, "-L", os.path.join(build, "api"),
                    "-lweft", f"-Wl,-rpath,{os.path.abspath(build)}/api"], check=True)
    for hosts in ([], ["--nodes", "2"]):
        subprocess.run([os.path.join(build, "counted", "weft"), "run", "-n", "3", *hosts, program], check=True, timeout=100,
                       stdin=subprocess.DEVNULL)


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
    with open(os.path.join(source, "docs", "semantics.md"), encoding="utf-8") as file:
        text, examples = program_of(file.read())
    if examples < 20:
        sys.exit(f"only {examples} examples were found, there are more")
    with tempfile.TemporaryDirectory() as folder:
        program, written = os.path.join(folder, "examples"), os.path.join(folder, "examples.cpp")
        with open(written, "w", encoding="utf-8") as file:
            file.write(text)
        compile_and_run(source, build, written, program)
        compile_and_run(source, build, os.path.join(source, "examples", "ring.cpp"), os.path.join(folder, "ring"))
    print(f"{examples} examples on one host and on two")


if __name__ == "__main__":
    main(*sys.argv[1:])
