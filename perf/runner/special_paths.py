# SPDX-License-Identifier: BSD-3-Clause
"""The special paths of the engine, as engine/special_paths.hpp lists them, and for each the case that it is for."""
import difflib
import os
import re
import textwrap
from dataclasses import dataclass

from . import builds
from .shapes import Shape

HEADER = os.path.join(builds.ROOT, "engine", "special_paths.hpp")
LISTED = re.compile(r'^// (?P<sentence>.*)\ninline const path (?P<name>\w+)\("(?P=name)"\);', re.MULTILINE)


@dataclass(frozen=True)
class Case:
    """A bench of the driver, between two ranks of one host or between hosts."""
    bench: str
    op: str
    bytes: int
    shape: Shape | None = None

    @property
    def np(self):
        return self.shape.np if self.shape else 2

    def __str__(self):
        size = f"{self.bytes // 1024} KiB" if self.bytes >= 1024 else f"{self.bytes} B"
        place = f"{self.shape.hosts} hosts of {self.shape.per_host}" if self.shape else "np=2"
        return f"{self.bench} {self.op} {size}, {place}"


PAIR = Shape(2, 1)
CASES = {
    "settled_steps": Case("blocking", "exchange", 8),
    "recent_plans": Case("post", "exchange", 8),
    "straight": Case("blocking", "exchange", 8),
    "single_steps": Case("completion", "exchange", 8),
    "own_pieces": Case("blocking", "exchange", 16384),
    "gate_later": Case("blocking", "exchange", 8, Shape(2, 2)),
    "push": Case("blocking", "exchange", 262144, PAIR),
    "relays": Case("blocking", "broadcast", 8, Shape(16, 1)),  # from so many on it is what is estimated to be cheapest
    "bundles": Case("blocking", "exchange", 8, Shape(2, 8)),  # the same
}


def listed():
    """{name: sentence}, in the order of the header."""
    with open(HEADER, encoding="utf-8") as file:
        return {found["name"]: found["sentence"] for found in LISTED.finditer(file.read())}


def unknown(name):
    """What to say of a name that is none."""
    names = list(listed())
    nearest = difflib.get_close_matches(name, names, n=3, cutoff=0.4) or names
    return f"'{name}' is no special path, the nearest: {', '.join(nearest)}; --ablate --list lists all"


def described():
    """All of them, with their sentences and cases."""
    return "".join(f"{name}\n" + textwrap.indent(textwrap.fill(sentence, 116), "    ") + f"\n    {CASES[name]}\n"
                   for name, sentence in listed().items())
