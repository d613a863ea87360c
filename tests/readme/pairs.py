# SPDX-License-Identifier: BSD-3-Clause
"""Programs that stand twice: how many lines each form has, and whether docs/functions.md says so.

Between `// [before: NAME]`, or `// [after: NAME]`, and `// [end]`; blank lines and comments are none. All of what stands
after has 0.55 of the lines of what stands before at most, and neither a cast nor a size in bytes. Mutations that this
catches: a figure of the page; a sizeof in a form after; a form before that is left out.
"""
import os
import re
import sys

SOURCES = ("tests/users/pairs.cpp", "tests/users/pairs_of_work.cpp", "tests/mpi/hybrid.cpp")
FORM = re.compile(r"^// \[(before|after): (\w+)\]\n(.*?)^// \[end\]$", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| .*?`(\w+)` \| (\d+) \| (\d+) \|$", re.MULTILINE)
FORBIDDEN = re.compile(r"\w+_cast\b|\bsizeof\b")
MOST, PROGRAMS = 0.55, 6


def lines(body):
    return sum(1 for line in body.splitlines() if line.strip() and not line.strip().startswith("//"))


def counted(source):
    """{program: {form: lines}}"""
    found = {}
    for path in SOURCES:
        with open(os.path.join(source, path), encoding="utf-8") as file:
            for form, name, body in FORM.findall(file.read()):
                if form == "after" and (word := FORBIDDEN.search(body)):
                    sys.exit(f"{path}: {name}, the form after has a {word[0]}")
                found.setdefault(name, {})[form] = lines(body)
    return found


def compare(source):
    found = counted(source)
    if len(found) != PROGRAMS or any(set(forms) != {"before", "after"} for forms in found.values()):
        sys.exit(f"{PROGRAMS} programs stand twice, found were {found}")
    found["all"] = {form: sum(forms[form] for forms in found.values()) for form in ("before", "after")}
    for name, forms in found.items():
        print(f"{name:10}{forms['before']:5}{forms['after']:5}{forms['after'] / forms['before']:7.2f}")
    if found["all"]["after"] > MOST * found["all"]["before"]:
        sys.exit(f"the forms after have more than {MOST} of the lines of those before")
    with open(os.path.join(source, "docs", "functions.md"), encoding="utf-8") as file:
        page = {name: {"before": int(before), "after": int(after)} for name, before, after in ROW.findall(file.read())}
    if page != found:
        sys.exit(f"docs/functions.md says {page}, counted were {found}")


if __name__ == "__main__":
    compare(sys.argv[1])
