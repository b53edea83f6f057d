"""Writes the parts of docs/performance.md that stand between its marks, from the stored JSON; the prose around them is left alone.
A part is marked by a line <!-- NAME: made by tools/bench.sh --> and one <!-- end of NAME -->."""
import os
import re

import cases
import curve
import growth
import model
from measure import BYTES
from store import Figures, load
from table import TITLES, number, table, whole

MEASURES = {"enqueue": "enqueue many", "lease": "run, leased plan", "hold": "run, plan hold", "one": "one task a transaction",
            "row": "run, plan `row`, each task its own transactions", "run": "run"}


WAITS = ("p50_ms", "p95_ms", "p99_ms", "max_ms", "enqueue_p50_ms", "after_enqueue_p50_ms", "after_enqueue_p99_ms")


def why_missing(stored, key, *cases):
    """Of a figure that is not there. A step is named by its program and what it measures, or by the program alone."""
    measure, subject = key[:2]
    for one in stored["not_measured"]:
        if one["case"] in cases and re.match(rf"{re.escape(subject)}( {re.escape(measure)})?(,|$)", one["step"]):
            return f"not measured: {one['why']}"
    return "not measured: its case was not asked for"


# ---- Parts -------------------------------------------------------------------------------------------------------------

COST_CELLS = (("server_us", 1), ("round_trips", 3), ("statements", 3), ("instructions", 0))


def cost_cell(value, digits):
    return "" if value is None else f"{value:,.{digits}f}"


def cost_part(all_stored):
    """Beside each figure that of raw."""
    rows = []
    for stored in all_stored:
        figures = Figures(stored, "cost")
        for name in (name for name in MEASURES if cases.key(name, "taskpool") in figures.by_key):
            ours, raw = cases.key(name, "taskpool"), cases.key(name, "raw")
            pairs = [cost_cell(figures.median(key, what), digits) for what, digits in COST_CELLS for key in (ours, raw)]
            rows.append([TITLES[stored["database"]], MEASURES[name], *pairs, cost_cell(figures.median(ours, "library"), 0),
                         cost_cell(figures.median(ours, "odbc_calls"), 2)])
    return table(["database", "what", "server, µs", "raw", "round trips", "raw", "statements", "raw", "instructions", "raw", "of the library",
                  "ODBC calls"], rows, 2)


def model_part(all_stored):
    rows = [[TITLES[stored["database"]], str(connections), f"{tasks:,}", f"{predicted:.3f}", f"{counted:.3f}", f"{100 * model.off(predicted, counted):+.0f} %", "yes" if held else "no"]
            for stored in all_stored for connections, tasks, predicted, counted, held in model.predictions(stored)]
    return table(["database", "connections", "tasks", "statements a task, predicted", "counted", "off", "held to 20 %"], rows)


def repeats_part(all_stored):
    """How far rounds differ, at most."""
    rows = []
    for stored in all_stored:
        figures = Figures(stored, "cost")
        spreads = [max((figures.spread(key, what) for key in figures.by_key), default=0) for what, _ in COST_CELLS]
        if figures.rounds() > 1:
            rows.append([TITLES[stored["database"]], str(figures.rounds())] + [f"{100 * spread:.1f} %" for spread in spreads])
    return table(["database", "rounds", "server's time", "round trips", "statements", "instructions"], rows)


def machine_part(all_stored):
    rows = [[TITLES[stored["database"]], stored["versions"]["server"], stored["versions"]["driver"], stored["machine"]["cpu"],
             str(stored["machine"]["cores"]), f"{stored['machine']['memory_gib']} GiB", stored["machine"]["kernel"]] for stored in all_stored]
    return table(["database", "version", "driver", "processor", "cores", "memory", "Linux"], rows, 4)


def cases_part(all_stored):
    rows = [[TITLES[stored["database"]], case, about["day"], about["commit"], str(about["rounds"]), f"{about['tasks']:,}", f"{about['load']:.1f}"]
            for stored in all_stored for case, about in stored["cases"].items()]
    return table(["database", "figures", "day", "commit", "rounds", "tasks in the largest runs", "load when it began"], rows, 4)


def bar_rows(stored):
    figures = Figures(stored, "batched", "single")
    for bar in cases.bars(stored["database"]):
        ratio = figures.ratio(bar.ours, bar.other)
        spread = figures.ratios(bar.ours, bar.other)
        absent = bar.other if figures.median(bar.other) is None else bar.ours
        verdict = why_missing(stored, absent, "batched", "single") if ratio is None else "met" if ratio >= bar.factor else "**missed**"
        yield [TITLES[stored["database"]], bar.text, whole(figures.median(bar.ours), "not measured"), whole(figures.median(bar.other), "not measured"),
               number(ratio, missing="not measured"), f"{min(spread):.2f} to {max(spread):.2f}" if spread else "", f"{bar.factor:g}", verdict]


def bars_part(all_stored):
    rows = [row for stored in all_stored for row in bar_rows(stored)]
    return table(["database", "what: beside what", "taskpool", "other", "ratio", "rounds from, to", "bar", "verdict"], rows, 2)


def throughput_rows(figures):
    for key in sorted(figures.by_key, key=lambda k: (list(MEASURES).index(k[0]), k[3], k[1] != "taskpool", k[1], k[2])):
        yield [MEASURES[key[0]], key[1], str(key[2]), whole(figures.median(key), "not measured"), number(figures.median(key, "round_trips_per_task"), 3),
               number(figures.median(key, "client_cpu_us_per_task"), 1)]


def throughput_part(stored):
    return table(["what", "program", "connections", "tasks/s", "round trips a task", "client CPU, µs a task"],
                 throughput_rows(Figures(stored, "batched", "single")), 2)


def payload_part(all_stored):
    rows = []
    for stored in all_stored:
        figures = Figures(stored, "payload")
        for measure, _, connections, size in sorted({k for k in figures.by_key if k[1] == "taskpool"}, key=lambda k: (k[3], k[0])):
            ours = (measure, "taskpool", connections, size)
            raw = (measure, "raw", connections, size)
            other = next((k for k in figures.by_key if k[0] == measure and k[1] == "raw" and k[3] == size), None)
            value = figures.median(ours)
            rows.append([TITLES[stored["database"]], MEASURES[measure], f"{size // 1024} KiB", whole(value, "not measured"),
                         number(value and value * size / 2 ** 20, 1), whole(figures.median(other), why_missing(stored, other or raw, "payload")), number(figures.ratio(ours, other), missing="not measured")])
    return table(["database", "what", "parameters", "tasks/s", "MiB/s", "raw, tasks/s", "ratio"], rows, 3)


def scaling_part(all_stored):
    rows = []
    for stored in (stored for stored in all_stored if "scaling" in stored["cases"]):
        figures = Figures(stored, "scaling")
        for measure, subject in (("hold", "taskpool"), ("hold", "raw"), ("one", "taskpool")):
            rows.append([TITLES[stored["database"]], MEASURES[measure], subject] +
                        [whole(figures.median((measure, subject, count, BYTES))) for count in cases.CONNECTIONS])
    return table(["database", "what", "program", "1 connection", "2", "4", "8", "16"], rows, 3)


def processes_part(all_stored):
    rows = []
    for stored in all_stored:
        figures = Figures(stored, "scaling")
        keys = [("lease", "taskpool", 2 * n, BYTES) for n in (1, 2, 4)]
        rows.append([TITLES[stored["database"]]] + [whole(figures.median(key), why_missing(stored, key, "scaling")) for key in keys])
    return table(["database", "1 process", "2", "4"], rows)


def latency_part(all_stored):
    rows = []
    texts = {"latency": "put in by another process", "latency-same": "put in by the same process"}
    for stored in all_stored:
        figures = Figures(stored, "latency")
        for key in sorted(figures.by_key, key=lambda k: (not k[1].startswith("taskpool"), k[1], k[0])):
            rows.append([TITLES[stored["database"]], key[1], texts[key[0]]] +
                        [number(figures.median(key, name)) for name in WAITS])
    return table(["database", "program", "task", "p50, ms", "p95", "p99", "most", "the enqueue, p50", "after it, p50", "p99"], rows, 3)


def pause(row):
    if row["pace"] == "hot":
        return "by default"
    return f"fixed, {row['ms']} ms" if row["ms"] < 1000 else f"fixed, {row['ms'] // 1000} s"


def curve_part(folder):
    shown = (("hot", 1), ("fixed", 2), ("fixed", 10), ("fixed", 100), ("fixed", 1000))
    rows = [[pause(row), f"{row['p50_ms']:.2g}" if row["p50_ms"] < 10 else f"{row['p50_ms']:.0f}", f"{row['p99_ms']:.3g}", f"{row['idle_statements_per_second']:.3g}"]
            for row in curve.load(folder) if (row["pace"], row["ms"]) in shown]
    return table(["pause", "p50, ms", "p99", "statements a second while nothing comes"], rows)


def profile_part(all_stored):
    rows = [[name, number(us)] for stored in all_stored for name, us in stored.get("profile", {}).items()]
    return table(["statement", "µs of the server's processor a task"], rows)


def missing_part(all_stored):
    lines = [f"* {TITLES[stored['database']]}, {one['step']}: **not measured**: {one['why']}"
             for stored in all_stored for one in stored["not_measured"]]
    return "\n".join(lines) or "Everything was measured."


def parts(folder):
    all_stored = [stored for stored in (load(folder, name) for name in cases.DATABASES) if stored]
    made = {"cost": cost_part(all_stored), "repeats": repeats_part(all_stored), "model": model_part(all_stored), "growth": growth.page_part(folder), "machine": machine_part(all_stored), "cases": cases_part(all_stored), "bars": bars_part(all_stored), "payload": payload_part(all_stored),
            "scaling": scaling_part(all_stored), "processes": processes_part(all_stored), "latency": latency_part(all_stored), "curve": curve_part(folder), "profile": profile_part(all_stored),
            "not measured": missing_part(all_stored)}
    for stored in all_stored:
        made[TITLES[stored["database"]]] = throughput_part(stored)
    return made


# ---- The page ----------------------------------------------------------------------------------------------------------

def marks(name):
    return f"<!-- {name}: made by tools/bench.sh -->", f"<!-- end of {name} -->"


def put_in(text, name, part):
    """Between its marks; a page that has none gets them at its end."""
    begin, end = marks(name)
    block = f"{begin}\n{part}\n{end}"
    pattern = re.compile(re.escape(begin) + r".*?" + re.escape(end), re.S)
    return pattern.sub(lambda _: block, text) if pattern.search(text) else f"{text.rstrip()}\n\n{block}\n"


def write(page, folder):
    text = "# Performance\n"
    if os.path.exists(page):
        with open(page, encoding="utf-8") as file:
            text = file.read()
    for name, part in parts(folder).items():
        text = put_in(text, name, part)
    with open(page, "w", encoding="utf-8") as file:
        file.write(text)
