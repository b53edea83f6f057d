#!/usr/bin/env -S python3 -B
"""killed.py HOW PROGRAM ARGUMENT...: runs a program of examples/python whose first commit after a task was put in or completed is
  before      killed before the database hears of it
  after       and when it has done it
  unanswered  done, and the program is told that no answer came
  undone      not done, and the program is told that no answer came
or which, paid, is killed as soon as its first payment has been written, or which, told, says then so. plainly: none of this."""
import os
import runpy
import signal
import sys

how, program = sys.argv[1:3]
sys.path.insert(0, os.path.dirname(os.path.realpath(program)))
import taskpool  # noqa: E402

DISCONNECTED = taskpool.STATUSES["disconnected"]
real = {name: getattr(taskpool.lib, name) for name in ("tp_commit", "tp_rollback", "tp_enqueue_many", "tp_complete")}
execute = taskpool.Session.execute
armed = done = said = False


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def arm(name):
    def call(*arguments):
        global armed
        armed = True
        return real[name](*arguments)
    setattr(taskpool.lib, name, call)


def commit(conn):
    global done
    if not armed or done:
        return real["tp_commit"](conn)
    if how == "before":
        die()
    status = real["tp_rollback" if how == "undone" else "tp_commit"](conn)
    if how == "after":
        die()
    done = True
    return DISCONNECTED if status == taskpool.OK else status


def paid(session, sql, *values):
    answer = execute(session, sql, *values)
    if "INTO py_paid" in sql:
        die()
    return answer


def told(session, sql, *values):
    global said
    answer = execute(session, sql, *values)
    if "INTO py_paid" in sql and not said:
        said = True
        print("it pays", flush=True)
    return answer


if how == "paid":
    taskpool.Session.execute = paid
elif how == "told":
    taskpool.Session.execute = told
elif how != "plainly":
    arm("tp_enqueue_many")
    arm("tp_complete")
    taskpool.lib.tp_commit = commit
retry = taskpool.Retry
taskpool.Retry = lambda *delays: retry(*delays * 10)  # so that no task is given up, however often its worker is killed
sys.argv = [program, *sys.argv[3:]]
runpy.run_path(program, run_name="__main__")
