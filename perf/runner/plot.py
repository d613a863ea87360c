# SPDX-License-Identifier: BSD-3-Clause
"""One SVG per bench and number of ranks, drawn by gnuplot: a panel per operation, a line per library."""
import os
import shutil
import subprocess

from . import report, results

# Okabe and Ito's colours, which no reader confuses; marks and dashes keep apart what lies on each other.
STYLES = {"weft": "lc rgb '#0072B2' pt 7", "openmpi": "lc rgb '#E69F00' pt 4", "mpich": "lc rgb '#009E73' pt 8 dt 2",
          "openmpi-ucx": "lc rgb '#CC79A7' pt 6 dt 3", "limit": "lc rgb '#000000' pt 0 dt 4",
          "perftest": "lc rgb '#D55E00' pt 12 dt 5"}
WIDTH, KEY_WIDTH = 1000, 135
PANEL_HEIGHT, MARGINS_HEIGHT = 230, 130


def layout(count):
    """Rows and columns of so many panels."""
    return (1, count) if count <= 3 else (-(-count // 3), 3)


def decade(value, up):
    """The power of ten that is next to a positive value, so that panels end at a labelled line."""
    power = 1e-3
    while power * 10 <= value:
        power *= 10
    return power * 10 if up and power < value else power


def variable(library):
    return library.replace("-", "_")


def block(library, points):
    return f"${variable(library)} << END\n" + "".join("%d %g %g %g\n" % point for point in points) + "END\n"


def curve(library):
    return (f"${variable(library)} using 1:2:3:4 with yerrorlines title '{report.NAMES[library]}' {STYLES[library]} "
            "ps 0.7 lw 2")


def panel(op, lines, place, columns, last, tics, legend):
    """Gnuplot commands of one operation; `lines` is {library: [(bytes, us, q1, q3)]}. All panels have the same axes:
    only those at the left and at the bottom are labelled. The legend stands beside the first row."""
    row, column = place
    first = column == 0
    labels = f"set format y '{'%g' if first else ''}'\nset ylabel '{'µs' if first else ''}'\n"
    labels += f"set xtics ({tics})\nset xlabel '{'bytes per block' if last else ''}'\n"
    key = "unset key\n"
    if (row, column) == (0, columns - 1):
        key = f"set key at screen {legend[0]:.3f},{legend[1]:.3f} Left reverse left top samplen 2\n"
    return (labels + key + f"set title '{op}' noenhanced offset 0,-0.6\n"
            + "".join(block(library, points) for library, points in lines.items())
            + "plot " + ", ".join(curve(library) for library in lines) + "\n")


def tics(sizes, labelled):
    return ", ".join(f"'{report.size(bytes) if labelled else ''}' {bytes}" for bytes in sizes)


def script(path, title, operations, terminal="svg"):
    """`operations` is {op: {library: [(bytes, us, q1, q3)]}}."""
    rows, columns = layout(len(operations))
    points = [point for lines in operations.values() for of in lines.values() for point in of]
    sizes = sorted({point[0] for point in points})
    low, high = decade(min(point[2] for point in points), False), decade(max(point[3] for point in points), True)
    width = WIDTH if columns == 3 else KEY_WIDTH + 80 + 300 * columns
    height = MARGINS_HEIGHT + PANEL_HEIGHT * rows
    right, top = 1 - KEY_WIDTH / width, 1 - 70 / height
    text = (f"set encoding utf8\nset terminal {terminal} size {width},{height} font 'sans,14'\nset output '{path}'\n"
            f"set logscale x 2\nset logscale y 10\n"
            f"set xrange [{sizes[0] / 2}:{sizes[-1] * 2}]\nset yrange [{low}:{high}]\n"
            "set grid ytics lc rgb '#dddddd' lw 1\nset tics nomirror\nset border 3\n"
            f"set multiplot layout {rows},{columns} title '{title}' noenhanced font 'sans,16' "
            f"margins {75 / width:.3f},{right:.3f},{60 / height:.3f},{top:.3f} "
            f"spacing {20 / width:.3f},{45 / height:.3f}\n")
    for number, (op, lines) in enumerate(operations.items()):
        last = number + columns >= len(operations)
        text += panel(op, lines, divmod(number, columns), columns, last, tics(sizes, last), (right + 10 / width, top))
    return text + "unset multiplot\n"


def operations_of(rows):
    operations = {}
    for (op, bytes), row in rows.items():
        for library, one in row.items() if bytes else ():
            operations.setdefault(op, {}).setdefault(library, []).append((bytes, one["us"], one["q1"], one["q3"]))
    return operations


def draw(measurements, folder, place=""):
    """Writes the plots of one place, independence first, and yields their paths."""
    if shutil.which("gnuplot") is None:
        raise SystemExit("run_perf: no gnuplot on this machine, install gnuplot-nox or leave out --plot")
    os.makedirs(folder, exist_ok=True)
    suffix, where = (f"-{place.replace(', ', '-').replace(' ', '-')}", f" on {place}") if place else ("", "")
    for bench, np in report.parts(measurements):
        operations = operations_of(results.rows(measurements, bench, np))
        if operations and bench in report.SHORT_TITLES:
            path = os.path.join(folder, f"{bench}-np{np}{suffix}.svg")
            title = f"{bench}, {np} ranks{where}: {report.SHORT_TITLES[bench]}"
            subprocess.run(["gnuplot"], input=script(path, title, operations), text=True, check=True)
            yield path
