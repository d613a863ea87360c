"""One SVG per bench and number of ranks, drawn by gnuplot: a panel per operation, a line per library."""
import os
import shutil
import subprocess

from . import report, results


def panel(op, lines):
    """Gnuplot commands of one operation; `lines` is {library: [(bytes, us, q1, q3)]}."""
    blocks = "".join(f"${library} << END\n" + "".join("%d %g %g %g\n" % point for point in points) + "END\n"
                     for library, points in lines.items())
    curves = ", ".join(f"${library} using 1:2:3:4 with yerrorlines title '{library}'" for library in lines)
    return f"{blocks}set title '{op}' noenhanced\nplot {curves}\n"


def script(path, bench, sizes, panels):
    tics = ", ".join(f"'{report.size(bytes)}' {bytes}" for bytes in sizes)
    return (f"set terminal svg size {480 * len(panels)},420\nset output '{path}'\n"
            f"set logscale x 2\nset logscale y 10\nset xtics ({tics})\n"
            f"set xlabel 'bytes per block'\nset ylabel 'us'\nset key top left\n"
            f"set multiplot layout 1,{len(panels)} title '{bench}: {report.TITLES[bench]}' noenhanced\n"
            + "".join(panels) + "unset multiplot\n")


def panels_of(rows):
    operations = {}
    for (op, bytes), row in rows.items():
        if bytes == 0:
            continue
        for library, one in row.items():
            point = (bytes, one["us"], one["q1"], one["q3"])
            operations.setdefault(op, {}).setdefault(library, []).append(point)
    return [panel(op, lines) for op, lines in operations.items()]


def draw(measurements, folder):
    """Writes the plots and yields their paths."""
    if shutil.which("gnuplot") is None:
        raise SystemExit("run_perf: no gnuplot on this machine, install gnuplot-nox or leave out --plot")
    os.makedirs(folder, exist_ok=True)
    for bench, np in dict.fromkeys((one["bench"], one["np"]) for one in measurements):
        rows = results.rows(measurements, bench, np)
        panels = panels_of(rows)
        sizes = sorted({bytes for _, bytes in rows if bytes})
        if panels:
            path = os.path.join(folder, f"{bench}-np{np}.svg")
            subprocess.run(["gnuplot"], input=script(path, bench, sizes, panels), text=True, check=True)
            yield path
