#!/usr/bin/env -S python3 -B
"""taskpool-console over one pool: every look, what each role may do, actions and who did them, sessions, bad requests. On every
answer: what openapi.json says of it."""
import http.client
import json
import os
import random
import socket
import stat
import subprocess

import console
import pool
from console import Console, add_user, check
from pool import listed, run, shown, until

SECRET = "the secret parameters"


def fill():
    """Tasks in every pool, a schedule, an event."""
    for number in range(3):
        run("enqueue", "hello", SECRET, "--biz-key", f"order-{number}")
    run("enqueue", "pay", SECRET, "--biz-key", "<script>alert(1)</script>")
    run("enqueue", "late", SECRET, "--delay", "1d")
    run("schedule", "add", "nightly", "0 2 * * *", "hello", SECRET)
    code, _, err = run("work", "--handler", "pay=/bin/false", "--retry", "none", "--drain", "--quiet")
    check("a task fails", code == 8, f"{code} {err}")
    code, _, err = run("work", "--handler", "hello=/bin/true", "--drain", "--quiet")
    check("tasks are done", code == 0, err)
    for number in range(3, 8):
        run("enqueue", "hello", SECRET, "--biz-key", f"order-{number}")


# ---- Looking ------------------------------------------------------------------------------------------------------------------


def test_looks(page):
    pools = page.get("pools")["pools"]
    check("the pool is there", len(pools) == 1 and not pools[0]["away"] and pools[0]["name"] == "pool", str(pools))
    overview = page.overview()
    check("what is due", overview["due"] == 5 and overview["failed"] == 1, str(overview)[:300])
    check("no worker: said", any(one["handler"] == "hello" for one in overview["wrong"]) or overview["wrong"] == [], str(overview["wrong"]))
    check("handlers", {one["handler"] for one in overview["handlers"]} >= {"hello", "pay", "late"}, str(overview["handlers"])[:300])
    check("points", 60 <= len(page.get("pools/pool/activity")["points"]) <= 62)
    points = page.get("pools/pool/activity?since=2020-01-01T00:00Z")["points"]
    check("at most 240 points", len(points) <= 240 and sum(one["done"] for one in points) == 3, str(len(points)))
    tasks = page.get("pools/pool/tasks?pool=all&limit=200")["tasks"]
    check("all tasks", len(tasks) == 10, str(len(tasks)))
    check("lists show no parameters", all(one["params"] is None for one in tasks))
    groups = page.get("pools/pool/failures")["groups"]
    check("failures", [one["handler"] for one in groups] == ["pay"], str(groups))
    same = page.get(f"pools/pool/tasks?handler=pay&pool=all&reason_like={groups[0]['reason_like'].replace(' ', '%20').replace('#', '%23')}")
    check("a group's tasks", len(same["tasks"]) == 1, str(same))
    check("schedules", page.get("pools/pool/schedules")["schedules"][0]["params"] is None)
    check("workers that ended", len(page.get("pools/pool/workers?all=1")["workers"]) == 2)
    check("history", page.get("pools/pool/history?what=gave-up")["events"][0]["handler"] == "pay")
    life = page.get("pools/pool/tasks/" + groups[0]["example"])
    check("a life", {one["what"] for one in life["life"]} >= {"enqueued", "claimed", "gave-up"}, str(life["life"]))
    check("no parameters without the right", life["params"] is None and life["params_hidden"], str(life))
    page.get("pools/pool/tasks/01a20e33-dbc9-7000-ad33-120d98547914", 404)


def test_pages(page):
    seen, path = [], "pools/pool/tasks?pool=all&limit=3"
    while True:
        answer = page.get(path)
        seen += [one["id"] for one in answer["tasks"]]
        if not answer["next"]:
            break
        path = f"pools/pool/tasks?pool=all&limit=3&after={answer['next']}"
    check("pages: each once", len(seen) == len(set(seen)) == 10, str(seen))
    seen, path = [], "pools/pool/tasks?pool=all&limit=3&since=2020-01-01T00:00Z"
    while True:
        answer = page.get(path)
        seen += [one["id"] for one in answer["tasks"]]
        if not answer["next"]:
            break
        path = f"pools/pool/tasks?pool=all&limit=3&since=2020-01-01T00:00Z&after={answer['next']}"
    check("pages by time: each once", len(seen) == len(set(seen)) == 10, str(seen))


def test_headers(page):
    for path in ("/", "/api/v1/pools", "/api/v1/nothing"):
        _, headers, _ = page.ask("GET", path)
        for name, value in (("Content-Security-Policy", "default-src 'self'"), ("X-Frame-Options", "DENY"),
                            ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer")):
            check(f"{path}: {name}", value in (headers[name] or ""), str(headers))
        check(f"{path}: no inline", "unsafe" not in headers["Content-Security-Policy"])
    status, headers, _ = page.ask("GET", "/")
    check("the page", status == 200 and "html" in headers["Content-Type"], str(headers))
    status, _, _ = page.ask("GET", "/", headers={"If-None-Match": headers["ETag"]})
    check("the page has not changed", status == 304, str(status))
    check("nothing is kept", page.ask("GET", "/api/v1/pools")[1]["Cache-Control"] == "no-store")
    for host, status in (("evil.example", 421), ("localhost:1", 200), ("127.0.0.1", 200), ("127.0.0.1.evil.example", 421), ("", 421)):
        check(f"Host: {host}", page.ask("GET", "/healthz", headers={"Host": host})[0] == status)
    check("HEAD", page.ask("HEAD", "/healthz")[0] == 200)
    check("PUT", page.ask("PUT", "/api/v1/pools", "x")[0] == 405)


def test_machines(page):
    # Where those of gates were not counted in time, an answer has what was read before.
    check("all is counted", until(lambda: "taskpool_gate_width" in page.ask("GET", "/metrics")[2]))
    _, headers, text = page.ask("GET", "/metrics")
    check("metrics", 'taskpool_due_tasks{pool="pool",handler="hello"} 5' in text and text.endswith("# EOF\n"), text[:300])
    check("gates and groups", "taskpool_gate_width" in text and 'taskpool_open_groups{pool="pool"} 0' in text, text[-800:])
    check("metrics' type", "openmetrics" in headers["Content-Type"])
    check("ready", page.ask("GET", "/readyz")[0] == 200)
    check("the description", page.ask("GET", "/api/v1/openapi.json")[2] == console.API)


def events(page, count):
    """The first events of the stream, as (name, data)."""
    connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=pool.LIMIT_S)
    connection.request("GET", "/api/v1/pools/pool/events", headers={"Cookie": page.cookie} if page.cookie else {})
    answer, got, name = connection.getresponse(), [], None
    while len(got) < count and (line := answer.readline().decode()):
        if line.startswith("event: "):
            name = line[7:].strip()
        elif line.startswith("data: "):
            got.append((name, json.loads(line[6:])))
    connection.close()
    return got


def test_events(page):
    got = events(page, 2)
    check("events", [name for name, _ in got] == ["overview", "overview"], str(got)[:300])
    check("events are overviews", console.wrong(got[0][1], {"$ref": "/Overview"}) is None and got[0][1]["due"] == 5)
    console.met.add(("/api/v1/pools/{P}/events", "get"))


def test_end(page):
    """SIGTERM, while somebody listens."""
    with socket.create_connection(("127.0.0.1", page.port), timeout=pool.LIMIT_S) as sock:
        sock.sendall(b"HEAD /api/v1/pools/pool/events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        check("HEAD of a stream", b"text/event-stream" in sock.recv(65536))
    with socket.create_connection(("127.0.0.1", page.port), timeout=pool.LIMIT_S) as sock:
        sock.sendall(b"GET /api/v1/pools/pool/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        check("a listener", sock.recv(15) == b"HTTP/1.1 200 OK")
        page.end()


def test_read_only(page):
    """Without users."""
    session = page.get("session")
    check("nobody signs in", session["role"] == "viewer" and not session["sign_in"] and not session["csrf"], str(session))
    page.sign_in("ann", status=404)
    page.act("skip", 403, selection={"handler": "hello"})


# ---- Roles and actions --------------------------------------------------------------------------------------------------------


def test_roles(page):
    page.get("pools", 401)
    page.get("pools/pool/tasks", 401)
    page.get("pools/pool/events", 401)
    check("metrics are not for everybody", page.ask("GET", "/metrics")[0] == 401)
    check("health is", page.ask("GET", "/healthz")[0] == 200 and until(lambda: page.ask("GET", "/readyz")[0] == 200))
    headers, _ = page.sign_in("vic")
    check("the cookie", all(word in headers["Set-Cookie"] for word in ("HttpOnly", "SameSite=Strict", "Path=/")), str(headers))
    page.get("pools/pool/tasks")
    for action in ("retry", "cancel", "skip", "release", "pause", "resume", "drain", "fire", "edit"):
        page.act(action, 403, selection={"handler": "hello"})
    status, headers, _ = page.ask("DELETE", "/api/v1/session")
    check("signed out", status == 200 and "Max-Age=0" in headers["Set-Cookie"], str(headers))
    page.get("pools", 401)
    page.cookie = page.csrf = None


def test_csrf(page):
    body = {"selection": {"handler": "hello"}, "dry_run": True}
    path = "/api/v1/pools/pool/actions/skip"
    for headers in ({"X-CSRF-Token": None}, {"X-CSRF-Token": "0" * 64}, {"Origin": "http://evil.example"},
                    {"Sec-Fetch-Site": "cross-site"}):
        check(f"refused with {headers}", page.ask("POST", path, body, headers)[0] == 403)
    check("no form", page.ask("POST", path, body, {"Content-Type": "text/plain"})[0] == 400)
    check("sign out by another page", page.ask("DELETE", "/api/v1/session", headers={"X-CSRF-Token": None})[0] == 403)
    own = {"Origin": f"http://127.0.0.1:{page.port}", "Sec-Fetch-Site": "same-origin"}
    check("our own page", page.ask("POST", path, body, own)[0] == 200)


def test_actions(page):
    """As olga, who sees parameters."""
    hello = {"handler": "hello"}
    dry = page.act("skip", selection=hello, dry_run=True)
    check("dry", dry["count"] == 5 and set(dry) == {"count", "dry_run", "until"}, str(dry))
    check("not as expected", page.act("skip", 409, selection=hello, expect=4)["count"] == 5)
    first = page.get("pools/pool/tasks?handler=hello")["tasks"][0]["id"]
    check("one", page.act("skip", id=first, why="paid by hand")["count"] == 1)
    check("as expected", page.act("skip", selection=hello, expect=4)["count"] == 4)
    life = shown(first)
    check("recorded", ("olga", "paid by hand") in [(one["who"], one["reason"]) for one in life["life"]], str(life["life"]))
    check("nothing selected", "nothing was selected" in page.act("skip", 400)["error"])
    page.act("skip", 400, selection={})
    page.act("skip", 400, selection={"handlr": "hello"})
    page.act("skip", 400, selection=hello, unknown=1)
    page.act("explode", 404)
    failed = page.get("pools/pool/tasks?pool=failed")["tasks"][0]["id"]
    check("parameters", page.get("pools/pool/tasks/" + failed)["params"] == SECRET)
    check("edit", page.act("edit", id=failed, params="new", priority=3, why="typing error")["count"] == 1)
    check("edited", shown(failed)["params"] == "new" and shown(failed)["priority"] == 3, str(shown(failed)))
    page.act("edit", 400, id=failed, deadline_at=1893456000, retry=True, why="seconds")
    check("none of it is done", page.act("retry", selection={"id": [failed]}, dry_run=True)["unstored"] == 0 and page.get("pools/pool/tasks/" + failed)["warning"] is None)
    check("retry", page.act("retry", selection={"id": [failed]}, why="again")["count"] == 1)
    check("retried", shown(failed)["state"] == "pending" and shown(failed)["deadline_at"] is None)
    page.act("edit", id=failed, deadline_at=4102444800000, why="until noon")
    check("a deadline", shown(failed)["deadline_at"] == page.get("pools/pool/tasks?id=" + failed)["tasks"][0]["deadline_at"] == 4102444800000)
    page.act("edit", id=failed, deadline_at=0, why="whenever")
    page.act("edit", 400, id=failed, due_at=1893456000, why="seconds")
    check("and none", shown(failed)["deadline_at"] is None)
    check("pause", page.act("pause", handler="hello", why="closed")["count"] == 1)
    check("paused already", page.act("pause", handler="hello")["count"] == 0)
    check("resume", page.act("resume", handler="hello", why="open")["count"] == 1)
    check("a schedule", page.act("pause", schedule="nightly", why="holiday")["count"] == 1)
    check("it is paused", page.get("pools/pool/schedules")["schedules"][0]["paused"])
    page.act("resume", schedule="nightly")
    page.act("pause", 404, schedule="nothing")
    check("fire", page.act("fire")["count"] == 0)
    page.act("edit", 400, id=failed)
    page.act("edit", 404, id="01a20e33-dbc9-7000-ad33-120d98547914", retry=True)
    check("release: none is handled", page.act("release", selection=hello)["count"] == 0)
    check("drain nobody", page.act("drain", worker="nobody.example")["count"] == 0)
    acts = page.get("pools/pool/audit?who=olga")["acts"]
    check("the audit has all that was changed, with why", [(one["action"], one["why"]) for one in reversed(acts)] ==
          [("skipped", "paid by hand"), ("skipped", None), ("edited", "typing error"), ("retried", "again"), ("edited", "until noon"), ("edited", "whenever"), ("paused", "closed"),
           ("resumed", "open"), ("schedule-paused", "holiday"), ("schedule-resumed", None)], str(acts))
    first = page.get("pools/pool/audit?who=olga&limit=3")
    rest = page.get(f"pools/pool/audit?who=olga&limit=200&after={first['next']}")
    check("page by page", first["acts"] + rest["acts"] == acts and rest["next"] is None, str(first["next"]))
    check("of one kind", [one["changed"] for one in page.get("pools/pool/audit?what=skipped")["acts"]] == [4, 1])
    page.get("pools/pool/audit?after=x", 400)


def test_counted_only(page):
    """As many left the group as came to it since the dry run: only what was counted is acted upon."""
    swap = {"handler": "swap"}
    for _ in range(3):
        run("enqueue", "swap", "x")
    dry = page.act("skip", selection=swap, dry_run=True)
    check("three are counted", dry["count"] == 3, str(dry))
    run("skip", "--handler", "swap")
    for _ in range(3):
        run("enqueue", "swap", "y")
    seen = {"selection": swap, "expect": 3, "until": dry["until"]}
    check("none of them is left", page.act("skip", 409, **seen)["count"] == 0)
    check("nor without a count", page.act("skip", **seen | {"expect": 0})["count"] == page.act("skip", selection=swap, until=dry["until"])["count"] == 0)
    check("those that came are as they were", [one["state"] for one in listed("--handler", "swap")] == ["pending"] * 3)
    check("a bound of one's own holds", page.act("skip", selection=swap | {"until": dry["until"]}, dry_run=True)["count"] == 0)
    again = page.act("skip", selection=swap, dry_run=True)
    run("enqueue", "swap", "z")
    check("what came later stays", page.act("skip", selection=swap, expect=3, until=again["until"])["count"] == 3)
    check("it is there", len(listed("--handler", "swap", "--pool", "pending")) == 1)
    page.act("release", 400, selection=swap, until=again["until"])  # workers change what they hold all the time
    page.act("skip", selection=swap)


def test_approvals(page):
    """What one person asks for and another approves, by their roles."""
    page.sign_in("otto")
    none = {"requests": [], "four_eyes": False, "retries": 0, "expires_ms": 604800000}
    check("nothing waits", page.get("pools/pool/requests") == none)
    for name, body in (("approve", {"request": "x"}), ("four-eyes", {"on": True}), ("retention", {"pool": "finished", "keep_ms": 1})):
        page.act(name, 403, **body)
    page.sign_in("adele")
    page.act("four-eyes", 400, **{})
    page.act("retention", 400, **{"pool": "finished"})
    check("four eyes", page.act("four-eyes", **{"on": True, "why": "policy"}) == {"count": 1, "dry_run": False})
    check("a setting waits", page.act("retention", **{"pool": "finished", "keep_ms": 1})["requested"])
    page.sign_in("otto")
    asked = page.act("skip", **{"selection": {"handler": "hello"}, "why": "doubtful"})
    check("a skip waits", asked["requested"] and asked["count"] == 5, str(asked))
    page.act("approve", 403, **{"request": asked["request"]})
    waiting = page.get("pools/pool/requests?state=waiting")
    check("both are listed", [one["act"] for one in waiting["requests"]] == ["skip", "retention"] and waiting["four_eyes"], str(waiting))
    page.act("refuse", 403, **{"request": waiting["requests"][1]["request"]})
    page.sign_in("albert")
    page.act("approve", 404, **{"request": "01a20e33-dbc9-7000-ad33-120d98547914"})
    page.act("approve", 409, **{"request": asked["request"], "expect": 4})
    done = page.act("refuse", **{"request": asked["request"], "why": "no"})
    check("refused", done["count"] == 5, str(done))
    page.act("approve", 409, **{"request": asked["request"]})
    setting = waiting["requests"][1]["request"]
    check("a dry run", page.act("approve", **{"request": setting, "dry_run": True}) == {"count": 0, "dry_run": True})
    page.act("refuse", **{"request": setting})
    failed = page.get("pools/pool/tasks?pool=failed")["tasks"][0]["id"]
    code, _, err = run("edit", failed, "--params", "to another account", "--who", "carl", "--why", "typing error")
    check("an edit waits", code == 13, err)
    edit = page.get("pools/pool/requests?state=waiting")["requests"][0]["request"]
    page.act("approve", 403, request=edit, dry_run=True)
    page.act("approve", 403, request=edit)  # who does not see what is to be paid
    check("an edit is not approved unseen", page.get("pools/pool/requests?state=waiting")["requests"][0]["request"] == edit)
    page.act("refuse", request=edit)
    page.sign_in("adele")
    run("enqueue", "doubt", "x")
    doubt = listed("--handler", "doubt")[0]["id"]
    wish = page.act("cancel", id=doubt, why="doubtful")
    check("a cancel waits", wish["requested"] and wish["count"] == 1 and shown(doubt)["state"] == "pending", str(wish))
    page.act("approve", 403, request=wish["request"])
    page.sign_in("albert")
    check("it is approved", page.act("approve", request=wish["request"], why="seen")["count"] == 1)
    check("and carried out", shown(doubt)["reason"] == "cancelled by adele: doubtful; approved by albert", shown(doubt)["reason"])
    page.sign_in("adele")
    off = page.act("four-eyes", **{"on": False})["request"]
    page.act("approve", 403, **{"request": off})
    page.sign_in("albert")
    check("four eyes off", page.act("approve", **{"request": off}) == {"count": 0, "dry_run": False})
    check("it is off", not page.get("pools/pool/requests")["four_eyes"])


def test_held(page):
    """A task in hand is seen at its worker, and its worker can be asked to end."""
    go = pool.program("hold.sh", f"while [ ! -e {os.getcwd()}/go ]; do sleep 0.05; done\n")
    worker = pool.start("work", "--handler", f"hold={go}", "--quiet", "--name", "holder")
    run("enqueue", "hold", "x", "--biz-key", "held")

    def working():
        found = [one for one in page.get("pools/pool/workers")["workers"] if one["in_progress"]]
        return found[0] if found else None

    check("in progress", until(working), str(page.get("pools/pool/workers")))
    check("what it has", working()["in_progress"][0]["biz_key"] == "held", str(working()))
    check("drain", page.act("drain", worker="holder", dry_run=True)["count"] == 1)
    check("drained", page.act("drain", worker="holder")["count"] == 1)
    with open("go", "w", encoding="utf-8"):
        pass
    worker.terminate()  # it would hear of it within ten seconds
    check("it has ended", worker.wait(pool.LIMIT_S) == 0)
    worker.communicate()


def left_in_hand(*keys):
    """The ids of tasks whose worker died, and whose leases are long."""
    for key in keys:
        run("enqueue", "lost", SECRET, "--biz-key", key)
    began = pool.program("lost.sh", 'touch "began-$TASKPOOL_BIZ_KEY"; while kill -0 $PPID 2>/dev/null; do sleep 0.05; done\n')
    worker = pool.start("work", "--handler", f"lost={began}", "--quiet", "--lease", "1h", "--threads", str(len(keys)))
    check("they begin", until(lambda: all(os.path.exists("began-" + key) for key in keys)))
    worker.kill()
    worker.communicate()
    return [listed("--biz-key", key)[0]["id"] for key in keys]


def test_cancel(page):
    """Each answer of one task; of many, how many of them are in hand; with a second person."""
    held, other = left_in_hand("one", "two")
    run("enqueue", "lost", "x", "--biz-key", "waits")
    waits = listed("--biz-key", "waits")[0]["id"]
    check("nobody asked so far", page.get("pools/pool/tasks/" + held)["cancel"] is None)
    check("one in hand would be asked for", page.act("cancel", id=held, dry_run=True) == {"count": 1, "dry_run": True, "asked": 1})
    asked = {"count": 1, "dry_run": False, "asked": 1, "answer": "asked", "state": "handling"}
    check("it is", page.act("cancel", id=held, why="wrong amount", expect=7) == asked)
    check("and again", page.act("cancel", selection={"id": [held]}, why="wrong amount") == asked)
    cancel = page.get("pools/pool/tasks/" + held)["cancel"]
    check("who asked, and why", cancel["who"] == "olga" and cancel["reason"] == "cancelled by olga: wrong amount" and cancel["at"] > 0, str(cancel))
    check("show has it", shown(held)["cancel"]["at"] == cancel["at"] and f"cancel asked  {cancel['reason']} (" in run("show", held)[1])
    run("group", "open", "november")
    run("enqueue", "lost", "x", "--group", "november")
    check("a group is found", len(page.get("pools/pool/tasks?group=november")["tasks"]) == 1)
    check("no other is there", page.get("pools/pool/tasks?gate=%3Enovember")["tasks"] == [])
    page.get("pools/pool/failures?group=november", 400)
    check("and cancelled", page.act("cancel", selection={"group": "november"}, why="not now")["count"] == 1)
    lost = {"handler": "lost"}
    dry = page.act("cancel", selection=lost, dry_run=True)
    check("of many it counts both kinds", (dry["count"], dry["asked"]) == (3, 2) and dry["until"] > 0, str(dry))
    check("held to their number", page.act("cancel", 409, selection=lost, expect=2)["count"] == 3)
    check("and to what was counted", page.act("cancel", 409, selection=lost, expect=3, until=1)["count"] == 0)
    check("of many, by their ids", page.act("cancel", selection={"id": [waits, other]}, why="all") == {"count": 2, "dry_run": False, "asked": 1})
    check("skipped", page.act("cancel", id=waits) == {"count": 1, "dry_run": False, "asked": 0, "answer": "skipped", "state": "skipped"})
    check("release", page.act("release", id=held)["count"] == 1)
    check("it is asked still", page.get("pools/pool/tasks/" + held)["cancel"] == cancel)
    check("a retry takes it back", page.act("retry", id=held)["count"] == 0 and page.act("skip", id=held)["count"] == 1)
    check("then nobody asks any more", page.get("pools/pool/tasks/" + held)["cancel"] is None)
    done = page.get("pools/pool/tasks?pool=finished&handler=hello&state=done")["tasks"][0]["id"]
    late = {"count": 0, "dry_run": False, "asked": 0, "answer": "late", "state": "done"}
    check("too late", page.act("cancel", id=done, expect=1) == late)
    unknown = {"count": 0, "dry_run": False, "asked": 0, "answer": "unknown", "state": None}
    check("unknown", page.act("cancel", id="01a20e33-dbc9-7000-ad33-120d98547914") == unknown)
    page.act("cancel", 400, id="no uuid")
    page.act("cancel", 400)
    page.act("cancel", 400, selection={"pool": "failed"})
    acts = [(one["action"], one["why"], one["changed"]) for one in page.get("pools/pool/audit?who=olga&limit=6")["acts"]]
    check("the audit has each once", acts == [("skipped", None, 1), ("released", None, 1), ("cancel", "all", 1), ("canceled", "all", 1),
                                              ("canceled", "not now", 1),
                                              ("cancel", "wrong amount", 1)], str(acts))


def test_shared(page):
    """What others asked for a moment ago is not asked for again; but whoever changed something sees it at once."""
    def aged():
        return [page.ask("GET", "/api/v1/pools/pool/schedules")[1].get("Age") for _ in range(2)][1]
    check("one answer for two", pool.until(aged))
    for paused in (True, False, True, False):
        page.act("pause" if paused else "resume", schedule="nightly")
        check("the change is seen", page.get("pools/pool/schedules")["schedules"][0]["paused"] == paused)


def test_params_right(page):
    """As otto, an operator who sees no parameters."""
    failed = page.get("pools/pool/tasks?pool=all&handler=pay")["tasks"][0]["id"]
    check("hidden", page.get("pools/pool/tasks/" + failed)["params_hidden"])
    page.act("edit", 403, id=failed, params="other")


# ---- Signing in ---------------------------------------------------------------------------------------------------------------


def test_limit(page):
    for _ in range(5):
        page.sign_in("vic", "wrong", 401)
    headers, _ = page.sign_in("vic", status=429)
    check("when to come again", headers["Retry-After"] == "300", str(headers))
    page.sign_in("nobody", "wrong", 401)
    page.sign_in("olga")


def test_users():
    check("short", add_user("x", password="short")[0] == 3)
    check("a role", add_user("x", "--role", "king")[0] == 2)
    check("a name", add_user("x:y")[0] == 2)
    mode = stat.S_IMODE(os.stat("users").st_mode)
    check("the file is its owner's", mode == 0o600, oct(mode))
    with open("users", encoding="utf-8") as file:
        text = file.read()
    check("yescrypt", text.count(":$y$") == 5 and console.PASSWORD not in text, text)
    os.chmod("users", 0o644)
    done = subprocess.run([console.CONSOLE, "--users", "users", "--listen", "127.0.0.1:0"], capture_output=True, text=True,
                          env=pool.environment({}), check=False)
    check("others could read it", done.returncode == 74 and "chmod 600" in done.stderr, done.stderr)
    os.chmod("users", 0o600)
    done = subprocess.run([console.CONSOLE, "--listen", "0.0.0.0:0"], capture_output=True, text=True, env=pool.environment({}),
                          check=False)
    check("not for other machines", done.returncode == 2 and "--behind-proxy" in done.stderr, done.stderr)


def test_expiry():
    page = Console("--users", "users", "--idle", "1s", "--life", "1d")
    page.sign_in("vic")
    check("it ends when nobody uses it", until(lambda: not unused(page)))
    page.end()
    page = Console("--users", "users", "--life", "2s")
    page.sign_in("vic")
    check("it ends however it is used", until(lambda: page.ask("GET", "/api/v1/pools")[0] == 401))
    page.end()


def unused(page):
    """Whether the session still is, asked by a stream of events, which is no use of it."""
    connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=pool.LIMIT_S)
    connection.request("GET", "/api/v1/pools/pool/events", headers={"Cookie": page.cookie})
    answer = connection.getresponse()
    answer.read()  # until it ends by itself
    connection.close()
    return page.ask("GET", "/api/v1/pools")[0] == 200


def test_removed(page):
    page.sign_in("vic")
    subprocess.run([console.CONSOLE, "user", "remove", "vic", "--users", "users"], check=True)
    page.get("pools", 401)


def test_proxy():
    page = Console("--users", "users", "--behind-proxy", "--trust-proxy", "127.0.0.1", "--user-header", "X-User", "--host",
                   "console.example")
    check("by the header", page.ask("GET", "/api/v1/pools", headers={"X-User": "olga", "Host": "console.example"})[0] == 200)
    check("nobody", page.ask("GET", "/api/v1/pools")[0] == 401)
    check("not in the file", page.ask("GET", "/api/v1/pools", headers={"X-User": "mallory"})[0] == 401)
    own = {"X-User": "olga"}
    page.csrf = page.ask("GET", "/api/v1/session", headers=own)[2]["csrf"]
    body = {"selection": {"handler": "hello"}, "dry_run": True}
    check("acts", page.ask("POST", "/api/v1/pools/pool/actions/skip", body, own)[0] == 200)
    check("needs the token", page.ask("POST", "/api/v1/pools/pool/actions/skip", body, own | {"X-CSRF-Token": None})[0] == 403)
    page.end()


# ---- Bad requests -------------------------------------------------------------------------------------------------------------


def raw(page, data):
    """The first line that comes back; "": the connection was closed."""
    with socket.create_connection(("127.0.0.1", page.port), timeout=pool.LIMIT_S) as sock:
        try:
            sock.sendall(data)
            sock.shutdown(socket.SHUT_WR)
            got = b""
            while chunk := sock.recv(65536):
                got += chunk
        except ConnectionError:
            return ""
    return got.split(b"\r\n")[0].decode(errors="replace")


def test_exact(page):
    """What a body says is stored as it is, or refused."""
    task = run("enqueue", "exact", "x", "--delay", "1d")[1].strip()

    def edit(params):
        return page.ask("POST", "/api/v1/pools/pool/actions/edit", f'{{"id":"{task}",\n"params":{params}}}\n'.encode())[0]

    for text in '"\\ud876\\udc00"', '"\\ud83d\\ude00 é"', '"\U0002d800"', '"\\\\ud83d"':
        check(f"edit to {text}", edit(text) == 200 and shown(task)["params"] == json.loads(text), shown(task)["params"])
    for text in ('"\\ud83d"', '"\\udc00 x"', '"a\\u0000b"', '"a","params":"b"', '"a",', "'a'", '"a\tb"', '"a"}', '"a","priority":NaN',
                 '"a","priority":-0', '"a","priority":99999999999999999999'):
        check(f"no edit to {text}", edit(text) == 400 and shown(task)["params"] == "\\ud83d", shown(task)["params"])
    answer = page.ask("POST", "/api/v1/pools/pool/actions/edit", b'{"priority":-0}')[2]["error"]
    check("it says why", answer == "the body cannot be taken as one JSON object: -0, which would become 0 (write 0, or -0.0)", answer)
    run("skip", "--id", task)


def test_bad(page):
    for path in ("pools/pool/tasks?limit=0", "pools/pool/tasks?limit=x", "pools/pool/tasks?nothing=1", "pools/pool/tasks?handler=",
                 "pools/pool/tasks?handler=a&handler=b", "pools/pool/tasks?since=yesterday", "pools/pool/tasks?handler=%ff",
                 "pools/pool/tasks?pool=moon", "pools/pool/tasks?after=x@y", "pools/pool/activity?since=500000000000&until=400000000000",
                 "pools/pool/activity?since=1764000000"):
        page.get(path, 400)
    for path in ("", "pools/", "pools/none/tasks", "pools/pool", "pools/pool/", "pools/pool/nothing", "pools/pool/tasks/a/b",
                 "pools/pool/workers/x", "pools//tasks"):
        page.get(path, 404)
    for body in ("", "{", "[]", "1", '{"a":1}x', '{"selection":1}', '{"selection":{"id":[]}}', '{"id":5}', '{"dry_run":1}',
                 '{"why":"' + "x" * 600 + '"}', "[" * 100):
        code = page.ask("POST", "/api/v1/pools/pool/actions/skip", body)[0]
        check(f"body {body[:20]}", code == 400, str(code))
    check("long body", page.ask("POST", "/api/v1/session", '{"user":"' + "x" * 70000 + '"}', {"Cookie": None})[0] in (400, 413))
    check("too long a body", "413" in raw(page, b"POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                                          b"Content-Length: 99999999\r\n\r\n"))


def test_fuzz(page):
    """Whatever comes, it is answered or cut, and the console goes on."""
    chance = random.Random(7)
    words = ["GET", "POST", "DELETE", "/", "/api/v1/", "pools", "/pool", "/tasks", "?", "&", "=", "%00", "%", "%ff", "..", "a" * 300,
             "id", "limit", "after", "01a20e33-dbc9-7000-ad33-120d98547914", "@", "-1", "99999999999999999999", "é", "'", '"', ";", "\\",
             "<b>", "\x01", " ", "session", "/events", "/actions/skip", "overview", "/assets/", "../", "{", "}"]
    for _ in range(300):
        path = "/" + "".join(chance.choice(words) for _ in range(chance.randrange(8)))
        head = f"{chance.choice(words[:3])} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nCookie: {page.cookie}\r\n"
        if "events" in path:
            continue
        body = "".join(chance.choice(words + ['"selection"', ":", "[", "]", ","]) for _ in range(chance.randrange(20)))
        head += f"Content-Type: application/json\r\nX-CSRF-Token: {page.csrf}\r\nContent-Length: {len(body.encode())}\r\n\r\n"
        line = raw(page, (head + body).encode())
        check(f"{path} is answered", line == "" or (" 5" not in line[8:11]), line)
    check("it goes on", page.ask("GET", "/healthz")[0] == 200)


def test_many_open(page):
    """Where many tasks are open they are read for the failures once one of them waits for a retry, also the first."""
    code, _, err = run("enqueue", "--file", "-", "--format", "jsonl", "--handler", "later", "--quiet",
                       text=b'{"params": "x", "delay_ms": 30000000000}\n' * 5001)
    check("many tasks", code == 0, err)

    def handlers():
        code, _, answer = page.ask("GET", "/api/v1/pools/pool/failures")
        check("failures", code in (200, 503, 504), f"{code} {answer}")
        return {one["handler"] for one in answer["groups"]} if code == 200 else set()

    def waiting():  # 503: a busy machine has not read them in time
        code, _, answer = page.ask("GET", "/api/v1/pools/pool/overview")
        check("overview", code in (200, 503), f"{code} {answer}")
        return answer["waiting"] if code == 200 else 0
    check("they are counted", until(lambda: waiting() > 5000))
    run("enqueue", "broken", "x")
    run("work", "--handler", "broken=/bin/false", "--retry", "none", "--drain", "--quiet")
    check("failed ones are shown", until(lambda: handlers() == {"broken"}), str(handlers()))
    run("enqueue", "again", "x")
    worker = pool.start("work", "--handler", "again=/bin/false", "--retry", "1h", "--quiet")
    check("the first that waits for a retry is shown", until(lambda: handlers() == {"broken", "again"}), str(handlers()))
    worker.terminate()
    pool.end(worker)


def test():
    fill()
    open_page = Console()
    for one in (test_looks, test_pages, test_headers, test_machines, test_events, test_read_only):
        one(open_page)
    test_end(open_page)
    for name, options in (("vic", []), ("otto", ["--role", "operator"]), ("olga", ["--role", "operator", "--params"]),
                          ("albert", ["--role", "approver"]), ("adele", ["--role", "administrator"])):
        check("user add", add_user(name, *options)[0] == 0)
    test_users()
    page = Console("--users", "users")
    test_roles(page)
    test_approvals(page)
    page.sign_in("olga")
    for one in (test_csrf, test_actions, test_counted_only, test_held, test_cancel, test_shared, test_exact, test_bad, test_fuzz):
        one(page)
    page.sign_in("otto")
    test_params_right(page)
    page.end()
    page = Console("--users", "users")
    test_limit(page)
    page.end()
    test_expiry()
    test_proxy()
    page = Console("--users", "users")
    test_removed(page)
    page.sign_in("olga")
    test_many_open(page)
    page.end()
    left = {(path, method) for path, methods in console.API["paths"].items() for method in methods} - console.met
    left -= {("/api/v1/openapi.json", "get"), ("/metrics", "get")}
    check("every path was answered", not left, str(left))


pool.main(test)
