#!/usr/bin/env -S python3 -B
"""test_adopt.py PATH_TO_TASKPOOL PATH_TO_EXAMPLES: old task tables of four designs (docs/origins.md, A to D) as producers, with old
workers and a worker of the library beside each other, some killed; each row's effect is there exactly once. Then E, whose old workers are stopped. Skipped where
/usr/bin/python3 has no pyodbc."""
import os
import subprocess
import sys
import time

import old_table
from old_table import FAR, TIME, attempt, connect, table
from pool import LIMIT_S, PREFIX, SQLITE, TASKPOOL, check, end, environment, listed, main, run, start  # the path: old_table

PYTHON, ROWS = "/usr/bin/python3", 20
SELF = os.path.abspath(__file__)


class Design:
    """columns: of the table; mapping: beyond name, table, handler and params; values: of row i; open, claim, done: of an old worker."""

    def __init__(self, name, columns, key, mapping, values, opened, claim, claimed, done):
        self.name, self.columns, self.key, self.values = name, columns, key, values
        self.opened, self.claim, self.claimed, self.done = opened, claim, claimed, done
        self.table, self.mapping = table(name), mapping

    def text(self, **changes):
        settings = {"name": self.name, "table": self.table, "key": ", ".join(self.key), "handler": "'points'", "params": "data",
                    **self.mapping, **changes}
        return "# of the test\n" + "".join(f"{name} = {value}\n" for name, value in settings.items() if value)


DESIGNS = [
    Design("a", "id INTEGER PRIMARY KEY, data VARCHAR(40), status INTEGER", ["id"],
           {"state": "status", "open": "-2, > 0", "taken": "-100", "done": "0", "skipped": "-4", "failed": "-3", "failures": "status"},
           lambda i, data: (i, data, 2 if i % 5 == 1 else -2), "(status = -2 OR status > 0)", "status = -1", "status = -1", "status = 0"),
    # 1 + 23 and 12 + 3 look alike when they are put together.
    Design("b", "emp VARCHAR(20), mon VARCHAR(20), data VARCHAR(40), status INTEGER, batch_id VARCHAR(40), PRIMARY KEY (emp, mon)",
           ["emp", "mon"],
           {"state": "status", "open": "0", "owner": "batch_id", "taken": "'taskpool'", "done": "1", "skipped": "2", "failed": "-1"},
           lambda i, data: (str(i)[:2 + i % 2], str(i)[2 + i % 2:], data, 0, None), "status = 0 AND batch_id IS NULL", "batch_id = 'old'",
           "batch_id = 'old' AND status = 0", "status = 1"),
    Design("c", "id INTEGER PRIMARY KEY, data VARCHAR(40), flag INTEGER, worker VARCHAR(20)", ["id"],
           {"state": "flag", "open": "0, -1", "owner": "worker", "taken": "'taskpool'", "done": "1", "failed": "-2"},
           lambda i, data: (i, data, -(i % 2), None), "flag < 1 AND flag > -2 AND worker IS NULL", "worker = 'me'", "worker = 'me' AND flag < 1",
           "flag = 1"),
    Design("d", "id INTEGER PRIMARY KEY, data VARCHAR(40), status VARCHAR(20), to_process INTEGER, fails INTEGER", ["id"],
           {"state": "status", "open": "'pending', 'failed'", "only": "to_process = 1", "taken": "'taskpool'", "done": "'finished'",
            "skipped": "'not processed'", "failed": "'gave up'", "failures": "fails"},
           lambda i, data: (i, data, "failed" if i % 3 == 0 else "pending", 1, int(i % 3 == 0)),
           "status IN ('pending', 'failed') AND to_process = 1", "status = 'handling'", "status = 'handling'", "status = 'finished'"),
]


def same_key(design, row):
    return " AND ".join(f"{column} = {row[i]!r}" for i, column in enumerate(design.key))


def old_step(connection, design):
    """Takes one row as the old program does, and does its work. False: there was none."""
    columns = ", ".join([*design.key, "data"])
    for row in attempt(connection, [(f"SELECT {columns} FROM {design.table} WHERE {design.opened}",)])[:3]:
        if not row[-1].isdigit() or row[-1] == "0":
            continue  # those are for the library, which fails or skips them
        where = same_key(design, row)
        if attempt(connection, [(f"UPDATE {design.table} SET {design.claim} WHERE {where} AND {design.opened}",)]) != 1:
            continue
        attempt(connection, [(f"INSERT INTO {table('effects')} (num) VALUES ({row[-1]})",),
                             (f"UPDATE {design.table} SET {design.done} WHERE {where} AND {design.claimed}",)])
        print("done", flush=True)
        return True
    return False


def old_worker():
    connection = connect()
    while True:
        worked = [old_step(connection, design) for design in DESIGNS]
        time.sleep(0.01 if any(worked) else 0.1)


def start_old():
    # Its claims are seen by others only when they are committed.
    return subprocess.Popen([PYTHON, "-B", SELF, TASKPOOL, EXAMPLES, "--old-worker", PREFIX], env=environment({"ADOPT_PREFIX": PREFIX}),
                            stdout=subprocess.PIPE, text=True)


def write(design, **changes):
    with open(design.name, "w", encoding="utf-8") as file:
        file.write(design.text(**changes))
    return design.name


def insert(connection, design, i, data):
    values = design.values(i, data)
    marks = ", ".join("?" * len(values))
    attempt(connection, [(f"INSERT INTO {design.table} VALUES ({marks})", *values)])


def adopt(design, *step):
    return run("adopt", design.name, *step)


def state_of(connection, design, i):
    where = same_key(design, design.values(i, ""))
    return attempt(connection, [(f"SELECT {design.mapping['state']} FROM {design.table} WHERE {where}",)])


def test_mapping():
    design = DESIGNS[0]
    for line, changes, word in ((3, {"table": "a; DROP TABLE x"}, "table"), (7, {"state": "1x"}, "state"), (8, {"open": "pending"}, "open"),
                                (9, {"taken": "-2"}, "open row"), (9, {"taken": "7"}, "open row"), (10, {"done": "'a"}, "done"),
                                (10, {"done": "-100"}, "taken"), (10, {"done": "'1'"}, "open row"), (10, {"done": "' 01'"}, "open row"),
                                (9, {"open": "0", "taken": "'0'", "done": "1"}, "open row"),
                                (9, {"open": "'0'", "taken": "0", "done": "1"}, "open row"),
                                (12, {"done": "1", "failed": "'1'", "open": "-2"}, "done"),
                                (10, {"open": "'new'", "done": "'new '"}, "open row"), (14, {"colour": "1"}, "no such setting"), (14, {"batch": "0"}, "10000")):
        write(design, **changes)
        code, _, err = adopt(design)
        check(f"a wrong {word}", code == 3 and f"line {line}: " in err and word in err, f"{code} {err}")
    write(design, taken="")
    code, _, err = adopt(design)
    check("a table without a mark", code == 3 and "taken = is missing" in err, err)
    write(design)
    code, out, err = adopt(design)
    check("the SQL is shown", code == 0 and f"CREATE TABLE {PREFIX}adopt_a" in out and "[" not in out.replace("[ ]", ""), out + err)
    check("and not run", adopt(design, "--copy")[0] in (5, 6), "the links are there")


def test_examples():
    folder = os.path.join(os.path.dirname(SELF), "..", "..", "examples", "adopt")
    for name in ("points.adopt", "mail.adopt"):
        code, out, err = run("adopt", os.path.join(folder, name))
        check(f"examples/adopt/{name}", code == 0 and "CREATE TABLE" in out, err)


def fill(connection):
    for number, design in enumerate(DESIGNS):
        for i in range(ROWS):
            data = "0" if i == 7 else "bad" if i == 11 else str(1000 * (number + 1) + i)
            insert(connection, design, 1000 * (number + 1) + i, data)


def copy_all(until_idle=True):
    for design in DESIGNS:
        code, _, err = adopt(design, "--copy")
        check(f"copy {design.name}", code == 0, err)


def open_rows(connection):
    return sum(len(attempt(connection, [(f"SELECT data FROM {d.table} WHERE {d.opened}",)])) for d in DESIGNS)


def put_back(connection):
    """What a killed old worker left: the old system opens it again."""
    undo = {"a": "status = -2", "b": "batch_id = NULL", "c": "worker = NULL", "d": "status = 'pending'"}
    for design in DESIGNS:
        attempt(connection, [(f"UPDATE {design.table} SET {undo[design.name]} WHERE {design.claimed}",)])


def both_run(connection, worker):
    old = start_old()
    for _ in range(12):
        check("the old worker works", old.stdout.readline() == "done\n")
    old.kill()
    old.wait()
    put_back(connection)
    old = start_old()
    copying = [start("adopt", design.name, "--copy") for design in DESIGNS]
    copying[1].kill()
    copying[1].communicate()
    copying += [start("adopt", design.name, "--copy") for design in DESIGNS]  # two at a time
    for process in [copying[0], *copying[2:]]:
        code, _, err = end(process)
        check("copy beside another", code == 0, err)
    fill_later = [1000 * (n + 1) + ROWS + 1 for n in range(len(DESIGNS))]
    for design, i in zip(DESIGNS, fill_later):
        insert(connection, design, i, str(i))
    worker.kill()
    worker.wait()
    run("release", "--handler", "points")
    worker = start_worker()
    limit = time.monotonic() + LIMIT_S
    while (open_rows(connection) or listed("--pool", "pending")) and time.monotonic() < limit:
        copy_all()
        pending = [task["id"] for task in listed("--pool", "pending") if task["state"] == "handling"]
        if pending:
            time.sleep(0.05)
    old.kill()
    old.wait()
    put_back(connection)
    limit = time.monotonic() + LIMIT_S
    while (open_rows(connection) or listed("--pool", "pending")) and time.monotonic() < limit:
        copy_all()
    copy_all()
    return worker


def start_worker():
    return subprocess.Popen([os.path.join(EXAMPLES, "worker")], env=environment({}), stdout=subprocess.DEVNULL)


def effects(connection):
    ids = {task["id"] for task in listed("--pool", "finished")}
    there = attempt(connection, [("SELECT task_id, points FROM example_points",)])
    return sorted([row[1] for row in there if str(row[0]).strip().lower() in ids] +
                  [row[0] for row in attempt(connection, [(f"SELECT num FROM {table('effects')}",)])])


def judge(connection):
    wanted = sorted(1000 * (n + 1) + i for n in range(len(DESIGNS)) for i in [*range(ROWS), ROWS + 1] if i not in (7, 11))
    found = effects(connection)
    check("each row's effect is there once", found == wanted, f"{len(found)} of {len(wanted)}: {set(found) ^ set(wanted)}")
    library = len(listed("--pool", "finished"))
    print(f"{library} rows by the library, {len(wanted) + len(DESIGNS) - library} by the old workers")
    for design in DESIGNS:
        code, out, err = adopt(design, "--compare")
        check(f"compare {design.name}", code == 0 and "differs" not in out, out + err)
        base = 1000 * (DESIGNS.index(design) + 1)
        for i, name in ((7, "skipped"), (11, "failed")):
            state = design.mapping.get(name, design.mapping["done"]).strip("'")
            check(f"{design.name}: a row that {name}", str(state_of(connection, design, base + i)[0][0]) == state, state)
    check("taskpool check", run("check", "--grace", "1d")[0] == 0)


def delete(connection, design, i):
    attempt(connection, [(f"DELETE FROM {design.table} WHERE {same_key(design, design.values(i, ''))}",)])


def tasks_of(data):
    return [task for task in listed("--pool", "all") if task.get("params") == data]


def count(pool, before):
    return len(listed("--pool", pool)) - before


def test_rows_that_come_again(connection):
    for design in DESIGNS:
        before = len(listed("--pool", "pending"))
        i = 1000 * (DESIGNS.index(design) + 1) + 300
        insert(connection, design, i, "777")
        copy_all()
        copy_all()
        check(f"{design.name}: one task", count("pending", before) == 1, count("pending", before))
        delete(connection, design, i)
        finished = len(listed("--pool", "finished"))
        copy_all()
        check(f"{design.name}: a deleted row's task is withdrawn", count("pending", before) == 0 and count("finished", finished) == 1)
        insert(connection, design, i, "778")
        copy_all()
        check(f"{design.name}: the key again is a new task", count("pending", before) == 1, count("pending", before))


def test_remove(connection):
    for design in DESIGNS:
        i = 1000 * (DESIGNS.index(design) + 1) + 300
        insert(connection, design, i + 2, "779")
        copy_all()
        old = str(design.values(i, "")[design.columns.split(", ").index(next(
            c for c in design.columns.split(", ") if c.startswith(design.mapping["state"] + " ")))])
        code, out, err = adopt(design, "--remove")
        check(f"{design.name}: removed", code == 0 and "returned 2" in out, out + err)
        check(f"{design.name}: the row is as it was", str(state_of(connection, design, i)[0][0]) == old, state_of(connection, design, i))
        opened = attempt(connection, [(f"SELECT data FROM {design.table} WHERE {design.opened}",)])
        check(f"{design.name}: old workers see it", "778" in [row[0] for row in opened], opened)
        code, _, err = adopt(design, "--apply")
        check(f"{design.name}: applied again", code == 0, err)


def test_compare_sees(connection):
    design = DESIGNS[0]
    insert(connection, design, 1900, "5")
    copy_all()
    attempt(connection, [(f"UPDATE {design.table} SET status = -9 WHERE id = 1900",)])
    code, out, _ = adopt(design, "--compare")
    check("a row that somebody changed is told", code == 12 and "differs" in out, f"{code} {out}")
    attempt(connection, [(f"UPDATE {design.table} SET status = -100 WHERE id = 1900",)])
    check("all is well again", adopt(design, "--compare")[0] == 0)


E_COLUMNS = ["task_id", "task_handler", "load_balance_num", "task_params", "retry_count", "retry_reason"]


def design_e():
    """Rows that no old consumer takes any more: success deletes the row, the last failure moves it."""
    return Design("e", f"task_id VARCHAR(36) PRIMARY KEY, due_date {TIME} NULL, task_handler VARCHAR(40), load_balance_num INTEGER, "
                  "task_params VARCHAR(40), retry_count INTEGER, retry_reason VARCHAR(512)", ["task_id"],
                  {"alone": "yes", "handler": "task_handler", "only": "task_handler = 'points'", "params": "task_params", "done": "delete",
                   "failed": "delete", "history": table("fails"), "columns": ", ".join(E_COLUMNS), "failures": "retry_count",
                   "reason": "retry_reason", "shard": "load_balance_num", "due": "due_date"}, None, "", "", "", "")


def put_e(connection, design, number, data, handler="points", due="NULL"):
    attempt(connection, [(f"INSERT INTO {design.table} (task_id, due_date, task_handler, load_balance_num, task_params, retry_count) "
                          f"VALUES ('{number:032x}', {due}, '{handler}', 3, '{data}', 0)",)])


def rows_of(connection, name, where="1 = 1"):
    return attempt(connection, [(f"SELECT {', '.join(E_COLUMNS)} FROM {table(name)} WHERE {where} ORDER BY task_id",)])


def test_alone(connection):
    design = design_e()
    attempt(connection, [(f"CREATE TABLE {table('fails')} AS SELECT {', '.join(E_COLUMNS)} FROM {design.table} WHERE 1 = 0",)])
    for changes, word in (({"state": "status"}, "no mark"), ({"done": "0"}, "delete"), ({"columns": ""}, "columns"), ({"alone": ""}, "history"),
                          ({"alone": "", "history": "", "columns": "", "reason": ""}, "alone = yes says")):
        write(design, **changes)
        code, _, err = adopt(design)
        check(f"alone with {changes}", code == 3 and word in err, f"{code} {err}")
    write(design, batch=7)
    code, out, err = adopt(design)
    check("its SQL is shown", code == 0 and "DELETE" in out and "[" not in out and "link_stage = 'retried'" not in out, out + err)
    check("apply e", adopt(design, "--apply")[0] == 0)
    before = len(listed("--pool", "pending"))
    for i in range(ROWS):
        put_e(connection, design, i, "0" if i == 7 else "bad" if i == 11 else str(9000 + i))
    put_e(connection, design, 500, "9500", due="CURRENT_TIMESTAMP")
    attempt(connection, [(f"UPDATE {design.table} SET due_date = {FAR} WHERE task_id = '{500:032x}'",)])
    put_e(connection, design, 600, "9600", handler="other")
    killed = start("adopt", design.name, "--copy")
    killed.kill()
    killed.communicate()
    copying = [start("adopt", design.name, "--copy") for _ in range(2)]
    for process in copying:
        check("copy e", end(process)[0] == 0)
    adopt(design, "--copy")
    check("each row is one task", len(listed("--pool", "pending")) == before + ROWS + 1)
    late = tasks_of("9500")
    check("its time and its number", len(late) == 1 and late[0]["due_at"] == 2114478245000 and late[0].get("shard") == 3, late)
    worker = start_worker()
    limit = time.monotonic() + LIMIT_S
    mine = {str(9000 + i) for i in range(ROWS)} | {"0", "bad"}
    while any(task["params"] in mine for task in listed("--pool", "pending")) and time.monotonic() < limit:
        time.sleep(0.05)
    worker.terminate()
    worker.wait()
    for _ in range(2):
        check("back e", adopt(design, "--copy")[0] == 0)
    left = [row[3] for row in rows_of(connection, "e")]
    check("rows that are done are gone, others stay", left == ["9500", "9600"], left)
    moved = rows_of(connection, "fails")
    check("the failed one is in the history once", len(moved) == 1 and moved[0][3] == "bad" and moved[0][4] == 1 and moved[0][5], moved)
    paid = [number for number in effects(connection) if number >= 9000]
    check("each effect is there once", paid == [9000 + i for i in range(ROWS) if i not in (7, 11)], paid)
    code, out, err = adopt(design, "--compare")
    check("compare e", code == 0 and "differs" not in out, out + err)
    run("retry", "--id", tasks_of("bad")[-1]["id"])
    run("skip", "--id", tasks_of("bad")[-1]["id"], "--why", "by hand")
    adopt(design, "--copy")
    check("a failed task that was retried and skipped", adopt(design, "--compare")[0] == 0, adopt(design, "--compare")[1])
    code, out, err = adopt(design, "--remove")
    check("remove e", code == 0 and "returned 1" in out, out + err)
    check("its row is left", [row[3] for row in rows_of(connection, "e")] == ["9500", "9600"])


def test_late_commit(connection):
    """A row with a lower key that is committed after higher ones were copied."""
    other = connect()
    other.cursor().execute(f"INSERT INTO {table('a')} VALUES (1800, '6', -2)")
    insert(connection, DESIGNS[0], 1901, "6")
    code, _, err = adopt(DESIGNS[0], "--copy")
    check("copy beside an open transaction", code == 0, err)
    other.commit()
    adopt(DESIGNS[0], "--copy")
    check("a late row is not missed", state_of(connection, DESIGNS[0], 1800)[0][0] == -100)


def test_retry_of_failed(connection):
    before = len(listed("--pool", "failed"))
    check("some failed", before == len(DESIGNS), before)
    run("skip", "--pool", "failed", "--handler", "points")
    copy_all()
    for design in DESIGNS:
        state = state_of(connection, design, 1000 * (DESIGNS.index(design) + 1) + 11)[0][0]
        check(f"{design.name}: what became of a failed task is written", str(state) ==
              design.mapping.get("skipped", design.mapping["done"]).strip("'"), state)


def test():
    connection = connect()
    for design in DESIGNS:
        attempt(connection, [(f"CREATE TABLE {design.table} ({design.columns})",)])
    attempt(connection, [(f"CREATE TABLE {table('effects')} (num INTEGER)",)])
    test_mapping()
    test_examples()
    for design in DESIGNS:
        write(design, batch=7)
        for _ in range(2):
            code, _, err = adopt(design, "--apply")
            check(f"apply {design.name}", code == 0, err)
    fill(connection)
    worker = both_run(connection, start_worker())
    worker.terminate()
    worker.wait()
    judge(connection)
    test_retry_of_failed(connection)
    test_rows_that_come_again(connection)
    test_remove(connection)
    test_compare_sees(connection)
    attempt(connection, [(f"CREATE TABLE {design_e().table} ({design_e().columns})",)])
    test_alone(connection)
    attempt(connection, [(f"DROP TABLE {table('fails')}",), (f"DROP TABLE {design_e().table}",)])
    if not SQLITE:
        test_late_commit(connection)
    for design in DESIGNS:
        attempt(connection, [(f"DROP TABLE {design.table}",)])


if subprocess.run([PYTHON, "-c", "import pyodbc"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
    print("SKIPPED: python3-pyodbc is not installed (tools/install_packages.sh)")
    sys.exit(77)
EXAMPLES = os.path.realpath(sys.argv[2])
if sys.argv[3:4] == ["--old-worker"]:
    old_table.OLD = sys.argv[4] + "old_"
    for each in DESIGNS:
        each.table = table(each.name)
    old_worker()
main(test)
