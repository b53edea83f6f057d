#!/usr/bin/env -S python3 -B
"""Through as_user.sh viewer+operator: a console whose viewer's and operator's connections are database users with just these roles of
grants.sql. All looks and actions work; what is looked at cannot write, not even by an action that came to the wrong connection; and an
operator's connection may do no more than an operator."""
import os
import subprocess

from console import Console, add_user, check  # it knows where pool is
import pool
from pool import listed, run

VIEWER = os.environ["TASKPOOL_TEST_USER_DSN"] + f";Prefix={pool.PREFIX}"
OPERATOR = os.environ["TASKPOOL_TEST_OTHER_DSN"] + f";Prefix={pool.PREFIX}"
ACTIONS = {
    "edit": {"id": None, "priority": 3},
    "retry": {"selection": {"handler": "fails"}},
    "skip": {"selection": {"handler": "waits"}},
    "cancel": {"selection": {"handler": "unwanted"}},
    "pause": {"handler": "waits"},
    "resume": {"handler": "stopped"},
    "drain": {"worker": "old"},
    "fire": {"schedule": "nightly", "id": "01a20e33-dbc9-7000-ad33-120d98547914"},
}


def write(name, text):
    with open(name, "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write(text)


def all_rows():
    """All that an operator can change, as an operator sees it."""
    return [sorted(map(str, listed("--pool", "all")))] + [run(*args, "--json")[1] for args in
                                                          (("pause",), ("schedule", "list"), ("history",))]


def looks(page):
    page.overview()
    for what in ("activity", "tasks?pool=all", "failures", "workers?all=1", "schedules", "history"):
        page.get("pools/pool/" + what)
    page.get("pools/pool/tasks/" + ACTIONS["edit"]["id"])


def test_a_wrong_connection(page):
    """As if the console had a fault: actions arrive at the viewer's connection."""
    page.sign_in("olga")
    looks(page)
    before = all_rows()
    for name, body in ACTIONS.items():
        code, _, answer = page.ask("POST", f"/api/v1/pools/pool/actions/{name}", body)
        harmless = name == "drain" and code == 200 and answer["count"] == 0
        check(f"{name}: the database refuses", (code == 500 and "denied" in answer["error"]) or harmless, f"{code} {answer}")
    check("nothing was changed", all_rows() == before, str(all_rows()))


def test_looks_are_the_viewers(page):
    """An operator's connection that cannot be made holds up no look."""
    page.sign_in("olga")
    looks(page)
    page.act("skip", 503, selection={"handler": "waits"})
    page.get("pools/pool/tasks")


def test_each_by_its_own(page):
    page.sign_in("olga")
    looks(page)
    for name, body in ACTIONS.items():
        count = page.act(name, **body, why="it is time")["count"]
        check(f"{name} is done", count == (0 if name == "drain" else 1), str(count))


def test():
    for name in ("fails", "waits", "unwanted", "stopped"):
        run("enqueue", name, "x")
    run("pause", "stopped")
    run("schedule", "add", "nightly", "0 2 * * *", "report")
    code, _, err = run("work", "--handler", "fails=/bin/false", "--retry", "none", "--drain", "--quiet")
    check("a task fails", code == 8, err)
    ACTIONS["edit"]["id"] = listed("--pool", "failed")[0]["id"]
    write("viewer", VIEWER)
    write("operator", OPERATOR)
    check("user add", add_user("olga", "--role", "operator")[0] == 0)
    page = Console("--users", "users", "--pool", "pool=viewer")
    test_a_wrong_connection(page)
    page.end()
    write("broken", OPERATOR.replace("PWD=", "PWD=x"))
    page = Console("--users", "users", "--pool", "pool:viewer=viewer", "--pool", "pool=broken")
    test_looks_are_the_viewers(page)
    page.end()
    page = Console("--users", "users", "--pool", "pool:viewer=viewer", "--pool", "pool=operator")
    test_each_by_its_own(page)
    page.end()
    for options, said in ((("--pool", "pool:viewer=viewer"), "missing"), (("--pool", "pool:king=viewer"), "no role"),
                          (("--pool", "pool=viewer", "--pool", "pool:operator=operator"), "twice")):
        done = subprocess.run([page.process.args[0], *options], capture_output=True, text=True, env=pool.environment({}), check=False)
        check(f"{options}", done.returncode == 2 and said in done.stderr, done.stderr)


pool.main(test)
