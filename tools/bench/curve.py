#!/usr/bin/env -S python3 -B
"""How a worker's pause between claims trades pick-up latency for statements while nothing comes: runs `taskpool bench` on the
database of TASKPOOL_DSN for many pauses, keeps the figures as FOLDER/latency-curve.json and draws them.
usage: curve.py [--program TASKPOOL] [--out FOLDER] [--plot-only]"""
import argparse
import json
import os
import sys

from plots import gnuplot
from shell import ROOT, CannotMeasure, run_json

PAUSE_MS = 20  # between two tasks, half of it to twice
FIXED_MS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
HOT_MS = (1, 2, 4, 8, 16)


def measure(program, kind, ms):
    """One pace's figures: a fixed pause, or one that follows what comes and begins with ms."""
    words = [program, "bench", "--json", "--rounds", "1", "--plan", "skip", "--poll" if kind == "fixed" else "--hot", f"{ms}ms"]
    samples = 200 if kind == "hot" or ms < 50 else max(16, 6000 // ms)
    waits = run_json(words + ["--measure", "latency", "--samples", str(samples), "--pause", f"{PAUSE_MS}ms"])["results"][0]
    idle = run_json(words + ["--measure", "idle", "--idle-time", "5s"])["results"][0]
    return {"pace": kind, "ms": ms, "samples": waits["samples"], **{name: waits[name] for name in ("p50_ms", "p95_ms", "p99_ms", "max_ms")},
            "idle_statements_per_second": idle["statements_per_second"]}


def take_all(program):
    return [measure(program, kind, ms) for kind, list_ms in (("hot", HOT_MS), ("fixed", FIXED_MS)) for ms in list_ms]


def draw(rows, path):
    lines = {kind: "\n".join(f"{row['idle_statements_per_second']} {row['p50_ms']} {row['p99_ms']} \"{row['ms']} ms\""
                             for row in rows if row["pace"] == kind) for kind in ("fixed", "hot")}
    gnuplot(path, f"""$fixed << END
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=os.path.join(ROOT, "build", "release", "taskpool"))
    parser.add_argument("--out", default=os.path.join(ROOT, "docs", "performance"))
    parser.add_argument("--plot-only", action="store_true")
    options = parser.parse_args()
    kept = os.path.join(options.out, "latency-curve.json")
    if not options.plot_only:
        rows = take_all(options.program)
        with open(kept, "w", encoding="utf-8") as file:
            file.write("[\n" + ",\n".join(" " + json.dumps(row) for row in rows) + "\n]\n")
    with open(kept, encoding="utf-8") as file:
        draw(json.load(file), os.path.join(options.out, "latency-curve.svg"))


try:
    main()
except CannotMeasure as error:
    sys.exit(f"curve.py: {error}")
