"""Where the server's time goes on PostgreSQL: processor time of one server process, statement by statement, of taskpool's statements
and of the raw ones. Unlike rates it hardly depends on what else the machine does. Knows nothing of what becomes of it."""
import json
import os
import random
import re
import time
import uuid

import measure
from shell import ROOT

POOL, GROUP, CLAIM, ROUNDS = "bprof_", 500, 1000, 30


class Backend:
    """One session, and what its server process has used."""

    def __init__(self, database):
        self.session = database.client.session()
        self.pid = self.session.run("SELECT pg_backend_pid()")[0][0]
        self.statements = os.path.join(database.build, "sql", "postgres")
        self.used = {}

    def run(self, text, name=None, tasks=1):
        before = self.nanoseconds()
        rows = self.session.run(text)
        spent, count = self.used.get(name, (0, 0))
        self.used[name] = (spent + self.nanoseconds() - before, count + tasks)
        return rows

    def nanoseconds(self):
        with open(f"/proc/{self.pid}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[0])

    def us_per_task(self):
        return {name: round(spent / count / 1000, 2) for name, (spent, count) in self.used.items() if name}


def statement(backend, name):
    """As the build wrote it for the library, which sends no shards here."""
    with open(os.path.join(backend.statements, name + ".sql"), encoding="utf-8") as file:
        text = "".join(line for line in file if not line.startswith("--"))
    return re.sub(r"/\*shards\*/.*?/\*end\*/", "", text, flags=re.S).replace("tp_", POOL)


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def filled(text, **values):
    given = {"handlers": "'bench'", "handler": "'bench'", "priority": "0", "lease_ms": "60000", "state": "'done'",
             "ahead": "-32768", "since": "0", **values}
    return re.sub(r"(?<!:):([a-z_]+)", lambda match: given[match.group(1)], text)


def ordered_id():
    """As the library makes them: each behind those before it."""
    now = time.time_ns()
    tick = (now // 1000000 << 12) | (now % 1000000 * 4096 // 1000000)
    return str(uuid.UUID(int=(tick >> 12 << 80) | (7 << 76) | ((tick & 0xfff) << 64) | (2 << 62) | random.getrandbits(62)))


def document(count):
    return quoted(json.dumps([[ordered_id(), "bench", None, None, os.urandom(16).hex(), 0, 0, None, None, 0]
                              for _ in range(count)]))


def ids_of(rows):
    return [row[0] for row in rows]


def values_of(ids):
    return {"ids_document": quoted(json.dumps(ids)), "ids": ", ".join(map(quoted, ids))}


# ---- Parts -------------------------------------------------------------------------------------------------------------

def enqueue(backend, table, name, sent="enqueue_new", rounds=ROUNDS):
    text = statement(backend, sent).replace(POOL + "pending", table)
    for _ in range(rounds):
        backend.run(filled(text, document=document(CLAIM)), name, CLAIM)


def reading(backend):
    """The SELECT of enqueue_new alone."""
    text = statement(backend, "enqueue_new")
    text = text[text.index("SELECT"):]
    for _ in range(ROUNDS):
        backend.run("SELECT count(*) FROM (" + filled(text, document=document(CLAIM)) + " OFFSET 0) AS task (" +
                    ", ".join(f"c{n}" for n in range(13)) + ") WHERE c0 IS NOT NULL AND c8 > 0", "enqueue_new: its SELECT alone", CLAIM)


def lease(backend):
    claim, move = statement(backend, "claim_skip"), statement(backend, "move_finished_many")
    for _ in range(ROUNDS):
        token = quoted(str(uuid.uuid4()))
        ids = ids_of(backend.run(filled(claim, token=token, limit=str(CLAIM)), "claim_skip", CLAIM))
        for at in range(0, len(ids), GROUP):
            backend.run(filled(move, token=token, **values_of(ids[at:at + GROUP])), "move_finished_many", GROUP)


def hold(backend):
    take, move = statement(backend, "hold_take"), statement(backend, "hold_finish_many")
    for _ in range(ROUNDS):
        backend.run("BEGIN")
        ids = ids_of(backend.run(filled(take, limit=str(GROUP)), "hold_take", GROUP))
        backend.run(filled(move, token=quoted(str(uuid.uuid4())), **values_of(ids)), "hold_finish_many", GROUP)
        backend.run("COMMIT", "hold: COMMIT", GROUP)


def scripts(name):
    """The statements of a script of raw/, each as the server gets it; tasks of one run."""
    with open(os.path.join(ROOT, "tools", "bench", "raw", name + ".sql"), encoding="utf-8") as file:
        text = "".join(line for line in file if not line.startswith(("--", "\\")))
    return [part.strip() for part in text.split(";") if part.strip()]


RAW_TASKS = {"enqueue": 1000, "lease": 500, "hold": 500, "one": 1}


def run_raw(backend, script, name, rounds=ROUNDS):
    """name: of what is counted; None: nothing is."""
    texts = scripts(script)
    for part, text in enumerate(texts):
        if text.split()[0] not in ("BEGIN", "COMMIT"):
            backend.run(f"PREPARE raw_{part} (bigint) AS {text.replace(':token', '$1')}")
    for number in range(rounds):
        for part, text in enumerate(texts):
            label = name and (f"{name}: {'move' if part else 'claim'}" if script == "lease" else name)
            prepared = text if text in ("BEGIN", "COMMIT") else f"EXECUTE raw_{part} ({number + 1})"
            backend.run(prepared, label, RAW_TASKS[script] if label != name or part == 0 else 0)
    backend.run("DEALLOCATE ALL")


def raw(backend):
    run_raw(backend, "enqueue", "raw enqueue")
    run_raw(backend, "lease", "raw lease")
    run_raw(backend, "enqueue", None)
    run_raw(backend, "hold", "raw hold")


def raw_script(database, name):
    """One script of raw/: µs of the server's processor a task, and statements."""
    measure.raw_schema(database, measure.BYTES)
    backend = Backend(database)
    if name != "enqueue":
        run_raw(backend, "enqueue", None)
        backend.run("VACUUM ANALYZE limit_open")
    run_raw(backend, name, "raw", ROUNDS if RAW_TASKS[name] > 1 else 50 * ROUNDS)
    backend.session.close()
    return sum(backend.us_per_task().values()), len(scripts(name)) / RAW_TASKS[name]


def copies(backend):
    """enqueue_new into tables with ever more of tp_pending's indexes."""
    backend.run(f"DROP TABLE IF EXISTS {POOL}copy")
    backend.run(f"CREATE TABLE {POOL}copy (LIKE {POOL}pending INCLUDING DEFAULTS)")
    enqueue(backend, POOL + "copy", "enqueue_new into a table without indexes")
    rows = backend.run(f"SELECT indexdef FROM pg_indexes WHERE tablename = '{POOL}pending' AND indexname NOT LIKE '%pk'")
    backend.run(f"TRUNCATE {POOL}copy; ALTER TABLE {POOL}copy ADD PRIMARY KEY (id)")
    enqueue(backend, POOL + "copy", "with the primary key")
    for row in rows:
        backend.run(f"TRUNCATE {POOL}copy; " + re.sub(r"INDEX \S+ ON \S+", f"INDEX ON {POOL}copy", row[0]))
    enqueue(backend, POOL + "copy", f"with all {len(rows) + 1} indexes")


def profile(database):
    """{what: µs of the server's processor a task}."""
    database.fresh_pool(POOL)
    measure.raw_schema(database, measure.BYTES)
    backend = Backend(database)
    reading(backend)
    copies(backend)
    enqueue(backend, POOL + "pending", "enqueue_new")
    enqueue(backend, POOL + "pending", "enqueue_many, where tasks may be there", "enqueue_many")
    backend.run(f"VACUUM ANALYZE {POOL}pending")
    lease(backend)
    enqueue(backend, POOL + "pending", None)
    backend.run(f"VACUUM ANALYZE {POOL}pending")
    hold(backend)
    raw(backend)
    backend.session.close()
    return backend.us_per_task()
