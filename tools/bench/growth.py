"""What a claim reads as a pool grows: has the program measure count it (measure/growth.c), prints what is not flat, and stores the
claims as FOLDER/growth.json, from which page and plots are made. Knows nothing of rates. snapshot() runs the steady load of
measure/snapshot.c."""
import json
import os

import shell
from plots import gnuplot
from table import TITLES, table

PLANS = {"postgres": "skip", "mariadb": "skip", "mysql": "skip", "sqlite": "batch", "oramode": "skip"}
SIZES = (0, 10_000, 100_000, 1_000_000, 10_000_000)
SLACK = 10  # rows or buffers that are no difference
SINGLE = ("extend", "settled", "complete", "fail", "give-up", "release")  # ten calls, which differ in more:
SINGLE_SLACK = (3000, 30)  # each may read all rows of the claim, or a whole small table
MANY_SLACK = (100, 300)  # of a hundred tasks: a row that has just died, and a page that is split with its neighbours
WHOLE_SERVER = ("mariadb", "mysql", "oramode")  # whose buffers have what the server does of its own: shown, not judged
LOOK_UP = "look-up-"  # operations that show how high trees are


def on(entry, build, *words):
    """The program measure on an entry of the matrix of tests, as lines that it prints."""
    script = os.path.join(shell.ROOT, "tests", "support", "on_database.sh")
    yield from shell.lines([script, entry, os.path.join(build, "tools", "measure"), *words])


def read(lines):
    """{(entry, scene, plan, operation): {size: (rows, buffers)}}, in the order in which they came."""
    found = {}
    for line in lines:
        part = line.split("\t")
        if len(part) == 7:
            entry, scene, size, plan, operation, rows, buffers = part
            found.setdefault((entry, scene, plan, operation), {})[int(size)] = (int(rows), int(buffers))
    return found


def ratios(sizes):
    """Of rows and of buffers: the largest to that of the smallest size."""
    first = sizes[min(sizes)]
    worst = [max(cost[at] for cost in sizes.values()) for at in (0, 1)]
    return [1.0 if worst[at] - first[at] <= SLACK else worst[at] / max(first[at], 1) for at in (0, 1)]


def step(sizes):
    """What the largest pool costs, and the one before it."""
    before, last = sorted(sizes)[-2:] if len(sizes) > 1 else 2 * list(sizes)
    return sizes[last], sizes[before]


def taller(found, entry, scene):
    """How many times the buffers a single look-up takes in the largest pool: a tree may have come to another level."""
    steps = [step(sizes) for (of, where, _, operation), sizes in found.items()
             if of == entry and where == scene and operation.startswith(LOOK_UP)]
    return max(last[1] / max(before[1], 1) for last, before in steps)


def verdict(entry, operation, sizes, bar, higher):
    """Of the largest pool beside the one before it: in small ones a page has many of the rows that are read, and a database may
    well read all of a table. BETWEEN: some smaller pool costs more than the largest."""
    last, before = step(sizes)
    slack = SINGLE_SLACK if operation in SINGLE else MANY_SLACK
    most = before[0] * bar + slack[0]
    most_buffers = before[1] * bar * higher + slack[1] + max(0, last[0] - before[0])  # a row may need a page
    if last[0] > most or entry not in WHOLE_SERVER and last[1] > most_buffers:
        return "NOT FLAT"
    return "BETWEEN" if max(rows for rows, _ in sizes.values()) > last[0] * bar + slack[0] else "FLAT"


def show(found, bar, only_bad):
    """Prints a line for each operation. True: everything is flat."""
    verdicts = []
    print(f"{'entry':8} {'scene':9} {'plan':5} {'operation':14} {'rows':>7} {'buffers':>7}  rows/buffers by size")
    for (entry, scene, plan, operation), sizes in found.items():
        rows, buffers = ratios(sizes)
        verdicts.append("FLAT" if operation.startswith(LOOK_UP) else verdict(entry, operation, sizes, bar, taller(found, entry, scene)))
        if not (verdicts[-1] == "FLAT" and only_bad):
            each = "  ".join(f"{size}: {sizes[size][0]}/{sizes[size][1]}" for size in sorted(sizes))
            print(f"{entry:8} {scene:9} {plan:5} {operation:14} {rows:7.2f} {buffers:7.2f}  {each}  {verdicts[-1]}")
    print(f"not flat: {verdicts.count('NOT FLAT')} of {len(verdicts)}", flush=True)
    return "NOT FLAT" not in verdicts


def take(entries, build, words, bar, only_bad, folder):
    """folder: where claims are stored; None: nowhere. True: everything is flat."""
    flat = True
    for entry in entries:
        found = read(on(entry, build, "growth", *words))
        flat = show(found, bar, only_bad) and flat
        if folder:
            store_claims(folder, found)
    return flat


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
