#!/usr/bin/env -S python3 -B
"""docs/performance.md shows what is stored: each part that tools/bench.sh made is made again from docs/performance/*.json and is the same.
And what its model predicts is within the bar of what was counted, where it says so."""
import json
import os
import sys
import tempfile

import checklib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
import cases
import model
import page
import store

PAGE, FOLDER = "docs/performance.md", "docs/performance"


def check(root):
    text, folder, problems = checklib.read(root, PAGE), os.path.join(root, FOLDER), []
    for name, part in page.parts(folder).items():
        if page.put_in(text, name, part) != text:
            line = text[:max(0, text.find(page.marks(name)[0]))].count("\n") + 1
            problems.append(f"{PAGE}:{line}: the part '{name}' is not what is stored in {FOLDER}; run tools/bench.sh page")
    for stored in (store.load(folder, name) for name in cases.DATABASES):
        for connections, tasks, predicted, counted, held in model.predictions(stored) if stored else ():
            if held and abs(model.off(predicted, counted)) > model.BAR:
                problems.append(f"{FOLDER}/{stored['database']}.json:1: {connections} connections, {tasks} tasks: {predicted:.3f} statements a task are predicted, {counted:.3f} were counted")
    return problems


def made_up(counted):
    """A file of runs with so many times the statements that the model says."""
    figures = [{"case": "model", "round": 1, "measure": "model", "subject": "taskpool", "connections": connections, "tasks": tasks, "bytes": 32,
                "statements_per_task": counted * model.statements("postgres", connections, tasks)} for connections, tasks in model.RUNS]
    about = {"cpu": "x", "cores": 2, "memory_gib": 1, "kernel": "6"}
    return json.dumps({"format": 1, "database": "postgres", "machine": about, "versions": {"server": "1", "driver": "2", "taskpool": "3"}, "cases": {},
                       "not_measured": [], "profile": {}, "figures": figures})


def tree(counted, spoilt=False):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "postgres.json"), "w", encoding="utf-8") as file:
            file.write(made_up(counted))
        text = "# A page\n"
        for name, part in page.parts(folder).items():
            text = page.put_in(text, name, part)
    return {PAGE: text.replace("| connections |", "| links |") if spoilt else text, FOLDER + "/postgres.json": made_up(counted)}


CASES = [
    ("as stored, and as predicted", tree(1.0), None),
    ("another table", tree(1.0, True), "not what is stored"),
    ("more than was predicted", tree(1.5), "are predicted"),
]

if __name__ == "__main__":
    checklib.main(check, CASES)
