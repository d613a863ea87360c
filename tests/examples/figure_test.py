# SPDX-License-Identifier: BSD-3-Clause
"""The figure of who waits: that it shows its numbers, can be read on white and on dark, and is the README's table.

figure_test.py SOURCE
"""

import re
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

SOURCE = Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(SOURCE / "examples"))
import figure  # noqa: E402

NAMES = {"weft": "Weft", "openmpi": "Open MPI", "mpich": "MPICH"}
FOUND = {"weft": {16384: 8.2, 4 << 20: 1233.0}, "openmpi": {16384: 4902.0, 4 << 20: 16248.0},
         "mpich": {16384: 0.4, 4 << 20: 6248.0}}


def texts(svg):
    return ["".join(element.itertext()).strip() for element in xml.parse(svg).iter("{http://www.w3.org/2000/svg}text")]


def luminance(colour):
    parts = [int(colour[k:k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


class Figure(unittest.TestCase):
    def test_every_number_is_shown_on_a_ground_that_is_the_pages(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "waits.svg")
            figure.draw(FOUND, NAMES, path)
            shown = texts(path)
            svg = path.read_text(encoding="utf-8")
        for expected in ["8 µs", "1.2 ms", "4.9 ms", "16.2 ms", "0 µs", "6.2 ms", "16 KiB", "4 MiB", *NAMES.values()]:
            self.assertIn(expected, shown)
        self.assertNotIn("Gnuplot", svg.split("<desc>")[0])
        ground = xml.fromstring(svg.encode()).find(".//{http://www.w3.org/2000/svg}rect")
        self.assertTrue(ground is None or ground.get("fill") == "none")

    def test_colours_stand_out_from_white_and_from_dark(self):
        for page in "#ffffff", "#0d1117":
            self.assertGreater(contrast(figure.INK, page), 4)
            for colour in figure.COLOURS.values():
                self.assertGreater(contrast(colour, page), 3)

    def test_the_table_has_a_row_for_each_library(self):
        lines = list(figure.table(FOUND, NAMES))
        self.assertEqual(lines, ["| blocks of | 16 KiB | 4 MiB |", "|---|---|---|", "| Weft | 8 µs | 1.2 ms |",
                                 "| Open MPI | 4.9 ms | 16.2 ms |", "| MPICH | 0 µs | 6.2 ms |"])

    def test_the_readme_shows_the_figure_and_the_same_numbers(self):
        readme = (SOURCE / "README.md").read_text(encoding="utf-8")
        svg = re.search(r"!\[[^]]+\]\((docs/[\w-]+\.svg)\)", readme)
        self.assertIsNotNone(svg, "README.md has no figure")
        shown = [text for text in texts(SOURCE / svg.group(1)) if re.fullmatch(r"[\d.]+ [mµ]s", text)]
        rows = re.search(r"^\| blocks of .*\n\|[-|]+\n((?:\|.*\n)+)", readme, re.MULTILINE).group(1)
        cells = [cell.strip() for row in rows.splitlines() for cell in row.strip("|").split("|")[1:]]
        self.assertEqual(len(rows.splitlines()), len(NAMES))
        for cell in cells:
            self.assertIn(cell, shown, "README.md's table and its figure are of two runs")


if __name__ == "__main__":
    unittest.main()
