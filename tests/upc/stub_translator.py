#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A translator of a small part of UPC to C, for the test of weftcc: shared scalars and one-dimensional arrays of any
block size, assignments to them and reads of them, upc_forall by numbers or addresses, upc_barrier.

usage: stub_translator.py [-fupc-threads-N] [-I... -D...] -o FILE.c FILE.upc

STUB_VERSION=A.B is the runtime specification that it says to want, STUB_POINTER the bytes of its pointers-to-shared.
"""

import os
import re
import sys

TYPES = r"int|long|double|unsigned|char"
DECLARATION = re.compile(rf"^shared\s*(?:\[(\w*)\])?\s*({TYPES})\s+(\w+)\s*(?:\[([^\]]+)\])?\s*;", re.M)


def closing(text, start):
    """Where the bracket that opens at start is closed."""
    pairs, depth = {"[": "]", "(": ")"}, 0
    for i in range(start, len(text)):
        depth += (text[i] == text[start]) - (text[i] == pairs[text[start]])
        if depth == 0:
            return i
    sys.exit("stub_translator: a bracket is not closed")


class Variable:
    def __init__(self, block, kind, name, extent):
        self.kind, self.name, self.extent = kind, name, extent
        self.block = "1" if block is None else block or "0"

    def at(self, index):
        size = f"sizeof({self.kind})"
        if self.block == "0":
            return f"UPCR_ADD_PSHAREDI({self.name}, {size}, ({index}))"
        if self.block == "1":
            return f"UPCR_ADD_PSHARED1({self.name}, {size}, ({index}))"
        return f"UPCR_ADD_SHARED({self.name}, {size}, ({index}), {self.block})"

    def allocation(self):
        elements = self.extent or "1"
        by_threads = "THREADS" in elements
        number = re.sub(r"\*?\s*THREADS\s*\*?", "", elements) or "1"
        if self.block == "0":
            block, count = f"({number}) * sizeof({self.kind})", "1"
        else:
            block, count = f"{self.block} * sizeof({self.kind})", f"(({number}) + {self.block} - 1) / {self.block}"
        return f"UPCRT_STARTUP_SHALLOC({self.name}, {block}, {count}, {int(by_threads)}, sizeof({self.kind}), \"\"),"


def find(text, variables):
    """The first use of a shared variable: where it begins and ends, and its place in shared memory."""
    for m in re.finditer(r"\b[A-Za-z_]\w*\b", text):
        v = variables.get(m.group())
        if v is None or (v.extent and text[m.end():m.end() + 1] != "["):
            continue
        end, index = m.end(), "0"
        if v.extent:
            end = closing(text, m.end())
            index = reads(text[m.end() + 1:end], variables)
            end += 1
        return m.start(), end, v, v.at(index)
    return None


def reads(text, variables):
    found = find(text, variables)
    if found is None:
        return text
    begin, end, v, place = found
    if text[:begin].rstrip().endswith("&"):
        return text[:begin].rstrip()[:-1] + place + reads(text[end:], variables)
    value = f"({{ {v.kind} got_; UPCR_GET_SHARED(&got_, {place}, 0, sizeof got_); got_; }})"
    return text[:begin] + value + reads(text[end:], variables)


def statement(text, variables):
    """One that ends in ';': an assignment to shared memory is a put."""
    found = find(text, variables)
    assigned = found and re.match(r"\s*(\+?)=(?!=)(.*);\s*$", text[found[1]:], re.S)
    if not assigned:
        return reads(text, variables)
    begin, end, v, place = found
    right = reads(assigned.group(2), variables)
    if assigned.group(1):
        right = f"{reads(text[begin:end], variables)} + ({right})"
    return f"{text[:begin]}{{ {v.kind} put_ = {right}; UPCR_PUT_SHARED({place}, 0, &put_, sizeof put_); }}"


def forall(text, variables):
    while (m := re.search(r"\bupc_forall\s*\(", text)):
        end = closing(text, m.end() - 1)
        init, condition, step, affinity = (part.strip() for part in text[m.end():end].split(";"))
        place = reads(affinity, variables)
        mine = f"upcr_hasMyAffinity_shared({place})" if affinity.startswith("&") else f"({place}) % THREADS == MYTHREAD"
        text = f"{text[:m.start()]}upcrt_forall_control = 1; for ({init}; {condition}; {step}) if ({mine}){text[end + 1:]}"
    return text


def main():
    output, source = sys.argv[sys.argv.index("-o") + 1], sys.argv[-1]
    with open(source, encoding="utf-8") as file:
        text = file.read()
    variables = {m.group(3): Variable(*m.groups()) for m in DECLARATION.finditer(text)}
    text = forall(DECLARATION.sub("", text), variables)
    text = re.sub(r"\bupc_barrier\s*;", "upcr_barrier(0, UPCR_BARRIERFLAG_ANONYMOUS);", text)
    parts = re.split(r"(?<=[;{}])", text)
    body = "".join(statement(part, variables) if part.endswith(";") else reads(part, variables) for part in parts)
    unit = re.sub(r"\W", "_", os.path.basename(source))
    major, minor = os.environ.get("STUB_VERSION", "3.6").split(".")
    includes = "".join(re.findall(r"^#include.*\n", body, re.M))
    with open(output, "w", encoding="utf-8") as file:
        file.write(f"#include \"upcr.h\"\n#include \"whirl2c.h\"\n#include \"upcr_proxy.h\"\n#define UPCR_WANT_MAJOR {major}\n"
                   f"#define UPCR_WANT_MINOR {minor}\n#include</opt/include/upcr_preinclude/upc_bits.h>\n"
                   "#include \"upcr_geninclude/stdio.h\"\n" + includes.replace("<upc.h>", "<weft-upc/upc.h>"))
        size = os.environ.get("STUB_POINTER", "16")
        file.write(f"#define UPCR_SHARED_SIZE_ {size}\n#define UPCR_PSHARED_SIZE_ {size}\n")
        file.write("".join(f"upcr_shared_ptr_t {v.name};\n" for v in variables.values()))
        file.write(f"void UPCRI_ALLOC_{unit}(void) {{\nupcr_startup_shalloc_t info[] = {{\n")
        file.write("\n".join(v.allocation() for v in variables.values()))
        file.write("\n};\nupcr_startup_shalloc(info, sizeof info / sizeof info[0]);\n}\n")
        file.write(f"void UPCRI_INIT_{unit}(void) {{\n}}\n")
        file.write(re.sub(r"^#include.*\n", "", body, flags=re.M))


if __name__ == "__main__":
    main()
