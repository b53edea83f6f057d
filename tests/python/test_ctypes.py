#!/usr/bin/env -S python3 -B
"""test_ctypes.py PATH_TO_TASKPOOL LIBRARY: examples/python/taskpool.py and payroll.py on the database of TASKPOOL_DSN. A payroll run that
is killed before and after its commit, or hears nothing of it, is stored once; workers by the library's threads and by a loop of their
own, killed in the same ways and at random beside one of them, pay once; what the wrapper promises of texts, statuses and handlers."""
import os
import random
import select
import signal
import subprocess
import sys
import time
from decimal import Decimal

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "examples", "python")
os.environ["TASKPOOL_LIBRARY"] = os.path.realpath(sys.argv[2])
sys.path[:0] = [os.path.join(HERE, "..", "cli"), EXAMPLES]
from pool import DSN, PREFIX, check, environment, listed, main, run, until  # noqa: E402
import taskpool  # noqa: E402

SOME = PREFIX[1:7]  # the table of payments is shared by all pools: employees have numbers of their own
KILLED = os.path.join(HERE, "killed.py")
PAYROLL = os.path.join(EXAMPLES, "payroll.py")
KILLS = 3
lines = [f"{SOME}{number:02} {1000 + number}.50" for number in range(40)]


def start(how, *arguments):
    return subprocess.Popen([sys.executable, "-B", KILLED, how, PAYROLL, *arguments], env=environment({}), stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def payroll(how, *arguments, text=""):
    process = start(how, *arguments)
    out, _ = process.communicate(text, timeout=300)
    return process.returncode, out


def count(pool):
    return len(listed("--pool", pool, "--handler", "py-salary"))


def paid(conn):
    with conn.transaction():
        found = conn.execute("SELECT COUNT(*), COUNT(DISTINCT employee), SUM(amount) FROM py_paid WHERE employee LIKE ?", SOME + "%")
    number, employees, total = found[0]
    return int(number), int(employees), Decimal(total or 0).quantize(Decimal("0.01"))


def runs():
    """Half of the employees in one month, half in another."""
    first, second = "\n".join(lines[:20]), "\n".join(lines[20:])
    month = SOME
    check("run: killed before its commit", payroll("before", "run", month, text=first)[0] == -signal.SIGKILL and count("pending") == 0)
    code, out = payroll("unanswered", "run", month, text=first)
    check("run: its commit got no answer", code == 0 and "was stored before" in out and count("pending") == 20, out)
    code, out = payroll("undone", "run", month + "a", text=second)
    check("run: no answer, and not done", code == 0 and "20 tasks" in out and count("pending") == 40, out)
    check("run: killed after its commit", payroll("after", "run", month + "b", text=f"{SOME}40 1.00")[0] == -signal.SIGKILL)
    code, out = payroll("plainly", "run", month + "b", text=f"{SOME}40 1.00")
    check("run: started again", code == 0 and "was stored before" in out and count("pending") == 41, out)
    code, out = payroll("plainly", "run", month + "b", text=f"{SOME}40 1.00\n{SOME}41 1.00")
    check("run: another number than is stored", code == 1 and "with 1 tasks, and now there are 2" in out and count("pending") == 41, out)
    for name, text, *expected in ("an empty file", ""), ("half a file", f"{SOME}40 1.00", "2"):
        code, out = payroll("plainly", "run", month + "c", *expected, text=text)
        check(f"run: {name}", code == 1 and "nothing is stored" in out and count("pending") == 41, out)


def workers(conn):
    for how, command in (("paid", "work"), ("before", "loop"), ("paid", "loop")):
        check(f"{command} is killed: {how}", payroll(how, command)[0] == -signal.SIGKILL)
        check("nobody was paid", paid(conn)[0] == 0, paid(conn))
        taskpool.checked(taskpool.lib.tp_test_advance(conn.pointer, 61000))
    check("loop is killed after its commit", payroll("after", "loop")[0] == -signal.SIGKILL and paid(conn)[0] == 1, paid(conn))
    for how in ("unanswered", "undone"):
        taskpool.checked(taskpool.lib.tp_test_advance(conn.pointer, 61000))
        process = start(how, "loop")
        check(f"loop hears nothing: {how}", until(lambda: process.poll() is not None or paid(conn)[0] > 11), paid(conn))
        process.kill()
        process.communicate()
    crowd(conn)
    total = sum(Decimal(line.split()[1]) for line in lines) + 1
    check("each is paid once", paid(conn) == (41, 41, total), f"{paid(conn)}, not {(41, 41, total)}")
    check("all are done", (count("pending"), count("finished"), count("failed")) == (0, 41, 0))
    code, out, err = run("check")
    check("taskpool check", code == 0, out + err)


def bad_payments(conn):
    """Payments that the table refuses, or that have no amount, stop no others of their batch."""
    if "SQLite" in DSN:  # which does not look at a column's length
        with conn.transaction():
            conn.execute("CREATE TRIGGER py_too_long BEFORE INSERT ON py_paid WHEN LENGTH(NEW.employee) > 40"
                         " BEGIN SELECT RAISE(ABORT, 'too long'); END")
    conn.enqueue_many([taskpool.NewTask("py-salary", "1.00", biz_key=SOME + "9" * 60), taskpool.NewTask("py-salary", biz_key=SOME + "97"),
                       taskpool.NewTask("py-salary", "1.00", biz_key=SOME + "98")])
    code, out = payroll("plainly", "loop")
    check("loop: bad payments", code == 0, out)
    left = listed("--pool", "pending", "--handler", "py-salary")
    check("one is tried again", [(task["state"], task["failures"]) for task in left] == [("failed", 1)], left)
    check("one is for a person, one is paid", (count("failed"), count("finished")) == (1, 42), (count("failed"), count("finished")))


def crowd(conn):
    """Workers of both kinds beside each other; the worker by threads is killed at random."""
    others = [start("plainly", "loop")]
    for _ in range(KILLS):
        victim = start("told", "work")
        check("a worker pays, if anything is due", until(lambda: select.select([victim.stdout], [], [], 0)[0] or all(
            task["state"] == "failed" for task in listed("--pool", "pending", "--handler", "py-salary"))))
        time.sleep(random.uniform(0.1, 0.5))  # a process is really killed, at any instruction
        victim.kill()
        victim.communicate()
        check("time passes beside the others", until(lambda: taskpool.lib.tp_test_advance(conn.pointer, 61000) == taskpool.OK))
    code, out = payroll("plainly", "work", "--drain")
    check("work --drain ends", code == 0, out)
    for process in others:
        process.communicate(timeout=300)


def raises(kind, function, *arguments):
    try:
        answer = function(*arguments)
    except kind as error:
        return str(error)
    check(f"{function.__name__} raises {kind.__name__}", False, answer)
    return ""


def texts(conn):
    raises(taskpool.Misuse, conn.enqueue, taskpool.NewTask("py-text", due_at=1, delay_ms=1))
    raises(taskpool.Misuse, taskpool.NewTask, "py-text", "a\0b")
    raises(taskpool.TooBig, conn.enqueue, taskpool.NewTask("py-text", biz_key="k" * 129))
    raises(TypeError, taskpool.NewTask, "py-text", {"order": 7})
    raises(TypeError, lambda: taskpool.NewTask("py-text", bizkey="a"))
    raises(TypeError, lambda: taskpool.Retry(1, jiter=1))
    raises(TypeError, conn.execute, "SELECT ?", b"bytes")
    long = "Zürich €" * 20000
    task = taskpool.NewTask("py-text", long, dedup_key="one")
    check("enqueue", conn.enqueue(task) and len(task.id) == 36)
    check("asked again", not conn.enqueue(task) and task.existing_id == task.id)
    other = taskpool.NewTask("py-text", "b", dedup_key="one")
    check("another with its key", not conn.enqueue(other) and other.existing_id == task.id)
    check("many", conn.enqueue_many([taskpool.NewTask("py-text", str(number)) for number in range(3)] + [task]) == 3)
    check("once", [conn.once("py-once"), conn.once("py-once")] == [True, False])
    with conn.transaction():
        check("a query", conn.execute("SELECT biz_key, LENGTH(params) FROM " + PREFIX + "pending WHERE params = ?", "2") == [(None, "1")])
    raises(taskpool.Database, conn.execute, "SELECT * FROM py_nothing_of_this_name")
    settles(conn, long)


def settles(conn, long):
    claim = taskpool.Claim("py-text", limit=4, retry=taskpool.Retry(0))
    batch = conn.claim(claim)
    tasks = {task.params: task for task in batch}
    check("claimed", len(batch) == 4 and long in tasks and not len(conn.claim(claim)))
    check("extended", conn.extend(tasks["0"], 90000) is None)
    check("a failure that is the last", not conn.fail(tasks["0"], "ä", taskpool.Retry(0)) and conn.fail(tasks["1"], None, taskpool.Retry(1)))
    conn.skip(tasks["2"], "nothing to do")
    check("not settled yet", not conn.settled(tasks[long]))
    check("completed", conn.complete_many([tasks[long]]) == [taskpool.OK] and conn.settled(tasks[long]))
    raises(taskpool.Lost, conn.complete, tasks["2"])
    conn.begin()
    raises(taskpool.Database, conn.execute, "SELECT * FROM py_nothing_of_this_name")
    raises(taskpool.Conflict, conn.commit)
    claim = taskpool.Claim("py-text")
    done = taskpool.NewTask("py-result", "x")
    conn.enqueue(done)
    raises(taskpool.Timeout, conn.await_end, done.id, 0)
    conn.complete(conn.claim(taskpool.Claim("py-result"))[0], "ä")
    ended = conn.await_end(done.id, 0)
    check("its result", (ended.state, ended.result) == ("done", "ä"))
    found = []
    check("again after its failure", until(lambda: found or found.extend(conn.claim(claim)) or found))
    conn.give_up(found[0], "enough")


def handlers(env, conn):
    """What each way out of a handler makes of its task, by steps and by threads."""
    def handler(run):
        run.execute("INSERT INTO py_paid (task_id, employee, amount) VALUES (?, ?, ?)", run.task.id, "h" + PREFIX, 1)
        what = run.task.params
        if what == "swallow":
            try:
                run.execute("SELECT * FROM py_nothing_of_this_name")
            except taskpool.Database:
                return
        if what == "exit":
            sys.exit(0)
        if what == "more":
            run.progress(50, "half")
            run.result("given back")
            run.enqueue(taskpool.NewTask("py-handler", "well"))
        if what in ("skip", "later", "odd", "up", "fail"):
            raise {"skip": taskpool.Skip("no"), "later": taskpool.Later(3600e3), "odd": taskpool.Later("soon"), "up": taskpool.GiveUp("never"), "fail": ValueError("ä")}[what]
    for what in ("swallow", "exit", "more", "skip", "later", "odd", "up", "fail"):
        conn.enqueue(taskpool.NewTask("py-handler", what))
    with taskpool.Worker(env, batch=1, retry=taskpool.Retry(3600000), name="steps") as worker:
        conn.enqueue(taskpool.NewTask("py-stale", "x", due_at=1))
        worker.handle("py-stale", handler, deadline_ms=60000)
        worker.handle("py-handler", handler)
        check("steps", until(lambda: not worker.step()))
    found = {pool: sorted(f"{task['state']} {task['params']} {task['reason'] or ''}".strip() for task in
                          listed("--pool", pool, "--handler", "py-handler")) for pool in ("pending", "finished", "failed")}
    check("past its handler's deadline", "skipped" in str(listed("--pool", "finished", "--handler", "py-stale")))
    check("pending", [line.split(" ")[:2] for line in found["pending"]] ==
          [["failed", "exit"], ["failed", "fail"], ["failed", "odd"], ["failed", "swallow"], ["pending", "later"]], found)
    check("a reason", "failed fail ValueError: ä" in found["pending"], found)
    check("given back", [task["id"] for task in listed("--pool", "finished", "--handler", "py-handler") if
                         conn.await_end(task["id"], 0).result == "given back"].__len__() == 1)
    check("finished", found["finished"] == ["done more", "done well", "skipped skip no"], found)
    check("failed", found["failed"] == ["failed up never"], found)
    with conn.transaction():
        stored = conn.execute("SELECT task_id FROM py_paid WHERE employee = ?", "h" + PREFIX)
    check("what was written by those that ended well", len(stored) == 3, stored)


def runs_steps(env, conn):
    """A step that is done is not done again, in a handler and in a loop; what fails is rolled back with its record."""
    def charge(session):
        session.enqueue(taskpool.NewTask("py-charged", "1", delay_ms=3600000))
        return "receipt ä"

    def broken(session):
        session.enqueue(taskpool.NewTask("py-charged", "never"))
        raise ValueError("no label")

    def swallows(session):
        try:
            session.execute("SELECT * FROM py_nothing_of_this_name")
        except taskpool.Database:
            return "kept"
    said = []

    def handler(run):
        said.append(run.step("charge", charge))
        if run.task.failures == 0:
            raises(taskpool.Conflict, run.step, "swallow", swallows)
            run.step("label", broken)
        check("a step without a result", run.step("label", lambda session: None) == "")
    conn.enqueue(taskpool.NewTask("py-step", "x"))
    with taskpool.Worker(env, batch=1, retry=taskpool.Retry(1), name="steps") as worker:
        worker.handle("py-step", handler)
        check("steps of a handler", until(lambda: worker.step() and len(said) == 2 or len(said) == 2))
    check("its result, twice", said == ["receipt ä"] * 2, said)
    check("charged once", [task["params"] for task in listed("--pool", "pending", "--handler", "py-charged")] == ["1"])
    conn.enqueue(taskpool.NewTask("py-loop", "x"))
    task = conn.claim(taskpool.Claim("py-loop"))[0]
    raises(ValueError, conn.step, task, "charge", broken)
    check("steps of a loop", [conn.step(task, "charge", charge), conn.step(task, "charge", charge)] == ["receipt ä"] * 2)
    check("and once more charged", len(listed("--pool", "pending", "--handler", "py-charged")) == 2)
    conn.progress(task, 40, "half")
    conn.complete(task)
    raises(taskpool.Lost, conn.step, task, "label", charge)


def orders(conn):
    """Gates, groups and cancel."""
    check("a closed gate", conn.gate_set("py-gate", width=0) and conn.gate("py-gate")["width"] == 0)
    check("a gate", conn.gate_set("py-gate", "ann", width=1) and not conn.gate_set("py-gate", "ann", width=1))
    for number in range(2):
        conn.enqueue(taskpool.NewTask("py-gated", str(number), gate="py-gate"))
    gate = conn.gate("py-gate")
    check("its fields", (gate["width"], gate["through"], gate["waiting"], gate["changed_by"]) == (1, 1, 1, "ann"), gate)
    raises(taskpool.Misuse, conn.gate_remove, "py-gate")
    for number in range(2):
        batch = conn.claim(taskpool.Claim("py-gated", limit=2))
        check("one at a time", [task.params for task in batch] == [str(number)])
        conn.complete(batch[0])
    check("it is gone", conn.gate_remove("py-gate") and conn.gate("py-gate") is None and not conn.gate_remove("py-gate"))
    raises(taskpool.Misuse, lambda: conn.gate_set("py-gate", tokens=5))
    with conn.transaction():
        check("a group", conn.group_open("py-group") and not conn.group_open("py-group"))
        conn.enqueue(taskpool.NewTask("py-after", "x", after="py-group"))
        conn.enqueue(taskpool.NewTask("py-grouped", "x", group="py-group"))
        check("closed", conn.group_close("py-group") and not conn.group_close("py-group"))
    check("what is after it waits", not len(conn.claim(taskpool.Claim("py-after"))))
    conn.complete(conn.claim(taskpool.Claim("py-grouped"))[0])
    group = conn.group("py-group")
    check("its tasks", (group["state"], group["tasks"], group["done"], group["after"]) == ("closed", 1, 1, 1), group)
    check("it has ended", conn.groups_end() == 1)
    conn.complete(conn.claim(taskpool.Claim("py-after"))[0])
    check("removed", conn.group_remove("py-group") and conn.group("py-group") is None)
    conn.group_open("py-cancelled", taskpool.GROUP_ALL_ENDED)
    conn.enqueue(taskpool.NewTask("py-grouped", "y", group="py-cancelled"))
    check("a group is cancelled", conn.group_cancel("py-cancelled", "ann", "not wanted") == 1)
    tasks = [taskpool.NewTask("py-cancel", "x") for _ in range(2)]
    conn.enqueue_many(tasks)
    claimed = conn.claim(taskpool.Claim("py-cancel", limit=1))[0]
    waits = next(task for task in tasks if task.id != claimed.id)
    check("cancelled", [conn.cancel(waits.id, "ann"), conn.cancel(claimed.id, "ann", "late")] == ["skipped", "asked"])
    check("whoever has it can ask why", conn.stop_cause(claimed) == ("cancelled", "cancelled by ann: late"))
    conn.complete(claimed)
    check("it has it no more", conn.stop_cause(claimed)[0] == "lost")
    check("and later", [conn.cancel(claimed.id, "ann"), conn.cancel("00000000-0000-7000-8000-000000000000", "ann")] == ["late", "unknown"])


def moves(conn):
    task = taskpool.NewTask("py-move", "x", delay_ms=86400000)
    conn.enqueue(task)
    edit = taskpool.Edit(due_at=1, deadline_at=4102444800000, priority=-3, params="moved")
    raises(taskpool.Misuse, lambda: conn.edit(task.id, taskpool.Edit(due_at=1, deadline_at=1), "ann"))
    check("moved, and asked again", [conn.edit(task.id, edit, "ann"), conn.edit(task.id, edit, "ann", "why")] == ["done", "done"])
    check("no such task", conn.edit("00000000-0000-7000-8000-000000000000", taskpool.Edit(priority=1), "ann") == "none")
    raises(KeyError, lambda: taskpool.Edit(retry=1, edit_id="a"))
    moved = conn.claim(taskpool.Claim("py-move"))[0]
    check("its values", (moved.params, moved.priority) == ("moved", -3))
    conn.complete(moved)
    with open("days.csv", "w", encoding="utf-8") as file:
        file.write("date\n2026-12-25\n")
    code, out, err = run("calendar", "import", "py-bank", "days.csv", "--cut-off", "18:00", "--from", "2020-01-01", "--to", "2099-12-31")
    check("a calendar", code == 0, out + err)
    check("Christmas Day is closed", conn.business_day("py-bank", "2026-12-25") is None)
    check("the business day after it", conn.business_day("py-bank", "2026-12-25", 1)[0] == "2026-12-28")
    conn.enqueue(taskpool.NewTask("py-paid", "x", cut_off_calendar="py-bank"))


def test():
    check("install", payroll("plainly", "install")[0] == 0 and payroll("plainly", "install")[0] == 0)
    with taskpool.Environment(DSN) as env, env.connect() as conn:
        texts(conn)
        handlers(env, conn)
        runs_steps(env, conn)
        orders(conn)
        moves(conn)
        runs()
        workers(conn)
        bad_payments(conn)
    raises(taskpool.Misuse, conn.now)
    raises(taskpool.Misuse, taskpool.Environment, "Driver=x;Dialect=none")


main(test)
