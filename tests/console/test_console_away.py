#!/usr/bin/env -S python3 -B
"""A database that goes away and comes back, or does not answer, as taskpool-console shows it: through a proxy that cuts and stalls
connections. A second pool beside it is not touched."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "soak"))
from console import Console, check  # pylint: disable=wrong-import-position
import pool  # pylint: disable=wrong-import-position
from pool import run, until  # pylint: disable=wrong-import-position
from proxy import Proxy  # pylint: disable=wrong-import-position


def test():
    run("enqueue", "hello", "x")
    port = int(re.search(r"Port=(\d+)", pool.DSN).group(1))
    proxy = Proxy("127.0.0.1", port)
    for name, dsn in (("far", re.sub(r"Port=\d+", f"Port={proxy.port}", pool.DSN)), ("near", pool.DSN)):
        with open(name, "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(dsn)
    page = Console("--pool", "far=far", "--pool", "near=near", "--wait", "2m")  # what is refused is told at once

    def away():
        return away_from(page)

    check("both are there", until(lambda: page.ask("GET", "/readyz")[0] == 200))
    page.get("pools/far/tasks")
    proxy.refuse(True)
    proxy.cut()
    check("it is away", until(lambda: set(away()) == {"far"}), str(away()))
    check("the other is not", page.get("pools/near/tasks")["tasks"] != [])

    def says_so(what):  # asked anew meanwhile, it may be away for another reason
        before = away()["far"]
        return page.get("pools/far/" + what, 503)["error"] in (before, away()["far"])

    for what in ("overview", "tasks", "workers", "schedules", "history", "failures", "activity"):
        check(f"{what}: says so", any(says_so(what) for _ in range(3)))
    check("not ready", page.ask("GET", "/readyz")[0] == 503)
    check("its metrics are not old ones for ever", 'pool="near"' in page.ask("GET", "/metrics")[2])
    proxy.refuse(False)
    check("it is back", until(lambda: not away()), str(away()))
    check("its tasks", len(page.get("pools/far/tasks")["tasks"]) == 1)
    page.end()
    if "silent" in sys.argv:
        test_silent(proxy)
    proxy.close()


def away_from(page):
    """The pools that are away, and why."""
    return {one["name"]: one["error"] for one in page.get("pools")["pools"] if one["away"]}


def test_silent(proxy):
    """Connections that stand still, which only a limit of time shows."""
    page = Console("--pool", "far=far", "--wait", "2s")

    def away():
        return away_from(page)

    check("it is there", until(lambda: page.ask("GET", "/api/v1/pools/far/tasks")[0] == 200))
    proxy.stall()
    answer = page.ask("GET", "/api/v1/pools/far/tasks?limit=7") # nobody has asked that lately, so nothing is shared
    check("nobody waits for ever", answer[0] in (503, 504), str(answer))
    check("silence is seen", until(lambda: "has not answered" in away().get("far", "")), str(away()))
    proxy.go()
    check("it is back again", until(lambda: not away()), str(away()))
    page.end()


pool.main(test)
