#!/usr/bin/env -S python3 -B
"""What commands select, and what they say of failures and lives; editing and erasing. test_select.py PATH_TO_TASKPOOL"""
import csv
import io
import json
import shlex
import subprocess

import pool
from pool import TASKPOOL, check, environment, listed, program, run, shown

HOSTILE = ["card 4711 refused at 10:15", "card 12 refused at 9:07", "100% wrong_ 'quoted' \"twice\" !! 7",
           "Straße 5 gesperrt, 价格 42", "it's $(touch stolen) `touch stolen` 8", "100x wrong- 'quoted' \"twice\" !! 7"]


def put(handler, *args, params="{}"):
    code, out, err = run("enqueue", handler, params, *args)
    check("enqueue", code == 0, err)
    return out.strip()


def fail_all(handler, reason):
    """All open tasks of the handler fail for good, with this reason."""
    with open("reason", "w", encoding="utf-8") as file:
        file.write(reason)
    name = program("fails", "cat reason >&2\nexit 1\n")
    code, _, err = run("work", "--handler", f"{handler}={name}", "--retry", "none", "--drain", "--quiet")
    check("the handler fails", code == 8, f"{code} {err}")


def groups(*args):
    code, out, err = run("failures", "--json", *args)
    check("failures", code in (0, 1), f"{code} {err}")
    return [json.loads(line) for line in out.splitlines()]


def test_retries_of_what_is_done():
    """Who retries what is done, and only not stored, is told so: before by what he looks at and counts, else after it."""
    keys = [put("known"), put("known")]
    fail_all("known", "done, but the database refuses to store that: check 7")
    keys.append(put("known"))
    fail_all("known", "check 7 is not done")
    warning, counted = "a retry would do it again", "done, only not stored: 2 of them; a retry would do them again"
    check("show warns", warning in run("show", keys[0])[1] and warning in shown(keys[0])["warning"], shown(keys[0]))
    check("and of nothing else", warning not in run("show", keys[2])[1] and shown(keys[2])["warning"] is None, shown(keys[2]))
    for extra in ("--json",), ():
        code, out, err = run("retry", "--handler", "known", "--dry-run", *extra)
        check("a dry run says how many are done", code == 0 and counted in err, err)
        check("and counts all", json.loads(out)["done"] == 3 and json.loads(out)["unstored"] == 2 if extra else "3 would be retried\n" == out, out)
    check("of a skip nothing is said", not run("skip", "--handler", "known", "--dry-run")[2])
    code, out, err = run("edit", keys[0], "--retry")
    check("an edit that retries warns", code == 0 and f"{keys[0]}: done, only not stored" in err, err)
    check("what is open is not warned of", shown(keys[0])["warning"] is None, shown(keys[0]))
    check("an edit alone does not warn", not run("edit", keys[1], "--priority", "3")[2])
    code, out, err = run("retry", "--handler", "known")
    check("a retry says what it does again", code == 0 and out == "retried 2\n" and "done, only not stored: 1 of them; they are done again now" in err,
          out + err)
    run("skip", "--handler", "known")


def test_failures_that_were_done():
    """Whoever pastes what is shown does nothing again that is done."""
    put("known")
    fail_all("known", "done, but the database refuses to store that: check 7")
    [group] = groups("--handler", "known")
    check("it is skipped", group["retry"].startswith("taskpool skip "), group)
    check("with a warning", "a retry would do it again" in (group.get("warning") or ""), group)
    text = run("failures", "--handler", "known")[1]
    check("both are shown", f"The command for each group:\n  # {group['warning']}\n  {group['retry']}\n" in text, text)
    done = subprocess.run(["sh", "-c", shlex.quote(TASKPOOL) + group["retry"][len("taskpool"):] + " --json"],
                          capture_output=True, env=environment({}), timeout=300)
    check("the command works", json.loads(done.stdout)["done"] == 1, done.stderr)


def test_failures():
    for i, reason in enumerate(HOSTILE):
        for _ in range(2 if i < 2 else 1):
            put("pay")
        fail_all("pay", reason)
    found = groups("--handler", "pay")
    check("reasons are grouped but for digits", [g["count"] for g in found] == [4, 1, 1, 1, 1],
          [(g["count"], g["reason_like"]) for g in found])
    check("the largest group comes first", found[0]["reason_like"] == "card # refused at #:#", found[0])
    check("an example is one of them", shown(found[0]["example"])["state"] == "failed")
    for group in found:
        words = ["--dry-run", "--json"]
        done = subprocess.run(["sh", "-c", shlex.quote(TASKPOOL) + group["retry"][len("taskpool"):] + " " + " ".join(words)],
                              capture_output=True, env=environment({}), timeout=300)
        got = json.loads(done.stdout or b"{}").get("done")
        check("the command selects its group only", got == group["count"], f"{group['retry']}: {got} {done.stderr}")
    rows = list(csv.DictReader(io.StringIO(run("failures", "--csv")[1], newline="")))
    check("CSV has the same groups", [(int(r["count"]), r["reason_like"], r["retry"]) for r in rows] ==
          [(g["count"], g["reason_like"], g["retry"]) for g in found], rows)
    test_failures_that_were_done()
    test_retries_of_what_is_done()
    key = put("pay", "--biz-key", "it's 7")
    fail_all("pay", HOSTILE[0])
    for option, value in (("--biz-key", "it's 7"), ("--since", str(shown(key)["settled_at"]))):
        [one] = groups(option, value, "--pool", "failed", "--until", "0h")
        done = subprocess.run(["sh", "-c", shlex.quote(TASKPOOL) + one["retry"][len("taskpool"):] + " --dry-run --json"],
                              capture_output=True, env=environment({}), timeout=300)
        check("the command keeps to what was selected", json.loads(done.stdout or b"{}").get("done") == one["count"] == 1, f"{one} {done}")
    check("nothing of it was run", subprocess.run(["ls", "stolen"], capture_output=True).returncode != 0)
    table = run("failures")[1]
    check("the table shows the commands", all(g["retry"] in table for g in found), table)
    code, _, err = run("failures", "--limit", "2")
    check("it says when groups are left out", code == 0 and "more groups" in err, err)
    check("no pool but these has failures", run("failures", "--pool", "finished")[0] == 2)
    check("a plain part of a reason is no pattern", len(listed("--pool", "failed", "--reason", "100% wrong_")) == 1)


def test_selection():
    key = "o'Reilly; \"%_!\" Ünï"
    ids = [put("ship", "--biz-key", key), put("ship", "--biz-key", "other"),
           put("ship", "--biz-key", key, "--dedup-key", "one")]
    run("skip", "--id", ids[0], "--why", "sent by hand")
    for pool_name, wanted in (("all", {ids[0], ids[2]}), ("pending", {ids[2]}), ("finished", {ids[0]}), ("failed", set())):
        got = {t["id"] for t in listed("--pool", pool_name, "--biz-key", key)}
        check(f"by biz_key in {pool_name}", got == wanted, got)
    code, out, err = run("list", "--json", "--pool", "all", "--id", "-", text="\n".join(ids + ids).encode())
    check("ids from standard input", code == 0 and {json.loads(x)["id"] for x in out.splitlines()} == set(ids), err)
    check("and each once", len(out.splitlines()) == 3, out)
    check("by dedup_key", [t["id"] for t in listed("--dedup-key", "one")] == [ids[2]])
    code, _, err = run("list", "--pool", "finished", "--dedup-key", "one")
    check("dedup_key is refused where it has no index", code == 2 and "no index of dedup_key" in err, err)
    code, _, err = run("list", "--pool", "attic")
    check("an unknown pool", code == 2, err)
    code, _, err = run("purge", "--reason-like", "x", "--older", "1d")
    check("what purge cannot select by", code == 2 and "does not select by reason_like" in err, err)
    code, _, err = run("purge", "--pool", "history", "--biz-key", "x")
    check("nor the history", code == 2, err)
    settled = shown(ids[0])["settled_at"]
    in_time = listed("--pool", "finished", "--since", str(settled - 3000), "--until", str(settled + 3000), "--handler", "ship")
    check("by the time of the last change", [t["id"] for t in in_time] == [ids[0]], in_time)
    check("not before", not listed("--pool", "finished", "--handler", "ship", "--until", str(settled - 3000)))
    ago = listed("--pool", "finished", "--since", "365d", "--until", "0", "--handler", "ship")
    check("a duration is how long ago", ids[0] in [task["id"] for task in ago], ago)
    check("until long ago", not listed("--pool", "finished", "--until", "365d", "--handler", "ship"))
    check("since a moment that is long over", run("failures", "--since", "2h")[0] in (0, 1) and run("skip", "--until", "365d", "--dry-run")[0] in (0, 1))
    run("group", "open", "november")
    member, after = put("ship", "--group", "november"), put("ship", "--after", "november")
    check("by group", [t["id"] for t in listed("--group", "november", "--pool", "all")] == [member])
    check("those after it", [t["id"] for t in listed("--gate", ">november")] == [after])
    run("gate", "set", "dock", "--width", "1")
    docked = [put("ship", "--gate", "dock") for _ in range(2)]
    check("by gate", [t["id"] for t in listed("--gate", "dock")] == sorted(docked))
    check("an action on a group", run("skip", "--group", "november", "--why", "too late")[0] == 0 and shown(member)["reason"] == "too late")
    check("and on what is behind a gate", json.loads(run("cancel", "--gate", "dock", "--json")[1])["done"] == 2)
    check("no other was meant", shown(ids[2])["state"] == shown(after)["state"] == "pending")
    run("skip", "--id", after)
    check("no gate in the finished pool", run("list", "--gate", "dock", "--pool", "finished")[0] == 2)
    check("failures are not selected by group", "by group or gate" in run("failures", "--group", "november")[2])
    code, _, err = run("list", "--since", "2 hours")
    check("neither a time nor a duration", code == 2 and "how long ago, like 2h" in err, err)
    check("until before since", run("list", "--since", "200000000000", "--until", "100000000000")[0] == 2)
    pages, after = [], []
    while True:
        page = listed("--pool", "all", "--limit", "2", *after)[:2]
        if not page:
            break
        pages += [t["id"] for t in page]
        after = ["--after", pages[-1]]
    every = [t["id"] for t in listed("--pool", "all")]
    check("pages of all pools have each task once", pages == every and len(set(pages)) == len(pages), len(pages))
    done = json.loads(run("skip", "--biz-key", key, "--why", "x", "--json")[1])["done"]
    check("skip by biz_key", done == 1, done)
    done = json.loads(run("purge", "--biz-key", key, "--json")[1])["done"]
    check("purge by biz_key", done == 2, done)
    for pool_name in ([], ["--pool", "finished"]):
        code, _, err = run("purge", "--gate", "dock", *pool_name)
        check("purge by gate finds nothing in the finished pool", code == 2 and "purge by gate takes --pool failed" in err, err)
    check("but in the failed pool it may", run("purge", "--gate", "dock", "--pool", "failed")[0] == 0)
    run("enqueue", "--file", "-", text=b"handler\n" + b"many\n" * 501)
    many = [t["id"] for t in listed("--handler", "many")]
    for dry in (["--dry-run"], []):
        code, out, err = run("skip", "--json", "--id", "-", *dry, text="\n".join(many + [many[0].upper()]).encode())
        check("an id twice, in two transactions", json.loads(out)["done"] == len(many) == 501 and not err, f"{out} {err}")
    code, _, err = run("skip", "--id", "-", text=f"{ids[0]} 4711 {ids[1]}".encode())
    check("ids that are none", code == 2 and "not a UUID" in err, err)


def test_csv():
    params = 'one,"two"\r\nthree\n é'
    task = put("sheet", params=params)
    rows = list(csv.DictReader(io.StringIO(run("list", "--csv", "--handler", "sheet")[1], newline="")))
    check("CSV gives text back as it was", len(rows) == 1 and rows[0]["params"] == params and rows[0]["id"] == task, rows)
    rows = list(csv.DictReader(io.StringIO(run("show", "--csv", task)[1], newline="")))
    check("show has CSV", rows and rows[0]["params"] == params, rows)
    check("not both", run("list", "--csv", "--json")[0] == 2)
    check("stats has CSV", run("stats", "--csv")[1].startswith("pool,handler,state,count,due,oldest\r\n"))


def test_show():
    task = put("live")
    fail_all("live", "no 5")
    life = shown(task)["life"]
    check("a life from the begin", [m["what"] for m in life] == ["enqueued", "claimed", "gave-up"], life)
    run("retry", "--id", task)
    run("work", "--handler", "live=/bin/true", "--drain", "--quiet")
    life = shown(task)["life"]
    check("to the end", [m["what"] for m in life][-3:] == ["retried", "claimed", "done"], life)
    worker = life[-1]["owner"][-12:]
    check("by its worker", task in {t["id"] for t in listed("--pool", "finished", "--worker", worker)})
    code, out, _ = run("show", task, put("live"))
    check("two at once", code == 0 and out.count("\nparams") == 2, out)


def test_edit():
    task = put("fix", "--biz-key", "secret-key-1")
    fail_all("fix", "bad iban")
    code, _, err = run("edit", task, "--params", "-", "--why", "typing error", text=b'{"iban":"new"}')
    check("edit", code == 0, err)
    check("has the new params", shown(task)["params"] == '{"iban":"new"}')
    edit = [e for e in (json.loads(x) for x in run("history", task, "--json")[1].splitlines()) if e["event"] == "edited"]
    check("it is recorded, by lengths", len(edit) == 1 and edit[0]["reason"] == "params 2 -> 14 bytes: typing error", edit)
    done = json.loads(run("edit", task, "--priority", "-5", "--no-biz-key", "--retry", "--json", "--why", "again")[1])
    after = shown(task)
    check("edit and retry", after["state"] == "pending" and after["priority"] == -5 and after["biz_key"] is None, after)
    code, _, err = run("edit", task, "--priority", "-5", "--no-biz-key", "--retry", "--edit-id", done["edit_id"])
    check("asked again finds that it was done", code == 0, err)
    code, _, err = run("edit", task, "--priority", "-5", "--no-biz-key", "--edit-id", done["edit_id"])
    check("with other content it is refused", code == 2 and "other content" in err, err)
    words = [m["what"] for m in shown(task)["life"]]
    check("and does it once", words.count("edited") == 2 and words.count("retried") == 1, words)
    code, _, err = run("edit", task, "--due-at", "2040-01-01T00:00:00Z", "--shard", "3")
    after = shown(task)
    check("one that waits is moved", code == 0 and after["due_at"] == 2208988800000 and after["shard"] == 3, (err, after))
    code, _, err = run("edit", task, "--params", "x", "--retry")
    check("and has nothing to retry", code == 2 and "needs no retry" in err, err)
    check("an unknown one", run("edit", "0190c3a2-7b1e-7f3a-9c55-2f6f0c1d2e3f", "--params", "x")[0] == 1)
    check("nothing to change", run("edit", task)[0] == 2)
    blocked = put("fix")
    run("skip", "--id", task)
    fail_all("fix", "bad")
    put("fix", "--dedup-key", "taken")
    code, _, err = run("edit", blocked, "--dedup-key", "taken", "--retry")
    check("a key that is open", code == 1 and "nothing was changed" in err, err)
    check("changes nothing", shown(blocked)["dedup_key"] is None)


def test_erase():
    key = "per'son 100%_!"
    done = [put("mail", "--biz-key", key), put("mail", "--biz-key", key)]
    fail_all("mail", "bounced")
    run("skip", "--id", done[0], "--why", "x")
    other, still = put("mail", "--biz-key", key + "x"), put("mail", "--biz-key", key)
    code, out, err = run("erase", "--biz-key", key, "--dry-run", "--json")
    plan = json.loads(out)
    check("a dry run says what is open", code == 9 and "while 1 tasks" in err, err)
    check("a dry run counts", (plan["finished"], plan["failed"], plan["open"]) == (1, 1, 1), plan)
    check("and erases nothing", shown(done[0])["pool"] == "finished")
    code, out, err = run("erase", "--biz-key", key, "--json", "--why", "request 17")
    got = json.loads(out)
    check("erase waits for open tasks", code == 9 and (got["finished"], got["failed"], got["open"]) == (0, 0, 1), got)
    check("and says so", "while 1 tasks" in err, err)
    check("nothing is gone", {t["id"] for t in listed("--pool", "all", "--biz-key", key)} == {*done, still})
    run("skip", "--id", still)
    code, out, err = run("erase", "--biz-key", key, "--json", "--why", "request 17")
    got = json.loads(out)
    check("erase", code == 0 and (got["finished"], got["failed"]) == (2, 1) and got["events"] >= 3, got)
    left = {t["id"] for t in listed("--pool", "all", "--handler", "mail")}
    check("only others are left", left == {other}, left)
    check("no event is left", run("history", done[0])[0] == 1)
    events = run("history", "--json", "--limit", "1000")[1]
    check("recorded without the key", '"erased"' in events and key not in events, events[:500])
    check("then there is nothing", run("erase", "--biz-key", key)[0] == 1)


def test():
    test_failures()
    test_selection()
    test_csv()
    test_show()
    test_edit()
    test_erase()


if __name__ == "__main__":
    pool.main(test)
