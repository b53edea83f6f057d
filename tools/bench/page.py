"""Writes the parts of docs/performance.md that stand between its marks, from the kept JSON; the prose around them is left alone.
A part is marked by a line <!-- NAME: made by tools/bench.sh --> and one <!-- end of NAME -->."""
import os
import re

import cases
import curve
from keep import Figures, load
from measure import BYTES

TITLES = {"postgres": "PostgreSQL", "mariadb": "MariaDB", "mysql": "MySQL", "sqlite": "SQLite"}
MEASURES = {"enqueue": "enqueue many", "lease": "run, leased plan", "hold": "run, plan hold", "one": "one task a transaction",
            "row": "run, plan `row`, each task its own transactions", "run": "run"}


WAITS = ("p50_ms", "p95_ms", "p99_ms", "max_ms", "enqueue_p50_ms", "after_enqueue_p50_ms", "after_enqueue_p99_ms")


def rate(value, why="not measured"):
    return why if value is None else f"{value:,.0f}"


def cell(value):
    return "" if value is None else rate(value)


def times(value):
    return "not measured" if value is None else f"{value:.2f}"


def why_missing(kept, key, *cases):
    """Of a figure that is not there. A step is named by its program and what it measures, or by the program alone."""
    measure, subject = key[:2]
    for one in kept["not_measured"]:
        if one["case"] in cases and re.match(rf"{re.escape(subject)}( {re.escape(measure)})?(,|$)", one["step"]):
            return f"not measured: {one['why']}"
    return "not measured: its case was not asked for"


def number(value, digits=2):
    return "" if value is None else f"{value:.{digits}f}"


def table(head, rows, text_columns=1):
    lines = ["| " + " | ".join(head) + " |",
             "|" + "|".join(" --- " if i < text_columns else " ---: " for i in range(len(head))) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


# ---- Parts -------------------------------------------------------------------------------------------------------------

def machine_part(all_kept):
    rows = [[TITLES[kept["database"]], kept["versions"]["server"], kept["versions"]["driver"], kept["machine"]["cpu"],
             str(kept["machine"]["cores"]), f"{kept['machine']['memory_gib']} GiB", kept["machine"]["kernel"]] for kept in all_kept]
    return table(["database", "version", "driver", "processor", "cores", "memory", "Linux"], rows, 4)


def cases_part(all_kept):
    rows = [[TITLES[kept["database"]], case, about["day"], about["commit"], str(about["rounds"]), f"{about['tasks']:,}", f"{about['load']:.1f}"]
            for kept in all_kept for case, about in kept["cases"].items()]
    return table(["database", "figures", "day", "commit", "rounds", "tasks in the largest runs", "load when it began"], rows, 4)


def bar_rows(kept):
    figures = Figures(kept, "batched", "single")
    for bar in cases.bars(kept["database"]):
        ratio = figures.ratio(bar.ours, bar.other)
        spread = figures.ratios(bar.ours, bar.other)
        absent = bar.other if figures.median(bar.other) is None else bar.ours
        verdict = why_missing(kept, absent, "batched", "single") if ratio is None else "met" if ratio >= bar.factor else "**missed**"
        yield [TITLES[kept["database"]], bar.text, rate(figures.median(bar.ours)), rate(figures.median(bar.other)),
               times(ratio), f"{min(spread):.2f} to {max(spread):.2f}" if spread else "", f"{bar.factor:g}", verdict]


def bars_part(all_kept):
    rows = [row for kept in all_kept for row in bar_rows(kept)]
    return table(["database", "what: beside what", "taskpool", "other", "ratio", "rounds from, to", "bar", "verdict"], rows, 2)


def throughput_rows(figures):
    for key in sorted(figures.by_key, key=lambda k: (list(MEASURES).index(k[0]), k[3], k[1] != "taskpool", k[1], k[2])):
        yield [MEASURES[key[0]], key[1], str(key[2]), rate(figures.median(key)), number(figures.median(key, "round_trips_per_task"), 3),
               number(figures.median(key, "client_cpu_us_per_task"), 1)]


def throughput_part(kept):
    return table(["what", "program", "connections", "tasks/s", "round trips a task", "client CPU, µs a task"],
                 throughput_rows(Figures(kept, "batched", "single")), 2)


def payload_part(all_kept):
    rows = []
    for kept in all_kept:
        figures = Figures(kept, "payload")
        for measure, _, connections, size in sorted({k for k in figures.by_key if k[1] == "taskpool"}, key=lambda k: (k[3], k[0])):
            ours = (measure, "taskpool", connections, size)
            raw = (measure, "raw", connections, size)
            other = next((k for k in figures.by_key if k[0] == measure and k[1] == "raw" and k[3] == size), None)
            value = figures.median(ours)
            rows.append([TITLES[kept["database"]], MEASURES[measure], f"{size // 1024} KiB", rate(value),
                         number(value and value * size / 2 ** 20, 1), rate(figures.median(other), why_missing(kept, other or raw, "payload")), times(figures.ratio(ours, other))])
    return table(["database", "what", "parameters", "tasks/s", "MiB/s", "raw, tasks/s", "ratio"], rows, 3)


def scaling_part(all_kept):
    rows = []
    for kept in (kept for kept in all_kept if "scaling" in kept["cases"]):
        figures = Figures(kept, "scaling")
        for measure, subject in (("hold", "taskpool"), ("hold", "raw"), ("one", "taskpool")):
            rows.append([TITLES[kept["database"]], MEASURES[measure], subject] +
                        [cell(figures.median((measure, subject, count, BYTES))) for count in cases.CONNECTIONS])
    return table(["database", "what", "program", "1 connection", "2", "4", "8", "16"], rows, 3)


def processes_part(all_kept):
    rows = []
    for kept in all_kept:
        figures = Figures(kept, "scaling")
        keys = [("lease", "taskpool", 2 * n, BYTES) for n in (1, 2, 4)]
        rows.append([TITLES[kept["database"]]] + [rate(figures.median(key), why_missing(kept, key, "scaling")) for key in keys])
    return table(["database", "1 process", "2", "4"], rows)


def latency_part(all_kept):
    rows = []
    texts = {"latency": "put in by another process", "latency-same": "put in by the same process"}
    for kept in all_kept:
        figures = Figures(kept, "latency")
        for key in sorted(figures.by_key, key=lambda k: (not k[1].startswith("taskpool"), k[1], k[0])):
            rows.append([TITLES[kept["database"]], key[1], texts[key[0]]] +
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


def profile_part(all_kept):
    rows = [[name, number(us)] for kept in all_kept for name, us in kept.get("profile", {}).items()]
    return table(["statement", "µs of the server's processor a task"], rows)


def missing_part(all_kept):
    lines = [f"* {TITLES[kept['database']]}, {one['step']}: **not measured**: {one['why']}"
             for kept in all_kept for one in kept["not_measured"]]
    return "\n".join(lines) or "Everything was measured."


def parts(folder):
    all_kept = [kept for kept in (load(folder, name) for name in cases.DATABASES) if kept]
    made = {"machine": machine_part(all_kept), "cases": cases_part(all_kept), "bars": bars_part(all_kept), "payload": payload_part(all_kept),
            "scaling": scaling_part(all_kept), "processes": processes_part(all_kept), "latency": latency_part(all_kept), "curve": curve_part(folder), "profile": profile_part(all_kept),
            "not measured": missing_part(all_kept)}
    for kept in all_kept:
        made[TITLES[kept["database"]]] = throughput_part(kept)
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
