"""Plots of the stored figures, drawn by gnuplot as SVG."""
import os
import subprocess

import cases
import curve
from measure import BYTES
from store import Figures, load
from shell import CannotMeasure
from table import TITLES

STYLE = """set terminal svg size 760,420 font "sans-serif,13" background "#ffffff"
set border 3 lc "#555555"
set tics nomirror
set grid y lc "#dddddd"
set style fill solid 1.0
"""
COLOURS = {"taskpool": "#1b6ca8", "raw": "#999999"}
RIVAL = "#d98b2b"


def gnuplot(path, text):
    try:
        done = subprocess.run(["gnuplot"], input=f"{STYLE}set output '{path}'\n{text}", stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=60)
    except FileNotFoundError:
        raise CannotMeasure("gnuplot is not installed: run tools/install_packages.sh test") from None
    if done.returncode != 0:
        raise CannotMeasure(f"gnuplot: {done.stdout.strip()}")


# ---- Bars: who does how many -------------------------------------------------------------------------------------------

def labelled(figures, wanted):
    return [(label, key, figures.median(key)) for label, key in wanted if figures.median(key) is not None]


def wanted_bars(name):
    both = cases.writers(name)
    found = [("enqueue\\nraw", cases.key("enqueue", "raw")), ("enqueue\\ntaskpool", cases.key("enqueue", "taskpool")),
             ("lease\\nraw", cases.key("lease", "raw", both)), ("lease\\ntaskpool", cases.key("lease", "taskpool", 2)),
             ("hold\\nraw", cases.key("hold", "raw", both)), ("hold\\ntaskpool", cases.key("hold", "taskpool", both))]
    if name == "postgres":
        found[2:2] = [("enqueue\\ngraphile", cases.key("enqueue", "graphile-worker batch")),
                      ("enqueue\\npg-boss", cases.key("enqueue", "pg-boss 500"))]
        found += [("run\\ngraphile", cases.key("run", "graphile-worker batch", 2)), ("run\\npg-boss", cases.key("run", "pg-boss 500", 4))]
    return found


def draw_throughput(folder, stored):
    rows = labelled(Figures(stored, "batched"), wanted_bars(stored["database"]))
    if not rows:
        return
    data = "\n".join(f'{at} {value:.0f} {int(COLOURS.get(key[1], RIVAL)[1:], 16)} "{label}"'
                     for at, (label, key, value) in enumerate(rows))
    gnuplot(os.path.join(folder, stored["database"] + "-throughput.svg"), f"""$rows << END
{data}
END
set title "{TITLES[stored['database']]}: tasks a second"
set yrange [0:*]
set format y "%'.0f"
set boxwidth 0.7
set key off
plot $rows using 1:2:3:xtic(4) with boxes lc rgb variable
""")


# ---- Lines: how it grows -----------------------------------------------------------------------------------------------

LINES = (("hold", "taskpool", "taskpool, plan hold", 1), ("hold", "raw", "raw, hold", 2),
         ("one", "taskpool", "taskpool, one task a transaction", 3))


def draw_scaling(folder, stored):
    figures = Figures(stored, "scaling")
    blocks, plots = [], []
    for measure, subject, title, number in LINES:
        points = [(count, figures.median((measure, subject, count, BYTES))) for count in cases.CONNECTIONS]
        points = [point for point in points if point[1] is not None]
        if points:
            blocks.append(f"$line{number} << END\n" + "\n".join(f"{x} {y:.0f}" for x, y in points) + "\nEND\n")
            colour = COLOURS[subject] if measure == "hold" else RIVAL
            plots.append(f"$line{number} using 1:2 with linespoints lw 2 pt 7 ps 0.6 lc rgb '{colour}' title '{title}'")
    if plots:
        gnuplot(os.path.join(folder, stored["database"] + "-scaling.svg"), "".join(blocks) + f"""
set title "{TITLES[stored['database']]}: tasks a second by connections"
set logscale xy
set xtics (1, 2, 4, 8, 16)
set xlabel "connections"
set key outside bottom horizontal
plot {", ".join(plots)}
""")


def draw_curve(folder):
    rows = curve.load(folder)
    if not rows:
        return
    lines = {kind: "\n".join(f"{row['idle_statements_per_second']} {row['p50_ms']} {row['p99_ms']} \"{row['ms']} ms\""
                             for row in rows if row["pace"] == kind) for kind in ("fixed", "hot")}
    gnuplot(os.path.join(folder, "latency-curve.svg"), f"""$fixed << END
{lines['fixed']}
END
$hot << END
{lines['hot']}
END
set title "A task every 10 to 40 ms, put in by another process"
set xlabel "statements a second while nothing comes"
set ylabel "from enqueue to handler, ms"
set logscale xy
set xrange [1:3000]
set yrange [1:2000]
set key top right
plot $fixed using 1:2 with linespoints lc "#1b6ca8" pt 7 title "fixed pause, p50", \\
     $fixed using 1:3 with linespoints lc "#1b6ca8" dt 2 pt 6 title "fixed pause, p99", \\
     $fixed using 1:2:4 with labels offset 0,-0.8 font ",10" notitle, \\
     $hot using 1:2 with points lc "#d98b2b" pt 7 title "hot 1 to 16 ms, p50", \\
     $hot using 1:3 with points lc "#d98b2b" pt 6 title "hot 1 to 16 ms, p99"
""")


def draw_all(folder):
    draw_curve(folder)
    for name in cases.DATABASES:
        stored = load(folder, name)
        if stored:
            draw_throughput(folder, stored)
            if "scaling" in stored["cases"]:
                draw_scaling(folder, stored)
