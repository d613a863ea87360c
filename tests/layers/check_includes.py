#!/usr/bin/env python3
"""Checks that the layers include each other one way only, and that no source file has grown too long.

usage: check_includes.py ROOT
"""

import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

MAX_LINES = 600
LAYERED = ("api", "engine", "progress", "pmix_boot")
SOURCES = (".c", ".cpp", ".h", ".hpp", ".py", ".sh", ".cmake")
SKIPPED = {"build", ".git"}

# Headers of other projects. What is in none of these groups is the system's or the standard library's.
LIBRARIES = {
    "ucx": r"(ucp|ucs|uct|ucm)/",
    "pmix": r"pmix",
    "spdlog": r"(spdlog|fmt)/",
    "other": r"(mpi\.h|CLI/|nlohmann/|gtest/|gmock/|benchmark/|fftw3)",
}


@dataclass
class Layer:
    """The layers that a folder may include besides itself, and the libraries."""

    layers: set = field(default_factory=set)
    libraries: set = field(default_factory=lambda: {"spdlog"})


ENGINE_CORE = {"engine", "engine/graph", "engine/team", "engine/memory"}
ENGINE = ENGINE_CORE | {"engine/collectives", "engine/transport", "engine/transport/ucx"}

# A folder stands for what is in it and below it, down to the next folder that is listed. The files directly
# in engine/ belong to the whole engine: who includes one of them answers for what it includes in turn.
LAYERS = {
    "api/public": Layer(libraries=set()),
    "api": Layer(ENGINE | {"api/public", "progress", "pmix_boot"}, {"spdlog", "ucx", "pmix"}),
    "engine": Layer(ENGINE_CORE | {"engine/transport"}),
    "engine/graph": Layer({"engine"}),
    "engine/team": Layer({"engine", "engine/graph", "engine/memory"}),
    "engine/memory": Layer({"engine", "engine/team", "engine/transport"}, {"spdlog", "ucx"}),
    "engine/collectives": Layer(ENGINE_CORE),
    "engine/transport": Layer(ENGINE_CORE),
    "engine/transport/ucx": Layer(ENGINE_CORE | {"engine/transport"}, {"spdlog", "ucx"}),
    "progress": Layer(ENGINE, {"spdlog"}),
    "pmix_boot": Layer(set(), {"spdlog", "pmix"}),
}
SHARED_ROOT = "engine"
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def is_public(path):
    """Whether the file is installed: users see it, so it may lean on nothing that stays behind."""
    parts = path.parts
    for_c = len(parts) == 2 and path.suffix == ".h"
    for_cpp = len(parts) == 3 and parts[1] == "weft" and path.suffix in (".h", ".hpp")
    return parts[0] == "api" and (for_c or for_cpp)


def layer_of(path):
    """The layer of a file, None if it is in none, or if its folder is one that the table does not know."""
    if is_public(path):
        return "api/public"
    parts = path.parts
    # A folder of engine/ is a layer of its own and must be in the table; elsewhere the parent's rule holds.
    if parts[0] == "engine" and len(parts) > 2 and "/".join(parts[:2]) not in LAYERS:
        return None
    for length in range(len(parts) - 1, 0, -1):
        if "/".join(parts[:length]) in LAYERS:
            return "/".join(parts[:length])
    return None


def source_files(root):
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(set(subfolders) - SKIPPED)
        for name in sorted(names):
            path = Path(folder, name)
            if path.suffix in SOURCES or name == "CMakeLists.txt":
                yield path.relative_to(root)


def resolve(root, includer, name):
    """The project's file that an include names, or None: beside the includer, from the root, or from api/."""
    for candidate in (includer.parent / name, Path(name), Path("api") / name):
        candidate = Path(os.path.normpath(candidate))
        if candidate.parts[0] in LAYERED and (root / candidate).is_file():
            return candidate
    return None


def includes_of(root, path):
    text = (root / path).read_text(encoding="utf-8", errors="replace")
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start(1)) + 1
        yield line, match.group(2)


def reached(root, path, seen):
    """The layers that including this file brings in: its own, and through a file directly in engine/ more."""
    layer = layer_of(path)
    if layer != SHARED_ROOT or path in seen:
        return {layer}
    seen.add(path)
    layers = {layer}
    for _, name in includes_of(root, path):
        target = resolve(root, path, name)
        if target is not None:
            layers |= reached(root, target, seen)
    return layers


def check_include(root, path, layer, name):
    """What is wrong with one include of a file, or None."""
    rule = LAYERS[layer]
    target = resolve(root, path, name)
    if target is None:
        for library, pattern in LIBRARIES.items():
            if re.match(pattern, name) and library not in rule.libraries:
                return f"{layer} may not include the headers of {library}: <{name}>"
        return None
    forbidden = reached(root, target, set()) - rule.layers - {layer}
    if forbidden:
        via = "" if layer_of(target) in forbidden else f" (through {target})"
        return f"{layer} may not include {', '.join(sorted(map(str, forbidden)))}{via}: {name}"
    return None


def check(root):
    """All violations below root, as lines of text."""
    root = Path(root)
    problems = []
    for path in source_files(root):
        lines = (root / path).read_bytes().count(b"\n")
        if lines > MAX_LINES:
            problems.append(f"{path}: {lines} lines, at most {MAX_LINES} are allowed: split it by purpose")
        if path.parts[0] not in LAYERED or path.suffix not in (".c", ".cpp", ".h", ".hpp"):
            continue
        layer = layer_of(path)
        if layer is None:
            problems.append(f"{path}: its folder is no known layer, add its rule to {Path(__file__).name}")
            continue
        for line, name in includes_of(root, path):
            problem = check_include(root, path, layer, name)
            if problem:
                problems.append(f"{path}:{line}: {problem}")
    return problems


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    problems = check(sys.argv[1])
    print("\n".join(problems) or "the layers are clean")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
