#!/usr/bin/env -S python3 -B
"""Keeps what tools/flat printed (files that tools/flat.sh leaves in $TP_SCRATCH/flat) in docs/performance/flat.json, and makes the table
in docs/performance.md and the plots from all that is kept there. Without a file: table and plots alone."""
import argparse
import json
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
from page import TITLES, table  # noqa: E402
from plots import gnuplot  # noqa: E402
from shell import ROOT  # noqa: E402

NAMES = {**TITLES, "mysql": "MySQL", "oramode": "MariaDB, Oracle's SQL"}
PLANS = {"postgres": "skip", "mariadb": "skip", "mysql": "skip", "sqlite": "batch", "oramode": "skip"}
SIZES = (0, 10_000, 100_000, 1_000_000, 10_000_000)
KEPT = os.path.join(ROOT, "docs", "performance", "flat.json")
PAGE = os.path.join(ROOT, "docs", "performance.md")
BEGIN, END = "<!-- flat: made by tools/flat/growth.py -->\n", "<!-- end of flat -->"


def read(paths, kept):
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                part = line.rstrip("\n").split("\t")
                if len(part) == 7 and part[4] == "claim":
                    entry, scene, size, plan, _, rows, buffers = part
                    kept.setdefault(entry, {}).setdefault(scene, {}).setdefault(plan, {})[size] = [int(rows), int(buffers)]


def ratio(sizes, at):
    """The largest to the smallest size's; ten more are no difference."""
    first, worst = sizes[min(sizes, key=int)][at], max(cost[at] for cost in sizes.values())
    return 1.0 if worst - first <= 10 else worst / max(first, 1)


def rows_of(kept):
    for entry in (name for name in NAMES if name in kept):
        for scene, plans in kept[entry].items():
            for plan in (PLANS[entry], "hold"):
                sizes = plans.get(plan)
                if sizes:
                    cells = ["{:,} / {:,}".format(*sizes[str(size)]) if str(size) in sizes else "" for size in SIZES]
                    yield [NAMES[entry], scene, plan, *cells, f"{ratio(sizes, 0):.2f}", f"{ratio(sizes, 1):.2f}"]


def write_page(kept):
    head = ["database", "others", "plan", "none", "10 thousand", "100 thousand", "1 million", "10 million", "rows, ratio", "buffers, ratio"]
    with open(PAGE, encoding="utf-8") as page:
        text = page.read()
    before, rest = text.split(BEGIN)
    with open(PAGE, "w", encoding="utf-8") as page:
        page.write(before + BEGIN + table(head, list(rows_of(kept)), 3) + "\n" + END + rest.split(END, 1)[1])


def draw(entry, scenes):
    blocks, plots = "", []
    for number, (scene, plans) in enumerate(scenes.items()):
        for at, style in ((0, "dt 2"), (1, "dt 1")):
            points = "\n".join(f"{size} {cost[at]}" for size, cost in sorted(plans[PLANS[entry]].items(), key=lambda one: int(one[0])) if int(size))
            blocks += f"$d{number}_{at} << END\n{points}\nEND\n"
            title = f"title '{scene}'" if at else "notitle"
            plots.append(f"$d{number}_{at} using 1:2 with linespoints {style} lc {number + 1} pt 7 ps 0.5 {title}")
    gnuplot(os.path.join(os.path.dirname(KEPT), f"{entry}-flat.svg"), f"""{blocks}
set title "{NAMES[entry]}: a claim of 100, plan {PLANS[entry]}: buffers (lines) and rows (dashes) by tasks in the pool"
set logscale x
set yrange [0:*]
set key outside right
plot {", ".join(plots)}
""")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", help="what tools/flat printed")
    kept = {}
    if os.path.exists(KEPT):
        with open(KEPT, encoding="utf-8") as file:
            kept = json.load(file)
    read(parser.parse_args().files, kept)
    with open(KEPT, "w", encoding="utf-8") as file:
        json.dump(kept, file, indent=1)
        file.write("\n")
    write_page(kept)
    for entry, scenes in kept.items():
        draw(entry, scenes)


if __name__ == "__main__":
    main()
