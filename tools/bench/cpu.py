"""Where the server's time goes on PostgreSQL: processor time of one server process, statement by statement. Unlike rates it hardly
depends on what else the machine does. Writes nothing; main.py keeps what it gives."""
import json
import os
import random
import re
import time
import uuid

from shell import ROOT

POOL, GROUP, CLAIM, ROUNDS = "bprof_", 500, 1000, 30


class Backend:
    """One session, and what its server process has used."""

    def __init__(self, database):
        self.session = database.client.session()
        self.pid = self.session.run("SELECT pg_backend_pid()")[0][0]
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


def statement(name, folder=("postgres", "common")):
    """As the library sends it, but with the values written in."""
    for part in folder:
        path = os.path.join(ROOT, "sql", part, name + ".sql")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                text = "".join(line for line in file if not line.startswith("--"))
            return re.sub(r"/\*shards\*/.*?/\*end\*/", "", text, flags=re.S).replace("tp_", POOL)
    raise FileNotFoundError(name)


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def filled(text, **values):
    given = {"handlers": "'bench'", "handler": "'bench'", "priority": "0", "lease_ms": "60000", "inline_max": "8192",
             "state": "'done'", "ahead": "-32768", "since": "0", **values}
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
    text = statement(sent).replace(POOL + "pending", table)
    for _ in range(rounds):
        backend.run(filled(text, document=document(CLAIM)), name, CLAIM)


def reading(backend):
    """The SELECT of enqueue_new alone."""
    text = statement("enqueue_new")
    text = text[text.index("SELECT"):]
    for _ in range(ROUNDS):
        backend.run("SELECT count(*) FROM (" + filled(text, document=document(CLAIM)) + " OFFSET 0) AS task (" +
                    ", ".join(f"c{n}" for n in range(13)) + ") WHERE c0 IS NOT NULL AND c8 > 0", "enqueue_new: its SELECT alone", CLAIM)


def lease(backend):
    claim, move = statement("claim_skip"), statement("move_finished_many")
    for _ in range(ROUNDS):
        token = quoted(str(uuid.uuid4()))
        ids = ids_of(backend.run(filled(claim, token=token, limit=str(CLAIM)), "claim_skip", CLAIM))
        for at in range(0, len(ids), GROUP):
            backend.run(filled(move, token=token, **values_of(ids[at:at + GROUP])), "move_finished_many", GROUP)


def hold(backend):
    take, move = statement("hold_take"), statement("hold_finish_many")
    for _ in range(ROUNDS):
        backend.run("BEGIN")
        ids = ids_of(backend.run(filled(take, limit=str(GROUP)), "hold_take", GROUP))
        backend.run(filled(move, token=quoted(str(uuid.uuid4())), **values_of(ids)), "hold_finish_many", GROUP)
        backend.run("COMMIT", "hold: COMMIT", GROUP)


def raw(backend):
    folder = os.path.join(ROOT, "tools", "bench", "raw")
    for script, name, tasks in (("enqueue", "raw enqueue", 1000), ("lease", "raw lease", 500), ("enqueue", None, 1000), ("hold", "raw hold", 500)):
        with open(os.path.join(folder, script + ".sql"), encoding="utf-8") as file:
            texts = "".join(line for line in file if not line.startswith(("--", "\\"))).strip().rstrip(";").split(";")
        for number in range(ROUNDS):
            for part, text in enumerate(texts):
                label = name and (f"{name}: {'move' if part else 'claim'}" if len(texts) > 1 else name)
                backend.run(text.replace(":token", str(number + 1)), label, tasks)


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


def profile(database, psql_schema):
    """{what: µs of the server's processor a task}."""
    database.fresh_pool(POOL)
    psql_schema()
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
