#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that folders include each other one way only, that no template calls members of objects of a folder that it may
not include, that no header includes itself through others, that no source file has grown too long, and that each names
its licence.

usage: check_includes.py ROOT
"""

import os
import re
import sys
from pathlib import Path

LIBRARY = ("api", "engine", "include", "malloc", "mpi", "pmix_boot", "progress", "testing", "tools", "upc_runtime", "verify")
LAYERED = (*LIBRARY, "examples", "perf")
MAX_LINES = 400
SOURCES = (".c", ".cpp", ".h", ".hpp", ".py", ".sh", ".cmake")
SKIPPED = {"build", ".git"}
LICENCE = "SPDX-License-Identifier: BSD-3-Clause"

# Headers of other projects. What is in none of these groups is the system's or the standard library's.
LIBRARIES = {
    "ucx": r"(ucp|ucs|uct|ucm)/",
    "pmix": r"pmix",
    "fmt": r"(spdlog|fmt)/",
    "mpi": r"mpi\.h",
    "cli": r"CLI/",
    "json": r"nlohmann/",
    "fftw": r"fftw3",
    "tests": r"(gtest|gmock|benchmark)/",
}

SUPPORT = "engine"
PLANS = f"{SUPPORT} engine/topology engine/plan engine/operations"
COMPILING = f"{PLANS} engine/collectives"
EXECUTION = f"{COMPILING} engine/memory engine/reductions engine/sorting engine/unequal engine/transport progress/execution"
RUNTIME = (f"{EXECUTION} engine/transport/ucx progress/driving progress/control pmix_boot/client include "
           "api/runtime")
CALLS = f"{RUNTIME} api/checks api/completion"

# Every folder with sources, and what it may include besides itself: folders, and libraries. A file directly in
# engine/ stands for what it includes in turn.
FOLDERS = {
    "include": ("", ""),
    "api/runtime": (RUNTIME, ""),
    "api/checks": (f"{RUNTIME}", ""),
    "api/completion": (f"{RUNTIME} api/checks", ""),
    "api/calls": (CALLS, ""),
    "api/one_sided": (f"{CALLS} api/calls", ""),
    "api/c": (f"{CALLS} api/calls", ""),
    "engine": ("engine/memory engine/topology", ""),
    "engine/topology": ("", ""),
    "engine/plan": ("engine/topology", ""),
    "engine/reductions": ("engine/plan engine/topology include", ""),
    "engine/sorting": ("engine/plan engine/topology engine/reductions include", ""),
    "engine/unequal": ("engine/plan engine/topology", ""),
    "engine/operations": (f"{SUPPORT} engine/topology engine/plan", ""),
    "engine/collectives": (f"{PLANS} engine/memory engine/reductions engine/unequal", ""),
    "engine/memory": (SUPPORT, ""),
    "engine/transport": (f"{SUPPORT} engine/memory", ""),
    "engine/transport/ucx": (f"{SUPPORT} engine/memory engine/transport", "ucx"),
    "progress/execution": (EXECUTION, ""),
    "progress/driving": (EXECUTION, ""),
    "progress/control": (f"{EXECUTION} progress/driving", ""),
    "pmix_boot/client": ("", "pmix"),
    "pmix_boot/launcher": ("pmix_boot/client", "pmix"),
    "testing/simulated": (f"{SUPPORT} engine/memory engine/transport", ""),
    "testing/threads": (f"{SUPPORT} engine/memory engine/transport", ""),
    "verify": (COMPILING, ""),
    "tools": (f"{COMPILING} engine/memory engine/unequal verify engine/transport/ucx progress/execution progress/driving "
              "pmix_boot/client pmix_boot/launcher include api/runtime tools/options", "cli json"),
    "tools/options": ("", "cli"),
    "examples": ("include tools/options", "fftw mpi json fmt"),
    "mpi/include/weft": ("include", "mpi"),
    "upc_runtime/include": ("include upc_runtime/include/upcr upc_runtime/include/weft", ""),
    "upc_runtime/include/upcr": ("include", ""),
    "upc_runtime/include/weft": ("include", ""),
    "upc_runtime/language": ("include", ""),
    "upc_runtime/library": ("include upc_runtime/include upc_runtime/include/upcr upc_runtime/include/weft", ""),
    "malloc": ("", ""),
    "mpi/shim": ("include mpi/include/weft", "mpi"),
    "perf/tests": ("perf/bench", "tests"),
    "perf": ("include", "mpi"),
    "perf/bench": ("include tools/options", "mpi json"),
    "perf/link": ("perf/bench tools/options", "json"),
    "perf/programs": ("perf/bench include tools/options", "json"),
}
# Templates that are given objects of folders above them, on purpose.
UPWARDS = {
    # A kind says side by side what a step means to the verifier and what the executor does.
    "engine/operations": {"progress/execution", "verify"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def folder_of(path):
    """The folder whose rule a file follows, None if the table does not know it."""
    name = path.parent.as_posix()
    if name.startswith(("include/", "examples/")):
        name = path.parts[0]
    return name if name in FOLDERS else None


def source_files(root):
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(set(subfolders) - SKIPPED)
        for name in sorted(names):
            path = Path(folder, name)
            if path.suffix in SOURCES or name == "CMakeLists.txt":
                yield path.relative_to(root)


def resolve(root, includer, name):
    """The project's file that an include names, or None: beside the includer, from the root, or as users see it."""
    for candidate in (includer.parent / name, Path(name), Path("include") / name):
        candidate = Path(os.path.normpath(candidate))
        if candidate == includer:  # weft/mpi.h includes another mpi.h
            continue
        if candidate.parts[0] in LAYERED and (root / candidate).is_file():
            return candidate
    return None


def includes_of(root, path):
    text = (root / path).read_text(encoding="utf-8", errors="replace")
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start(1)) + 1
        yield line, match.group(2)


def reached(root, path, seen):
    """The folders that including this file brings in: its own, and through a file directly in engine/ more."""
    folder = folder_of(path)
    if folder != SUPPORT or path in seen:
        return {folder}
    seen.add(path)
    folders = {folder}
    for _, name in includes_of(root, path):
        target = resolve(root, path, name)
        if target is not None:
            folders |= reached(root, target, seen)
    return folders


def check_include(root, path, folder, name):
    """What is wrong with one include of a file, or None."""
    folders, libraries = (set(words.split()) for words in FOLDERS[folder])
    target = resolve(root, path, name)
    if target is None:
        for library, pattern in LIBRARIES.items():
            if re.match(pattern, name) and library not in libraries:
                return f"{folder} may not include the headers of {library}: <{name}>"
        return None
    forbidden = reached(root, target, set()) - folders - {folder}
    if forbidden:
        via = "" if folder_of(target) in forbidden else f" (through {target})"
        return f"{folder} may not include {', '.join(sorted(map(str, forbidden)))}{via}: {name}"
    return None


TEMPLATE = re.compile(r"\btemplate <([^{};]*?)>\s+(?=[\w\[:])")
DECLARED = re.compile(r"^ +(?!return\b|else\b|throw\b|delete\b|case\b)(?:[\w:<>,&*\[\]]+ )+[&*]?(\w+)(?:\(|;|\{| = )", re.MULTILINE)


def declared_in(root, files):
    """{name: the folders whose headers declare members or functions of that name}."""
    found = {}
    for path in files:
        if path.suffix == ".hpp" and (folder := folder_of(path)) is not None:
            for name in DECLARED.findall((root / path).read_text(encoding="utf-8")):
                found.setdefault(name, set()).add(folder)
    return found


def body_end(text, begin):
    """Behind the braces that open first from there, or where the declaration ends without any."""
    depth = 0
    for at in range(begin, len(text)):
        if text[at] == ";" and depth == 0:
            return at
        depth += (text[at] == "{") - (text[at] == "}")
        if text[at] == "}" and depth == 0:
            return at + 1
    return len(text)


def calls_upwards(root, path, folder, declared):
    """Calls `c.call(...)` and `c.member.call(...)` in a function template, of a parameter `C& c` whose type is one of the
    template, where only folders that this one may not include declare what is named behind the first dot."""
    text = re.sub(r"//[^\n]*", lambda comment: " " * len(comment[0]), (root / path).read_text(encoding="utf-8"))
    allowed = set(FOLDERS[folder][0].split()) | {folder} | UPWARDS.get(folder, set())
    for template in TEMPLATE.finditer(text):
        types = re.findall(r"\b(?:class|typename) (\w+)", template[1])
        whole = text[template.end():body_end(text, template.end())]
        if not types or "(" not in whole.partition("{")[0]:
            continue
        for name in re.findall(rf"\b(?:{'|'.join(types)})&&? (\w+)", whole.partition("{")[0]):
            for call in re.finditer(rf"\b{name}\.(?:template )?(\w+)(?:\.(?:template )?\w+)*(?:<[^;()]*>)?\(", whole):
                of = declared.get(call[1], set())
                if of and not of & allowed:
                    line = text.count("\n", 0, template.end() + call.start()) + 1
                    yield f"{path}:{line}: {folder} may not call {', '.join(sorted(of))}: {call[0]}...)"


def circles(graph):
    """Each circle of a graph {node: {node: where}} once, as a list of its nodes."""
    state, way, found = {}, [], []

    def visit(node):
        state[node] = "open"
        way.append(node)
        for target in graph.get(node, ()):
            if state.get(target) == "open":
                found.append(way[way.index(target):] + [target])
            elif target not in state:
                visit(target)
        way.pop()
        state[node] = "done"

    for node in sorted(graph):
        if node not in state:
            visit(node)
    return found


def check(root):
    """All violations below root, as lines of text."""
    root = Path(root)
    problems, files, folders = [], {}, {}
    declared = declared_in(root, [path for path in source_files(root) if path.parts[0] in LIBRARY])
    for path in source_files(root):
        text = (root / path).read_bytes()
        lines = text.count(b"\n") - text.count(LICENCE.encode(), 0, 100)
        if lines > MAX_LINES:
            problems.append(f"{path}: {lines} lines, at most {MAX_LINES} are allowed: split it by purpose")
        if path.parts[0] not in LAYERED or path.suffix not in (".c", ".cpp", ".h", ".hpp"):
            continue
        folder = folder_of(path)
        if folder is None:
            problems.append(f"{path}: its folder has no rule, add one to {Path(__file__).name}")
            continue
        for line, name in includes_of(root, path):
            problem = check_include(root, path, folder, name)
            if problem:
                problems.append(f"{path}:{line}: {problem}")
            target = resolve(root, path, name)
            if target is not None:
                files.setdefault(path.as_posix(), {})[target.as_posix()] = line
                if folder_of(target) not in (folder, SUPPORT, None) and folder != SUPPORT:
                    folders.setdefault(folder, {})[folder_of(target)] = path
        if path.suffix == ".hpp" and path.parts[0] in LIBRARY:
            problems += calls_upwards(root, path, folder, declared)
    for kind, graph in (("files", files), ("folders", folders)):
        problems += [f"{kind} in a circle: {' -> '.join(circle)}" for circle in circles(graph)]
    return problems


def unlicensed(root):
    """The source files that do not name the licence in their first lines."""
    return [f"{path}: its first lines are to hold '{LICENCE}', in a comment" for path in source_files(Path(root))
            if LICENCE not in "".join((Path(root) / path).read_text(encoding="utf-8").splitlines(True)[:5])]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    problems = check(sys.argv[1]) + unlicensed(sys.argv[1])
    print("\n".join(problems) or "the layers are clean")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
