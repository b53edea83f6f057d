"""How a worker's pause between claims trades pick-up latency for statements while nothing comes: `taskpool bench` for many pauses, stored
as FOLDER/latency-curve.json. plots.py draws it, page.py makes the table."""
import json
import os

from shell import run_json

POOL = "curve_"
PAUSE_MS = 20  # between two tasks, half of it to twice
FIXED_MS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
HOT_MS = (1, 2, 4, 8, 16)


def measure(database, kind, ms):
    """One pace's figures: a fixed pause, or one that follows what comes and begins with ms."""
    env = {"TASKPOOL_DSN": database.dsn(POOL)}
    words = [database.program("taskpool"), "bench", "--json", "--rounds", "1", "--plan", "skip", "--poll" if kind == "fixed" else "--hot", f"{ms}ms"]
    samples = 200 if kind == "hot" or ms < 50 else max(16, 6000 // ms)
    waits = run_json(words + ["--measure", "latency", "--samples", str(samples), "--pause", f"{PAUSE_MS}ms"], env)["results"][0]
    idle = run_json(words + ["--measure", "idle", "--idle-time", "5s"], env)["results"][0]
    return {"pace": kind, "ms": ms, "samples": waits["samples"], **{name: waits[name] for name in ("p50_ms", "p95_ms", "p99_ms", "max_ms")},
            "idle_statements_per_second": idle["statements_per_second"]}


def path(folder):
    return os.path.join(folder, "latency-curve.json")


def take(database, folder):
    database.fresh_pool(POOL)
    rows = [measure(database, kind, ms) for kind, list_ms in (("hot", HOT_MS), ("fixed", FIXED_MS)) for ms in list_ms]
    database.drop_pool(POOL)
    with open(path(folder), "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(" " + json.dumps(row) for row in rows) + "\n]\n")


def load(folder):
    """What is stored; nothing when it was never measured."""
    if not os.path.exists(path(folder)):
        return []
    with open(path(folder), encoding="utf-8") as file:
        return json.load(file)
