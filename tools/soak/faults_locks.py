"""Other people's locks on the pool's rows: a transaction that sits on them, many that fight for them. What a lock
is held on comes from the pool as it is; whether it did harm is the judge's."""
import threading
import time

import world

HELD_S = 12  # longer than a worker's session waits for a lock (10 s; SQLite: 5 s, sometimes twice)
ROWS = 60
STORM_S = 6
SESSIONS = 4
TRIES = 10
KEPT = ("database is locked", "lock wait timeout", "no answer within")  # by others, for too long


class Locks(world.Fault):
    def __init__(self):
        self.sessions = []

    def open(self, world):
        session = world.session()
        self.sessions.append(session)
        return session

    def take(self, world, *statements, writes=True):
        """A session in a transaction that ran the statements; when it was the victim of a deadlock, another. None when
        others kept what it was to lock."""
        for tries in range(TRIES):
            session = self.open(world)
            try:
                session.run(begin(world, writes))
                for statement in statements:
                    session.run(statement)
                return session
            except world.client.SqlError as error:
                session.kill()
                said = str(error).lower()
                if any(words in said for words in KEPT):
                    world.note(f"no occasion: {error}")
                    return None
                if "deadlock" not in said or tries == TRIES - 1:
                    raise

    def heal(self, world):
        for session in self.sessions:
            session.close()


class OpenTransaction(Locks):
    """A transaction changes tasks that wait and tasks that are being handled, and sits there; then it rolls
    back, or commits what changed nothing. Their settles and extensions meet its locks."""

    name = "open-tx"

    def inject(self, world):
        ids = some_ids(world, "handling") + some_ids(world, "pending")
        if not ids:
            return 0
        session = self.take(world, sit_on(ids))
        if not session:
            return 0
        world.wait(HELD_S)
        session.run(world.random.choice(("COMMIT;", "ROLLBACK;")))
        return len(ids)


class RunningRow(Locks):
    """The same for a few tasks that are being handled, and only them, again and again and shortly: what else the
    process does must not wait with them."""

    name = "lock-running"

    def inject(self, world):
        times = 0
        for _ in range(4):
            ids = some_ids(world, "handling", 2)
            if not ids:
                continue
            session = self.take(world, sit_on(ids))
            if not session:
                continue
            world.wait(world.random.uniform(0.3, 1.5))
            session.run("ROLLBACK;")
            times += len(ids)
        return times


class IdleTransaction(Locks):
    """A session that read the pool and locked one row stays idle in its transaction for a minute."""

    name = "idle-tx"
    short = False

    def inject(self, world):
        lock = "" if world.database == "sqlite" else " LIMIT 1 FOR UPDATE"
        if not self.take(world, f"SELECT id FROM tp_pending{lock};", writes=False):
            return 0
        world.wait(60)
        return 1


class LockStorm(Locks):
    """Several sessions change rows at random and in random order, a few in each transaction: lock waits, and
    deadlocks with each other and with the workers."""

    name = "lock-storm"

    def inject(self, world):
        self.times = 0
        self.end = time.monotonic() + STORM_S
        seeds = [world.random.getrandbits(32) for _ in range(SESSIONS)]
        threads = [threading.Thread(target=self.storm, args=(world, seed)) for seed in seeds]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return self.times

    def storm(self, world, seed):
        random = type(world.random)(seed)
        session = self.open(world)
        while time.monotonic() < self.end and not world.stopping.is_set():
            try:
                self.fight(world, session, random)
            except world.client.SqlError:
                session.kill()  # or what it has locked stays so
                session = self.open(world)  # a deadlock or a lock timeout was this one's
            self.times += 1

    def fight(self, world, session, random):
        session.run(begin(world))
        ids = [row[0] for row in session.run("SELECT id FROM tp_pending LIMIT 300;")]
        for one in random.sample(ids, min(len(ids), 6)):
            session.run(f"UPDATE tp_pending SET priority = priority WHERE id = '{one}';")
            time.sleep(random.uniform(0, 0.02))
        session.run(random.choice(("COMMIT;", "ROLLBACK;")))


def begin(world, writes=True):
    return "BEGIN IMMEDIATE;" if world.database == "sqlite" and writes else "BEGIN;"


def sit_on(ids):
    return f"UPDATE tp_pending SET priority = priority WHERE id IN ({', '.join(ids)});"


def some_ids(world, state, count=ROWS):
    rows = world.sql(f"SELECT id FROM tp_pending WHERE state = '{state}' LIMIT {count * 3};")
    ids = [f"'{row[0]}'" for row in rows]
    return world.random.sample(ids, min(len(ids), count))


FAULTS = [OpenTransaction, RunningRow, IdleTransaction, LockStorm]
