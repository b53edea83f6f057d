#!/usr/bin/env -S python3 -B
"""test_adopt_acts.py PATH_TO_TASKPOOL: what people do beside an adoption: four eyes, skips, retries, rows that are opened again, purges, and
a copy while the links are removed. No row is done twice, and none is left. Skipped where /usr/bin/python3 has no pyodbc."""
import subprocess
import sys

from old_table import FAR, FAR_MS, TIME, attempt, connect, table
from pool import BASE, PREFIX, SQLITE, check, end, listed, main, program, run, start, until  # the path: old_table

OPEN, TAKEN, DONE, SKIPPED, FAILED, HANDLED = 0, 9, 1, 4, 2, 3
MAPPING = f"""name = x
table = {table("x")}
key = id
state = status
open = {OPEN}
taken = {TAKEN}
done = {DONE}
skipped = {SKIPPED}
failed = {FAILED}
handler = 'pay'
params = data
"""
LINKS, DETACHED = PREFIX + "adopt_x", PREFIX + "adopted_x"


class Rows:
    """The old table, and the steps."""

    def __init__(self, name, mapping):
        self.name, self.connection = name, connect()
        self.sql(f"CREATE TABLE {table(name)} (id INTEGER PRIMARY KEY, data VARCHAR(40), status INTEGER)")
        with open(name, "w", encoding="utf-8") as file:
            file.write(mapping)

    def sql(self, text):
        return attempt(self.connection, [(text,)])

    def put(self, i):
        self.sql(f"INSERT INTO {table(self.name)} (id, data, status) VALUES ({i}, 'row {i}', {OPEN})")

    def set(self, i, what):
        self.sql(f"UPDATE {table(self.name)} SET {what} WHERE id = {i}")

    def states(self):
        return dict(tuple(row) for row in self.sql(f"SELECT id, status FROM {table(self.name)}"))

    def step(self, step, wanted=0, what=""):
        code, out, err = run("adopt", self.name, step)
        check(f"{step} {what}", code == wanted, f"exit code {code}: {out}{err}")
        return out + err


def task(data):
    """Those of a row."""
    return [each for each in listed("--pool", "all") if each.get("params") == data]


def work(name):
    code, out, err = run("work", "--handler", f"pay=./{name}", "--drain", "--poll", "20ms", "--retry", "none")
    check(f"work {name}", code in (0, 8), f"{code} {out}{err}")


def fail(rows, i):
    rows.put(i)
    rows.step("--copy")
    work("bad")
    rows.step("--copy")
    check(f"row {i} has failed", rows.states()[i] == FAILED, rows.states())


def begin(i):
    """As a worker that is at it."""
    work_id = task(f"row {i}")[0]["id"]
    attempt(connect(), [(f"UPDATE {PREFIX}pending SET state = 'handling', due_at = 9000000000000 WHERE id = '{work_id}'",)])


def test_skip_in_the_words_of_a_removal(rows):
    rows.put(1)
    rows.step("--copy")
    run("skip", "--id", task("row 1")[0]["id"], "--why", "returned to the old table")
    rows.step("--copy")
    check("what a person skipped is skipped, whatever he says", rows.states()[1] == SKIPPED, rows.states())


def test_four_eyes(rows):
    code, _, err = run("four-eyes", "on", "--who", "ann")
    check("four eyes", code == 0, err)
    for i in (2, 3):
        rows.put(i)
    rows.step("--copy")
    rows.sql(f"DELETE FROM {table('x')} WHERE id = 3")
    rows.put(4)
    rows.step("--copy", what="with a deleted row")
    check("its task is recalled", [each["state"] for each in task("row 3")] == ["skipped"], task("row 3"))
    check("and others get in", len(task("row 4")) == 1)
    out = rows.step("--remove", what="with four eyes")
    check("two are returned", "returned 2" in out, out)
    check("their rows are open", rows.states() == {1: SKIPPED, 2: OPEN, 4: OPEN}, rows.states())
    check("no request was written", run("requests")[0] == 1, run("requests")[1])
    events = run("history", task("row 2")[0]["id"])[1]
    check("the history tells", "recalled" in events and "returned to the old table" in events, events)
    out = run("audit", "--action", "recalled")[1]
    check("the audit has it", "recalled" in out and " 2 " in out, out)
    rows.step("--apply", what="again")
    rows.step("--copy")
    work("good")
    rows.step("--copy")
    check("each is done", rows.states() == {1: SKIPPED, 2: DONE, 4: DONE}, rows.states())
    code, out, err = run("four-eyes", "off", "--who", "ann")
    check("off is a request", code == 13, out + err)
    check("approved", run("approve", (out + err).split()[3].rstrip(":"), "--who", "bob")[0] == 0, out + err)


def test_row_that_is_opened_again(rows):
    fail(rows, 10)
    rows.set(10, f"status = {OPEN}, data = 'corrected'")
    rows.step("--copy")
    check("its failed task is skipped", [each["state"] for each in task("row 10")] == ["skipped"], task("row 10"))
    check("and nobody retries it", run("retry", "--id", task("row 10")[0]["id"])[0] == 1)
    check("the row is a new task", [each["state"] for each in task("corrected")] == ["pending"] and rows.states()[10] == TAKEN)
    rows.step("--compare", what="with a row that was opened again")
    work("good")
    rows.step("--copy")
    check("which is done", rows.states()[10] == DONE, rows.states())


def test_row_that_is_opened_again_and_retried(rows):
    for i in (20, 21):
        fail(rows, i)
        rows.set(i, f"status = {OPEN}")
        run("retry", "--id", task(f"row {i}")[0]["id"])
        if i == 20:
            work("good")
        rows.step("--copy")
        check(f"row {i} has one task", len(task(f"row {i}")) == 1, task(f"row {i}"))
        check(f"row {i} is not open", rows.states()[i] == (DONE if i == 20 else TAKEN), rows.states())
    work("good")
    rows.step("--copy")
    check("row 21 is done", rows.states()[21] == DONE, rows.states())
    rows.step("--compare", what="with a row that was retried")


def test_retry_of_an_open_row_whose_copy_is_cut_off(rows):
    """A removal is a way back without a copy behind it, as one whose copy was killed."""
    fail(rows, 22)
    rows.set(22, f"status = {OPEN}")
    run("retry", "--id", task("row 22")[0]["id"])
    rows.step("--remove", 9, "with a retry of a row that is open")
    check("the row of a task in the pool is not open", rows.states()[22] == TAKEN, rows.states())
    work("good")
    rows.step("--copy")
    check("which is done", rows.states()[22] == DONE, rows.states())


def test_retry_of_an_open_row_that_an_old_worker_takes(rows):
    """While the way back is at it: it has seen the row open, and waits for the old worker's lock."""
    fail(rows, 23)
    rows.set(23, f"status = {OPEN}")
    run("retry", "--id", task("row 23")[0]["id"])
    old, watch = connect(), connect()
    old.cursor().execute(f"UPDATE {table('x')} SET status = {HANDLED} WHERE id = 23")
    copying = start("adopt", "x", "--copy")
    until(lambda: copying.poll() is not None or attempt(watch, [(
        "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
        f"AND query LIKE '%UPDATE%{table('x')}%''retried''%'",)])[0][0] == 1)
    old.commit()
    check("it goes on", end(copying)[0] in (0, 6))  # 6: it had waited for too long, and is asked again
    rows.step("--copy", what="when the old worker has taken the row")
    check("the retry is called back", task("row 23")[0]["state"] == "skipped", task("row 23"))
    check("the row is the old worker's", rows.states()[23] == HANDLED, rows.states())
    rows.set(23, f"status = {DONE}")
    rows.step("--compare", what="with a retry whose row an old worker took")


def test_row_that_is_opened_again_and_done_by_an_old_worker(rows):
    """Between two rounds."""
    fail(rows, 15)
    rows.set(15, f"status = {OPEN}")
    rows.set(15, f"status = {DONE}")
    rows.step("--copy")
    check("nobody retries its task", run("retry", "--id", task("row 15")[0]["id"])[0] == 1)
    check("which is skipped", [each["state"] for each in task("row 15")] == ["skipped"] and rows.states()[15] == DONE, task("row 15"))
    rows.step("--compare", what="with a row that an old worker did")


def test_retry_beside_an_old_worker(rows):
    """Before the round that sees what he did: the retry is called back, unless a worker has begun it."""
    for i in (16, 17):
        fail(rows, i)
        rows.set(i, f"status = {DONE}")
        run("retry", "--id", task(f"row {i}")[0]["id"])
    begin(17)
    rows.step("--copy")
    check("a retry that nobody has begun is called back", task("row 16")[0]["state"] == "skipped", task("row 16"))
    check("one that was begun goes on", task("row 17")[0]["state"] == "handling", task("row 17"))
    code, out, _ = run("adopt", "x", "--compare")
    check("and is told", code == 12 and "in the pool" in out and "differs" in out, f"{code} {out}")
    rows.step("--remove", 9, "with a retry that was begun")
    run("release", "--handler", "pay")
    rows.step("--copy")
    check("it is called back when it is free", task("row 17")[0]["state"] == "skipped", task("row 17"))
    rows.step("--compare", what="when all retries are called back")


def test_remove_of_failed(rows):
    fail(rows, 18)
    rows.step("--remove", what="with a failed task")
    check("nobody retries what was returned", run("retry", "--id", task("row 18")[0]["id"])[0] == 1, task("row 18"))
    check("its row has failed still", rows.states()[18] == FAILED, rows.states())
    check("the history tells", "returned to the old table" in run("history", task("row 18")[0]["id"])[1])
    rows.step("--apply", what="after a failed task")


def test_purged(rows):
    fail(rows, 30)
    run("purge", "--pool", "failed", "--all")
    rows.set(30, f"status = {OPEN}, data = 'again'")
    rows.step("--copy")
    check("a row whose failed task was purged is a new task", len(task("again")) == 1, rows.states())
    work("good")
    run("purge", "--pool", "finished", "--all")
    out = rows.step("--remove", 9, "with a task that was purged")
    check("which is told", "1 tasks of the old table are in no pool" in out and "being handled" not in out, out)
    rows.set(30, f"status = {DONE}")
    rows.sql(f"DELETE FROM {LINKS} WHERE link_stage = 'pool'")
    rows.step("--remove", what="once it was set by hand")
    rows.step("--apply")


def test_copy_while_the_links_are_removed(rows):
    """The copy has put its task in, and commits when the removal has found nothing left."""
    other = connect()
    if SQLITE:
        other.cursor().execute("BEGIN IMMEDIATE")
    key, was = ("40", str(OPEN))
    task_id = "'0190a000-0000-7000-8000-000000000040'"
    zeros = "'00000000-0000-0000-0000-000000000000'"
    other.cursor().execute(f"INSERT INTO {LINKS} (key_1, link_was, link_task, link_closed, link_stage, link_result) "
                           f"VALUES ({key}, {was}, {task_id}, {zeros}, 'pool', 'none')")
    other.cursor().execute(f"INSERT INTO {PREFIX}pending (id, handler, params, state, due_at) "
                           f"VALUES ({task_id}, 'pay', 'row 40', 'handling', 9000000000000)")
    removing = start("adopt", "x", "--remove")
    if "PostgreSQL" in BASE:
        watch = connect()
        check("the removal waits for the copy", until(lambda: attempt(watch, [(
            "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
            f"AND (query LIKE 'ALTER TABLE {LINKS}%' OR query LIKE 'DROP TABLE {LINKS}%')",)])[0][0] == 1))
    if SQLITE:
        other.cursor().execute("COMMIT")
    else:
        other.commit()
    code, out, err = end(removing)
    check("the removal sees what the copy put in", code == 9 and "1 tasks of the old table are being handled" in err, f"{code} {out}{err}")
    check("its link is there", rows.sql(f"SELECT COUNT(*) FROM {LINKS} WHERE link_stage = 'pool'")[0][0] == 1)
    rows.sql(f"DELETE FROM {LINKS} WHERE link_stage = 'pool'")
    rows.sql(f"DELETE FROM {PREFIX}pending WHERE id = {task_id}")


def test_removal_that_was_cut_off(rows):
    rows.put(50)
    rows.step("--copy")
    rows.sql(f"ALTER TABLE {LINKS} RENAME TO {DETACHED}")
    rows.put(51)
    check("no copy goes on", run("adopt", "x", "--copy")[0] in (5, 6) and rows.states()[51] == OPEN)
    rows.step("--apply")
    rows.step("--compare", what="after it was applied again")
    rows.sql(f"ALTER TABLE {LINKS} RENAME TO {DETACHED}")
    out = rows.step("--remove", what="once more")
    check("it ends what was begun", "returned 1" in out and rows.states()[50] == OPEN, out)
    out = rows.step("--remove", what="of nothing")
    check("asked again it changes nothing", "returned 0" in out, out)


def test_alone():
    rows = Rows("y", MAPPING.replace(table("x"), table("y")).split("state =")[0].replace("name = x", "name = y") +
                "alone = yes\ndone = delete\nfailed = delete\nhandler = 'pay'\nparams = data\n")
    rows.step("--apply")
    for i in (60, 61):
        rows.put(i)
    rows.step("--copy")
    run("skip", "--id", task("row 61")[0]["id"], "--why", "returned to the old table")
    run("four-eyes", "on", "--who", "ann")
    out = rows.step("--remove", what="alone")
    check("alone: what was not begun is returned, and stays", "returned 1" in out and rows.states() == {60: OPEN}, f"{out} {rows.states()}")
    rows.sql(f"DROP TABLE {table('y')}")


def mapping_of(name, more):
    return f"name = {name}\ntable = {table(name)}\nkey = id\nhandler = 'pay'\nparams = data\n{more}"


def test_alone_cut_off():
    """The copy that withdrew the task of a deleted row ends behind that; the row is put in again."""
    gone = table("gone")
    rows = Rows("z", mapping_of("z", f"alone = yes\ndone = delete\nfailed = delete\nhistory = {gone}\ncolumns = id\n"))
    rows.sql(f"CREATE TABLE {gone} (id INTEGER PRIMARY KEY)")
    rows.step("--apply")
    rows.put(70)
    rows.step("--copy")
    rows.sql(f"DELETE FROM {table('z')}")
    rows.sql(f"DROP TABLE {gone}")
    check("the copy is cut off", run("adopt", "z", "--copy")[0] not in (0, 3))
    check("its task was withdrawn before", [each["state"] for each in task("row 70")] == ["skipped"], task("row 70"))
    rows.sql(f"CREATE TABLE {gone} (id INTEGER PRIMARY KEY)")
    rows.put(70)
    rows.step("--copy", what="after one that was cut off")
    check("the row is there", 70 in rows.states(), rows.states())
    check("it is a new task", sorted(each["state"] for each in task("row 70")) == ["pending", "skipped"], task("row 70"))
    rows.sql(f"DROP TABLE {table('z')}")
    rows.sql(f"DROP TABLE {gone}")


def test_owner():
    """The mark is the owner: NULL while a row is free."""
    rows = Rows("u", mapping_of("u", f"state = status\nowner = worker\nopen = {OPEN}\ntaken = 'taskpool'\ndone = {DONE}\nfailed = {FAILED}\n"))
    rows.sql(f"ALTER TABLE {table('u')} ADD worker VARCHAR(20)")
    rows.step("--apply")
    for i, change, states in ((72, "worker = 'me', status = 1", ["skipped"]), (73, "worker = NULL, status = 0", ["pending", "skipped"])):
        fail(rows, i)
        rows.set(i, change)
        rows.step("--copy")
        check(f"row {i}, which the pool does not own", sorted(each["state"] for each in task(f"row {i}")) == states, task(f"row {i}"))
    rows.step("--remove", what="of a table with owners")
    rows.sql(f"DROP TABLE {table('u')}")


def test_due(name, first, more):
    """A time that the database cannot read, where columns may hold one, must not mean now."""
    rows = Rows(name, mapping_of(name, f"due = due_date\nshard = shard_num\n{more}"))
    rows.sql(f"ALTER TABLE {table(name)} ADD due_date {'VARCHAR(40)' if SQLITE else TIME}")
    rows.sql(f"ALTER TABLE {table(name)} ADD shard_num INTEGER")
    rows.step("--apply")
    rows.put(first)
    rows.set(first, f"due_date = {FAR}, shard_num = 3")
    rows.put(first + 1)
    rows.set(first + 1, "shard_num = 0")
    rows.step("--copy", what=f"{name} with times")
    late, now = (task(f"row {i}") for i in (first, first + 1))
    check(f"{name}: its time and number", [(each["due_at"], each["shard"]) for each in late] == [(FAR_MS, 3)], late)
    check(f"{name}: without one it is due now", [each["due_at"] < FAR_MS for each in now] == [True], now)
    if SQLITE:
        rows.put(first + 2)
        rows.set(first + 2, "due_date = '31.12.2099', shard_num = 0")
        code, _, err = run("adopt", name, "--copy")
        check(f"{name}: a time that is none stops the round", code not in (0, 3) and not task(f"row {first + 2}"), f"{code} {err}")
        rows.set(first + 2, f"due_date = {FAR}")
        rows.step("--copy", what=f"{name} once it was set right")
        again = task(f"row {first + 2}")
        check(f"{name}: it is due then", [each["due_at"] for each in again] == [FAR_MS], again)
    rows.sql(f"DROP TABLE {table(name)}")


def test():
    program("good", "exit 0\n")
    program("bad", "exit 1\n")
    rows = Rows("x", MAPPING)
    rows.step("--apply")
    test_skip_in_the_words_of_a_removal(rows)
    test_four_eyes(rows)
    test_row_that_is_opened_again(rows)
    test_row_that_is_opened_again_and_retried(rows)
    test_retry_of_an_open_row_whose_copy_is_cut_off(rows)
    if "PostgreSQL" in BASE:
        test_retry_of_an_open_row_that_an_old_worker_takes(rows)
    test_row_that_is_opened_again_and_done_by_an_old_worker(rows)
    test_retry_beside_an_old_worker(rows)
    test_remove_of_failed(rows)
    test_purged(rows)
    test_copy_while_the_links_are_removed(rows)
    test_removal_that_was_cut_off(rows)
    rows.sql(f"DROP TABLE {table('x')}")
    test_owner()
    test_due("v", 80, MAPPING.split("key = id\n")[1].split("handler")[0])
    test_due("w", 90, "alone = yes\ndone = delete\nfailed = delete\n")
    test_alone_cut_off()
    test_alone()


if subprocess.run(["/usr/bin/python3", "-c", "import pyodbc"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
    print("SKIPPED: python3-pyodbc is not installed (tools/install_packages.sh)")
    sys.exit(77)
main(test)
