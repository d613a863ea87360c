"""Switches off one mechanism after the other in a copy of the sources, and expects the test that guards it to
fail. A test that passes all the same is a defect, and so is a mutation whose text is no longer there."""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
COPIED = ["api", "cmake", "docs", "engine", "examples", "pmix_boot", "progress", "tests", "tools", "CMakeLists.txt",
          "README.md"]


def copy_sources(to):
    to.mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        source = SOURCE / name
        if source.is_dir():
            shutil.copytree(source, to / name, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copy2(source, to / name)


def run(command, log, **options):
    with log.open("ab") as out:
        return subprocess.run(command, stdout=out, stderr=out, check=False, **options).returncode


def build(where, target, log):
    command = ["cmake", "--build", str(where), "--target", target, "weft_tool"]
    return run(command, log) == 0


def outcome(where, mutation, limit, log):
    """What became of the test: 'fails', 'hangs' or 'passes'."""
    program, *words = mutation["test"]
    built = where / program  # or one of the system's
    command = [str(built) if built.exists() else program, *words]
    try:
        return "passes" if run(command, log, cwd=where, timeout=limit) == 0 else "fails"
    except subprocess.TimeoutExpired:
        return "hangs"


def verdict(sources, where, mutation, limit, log):
    file = sources / mutation["file"]
    good = file.read_text()
    if good.count(mutation["old"]) < 1:
        return "its text is no longer in " + mutation["file"]
    file.write_text(good.replace(mutation["old"], mutation["new"]))
    try:
        if not build(where, mutation["target"], log):
            return "does not compile, see " + str(log)
        return outcome(where, mutation, limit, log)
    finally:
        file.write_text(good)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=pathlib.Path, help="where to copy and build")
    arguments.add_argument("--only", default="", help="only mutations with this in their description")
    arguments.add_argument("--limit", type=float, default=300, help="seconds that a test may take")
    chosen = arguments.parse_args()
    mutations = [m for m in json.loads((HERE / "mutations.json").read_text()) if chosen.only in m["what"]]

    folder = chosen.folder.resolve()
    sources, where, log = folder / "source", folder / "build", folder / "log"
    copy_sources(sources)
    log.write_text("")
    configured = ["cmake", "-S", str(sources), "-B", str(where), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                  "-DWEFT_BUILD_TESTS=ON", "-DWEFT_BUILD_PERF=OFF", "-DWEFT_BUILD_EXAMPLES=OFF"]
    if run(configured, log) != 0:
        sys.exit("cmake could not configure the copy, see " + str(log))

    missed = 0
    for number, mutation in enumerate(mutations, 1):
        begun = time.monotonic()
        found = verdict(sources, where, mutation, chosen.limit, log)
        missed += found not in ("fails", "hangs")
        print(f"[{number}/{len(mutations)}] {mutation['what']}: {found} ({time.monotonic() - begun:.0f} s)", flush=True)
    print(f"{len(mutations) - missed} of {len(mutations)} mutations are found")
    return 1 if missed or not mutations else 0


if __name__ == "__main__":
    sys.exit(main())
