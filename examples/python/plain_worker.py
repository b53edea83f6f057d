#!/usr/bin/env python3
"""A worker without the library: pyodbc and the statements of examples/sql. Grants points, as examples/worker.c does; the
points and the end of the task are stored together or not at all. What it lacks beside a worker of the library is in
docs/plain-sql.md.

  TASKPOOL_DSN='Driver=PostgreSQL Unicode;...' plain_worker.py postgres points [--drain] [--lease-ms N] [--limit N]

Its effect goes into a table of yours: CREATE TABLE example_points (task_id CHAR(36), points INTEGER)
"""
import argparse
import calendar
import os
import re
import sys
import time
import uuid

import pyodbc

HERE = os.path.dirname(os.path.abspath(__file__))
DSN = os.environ["TASKPOOL_DSN"]
PREFIX = (re.search(r"(?i)(?:^|;)prefix=(\w+)", DSN) or [None, "tp_"])[1]
LADDER_MS = [60000, 300000, 1200000]  # after 1, 5 and 20 minutes, then a person


class Lost(Exception):
    """The claim is another's: nothing of this try may be stored."""


def statements(dialect, name):
    """The statements of a file, as pairs: text with ? for each :name, and the names in their order."""
    with open(os.path.join(HERE, "..", "sql", dialect, name + ".sql"), encoding="utf-8") as file:
        text = re.sub(r"--.*", "", file.read()).replace("tp_", PREFIX)
    for part in filter(str.strip, text.split(";")):
        yield re.sub(r":(\w+)", "?", part), re.findall(r":(\w+)", part)


class Session:
    def __init__(self, dialect):
        self.dialect = dialect
        self.sql = {}
        self.dbc = None
        self.open()

    def open(self):
        if self.dbc:
            try:
                self.dbc.close()
            except pyodbc.Error:
                pass
        self.dbc = pyodbc.connect(DSN, autocommit=self.dialect == "sqlite")
        if self.dialect != "sqlite":
            self.dbc.set_attr(pyodbc.SQL_ATTR_TXN_ISOLATION, pyodbc.SQL_TXN_READ_COMMITTED)

    def begin(self):
        """SQLite: who is to write must say so at the beginning."""
        if self.dialect == "sqlite":
            self.dbc.execute("BEGIN IMMEDIATE")

    def commit(self):
        if self.dialect == "sqlite":
            self.dbc.execute("COMMIT")
        else:
            self.dbc.commit()

    def undo(self):
        """After any error; a connection on which not even this works is left for a new one."""
        try:
            if self.dialect == "sqlite":
                self.dbc.execute("ROLLBACK")
            else:
                self.dbc.rollback()
        except pyodbc.Error:
            self.open()

    def clock(self):
        """For the generic dialect alone: the database's clock. The session's time zone must be UTC: who has another would take what is
        not due yet, or what others have in hand."""
        text = str(self.dbc.execute(f"SELECT CURRENT_TIMESTAMP FROM {PREFIX}meta WHERE name = 'schema'").fetchval())
        whole, _, part = text.split("+")[0].partition(".")
        seconds = time.strptime(whole.strip().replace("T", " "), "%Y-%m-%d %H:%M:%S")
        now = calendar.timegm(seconds) * 1000 + int((part + "000")[:3])
        if abs(now / 1000 - time.time()) > 14 * 60:  # less than the smallest step between time zones
            sys.exit(f"plain_worker: the session's time zone is not UTC, or its clock is far from this machine's: {text}")
        return now

    def run(self, name, **values):
        """Runs a file's statements; gives the cursor of the last, and the row counts of all."""
        if name not in self.sql:
            self.sql[name] = list(statements(self.dialect, name))
        if self.dialect == "generic":
            values["now"] = self.clock()
        counts, cursor = [], None
        for text, names in self.sql[name]:
            cursor = self.dbc.execute(text, [values[each] for each in names])
            counts.append(max(cursor.rowcount, 0))
        return cursor, counts

    def write(self, name, **values):
        """A settling write: each statement must change one row."""
        _, counts = self.run(name, **values)
        if any(count != 1 for count in counts):
            raise Lost(f"{name}: row counts {counts}")


def claim(session, options):
    """The token of a new claim, and its tasks. A commit without an answer needs no more than to read by the token, over a
    connection that lives: some drivers roll back on a dead one without an error."""
    token = str(uuid.uuid4())
    try:
        session.begin()
        session.run("claim_take", token=token, handler=options.handler, lease_ms=options.lease_ms, limit=options.limit)
        session.commit()
    except pyodbc.Error:
        session.open()
    cursor, _ = session.run("claim_read", token=token, max_failures=len(LADDER_MS) + 1)
    tasks = cursor.fetchall()
    session.undo()  # ends what the reading began
    return token, tasks


def grant_points(session, task):
    """The effect, in the task's own transaction."""
    session.dbc.execute("INSERT INTO example_points (task_id, points) VALUES (?, ?)", task.id, int(task.params))


def settled(session, task, token):
    """Whether the commit that got no answer was done."""
    session.open()
    cursor, _ = session.run("settled", id=task.id, token=token)
    found = cursor.fetchone()
    session.undo()
    return found and found.pool == "finished"


def do(session, task, token):
    """Effect and settle in one transaction; ValueError, TypeError: the task itself is wrong."""
    session.begin()
    try:
        grant_points(session, task)
        session.write("finish", id=task.id, token=token, state="done", reason=None)
    except BaseException:
        session.undo()
        raise
    try:
        session.commit()
    except pyodbc.Error:
        if not settled(session, task, token):
            raise


def failed(session, options, task, token, reason, counted):
    """Due again later, or to the failed pool, with its line in the history."""
    last = len(LADDER_MS) + 1
    try:
        session.begin()
        attempt = int(task.failures) + counted
        again = False
        if counted:
            _, counts = session.run("retry", id=task.id, token=token, reason=reason, max_failures=last,
                                    delay_ms=LADDER_MS[min(int(task.failures), len(LADDER_MS) - 1)])
            again = counts == [1]
        if not again:
            session.write("fail", id=task.id, token=token, reason=reason, counted=counted)
        session.write("record", history_id=str(uuid.uuid4()), id=task.id, token=token, handler=options.handler,
                      event="failed" if again else "gave-up", attempt=attempt, who="plain_worker", reason=reason)
        session.commit()
    except BaseException:
        session.undo()
        raise


def handle(session, options, task, token):
    try:
        if task.exhausted:
            failed(session, options, task, token, None, 0)
            return
        try:
            do(session, task, token)
        except (ValueError, TypeError) as error:
            failed(session, options, task, token, str(error)[:500], 1)
    except Lost as lost:
        print("lost", task.id, lost, flush=True)
    except pyodbc.Error as error:
        # Nothing is known to be stored: the lease lapses, and whoever claims the task then counts a failure.
        print("error", task.id, error.args[0], flush=True)
        try:
            session.undo()
        except pyodbc.Error:
            pass  # the server is not back yet; the claim waits for it


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("dialect")
    parser.add_argument("handler")
    parser.add_argument("--drain", action="store_true", help="end when nothing is due")
    parser.add_argument("--lease-ms", type=int, default=60000)
    parser.add_argument("--limit", type=int, default=10)
    options = parser.parse_args()
    session = Session(options.dialect)
    idle = 0
    while not options.drain or idle < 3:
        try:
            token, tasks = claim(session, options)
        except pyodbc.Error as error:
            print("error", error.args[0], flush=True)
            time.sleep(0.5)
            try:
                session.open()
            except pyodbc.Error:
                pass  # the server is not back yet
            continue
        for task in tasks:
            handle(session, options, task, token)
        idle = 0 if tasks else idle + 1
        if not tasks:
            time.sleep(0.1)


if __name__ == "__main__":
    main()
