"""The command line of tools/bench.sh: chooses the part, takes its figures, round after round, and has them stored, tabled and drawn.
Knows no figure. Read next: cases.py for what is measured beside what, growth.py for pools that grow."""
import argparse
import os
import statistics
import sys

import cases
import cpu
import curve
import gates
import growth
import measure
import page
import plots
import shell
import store

CASES = (*cases.CASES, "profile", "curve")  # the last two: PostgreSQL alone
ENTRIES = tuple(growth.PLANS)

HELP_END = """
compare: taskpool, the raw limit (the same work sent by pgbench or by a small C program over the database's own client
library) and, on PostgreSQL, graphile-worker and pg-boss are run in turn on the same server, ROUNDS times; medians count, and
ratios are taken round by round. The servers are those of tools/db_up.sh, with fsync on; they stay up. All figures are stored
as FOLDER/DATABASE.json, the tables are written into FOLDER.md and the plots into FOLDER.

exit code: 0 everything was measured and is as it must be, 1 something is not (the page, or the table, says what), 2 wrong
command line.
"""


def names_of(known):
    def read(text):
        names = text.split(",")
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name}: known are {', '.join(known)}")
        return names
    return read


def at_least_one(text):
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError("a number from 1 on is wanted")
    return int(text)


def read_options():
    parser = argparse.ArgumentParser(prog="tools/bench.sh", epilog=HELP_END, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--scratch", required=True, help=argparse.SUPPRESS)
    parts = parser.add_subparsers(dest="part", required=True)
    compare = parts.add_parser("compare", help="what a task costs, and rates, beside raw SQL and rivals")
    compare.add_argument("--only", metavar="DATABASE,...", type=names_of(cases.DATABASES), default=cases.DATABASES,
                         help="some of them: " + ", ".join(cases.DATABASES))
    compare.add_argument("--cases", metavar="CASE,...", type=names_of(CASES), default=CASES, help="some of them: " + ", ".join(CASES))
    compare.add_argument("--rounds", type=at_least_one, default=5)
    compare.add_argument("--tasks", type=at_least_one, default=100000,
                         help="in the largest runs on PostgreSQL; the others take parts of it")
    grow = parts.add_parser("growth", help="rows and buffers of a claim in pools of growing size; nobody else may use the databases")
    grow.add_argument("--large", action="store_true", help="up to ten million tasks; takes hours and tens of gigabytes")
    grow.add_argument("--only-bad", action="store_true", help="show only what is not flat")
    grow.add_argument("--store", action="store_true", help="for the page")
    grow.add_argument("--sizes", default="10000,100000,1000000")
    for name in ("scenes", "plans", "others"):
        grow.add_argument("--" + name, help="as of measure/growth.c")
    snapshot = parts.add_parser("snapshot", help="a steady load with and without a session that holds an old snapshot")
    for name in ("minutes", "plan", "tasks"):
        snapshot.add_argument("--" + name)
    gate = parts.add_parser("gates", help="a task with an order key, a gate or a group beside one with none of it")
    for name in ("tasks", "rounds"):
        gate.add_argument("--" + name)
    for part, entries in ((gate, "sqlite,postgres,mariadb,mysql,oramode"), (grow, "sqlite,postgres,mariadb,mysql,oramode"), (snapshot, "postgres,mariadb,mysql")):
        part.add_argument("--entries", type=names_of(ENTRIES), default=entries.split(","), help="of " + ", ".join(ENTRIES))
    write = parts.add_parser("page", help="page and plots again from what is stored; measures nothing")
    for part in (compare, grow, write):
        part.add_argument("--out", metavar="FOLDER", default=os.path.join(shell.ROOT, "docs", "performance"))
    return parser.parse_args()


# ---- compare -----------------------------------------------------------------------------------------------------------

def describe(database, stored):
    """Versions, from the program itself."""
    words = measure.bench_words("enqueue-many", 1)
    about = shell.run_json([database.program("taskpool"), *words], {"TASKPOOL_DSN": database.dsn(measure.POOL)})
    stored["versions"] = {"server": about["database_version"], "driver": f"{about['driver']} {about['driver_version']}",
                        "taskpool": about["taskpool_version"]}


SHOWN = (("tasks_per_second", "{:.0f} tasks/s"), ("p50_ms", "p50 {:.2f} ms"), ("p99_ms", "p99 {:.2f} ms"), ("server_us", "server {:.2f} us"),
         ("statements_per_task", "{:.4f} statements"), ("statements", "{:.4f} statements"), ("round_trips", "{:.4f} round trips"), ("instructions", "{:.0f} instructions"))


def value_text(figure):
    return ", ".join(form.format(figure[name]) for name, form in SHOWN if name in figure)


def take(database, stored, case, step, number):
    """False: it cannot be measured."""
    try:
        figures = step.run(database)
    except (shell.CannotMeasure, shell.client.SqlError, OSError) as error:
        stored["not_measured"].append({"case": case, "step": step.name, "round": number, "why": str(error)})
        print(f"{stored['database']}: {step.name}: NOT MEASURED: {error}", file=sys.stderr, flush=True)
        return False
    for one in figures:
        stored["figures"].append({"case": case, "round": number, **one})
        print(f"{stored['database']:9} {case:8} round {number} {one['subject']:22} {one['measure']:13} "
              f"{one['connections']:2} conn. {one['bytes']:6} bytes {value_text(one)}", flush=True)
    return True


def take_case(database, stored, case, rounds, tasks):
    steps = cases.CASES[case](database.name, tasks)
    for number in range(1, rounds + 1):
        # Forwards and backwards, so that nothing always comes after the same other.
        for step in steps if number % 2 else steps[::-1]:
            if not take(database, stored, case, step, number):
                steps = [other for other in steps if other is not step]


def begin(name, options):
    """What was measured before of other cases stays."""
    stored = store.new_file(name)
    earlier = store.load(options.out, name) or stored
    for part in ("figures", "not_measured"):
        stored[part] = [one for one in earlier[part] if one["case"] not in options.cases]
    stored["profile"] = earlier.get("profile", {})
    stored["cases"] = {case: about for case, about in earlier["cases"].items() if case not in options.cases}
    return stored


def find_peers(database, options):
    """Where the rivals are; without them each of their steps says that it cannot be measured."""
    try:
        database.settings["peers"] = measure.peers_folder(options.scratch)
    except shell.CannotMeasure as error:
        database.settings["peers"] = ""
        print(f"rivals: NOT MEASURED: {error}", file=sys.stderr)


def take_profile(database, rounds):
    """Medians of what the server's processor did."""
    taken = [cpu.profile(database) for _ in range(rounds)]
    return {name: round(statistics.median(one[name] for one in taken), 2) for name in taken[0]}


def measure_one(name, options):
    """True: everything was measured."""
    tasks = cases.share(options.tasks, cases.SCALES[name])
    stored = begin(name, options)
    database = shell.open_database(name, options.scratch, options.build)
    for prefix in (measure.POOL, measure.RAW_POOL, cpu.POOL):
        database.drop_pool(prefix)
    database.fresh_pool(measure.POOL)
    describe(database, stored)
    if name == "postgres":
        find_peers(database, options)
        if "profile" in options.cases:
            stored["profile"] = take_profile(database, options.rounds)
            store.save(options.out, stored)
        if "curve" in options.cases:
            curve.take(database, options.out)
    for case in (case for case in options.cases if case in cases.CASES):
        stored["cases"][case] = store.new_case(options.rounds, tasks)
        take_case(database, stored, case, options.rounds, tasks)
        store.save(options.out, stored)
    return not stored["not_measured"]


def compare(options):
    complete = [measure_one(name, options) for name in options.only]
    return all(complete)


# ---- The parts ---------------------------------------------------------------------------------------------------------

def words_of(options, *names):
    """Options for the program measure, which knows them by the same names."""
    return [word for name in names if getattr(options, name) for word in ("--" + name, getattr(options, name))]


def main():
    options = read_options()
    done = True
    if options.part == "compare":
        done = compare(options)
    elif options.part == "growth":
        options.sizes = "10000,100000,1000000,10000000" if options.large else options.sizes
        words = words_of(options, "sizes", "scenes", "plans", "others")
        done = growth.take(options.entries, options.build, words, options.only_bad, options.out if options.store else None)
    elif options.part == "gates":
        gates.take(options.entries, options.build, words_of(options, "tasks", "rounds"))
    elif options.part == "snapshot":
        done = growth.snapshot(options.entries, options.build, words_of(options, "minutes", "plan", "tasks"))
    if options.part in ("compare", "page") or options.part == "growth" and options.store:
        page.write(options.out.rstrip("/") + ".md", options.out)
        plots.draw_all(options.out)
        growth.draw_all(options.out)
    return 0 if done else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (shell.CannotMeasure, shell.server.ServerError) as error:
        print(f"bench: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
