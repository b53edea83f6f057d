#!/usr/bin/env python3
"""A payroll run in Python by taskpool.py. Each salary is paid once, also when a program is killed at any moment.

  TASKPOOL_DSN='Driver=SQLite3;Database=/tmp/pay.db'     the database; libtaskpool must be found, see taskpool.py
  payroll.py install                                     the tables, once
  payroll.py run 2026-11 [COUNT] < salaries              a task for each line "employee amount", all or none, once a month;
                                                         with COUNT only if there are so many
  payroll.py work [--drain]                              the worker: four threads, until SIGTERM or Ctrl-C
  payroll.py loop                                        the same by a loop of its own, until nothing is due
  payroll.py paid                                        payments, employees, sum
"""
import os
import signal
import sys
import time
from decimal import Decimal, InvalidOperation

import taskpool

RETRY = taskpool.Retry(60000, 300000, 1200000)  # after 1, 5 and 20 minutes, then a person
TABLES = ["CREATE TABLE py_runs (month VARCHAR(10) NOT NULL PRIMARY KEY, tasks INTEGER NOT NULL)",
          "CREATE TABLE py_paid (task_id CHAR(36) NOT NULL, employee VARCHAR(40) NOT NULL, amount DECIMAL(12, 2) NOT NULL)"]


def install(conn):
    conn.install()
    for sql in TABLES:
        try:
            with conn.transaction():
                conn.execute(sql)
        except taskpool.Error:
            pass  # it is there


def again(conn, work, tries=20):
    """Does the work until its commit is known. What was stored by a try without an answer, work must find out."""
    while True:
        try:
            return work()
        except taskpool.Error as error:
            tries -= 1
            if not error.may_retry or not tries:
                raise
            print("payroll:", error, file=sys.stderr)
        time.sleep(0.5)
        try:
            conn.reopen()
        except taskpool.Disconnected:
            pass  # the next try says so


def run(conn, month, lines, expected=None):
    """The row of the run and its tasks in one transaction; the ledger says whether that was stored before. What is stored is so for
    good, so an empty or half-written file must not be."""
    def put():
        with conn.transaction():
            if not conn.once("payroll-" + month):
                stored = int(conn.execute("SELECT tasks FROM py_runs WHERE month = ?", month)[0][0])
                if stored != len(salaries):
                    sys.exit(f"payroll: {month} was stored before with {stored} tasks, and now there are {len(salaries)}")
                return f"{month} was stored before"
            conn.execute("INSERT INTO py_runs (month, tasks) VALUES (?, ?)", month, len(salaries))
            conn.enqueue_many([taskpool.NewTask("py-salary", amount, biz_key=employee) for employee, amount in salaries])
        return f"{month}: {len(salaries)} tasks"
    salaries = [line.split() for line in lines]
    if not salaries or expected and int(expected) != len(salaries):
        sys.exit(f"payroll: {month}: {len(salaries)} salaries, nothing is stored")
    print(again(conn, put))


def pay(session, task):
    """In the transaction that ends the task."""
    try:
        amount = Decimal(task.params)
    except (InvalidOperation, TypeError):
        raise taskpool.GiveUp("params are no amount") from None
    session.execute("INSERT INTO py_paid (task_id, employee, amount) VALUES (?, ?, ?)", task.id, task.biz_key, amount)


def work(env, drain):
    with taskpool.Worker(env, retry=RETRY, threads=4, batch=10, drain=drain, poll_ms=100) as worker:
        worker.handle("py-salary", lambda run: pay(run, run.task))
        signal.signal(signal.SIGTERM, lambda *_: worker.stop())
        try:
            worker.run()
        except KeyboardInterrupt:
            pass


def pay_one(conn, task):
    """Effect and settle in one transaction; after a commit without an answer the database says what it did."""
    tried = False

    def once():
        nonlocal tried
        if tried and conn.settled(task):
            return
        tried = True
        with conn.transaction():
            pay(conn, task)
            conn.complete(task)
    try:
        try:
            again(conn, once)
        except taskpool.GiveUp as reason:
            text = str(reason)
            again(conn, lambda: conn.give_up(task, text))
        except taskpool.Lost:
            raise
        except taskpool.Error as error:
            if error.may_retry:
                raise
            text = str(error)
            again(conn, lambda: conn.fail(task, text, RETRY))  # this payment alone; the others of the batch go on
    except taskpool.Lost:
        print("lost", task.id, file=sys.stderr)  # rolled back: another has the task


def loop(conn):
    claim = taskpool.Claim("py-salary", retry=RETRY, limit=10, lease_ms=60000)
    while True:
        batch = again(conn, lambda: conn.claim(claim))
        if not len(batch):
            return
        for task in batch:
            pay_one(conn, task)


def paid(conn, prefix=""):
    with conn.transaction():
        print(*conn.execute("SELECT COUNT(*), COUNT(DISTINCT employee), SUM(amount) FROM py_paid WHERE employee LIKE ?", prefix + "%")[0])


def main(command, *arguments):
    with taskpool.Environment(os.environ["TASKPOOL_DSN"]) as env:
        if command == "work":
            work(env, "--drain" in arguments)
            return
        with env.connect() as conn:
            if command == "run":
                run(conn, arguments[0], sys.stdin, *arguments[1:])
            else:
                {"install": install, "loop": loop, "paid": paid}[command](conn, *arguments)


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in ("install", "run", "work", "loop", "paid"):
        sys.exit(__doc__)
    main(*sys.argv[1:])
