# SPDX-License-Identifier: BSD-3-Clause
"""Who waits for a rank that computes, as a figure and as a table; `found` is {library: {bytes: µs}}."""
import shutil
import subprocess
import sys

# On white and on dark pages the ground is the page's own, so all that is drawn stands out from both.
INK = "#7a7a7a"
COLOURS = {"weft": "#0072b2", "openmpi": "#d55e00", "mpich": "#009e73"}
COMPUTATION = 5000  # µs
TICS = {1: "1 µs", 10: "10 µs", 100: "100 µs", 1e3: "1 ms", 1e4: "10 ms", 1e5: "100 ms", 1e6: "1 s"}
TITLE = "All-to-all: the wait of rank 1 while rank 0 has posted and computes 5 ms"


def size(count):
    return f"{count >> 20} MiB" if count >= 1 << 20 else f"{count >> 10} KiB"


def time(us):
    return f"{us / 1000:.1f} ms" if us >= 1000 else f"{us:.0f} µs"


def table(found, versions):
    """The lines of a table in Markdown, a row for each library."""
    sizes = list(found["weft"])
    yield "| blocks of | " + " | ".join(map(size, sizes)) + " |"
    yield "|---|" + "---|" * len(sizes)
    for library, rows in found.items():
        yield f"| {versions[library]} | " + " | ".join(time(rows[one]) for one in sizes) + " |"


def script(found, names):
    """Gnuplot commands: a group of bars for each size, a bar for each library, on a logarithmic axis."""
    sizes, libraries = list(found["weft"]), list(found)
    values = [value for rows in found.values() for value in rows.values()]
    low = max(tic for tic in TICS if tic <= max(min(values), 1))
    high = min(tic for tic in TICS if tic > max(*values, COMPUTATION))
    group = len(libraries) + 1
    tics, bars, labels = [], [], []
    for g, one in enumerate(sizes):
        for k, library in enumerate(libraries):
            y, value = -(g * group + k), found[library][one]
            tics.append(f"'{names[library]}' {y}")
            bars.append(f"set object rectangle from {low},{y - 0.38:.2f} to {value:g},{y + 0.38:.2f} front "
                        f"fc rgb '{COLOURS[library]}' fs solid 1 noborder")
            labels.append(f"set label '{time(value)}' at {value:g},{y} left offset 0.6,0 front tc rgb '{INK}'")
        middle = -(g * group + (len(libraries) - 1) / 2)
        labels.append(f"set label '{size(one)}' at screen 0.12,first {middle} right tc rgb '{INK}'")
    bottom, height = -(len(sizes) * group - 1), 96 + 24 * len(sizes) * group
    shown = ", ".join(f"'{text}' {tic:g}" for tic, text in TICS.items() if low <= tic <= high)
    return "\n".join([
        "set encoding utf8", f"set terminal svg size 820,{height} font 'sans-serif,14'",
        f"set label '{TITLE}' at screen 0.5,0.94 center tc rgb '{INK}'", "set logscale x 10", f"set xrange [{low:g}:{high:g}]",
        f"set yrange [{bottom}:0.8]", f"set border 1 lc rgb '{INK}'", "set tics nomirror scale 0.5",
        f"set xtics ({shown}) tc rgb '{INK}'", f"set ytics ({', '.join(tics)}) tc rgb '{INK}' scale 0",
        "set lmargin 24", "set rmargin 9", "set tmargin 4", "unset key",
        f"set arrow from {COMPUTATION},{bottom} to {COMPUTATION},0.8 nohead back dt 2 lc rgb '{INK}'",
        f"set label '5 ms' at {COMPUTATION},0.8 center offset 0,0.6 tc rgb '{INK}'",
        *bars, *labels, f"plot {bottom - 9} notitle"]) + "\n"


def draw(found, names, path):
    if shutil.which("gnuplot") is None:
        sys.exit("demo: no gnuplot on this machine, install gnuplot-nox or leave out --plot")
    drawn = subprocess.run(["gnuplot"], input=script(found, names), capture_output=True, text=True, check=True).stdout
    with open(path, "w", encoding="utf-8") as file:
        file.write(drawn.replace("<title>Gnuplot</title>", f"<title>{TITLE}</title>"))
