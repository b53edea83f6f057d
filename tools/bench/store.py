"""Figures as they are stored: one JSON file a database, with all rounds. Medians over the rounds; ratios are taken round by round,
because both sides of a round were measured one after the other."""
import json
import os
import platform
import re
import statistics
import time

from shell import ROOT, CannotMeasure, run

FORMAT = 1


def machine():
    """What somebody needs to know of the machine, and nothing that names it."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        models = re.findall(r"^model name\s*:\s*(.*)$", file.read(), re.M)
    with open("/proc/meminfo", encoding="utf-8") as file:
        kib = int(re.search(r"^MemTotal:\s*(\d+)", file.read(), re.M).group(1))
    return {"cpu": models[0] if models else platform.machine(), "cores": os.cpu_count(), "memory_gib": round(kib / 2 ** 20, 1),
            "kernel": platform.release().split("-")[0]}


def commit():
    try:
        return run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"]).strip()
    except CannotMeasure:
        return "unknown"


def new_file(database):
    return {"format": FORMAT, "database": database, "machine": machine(), "versions": {}, "cases": {}, "figures": [],
            "not_measured": []}


def new_case(rounds, tasks):
    """What is to be known of one case's figures. load: processes that wanted to run when it began, on the average of a minute."""
    return {"day": time.strftime("%Y-%m-%d", time.gmtime()), "commit": commit(), "rounds": rounds, "tasks": tasks,
            "load": round(os.getloadavg()[0], 2)}


def path_of(folder, database):
    return os.path.join(folder, database + ".json")


def load(folder, database):
    try:
        with open(path_of(folder, database), encoding="utf-8") as file:
            return json.load(file)
    except OSError:
        return None


def save(folder, stored):
    """One figure a line, so that a new run shows as changed lines."""
    os.makedirs(folder, exist_ok=True)
    head = {name: value for name, value in stored.items() if name != "figures"}
    lines = ",\n".join("  " + json.dumps(figure) for figure in stored["figures"])
    text = json.dumps(head, indent=1)[:-2] + ',\n "figures": [\n' + lines + "\n ]\n}\n"
    path = path_of(folder, stored["database"])
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)


# ---- Reading -----------------------------------------------------------------------------------------------------------

class Figures:
    """All rounds of some cases of a database, by key: (measure, subject, connections, bytes)."""

    def __init__(self, stored, *cases):
        self.by_key = {}
        for one in stored["figures"]:
            if one["case"] in cases:
                key = (one["measure"], one["subject"], one["connections"], one["bytes"])
                self.by_key.setdefault(key, {})[one["round"]] = one

    def median(self, key, name="tasks_per_second"):
        values = [one[name] for one in self.by_key.get(key, {}).values() if name in one]
        return statistics.median(values) if values else None

    def spread(self, key, name):
        """How much the largest round is more than the smallest, of the smallest."""
        values = [one[name] for one in self.by_key.get(key, {}).values() if one.get(name)]
        return max(values) / min(values) - 1 if values else 0

    def ratios(self, key, other, name="tasks_per_second"):
        """Of the rounds that have both."""
        ours, theirs = self.by_key.get(key, {}), self.by_key.get(other, {})
        return [ours[n][name] / theirs[n][name] for n in sorted(ours) if n in theirs]

    def ratio(self, key, other):
        ratios = self.ratios(key, other)
        return statistics.median(ratios) if ratios else None

    def rounds(self):
        return max((len(rounds) for rounds in self.by_key.values()), default=0)
