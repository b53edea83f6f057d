"""One figure each: taskpool, the raw limit and the rivals, each run by a program of its own. What is compared with what is in
cases.py. A figure is a dictionary; every one has measure, subject, connections and bytes, and mostly tasks_per_second."""
import math
import os
import re

from shell import ROOT, CannotMeasure, run, run_json, together

HERE = os.path.join(ROOT, "tools", "bench")
POOL = "bench_"      # taskpool's tables
RAW_POOL = "braw_"   # the same tables for the raw programs
GROUP = 1000         # tasks in one claim and in one settling transaction, at most
RAW_CLAIM = 500      # in raw/lease.sql and raw/hold.sql
BYTES = 32           # of parameters, where it is not what is measured


def figure(measure, subject, connections=1, size=BYTES, **more):
    return {"measure": measure, "subject": subject, "connections": connections, "bytes": size, **more}


# ---- taskpool --------------------------------------------------------------------------------------------------------

STORED = ("tasks", "seconds", "tasks_per_second", "statements_per_task", "round_trips_per_task", "commits_per_task",
        "client_cpu_us_per_task", "p50_ms", "p95_ms", "p99_ms", "max_ms", "enqueue_p50_ms", "after_enqueue_p50_ms", "after_enqueue_p99_ms", "samples",
        "statements_per_second", "round_trips_per_second")


def bench_words(measure, tasks, **options):
    words = ["bench", "--json", "--rounds", "1", "--measure", measure, "--tasks", str(tasks)]
    for name, value in options.items():
        words += ["--" + name, str(value)]
    return words


def taskpool(database, name, measure, tasks, connections=1, size=BYTES, **options):
    """name: ours, for instance hold; measure: that of taskpool bench."""
    database.fresh_pool(POOL)
    words = bench_words(measure, tasks, payload=size, **options)
    results = run_json([database.program("taskpool"), *words], {"TASKPOOL_DSN": database.dsn(POOL)})["results"]
    return [figure(name, "taskpool", connections, size, settings=" ".join(words[4:]),
                   **{key: result[key] for key in STORED if key in result}) for result in results]


def taskpool_side_by_side(database, tasks, count):
    """Producers of several processes at once; the clock is that of each."""
    database.fresh_pool(POOL)
    words = bench_words("enqueue-many", tasks // count, payload=BYTES)
    results = together([database.program("taskpool"), *words], {"TASKPOOL_DSN": database.dsn(POOL)}, count)
    rate = sum(result["results"][0]["tasks_per_second"] for result in results)
    return [figure("enqueue", "taskpool", count, tasks=tasks // count * count, tasks_per_second=rate)]


def enqueue(database, tasks, size=BYTES):
    return taskpool(database, "enqueue", "enqueue-many", tasks, 1, size)


def leased_plan(database):
    return "batch" if database.name == "sqlite" else "skip"


def lease(database, tasks, processes=1, size=BYTES):
    """Workers of two connections that work: one claims, one settles."""
    return taskpool(database, "lease", "life", tasks, 2 * processes, size, plan=leased_plan(database), threads=2,
                    processes=processes, batch=GROUP, group=GROUP)


def hold(database, tasks, threads=2, size=BYTES):
    return taskpool(database, "hold", "life", tasks, threads, size, plan="hold", threads=threads, group=GROUP)


def one(database, tasks, threads=1):
    return taskpool(database, "one", "life", tasks, threads, plan="hold", threads=threads, batch=1, group=1)


def modelled(database, tasks, threads, group):
    return taskpool(database, "model", "life", tasks, threads, plan="hold", threads=threads, group=group)


def row(database, tasks):
    return taskpool(database, "row", "life", tasks, 1, plan="row", threads=1, group=1)


def latency(database, name, samples, plan):
    figures = taskpool(database, name, name, 1000, samples=samples, plan=plan)
    return [{**one, "subject": "taskpool, plan hold" if plan == "hold" else "taskpool"} for one in figures]


# ---- The raw limit on PostgreSQL: pgbench ------------------------------------------------------------------------------

def pg_login(database):
    return {"PGHOST": "127.0.0.1", "PGPORT": database.settings["TASKPOOL_TEST_PG_PORT"], "PGUSER": "taskpool",
            "PGDATABASE": "taskpool", "PGPASSWORD": database.settings["TASKPOOL_TEST_PASSWORD"]}


def pg_tool(database, name):
    return os.path.join(database.settings["TASKPOOL_TEST_PG_BIN"], name)


def psql(database, *words):
    return run([pg_tool(database, "psql"), "-XqAt", "-v", "ON_ERROR_STOP=1", *words], pg_login(database))


def pgbench(database, script, connections, transactions):
    """The seconds that so many transactions took, connecting not counted."""
    each = math.ceil(transactions / connections)
    out = run([pg_tool(database, "pgbench"), "-n", "-M", "prepared", "-f", os.path.join(HERE, "raw", script + ".sql"),
               "-c", str(connections), "-j", str(min(2, connections)), "-t", str(each)], pg_login(database))
    rate = re.search(r"^tps = ([\d.]+)", out, re.M)
    if not rate or "number of failed transactions: 0 " not in out + " ":
        raise CannotMeasure(f"pgbench {script}: {out.splitlines()[-1]}")
    return each * connections / float(rate.group(1))


def pg_count(database, table):
    return int(psql(database, "-c", f"SELECT count(*) FROM {table}"))


def raw_schema(database, size):
    psql(database, "-v", f"bytes={size}", "-f", os.path.join(HERE, "raw", "schema.sql"))


def raw_postgres(database, measure, tasks, connections=1, size=BYTES):
    """measure: enqueue, lease, hold or one."""
    raw_schema(database, size)
    database.settle_down()
    put = pgbench(database, "enqueue", connections, tasks / 1000)
    tasks, table, seconds = pg_count(database, "limit_open"), "limit_open", put
    if measure != "enqueue":
        psql(database, "-c", "VACUUM ANALYZE limit_open", "-c", "VACUUM ANALYZE limit_done")
        database.settle_down()
        seconds = pgbench(database, measure, connections, tasks / (1 if measure == "one" else RAW_CLAIM))
        table = "limit_done"
    done = pg_count(database, table)
    return [figure(measure, "raw", connections, size, tasks=done, seconds=seconds, tasks_per_second=done / seconds)]


# ---- The raw limit on the others: tools/bench/raw --------------------------------------------------------------------------

def raw_words(database, measure, tasks, connections, size):
    target = database.settings.get("file") or ":".join(
        ("127.0.0.1", database.settings["TASKPOOL_TEST_MARIADB_PORT"], "taskpool", "taskpool"))
    client = "mariadb" if database.name == "mysql" else database.name
    return [database.program("tools/raw_" + client), "hold" if measure == "one" else measure, "--prefix", RAW_POOL,
            "--target", target, "--tasks", str(tasks), "--connections", str(connections), "--bytes", str(size)]


def raw_prepared(database, measure, tasks, group, connections=1, size=BYTES):
    """Words and variables of a raw program, with the tasks there that it takes."""
    env = {"RAW_PASSWORD": database.settings.get("TASKPOOL_TEST_PASSWORD", "")}
    database.fresh_pool(RAW_POOL)
    if measure != "enqueue":
        run_json(raw_words(database, "enqueue", tasks, connections, size), env)
        database.settle_down()
    words = raw_words(database, measure, tasks, connections, size)
    return words + (["--batch", str(group)] if group else []), env


def raw_client(database, measure, tasks, connections=1, size=BYTES):
    result = run_json(*raw_prepared(database, measure, tasks, 1 if measure == "one" else None, connections, size))
    if result["tasks"] != tasks:
        raise CannotMeasure(f"raw_{database.name}: {result['tasks']} tasks were handled, not {tasks}")
    return [figure(measure, "raw", connections, size, tasks=tasks, seconds=result["seconds"],
                   tasks_per_second=tasks / result["seconds"], client_cpu_us_per_task=result["cpu_us_per_task"])]


def raw(database, *words, **more):
    return (raw_postgres if database.name == "postgres" else raw_client)(database, *words, **more)


# ---- Rivals ------------------------------------------------------------------------------------------------------------

def peers_folder(scratch):
    """Where their packages are, installed when they are not; the lock file says which."""
    folder = os.path.join(scratch, "peers")
    os.makedirs(folder, exist_ok=True)
    run(["cp", os.path.join(HERE, "peers", "package.json"), os.path.join(HERE, "peers", "package-lock.json"), folder])
    run(["npm", "ci", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund"])
    return os.path.join(folder, "node_modules")


def peer(database, script, *words):
    login = pg_login(database)
    url = "postgres://{PGUSER}:{PGPASSWORD}@{PGHOST}:{PGPORT}/{PGDATABASE}".format(**login)
    database.settle_down()
    return run_json(["node", os.path.join(HERE, "peers", script + ".js"), *map(str, words)],
                    {"BENCH_URL": url, "NODE_PATH": database.settings["peers"]})


def both(subject, measure, result, connections):
    return [figure(name, subject, count, tasks=result["tasks"], tasks_per_second=result[key])
            for name, key, count in (("enqueue", "enqueue_per_second", 1), (measure, "run_per_second", connections))]


def graphile(database, mode, tasks, processes):
    result = peer(database, "graphile", "--mode", mode, "--tasks", tasks, "--processes", processes)
    return both(f"graphile-worker {mode}", "run", result, processes)


def pgboss(database, tasks, batch, loops=4):
    return both(f"pg-boss {batch}", "run", peer(database, "pgboss", "--tasks", tasks, "--batch", batch, "--loops", loops), loops)


def graphile_latency(database, samples):
    result = peer(database, "graphile_latency", "--samples", samples)
    return [figure("latency-same", "graphile-worker", **result)]
