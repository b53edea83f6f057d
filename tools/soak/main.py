"""The command line of tools/soak.sh: a process for each database, and their tables at the end."""
import argparse
import collections
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading

import ends
import run
from server import mysql_is_there
from world import DATABASES

COLUMNS = ("fault", "injected", "tasks", "lost", "twice", "twice outside", "stale refused", "longest recovery")

HELP_END = """
databases side by side, each with a server of its own on a port of its own, so that no fault hits another's; the two
that are MariaDB (mariadb, oramode) have one each. All is stopped and removed at the end, also after Ctrl-C; logs stay when
something was wrong, or with --keep.

the same seed gives the same faults in the same order with the same choices. Not given by the seed: how many find room in
the time (that depends on how long recovering takes), in which statement each one strikes, and which ids tasks get.

columns: tasks: settled from the beginning of the fault to that of the next. lost: confirmed tasks and effects that are not
there. twice: effects written in the task's own transaction, or orders, that are there twice (must be 0). twice outside:
effects outside the database, which may be. stale refused: tasks whose worker was told that it lost its claim. longest
recovery: seconds from the end of the fault to the next task that was settled.

exit code: 0 all is well, 1 something was lost, twice or otherwise wrong, 2 wrong command line, 130 interrupted.
"""


# ---- One database --------------------------------------------------------------------------------------------------

def rows_of(done, verdict):
    """A row for each kind of fault, with what was found in its time."""
    rows = collections.OrderedDict()
    for injection in done.injections:
        row = rows.setdefault(injection.name, dict.fromkeys(COLUMNS, 0))
        row["fault"] = injection.name
        row["injected"] += injection.times
        row["tasks"] += injection.settled
        row["stale refused"] += injection.stale
        row["longest recovery"] = max(row["longest recovery"], injection.recovery or 0)
    for column, at in findings_of(verdict):
        row = rows.setdefault(name_at(done.injections, at), dict.fromkeys(COLUMNS, 0))
        row["fault"] = row["fault"] or "(before)"
        row[column] += 1
    return sorted(rows.values(), key=lambda row: row["fault"])


def findings_of(verdict):
    found = [("twice" if f.kind == "twice" else "lost", f.at) for f in verdict.findings if f.kind != "other"] if verdict else []
    return found + ([("twice outside", at) for at in verdict.outside_twice] if verdict else [])


def name_at(injections, at):
    name = "(before)"
    for injection in injections:
        if at is not None and injection.began <= at:
            name = injection.name
    return name


def run_one(options):
    """In a process of its own; the result goes to a file."""
    faults = faults_for(options.one, options)
    done = run.Run(options.one, options.folder, options.seed, options.duration, faults, options.build, options.prove)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: done.world.stopping.set())
    verdict = done.go()
    result = {"database": options.one, "seed": options.seed, "duration": options.duration,
              "rows": rows_of(done, verdict), "figures": verdict.figures if verdict else {},
              "failures": done.failures + [f.text for f in verdict.findings] if verdict else done.failures,
              "driver_crashes": done.world.heard.driver_crashes,
              "events": dict(done.world.heard.events), "interrupted": done.world.stopping.is_set(),
              "lost": verdict.count("lost", "stuck", "torn") if verdict else None, "twice": verdict.count("twice") if verdict else None}
    with open(os.path.join(options.folder, "result.json"), "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
    return 0


def faults_for(database, options):
    """Those that are wanted and can be had there; all when none is named, the long ones only in a long run."""
    named = options.faults.split(",") if options.faults else None
    return [fault for fault in run.all_faults()
            if (fault.name in named if named else fault.short or options.duration >= 600) and fault.applies(database)]


# ---- All -----------------------------------------------------------------------------------------------------------

def cell(row, column):
    return f"{row[column]:.1f} s" if column == "longest recovery" else str(row[column])


def total_of(rows):
    total = {column: sum(row[column] for row in rows) for column in COLUMNS[1:-1]}
    return {"fault": "all", **total, COLUMNS[-1]: max((row[COLUMNS[-1]] for row in rows), default=0)}


def print_table(result):
    figures = " ".join(f"{name} {count}" for name, count in result["figures"].items())
    print(f"\n{result['database']}, seed {result['seed']}, {result['duration']:g} s: {figures}\n")
    rows = [dict(zip(COLUMNS, COLUMNS))] + result["rows"] + [total_of(result["rows"])]
    lines = [[row[c] if row[c] == c else cell(row, c) for c in COLUMNS] for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(COLUMNS))]
    for number, line in enumerate(lines):
        print("| " + " | ".join(text.ljust(width) if i == 0 else text.rjust(width)
                                for i, (text, width) in enumerate(zip(line, widths))) + " |")
        if number == 0:
            print("|" + "|".join("-" * (width + 2) if i == 0 else "-" * (width + 1) + ":"
                                 for i, width in enumerate(widths)) + "|")


def print_crashes(result):
    if result.get("driver_crashes"):
        print(f"\nthe ODBC driver crashed {result['driver_crashes']} times and took its process along")


def print_failures(result, folder):
    for text in result["failures"][:20]:
        print(f"{result['database']}: {text}", file=sys.stderr)
    if len(result["failures"]) > 20:
        print(f"{result['database']}: and {len(result['failures']) - 20} more", file=sys.stderr)
    print(f"{result['database']}: logs and records are in {folder}; again with --seed {result['seed']}", file=sys.stderr)


def start_one(database, options, folder):
    words = [sys.executable, "-B", os.path.abspath(__file__), "--one", database, "--folder", folder,
             "--seed", str(options.seed), "--duration", str(options.duration), "--build", options.build]
    words += ["--faults", options.faults] if options.faults else []
    words += ["--prove"] if options.prove else []
    # Of a group of its own: Ctrl-C reaches it from here alone, once.
    return subprocess.Popen(words, stdin=subprocess.DEVNULL, start_new_session=True)


def read_result(database, folder, options):
    try:
        with open(os.path.join(folder, "result.json"), encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return {"database": database, "seed": options.seed, "duration": options.duration, "rows": [], "figures": {},
                "failures": ["the run ended without a result"], "interrupted": False, "lost": None, "twice": None}


def run_all(options):
    asked = DATABASES if options.database == "all" else options.database.split(",")
    chosen = [database for database in asked if faults_for(database, options) and (database != "mysql" or mysql_is_there())]
    for database in asked:
        if database not in chosen:
            print(f"SKIPPED: {database}: none of the faults can be had there, or it is not there itself", file=sys.stderr)
    if not chosen:
        return 2
    top = tempfile.mkdtemp(prefix="taskpool-soak.", dir=options.scratch)
    os.chmod(top, 0o755)
    folders = {database: os.path.join(top, database) for database in chosen}
    programs = []
    ended = threading.Event()

    def pass_on(*_):
        ended.set()
        for program in programs:
            program.terminate()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, pass_on)
    for database, folder in folders.items():
        os.mkdir(folder)
        programs.append(start_one(database, options, folder))
    if ended.is_set():  # by a signal that came between two of them
        pass_on()
    print(f"seed {options.seed}, {options.duration:g} s, {', '.join(chosen)}; logs in {top}", flush=True)
    for program in programs:
        program.wait()
    results = [read_result(database, folder, options) for database, folder in folders.items()]
    return report(results, folders, top, options)


def report(results, folders, top, options):
    for result in results:
        print_table(result)
        print_crashes(result)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"seed": options.seed, "duration": options.duration, "databases": results}, file, indent=1)
    sys.stdout.flush()
    if any(result["interrupted"] for result in results):
        run.remove(top)
        return 130
    if options.prove:
        run.remove(top)
        return proved(results)
    bad = [result for result in results if result["failures"]]
    for result in bad:
        print_failures(result, folders[result["database"]])
    missing = ends.never_tried(sum((collections.Counter(result["figures"]) for result in results), collections.Counter()))
    for name in missing:
        print(f"on no database there was any {name}; logs and records are in {top}", file=sys.stderr)
    if not bad and not missing and not options.keep:
        run.remove(top)
    return int(bool(bad or missing))


def proved(results):
    """The other way about: workers that commit their effects apart must be found out."""
    blind = [result["database"] for result in results if not result["twice"]]
    print("\nthe judge found the doubles" if not blind else "\nthe judge found no doubles on " + ", ".join(blind))
    return int(bool(blind))


def read_options():
    parser = argparse.ArgumentParser(prog="tools/soak.sh", epilog=HELP_END, add_help=False,
                                     description="Lets faults loose on producers and workers, and judges what is left.",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--help", action="help", help="this text")
    parser.add_argument("--seed", type=int, default=None, help="a number; the default is one by chance, and is printed")
    parser.add_argument("--duration", type=float, default=120, metavar="SECONDS", help="of faults; default 120")
    parser.add_argument("--database", default="all", metavar="NAME", help="sqlite, postgres, mariadb, mysql, oramode, some with "
                        "commas between them, or all (the default)")
    parser.add_argument("--faults", metavar="LIST", help="only these, with commas between them")
    parser.add_argument("--list", action="store_true", help="the faults there are")
    parser.add_argument("--json", metavar="FILE", help="writes the tables there too, and what was found")
    parser.add_argument("--keep", action="store_true", help="leaves logs and records also when all is well")
    parser.add_argument("--prove", action="store_true", help="workers commit their effects apart from their tasks; fails "
                        "unless the judge finds doubles")
    parser.add_argument("--build", type=os.path.abspath, default=os.path.join(run.ROOT, "build", "release"), help=argparse.SUPPRESS)
    parser.add_argument("--scratch", type=os.path.abspath, default=None, metavar="FOLDER", help="for the databases and logs; default: TMPDIR or "
                        "/tmp. Short: a socket's path is in it")
    for name in ("--one", "--folder"):
        parser.add_argument(name, help=argparse.SUPPRESS)
    options = parser.parse_args()
    check(parser, options)
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(10**6)
    return options


def check(parser, options):
    names = {fault.name for fault in run.all_faults()}
    for name in (options.faults or "").split(","):
        if name and name not in names:
            parser.error(f"no fault {name!r}; there are: {', '.join(sorted(names))}")
    for name in options.database.split(","):
        if name not in DATABASES + ("all",):
            parser.error(f"no database {name!r}; there are: {', '.join(DATABASES)}, all")


def main():
    options = read_options()
    if options.list:
        for fault in sorted(run.all_faults(), key=lambda fault: fault.name):
            where = [database for database in DATABASES if fault.applies(database)]
            print(f"{fault.name:20} {' '.join(where)}")
        return 0
    return run_one(options) if options.one else run_all(options)


if __name__ == "__main__":
    sys.exit(main())
