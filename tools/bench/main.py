"""The command line of tools/bench.sh: takes the figures, round after round, and has them kept, tabled and drawn."""
import argparse
import os
import statistics
import sys

import cases
import cpu
import curve
import keep
import measure
import page
import plots
import shell

CASES = (*cases.CASES, "profile", "curve")  # the last two: PostgreSQL alone

HELP_END = """
taskpool, the raw limit (the same work sent by pgbench or by a small C program over the database's own client library) and,
on PostgreSQL, graphile-worker and pg-boss are run in turn on the same server, ROUNDS times; medians count, and ratios are
taken round by round. The servers are those of tools/db_up.sh, with fsync on; they stay up. All raw figures are kept as
FOLDER/DATABASE.json, the tables are written into FOLDER.md and the plots into FOLDER.

exit code: 0 everything was measured, 1 something could not be (the page says what), 2 wrong command line.
"""


def read_options():
    parser = argparse.ArgumentParser(prog="tools/bench.sh", epilog=HELP_END, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="DATABASE", default=",".join(cases.DATABASES),
                        help="some of them, with commas between: " + ", ".join(cases.DATABASES))
    parser.add_argument("--cases", default=",".join(CASES), help="some of them: " + ", ".join(CASES))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tasks", type=int, default=100000, help="in the largest runs on PostgreSQL; the others take parts of it")
    parser.add_argument("--out", metavar="FOLDER", default=os.path.join(shell.ROOT, "docs", "performance"))
    parser.add_argument("--plots-only", action="store_true", help="measure nothing: write page and plots again from what is kept")
    parser.add_argument("--build", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--scratch", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.only, options.cases = options.only.split(","), options.cases.split(",")
    for given, known in ((options.only, cases.DATABASES), (options.cases, CASES)):
        for name in given:
            if name not in known:
                parser.error(f"{name}: known are {', '.join(known)}")
    if options.rounds < 1 or options.tasks < 1:
        parser.error("--rounds and --tasks are 1 and more")
    return options


def describe(database, kept):
    """Versions, from the program itself."""
    words = measure.bench_words("enqueue-many", 1)
    about = shell.run_json([database.program("taskpool"), *words], {"TASKPOOL_DSN": database.dsn(measure.POOL)})
    kept["versions"] = {"server": about["database_version"], "driver": f"{about['driver']} {about['driver_version']}",
                        "taskpool": about["taskpool_version"]}


def take(database, kept, case, step, number):
    """False: it cannot be measured."""
    try:
        figures = step.run(database)
    except (shell.CannotMeasure, shell.client.SqlError, OSError) as error:
        kept["not_measured"].append({"case": case, "step": step.name, "round": number, "why": str(error)})
        print(f"{kept['database']}: {step.name}: NOT MEASURED: {error}", file=sys.stderr, flush=True)
        return False
    for one in figures:
        kept["figures"].append({"case": case, "round": number, **one})
        value = f"{one['tasks_per_second']:10.0f} tasks/s" if "tasks_per_second" in one else f"p50 {one['p50_ms']:.2f} ms, p99 {one['p99_ms']:.2f} ms"
        print(f"{kept['database']:9} {case:8} round {number} {one['subject']:22} {one['measure']:13} "
              f"{one['connections']:2} conn. {one['bytes']:6} bytes {value}", flush=True)
    return True


def take_case(database, kept, case, rounds, tasks):
    steps = cases.CASES[case](database.name, tasks)
    for number in range(1, rounds + 1):
        # Forwards and backwards, so that nothing always comes after the same other.
        for step in steps if number % 2 else steps[::-1]:
            if not take(database, kept, case, step, number):
                steps = [other for other in steps if other is not step]


def begin(name, options):
    """What was measured before of other cases stays."""
    kept = keep.new_file(name)
    earlier = keep.load(options.out, name) or kept
    for part in ("figures", "not_measured"):
        kept[part] = [one for one in earlier[part] if one["case"] not in options.cases]
    kept["profile"] = earlier.get("profile", {})
    kept["cases"] = {case: about for case, about in earlier["cases"].items() if case not in options.cases}
    return kept


def find_peers(database, options):
    """Where the rivals are; without them each of their steps says that it cannot be measured."""
    try:
        database.settings["peers"] = measure.peers_folder(options.scratch)
    except shell.CannotMeasure as error:
        database.settings["peers"] = ""
        print(f"rivals: NOT MEASURED: {error}", file=sys.stderr)


def take_profile(database, rounds):
    """Medians of what the server's processor did."""
    taken = [cpu.profile(database, lambda: measure.raw_schema(database, measure.BYTES)) for _ in range(rounds)]
    return {name: round(statistics.median(one[name] for one in taken), 2) for name in taken[0]}


def measure_one(name, options):
    """True: everything was measured."""
    tasks = cases.share(options.tasks, cases.SCALES[name])
    kept = begin(name, options)
    database = shell.open_database(name, options.scratch, options.build)
    for prefix in (measure.POOL, measure.RAW_POOL, cpu.POOL):
        database.drop_pool(prefix)
    database.fresh_pool(measure.POOL)
    describe(database, kept)
    if name == "postgres":
        find_peers(database, options)
        if "profile" in options.cases:
            kept["profile"] = take_profile(database, options.rounds)
            keep.save(options.out, kept)
        if "curve" in options.cases:
            curve.take(database, options.out)
    for case in (case for case in options.cases if case in cases.CASES):
        kept["cases"][case] = keep.new_case(options.rounds, tasks)
        take_case(database, kept, case, options.rounds, tasks)
        keep.save(options.out, kept)
    return not kept["not_measured"]


def main():
    options = read_options()
    complete = True
    if not options.plots_only:
        for name in options.only:
            complete = measure_one(name, options) and complete
    page.write(options.out.rstrip("/") + ".md", options.out)
    plots.draw_all(options.out)
    return 0 if complete else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (shell.CannotMeasure, shell.server.ServerError) as error:
        print(f"bench: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
