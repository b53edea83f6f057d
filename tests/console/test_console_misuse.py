#!/usr/bin/env -S python3 -B
"""taskpool-console asked by somebody who means harm, or whose answer was lost: requests that two readers take for different ones,
null for what was left out, a person who signs out in mid-request, answers that nobody reads, bodies that grow in memory, and an
action that is confirmed again."""
import json
import os
import re
import socket
import subprocess
import uuid

import console
import pool
from console import Console, add_user, check
from pool import listed, run, until

HEAD = "POST /api/v1/pools/pool/actions/skip HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
NOBODY = "01a20e33-dbc9-7000-ad33-120d98547914"
SKIP_ALL = '{"selection":{"handler":"hello"}}'


def connect(page):
    return socket.create_connection(("127.0.0.1", page.port), timeout=pool.LIMIT_S)


def signed(page):
    return f"Cookie: {page.cookie}\r\nX-CSRF-Token: {page.csrf}\r\n"


def all_of(sock):
    got = b""
    try:
        while chunk := sock.recv(65536):
            got += chunk
    except ConnectionError:
        pass
    return got


def answers(page, text):
    """The statuses of all answers on one connection."""
    with connect(page) as sock:
        sock.sendall(text.encode())
        sock.shutdown(socket.SHUT_WR)
        return [int(found) for found in re.findall(rb"^HTTP/1\.1 (\d+)", all_of(sock), re.M)]


def waiting():
    return len(listed("--state", "pending"))


def test_smuggling(page):
    """Each has a second request in its body for whoever believes the other header."""
    inner = HEAD + signed(page) + f"Content-Length: {len(SKIP_ALL)}\r\n\r\n{SKIP_ALL}"
    size = f"Content-Length: {len(inner)}\r\n"
    before = waiting()
    for name, headers in (("two lengths", "Content-Length: 0\r\n" + size), ("two lengths, other order", size + "Content-Length: 0\r\n"),
                          ("length and chunks", size + "Transfer-Encoding: chunked\r\n"),
                          ("chunks and length", "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n"),
                          ("chunks alone", "Transfer-Encoding: chunked\r\n"), ("odd chunks", size + "Transfer-Encoding: xchunked\r\n"),
                          ("a list", f"Content-Length: 0, {len(inner)}\r\n"), ("a sign", f"Content-Length: +{len(inner)}\r\n"),
                          ("negative", "Content-Length: -1\r\n"), ("hexadecimal", "Content-Length: 0x0\r\n"),
                          ("two hosts", "Host: evil.example\r\nContent-Length: 0\r\n"), ("two cookies", signed(page) + "Content-Length: 0\r\n")):
        for first in (HEAD + signed(page) + headers, "GET / HTTP/1.1\r\nHost: localhost\r\n" + signed(page) + headers):
            got = answers(page, first + "\r\n" + ("0\r\n\r\n" if "chunk" in headers else "") + inner)
            # libmicrohttpd writes the head of its own refusal twice, and closes.
            check(f"{name}: refused, and the end", got in ([400], [413], [], [400, 400]), str(got))
    check("nothing was done", waiting() == before, str(waiting()))


def test_null(page):
    before = waiting()
    for body in ('{"selection":{"handler":null,"pool":"pending"}}', '{"selection":{"handler":"hello","since":null}}',
                 '{"selection":null}', '{"selection":{"handler":"hello"},"expect":null}', '{"selection":{"handler":"hello"},"dry_run":null}',
                 '{"selection":{"handler":"hello"},"why":null}', '{"selection":{"id":null,"handler":"hello"}}', '{"id":null}'):
        code, _, answer = page.ask("POST", "/api/v1/pools/pool/actions/skip", body)
        check(f"{body} is refused", code == 400, f"{code} {answer}")
    page.act("pause", 400, handler=None)
    page.act("fire", 400, schedule=None)
    check("nothing was done", waiting() == before, str(waiting()))


def half(page):
    """Sends an action but for its last byte; what sends that, and gives the status."""
    sock = connect(page)
    sock.sendall((HEAD + signed(page) + f"Content-Length: {len(SKIP_ALL)}\r\n\r\n{SKIP_ALL[:-1]}").encode())

    def end():
        with sock:
            sock.sendall(SKIP_ALL[-1:].encode())
            return int(sock.recv(65536).split(b" ")[1])
    return end


def test_signed_out(page):
    """Whoever is not who he was when his request began is not obeyed."""
    before = waiting()
    page.sign_in("olga")
    rest = half(page)
    check("signs out", page.ask("DELETE", "/api/v1/session")[0] == 200)
    check("signed out in mid-request", (code := rest()) == 401, str(code))
    page.cookie = page.csrf = None
    page.sign_in("otto")
    rest = half(page)
    with open("users", "r+", encoding="utf-8") as users:
        text = users.read()
        users.seek(0)
        users.truncate()
        users.write(text.replace("otto:operator:", "otto:viewer:"))
    check("another role in mid-request", (code := rest()) == 403, str(code))
    rest = half(page)
    add_user("otto", "--role", "operator", password=console.PASSWORD + "!")
    check("another password in mid-request", (code := rest()) == 401, str(code))
    page.sign_in("otto", console.PASSWORD + "!")
    rest = half(page)
    subprocess.run([console.CONSOLE, "user", "remove", "otto", "--users", "users"], check=True)
    check("taken out in mid-request", (code := rest()) == 401, str(code))
    check("nothing was done", waiting() == before, str(waiting()))
    page.cookie = page.csrf = None
    page.sign_in("olga")
    check("who stays is obeyed", half(page)() == 200 and waiting() == before - 3)


def resident(page):
    with open(f"/proc/{page.process.pid}/status", encoding="ascii") as file:
        return int(re.search(r"VmHWM:\s+(\d+) kB", file.read()).group(1)) // 1024


def test_slow_readers(page, big):
    """Forty ask for a long answer and do not read it."""
    before = resident(page)
    socks = [connect(page) for _ in range(40)]
    for sock in socks:
        sock.sendall(f"GET /api/v1/pools/pool/tasks/{big} HTTP/1.1\r\nHost: localhost\r\nCookie: {page.cookie}\r\n\r\n".encode())
    first = [sock.recv(12)[9:12] for sock in socks]
    check("some are answered, others told to come again", set(first) <= {b"200", b"503", b"504"} and b"200" in first and b"503" in first, str(first))
    check("others are served", page.ask("GET", "/api/v1/pools")[0] == 200)
    if "ASAN" not in os.environ.get("TASKPOOL_TEST_BUILD", "").upper():
        check("memory is bounded", resident(page) - before < 120, f"{before} to {resident(page)} MiB")
    for sock in socks:
        sock.close()
    check("afterwards it is answered", until(lambda: page.ask("GET", f"/api/v1/pools/pool/tasks/{big}")[0] == 200))


def two_may_send(page, socks):
    """The place of an earlier body is free a moment after its answer."""
    for sock in socks:
        sock.close()
    socks[:] = [connect(page) for _ in range(2)]
    for sock in socks:
        sock.sendall((HEAD + signed(page) + "Expect: 100-continue\r\nContent-Length: 1000000\r\n\r\n").encode())
    return [sock.recv(12) for sock in socks] == [b"HTTP/1.1 100"] * 2


def test_large_bodies(page):
    path = "/api/v1/pools/pool/actions/edit"
    check("a million parts", page.ask("POST", path, '{"id":[' + '"",' * 1000000 + '""]}')[0] == 413)
    code = page.ask("POST", path, json.dumps({"id": NOBODY, "params": ',"[{\\' * 100000}))[0]
    check("in a text they are none", code == 404, str(code))
    socks = []
    check("both may send", until(lambda: two_may_send(page, socks)))
    for sock in socks:
        sock.sendall(b"{" + b" " * 100000)
    big = HEAD + signed(page) + "Content-Length: 1000000\r\n\r\n"
    check("two at a time", until(lambda: answers(page, big) == [503]))
    for sock in socks:
        sock.close()
    check("then others", until(lambda: page.ask("POST", path, json.dumps({"id": NOBODY, "params": "y" * 100000}))[0] == 404))


def test_again(page):
    """Confirmed again after an answer that was lost."""
    task = str(uuid.uuid4())
    fire = {"schedule": "nightly", "id": task, "expect": 1}
    check("counted", page.act("fire", schedule="nightly", dry_run=True)["count"] == 1)
    page.act("fire", 400, schedule="nightly")
    page.act("fire", 400, schedule="nightly", id="no uuid")
    page.act("fire", 404, schedule="nothing", id=task)
    check("fired", page.act("fire", **fire)["count"] == 1)
    check("and again", page.act("fire", **fire)["count"] == 1)
    made = listed("--handler", "report", "--pool", "all")
    check("it is one task", len(made) == 1 and made[0]["id"] == task and made[0]["params"] == "of the month", str(made))
    code, _, err = run("work", "--handler", "report=/bin/true", "--drain", "--quiet")
    check("the task is done", code == 0, err)
    check("also when it is done", page.act("fire", **fire)["count"] == 1 and len(listed("--handler", "report", "--pool", "all")) == 1)
    one = {"schedule": "single", "expect": 1}
    check("no other schedule fires", page.act("fire", dry_run=True)["count"] == 0)
    page.act("fire", **one, id=str(uuid.uuid4()))
    check("another dialog is another task", page.act("fire", **fire | {"id": str(uuid.uuid4())})["count"] == 1 and
          len(listed("--handler", "report", "--pool", "all")) == 3, str(listed("--handler", "report", "--pool", "all")))
    for params, refused in (("of the month", 409), ("other", 400)):
        other = str(uuid.uuid4())
        check("a task by somebody else", run("enqueue", "--id", other, "report", params)[0] == 0)
        said = page.act("fire", refused, **fire | {"id": other})
        check("its id fires nothing", "error" in said and len(listed("--handler", "report", "--pool", "all")) == 4, str(said))
        check("and is skipped", run("skip", "--id", other, "--who", "olga", "--why", "test")[0] == 0)
        check("and purged", run("purge", "--id", other, "--pool", "finished", "--who", "olga", "--why", "test")[0] == 0)
    check("alone has one task", page.act("fire", 409, **one, id=str(uuid.uuid4())) and page.act("fire", 409, schedule="single", dry_run=True))
    skip = {"selection": {"handler": "twice"}, "expect": 2, "why": "twice"}
    check("skipped", page.act("skip", **skip)["count"] == 2)
    check("confirmed again it is another number", page.act("skip", 409, **skip)["count"] == 0)


def test_edits(page, task):
    """Of a task that somebody else corrects while it is looked at, and confirmed again after its answer was lost."""
    path = "pools/pool/tasks/" + task
    edit = {"id": task, "params": "[1]", "retry": True, "edit_id": str(uuid.uuid4()), "modified_at": page.get(path)["modified_at"]}
    check("corrected by another", run("edit", task, "--params", "[2]", "--who", "ben")[0] == 0)
    page.act("edit", 409, **edit)
    check("his correction stays", page.get(path)["params"] == "[2]")
    edit["modified_at"] = page.get(path)["modified_at"]
    check("edited", page.act("edit", **edit)["count"] == 1)
    code, _, err = run("work", "--handler", "masked=/bin/false", "--retry", "none", "--drain", "--quiet")
    check("it fails again", code == 8 and page.get(path)["state"] == "failed", err)
    check("confirmed again", page.act("edit", **edit)["count"] == 1)
    check("it is not retried twice", page.get(path)["state"] == "failed")


def test_masks():
    """Parts of parameters stay on the server, for who may see parameters too."""
    hidden = [run("enqueue", "masked", text)[1].split()[-1] for text in
              ('{"order":7,"IBAN":"DE-SECRET","to":[{"card":"C-SECRET"}]}', '{"iban":"DE-SECRET","iban":"DE-SECRET"}', "iban=DE-SECRET")]
    fine = run("enqueue", "masked", '{"order": 12.50}')[1].split()[-1]
    run("schedule", "add", "masked", "0 3 * * *", "masked", '{"iban":"DE-SECRET"}')
    for wrong in ("", "/a~2"):
        done = subprocess.run([console.CONSOLE, "--mask", wrong], capture_output=True, text=True, env=pool.environment({}), check=False)
        check(f"no mask: {wrong}", done.returncode == 2, done.stderr)
    page = Console("--users", "users", "--mask", "iban", "--mask", "/to/0/card")
    page.sign_in("olga")
    shown = [page.get("pools/pool/tasks/" + one) for one in hidden]
    check("what is left", shown[0]["params"] == '{"order":7,"IBAN":"***","to":[{"card":"***"}]}', shown[0]["params"])
    check("masked, and said so", all(one["params_masked"] and "SECRET" not in json.dumps(one) for one in shown), str(shown))
    check("what is not masked is as it was", page.get("pools/pool/tasks/" + fine)["params"] == '{"order": 12.50}')
    check("of schedules too", "SECRET" not in json.dumps(page.get("pools/pool/schedules")) and
          any(one.get("params_masked") for one in page.get("pools/pool/schedules")["schedules"]))
    page.act("edit", 403, id=hidden[0], params='{"order":7,"IBAN":"***"}')
    page.act("edit", 403, id=hidden[2], params="x", dry_run=True)
    code, _, err = run("work", "--handler", "masked=/bin/false", "--retry", "none", "--drain", "--quiet")
    check("they fail", code == 8, err)
    check("the rest can be edited", page.act("edit", id=hidden[0], priority=2)["count"] == 1)
    check("and what is not masked", page.act("edit", id=fine, params="{}")["count"] == 1)
    test_edits(page, fine)
    page.act("fire", schedule="masked", id=(made := str(uuid.uuid4())))
    check("fired with all of it", "DE-SECRET" in pool.shown(made)["params"] and "SECRET" not in
          json.dumps(page.get("pools/pool/tasks/" + made)))
    page.end()


def test_forwarded():
    """A client's own X-Forwarded-For beside the proxy's does not make it somebody else for the limit on tries."""
    page = Console("--users", "users", "--behind-proxy", "--trust-proxy", "127.0.0.1")
    body = '{"user":"olga","password":"wrong"}'
    seen = []
    for number in range(6):
        seen += answers(page, "POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                        f"X-Forwarded-For: 10.0.0.{number}\r\nX-Forwarded-For: 192.0.2.1\r\nContent-Length: {len(body)}\r\n\r\n{body}")
    check("one address", seen == [401] * 5 + [429], str(seen))
    page.end()
    page = Console("--users", "users", "--behind-proxy", "--trust-proxy", "127.0.0.1", "--user-header", "X-User")
    got = answers(page, "GET /api/v1/pools HTTP/1.1\r\nHost: localhost\r\nX-User: olga\r\nX-User: nobody\r\n\r\n")
    check("two names are none", got == [400], str(got))
    page.end()


def test():
    for _ in range(3):
        run("enqueue", "hello", "x")
    for _ in range(2):
        run("enqueue", "twice", "x")
    big = run("enqueue", "big", "-", text=b"\x01" * 1000000)[1].split()[-1]
    run("schedule", "add", "nightly", "0 2 * * *", "report", "of the month")
    run("schedule", "add", "single", "0 2 * * *", "report", "--alone")
    for name, options in (("otto", ["--role", "operator"]), ("olga", ["--role", "operator", "--params"])):
        check("user add", add_user(name, *options)[0] == 0)
    page = Console("--users", "users")
    page.sign_in("olga")
    page.get("pools/pool/tasks")
    for one in (test_smuggling, test_null, test_again, test_large_bodies):
        one(page)
    test_slow_readers(page, big)
    test_signed_out(page)
    page.end()
    test_masks()
    test_forwarded()


pool.main(test)
