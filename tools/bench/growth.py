"""What a claim reads as a pool grows: has the program measure count it (measure/growth.c), prints what is not flat (flat.py), and stores the
claims as FOLDER/growth.json, from which page and plots are made. Knows nothing of rates. snapshot() runs the steady load of
measure/snapshot.c."""
import json
import os

import flat
import shell
from plots import gnuplot
from table import TITLES, table

PLANS = {"postgres": "skip", "mariadb": "skip", "mysql": "skip", "sqlite": "batch", "oramode": "skip"}
SIZES = (0, 10_000, 100_000, 1_000_000, 10_000_000)
SLACK = 10  # rows or buffers that are no difference in the table


def on(entry, build, *words):
    """The program measure on an entry of the matrix of tests, as lines that it prints."""
    script = os.path.join(shell.ROOT, "tests", "support", "on_database.sh")
    yield from shell.lines([script, entry, os.path.join(build, "tools", "measure"), *words])


def ratios(sizes):
    """Of rows and of buffers: the largest to that of the smallest size."""
    first = sizes[min(sizes)]
    worst = [max(cost[at] for cost in sizes.values()) for at in (0, 1)]
    return [1.0 if worst[at] - first[at] <= SLACK else worst[at] / max(first[at], 1) for at in (0, 1)]


def show(found, only_bad):
    """Prints a line for each operation. True: everything is flat."""
    bad = 0
    print(f"{'entry':8} {'scene':9} {'plan':5} {'operation':14} {'rows':>7} {'buffers':>7}  rows/buffers by size")
    for key, sizes in found.items():
        entry, scene, plan, operation = key
        rows, buffers = ratios(sizes)
        why = flat.excess(found, key, False)
        bad += why != ""
        if why or not only_bad:
            each = "  ".join(f"{size}: {sizes[size][0]}/{sizes[size][1]}" for size in sorted(sizes))
            print(f"{entry:8} {scene:9} {plan:5} {operation:14} {rows:7.2f} {buffers:7.2f}  {each}  {why and 'NOT FLAT: ' + why}")
    print(f"not flat: {bad} of {len(found)}", flush=True)
    return bad == 0


def take(entries, build, words, only_bad, folder):
    """folder: where claims are stored; None: nowhere. True: everything is flat."""
    good = True
    for entry in entries:
        found = flat.read(on(entry, build, "growth", *words))
        good = show(found, only_bad) and good
        if folder:
            store_claims(folder, found)
    return good


def snapshot(entries, build, words):
    for entry in entries:
        for line in on(entry, build, "snapshot", *words):
            print(line, flush=True)
    return True


# ---- What is stored ----------------------------------------------------------------------------------------------------

def path_of(folder):
    return os.path.join(folder, "growth.json")


def load(folder):
    """{entry: {scene: {plan: {size: [rows, buffers]}}}}"""
    if not os.path.exists(path_of(folder)):
        return {}
    with open(path_of(folder), encoding="utf-8") as file:
        return json.load(file, object_hook=lambda one: {int(name) if name.isdigit() else name: value for name, value in one.items()})


def store_claims(folder, found):
    stored = load(folder)
    for (entry, scene, plan, operation), sizes in found.items():
        if operation == "claim":
            stored.setdefault(entry, {}).setdefault(scene, {}).setdefault(plan, {}).update(sizes)
    with open(path_of(folder), "w", encoding="utf-8") as file:
        json.dump(stored, file, indent=1)
        file.write("\n")


def page_part(folder):
    stored, rows = load(folder), []
    for entry in (name for name in TITLES if name in stored):
        for scene, plans in stored[entry].items():
            for plan in (plan for plan in (PLANS[entry], "hold") if plan in plans):
                cells = ["{:,} / {:,}".format(*plans[plan][size]) if size in plans[plan] else "" for size in SIZES]
                rows.append([TITLES[entry], scene, plan, *cells, *(f"{ratio:.2f}" for ratio in ratios(plans[plan]))])
    return table(["database", "others", "plan", "none", "10 thousand", "100 thousand", "1 million", "10 million", "rows, ratio",
                  "buffers, ratio"], rows, 3)


def draw(folder, entry, scenes):
    blocks, plots = "", []
    for number, (scene, plans) in enumerate(scenes.items()):
        for at, style in ((0, "dt 2"), (1, "dt 1")):
            points = "\n".join(f"{size} {cost[at]}" for size, cost in sorted(plans[PLANS[entry]].items()) if size)
            blocks += f"$d{number}_{at} << END\n{points}\nEND\n"
            title = f"title '{scene}'" if at else "notitle"
            plots.append(f"$d{number}_{at} using 1:2 with linespoints {style} lc {number + 1} pt 7 ps 0.5 {title}")
    gnuplot(os.path.join(folder, f"{entry}-growth.svg"), f"""{blocks}
set title "{TITLES[entry]}: a claim of 100, plan {PLANS[entry]}: buffers (lines) and rows (dashes) by tasks in the pool"
set logscale x
set yrange [0:*]
set key outside right
plot {", ".join(plots)}
""")


def draw_all(folder):
    for entry, scenes in load(folder).items():
        draw(folder, entry, scenes)
