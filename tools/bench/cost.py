"""What a task costs, which repeats on any machine however busy it is: the server's processor time, statements, round trips, ODBC
calls and the client's instructions, of taskpool (the program measure) and of the same work as raw SQL. Knows nothing of rates, which
are measure.py's, nor of where figures are stored. Read next: measure/cost.c."""
import os
import re
import tempfile

import cpu
import measure
import shell

TASKS = {"server": 20000, "instructions": 2000}  # callgrind makes a program fifty times slower
TRIES = 3  # of a server's time; the least counts, for whoever shares a core makes it longer
GROUPS = {"enqueue": 500, "lease": 500, "hold": 500, "one": 1}


def share(name, purpose, tasks):
    """Of the tasks that were asked for; fewer where each is a transaction."""
    return max(GROUPS[name], min(tasks, TASKS[purpose]) // (10 if GROUPS[name] == 1 else 1))


def instructions(words, env, function, on=()):
    """Those of a program within a function and what it calls: all of them, and those of taskpool's own sources."""
    with tempfile.NamedTemporaryFile() as file:
        shell.run([*on, "valgrind", "--tool=callgrind", "--collect-atstart=no", f"--toggle-collect={function}",
                   f"--callgrind-out-file={file.name}", *words], env)
        # Without the sources, whose lines would count again what they call.
        lines = shell.run(["callgrind_annotate", "--auto=no", "--threshold=100", file.name]).splitlines()
    counts = [(int(line.split()[0].replace(",", "")), line) for line in lines if re.match(r" *[\d,]+ ", line)]
    total = next(count for count, line in counts if "PROGRAM TOTALS" in line)
    return total, sum(count for count, line in counts if re.search(r"(src|dialects|sql)/[^ ]*:.*/measure\]$", line))


def tries(database):
    """SQLite has no server, and counts repeat."""
    return range(1 if database.name == "sqlite" else TRIES)


def taskpool(database, name, tasks):
    on = [os.path.join(shell.ROOT, "tests", "support", "on_database.sh"), database.name]

    def words(count):
        return [database.program("tools/measure"), "cost", "--measure", name, "--tasks", str(count), "--group", str(GROUPS[name])]

    count, few = share(name, "server", tasks), share(name, "instructions", tasks)
    runs = [shell.run_paused(on + words(count), database.settings_env(), database.server_us) for _ in tries(database)]
    spent, counted = min(spent for spent, _ in runs), runs[0][1]
    total, own = instructions(words(few), database.settings_env(), "work", on)
    return [measure.figure(name, "taskpool", tasks=count, instructions=total / few, library=own / few,
                           **server_part(database, spent / count), **counted)]


def server_part(database, us):
    """On SQLite the database is in the client, and its instructions are among the client's."""
    return {} if database.name == "sqlite" else {"server_us": us}


def raw_once(database, name, count):
    words, env = measure.raw_prepared(database, name, count, GROUPS[name])
    before = database.server_us()
    result = shell.run_json(words, env)
    return database.server_us() - before, result


def raw(database, name, tasks):
    if database.name == "postgres":  # no program: one session sends the scripts
        spent, statements = min(cpu.raw_script(database, name) for _ in tries(database))
        return [measure.figure(name, "raw", server_us=spent, statements=statements, round_trips=statements)]
    count, few = share(name, "server", tasks), share(name, "instructions", tasks)
    spent, result = min((raw_once(database, name, count) for _ in tries(database)), key=lambda one: one[0])
    # What a program does once is in both.
    once, twice = (instructions(*measure.raw_prepared(database, name, part * few, GROUPS[name]), "run_connection")[0] for part in (1, 2))
    statements = result["statements"] / count
    return [measure.figure(name, "raw", tasks=count, instructions=(twice - once) / few, statements=statements,
                           round_trips=0 if database.name == "sqlite" else statements, **server_part(database, spent / count))]
