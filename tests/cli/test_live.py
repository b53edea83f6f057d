#!/usr/bin/env -S python3 -B
"""test_live.py PATH_TO_TASKPOOL: check, metrics, workers and top, on the database of TASKPOOL_DSN. top runs in a pseudo
terminal; what it shows is waited for."""
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

from pool import LIMIT_S, TASKPOOL, check, environment, main, run


class Terminal:
    """top in a pseudo terminal of 80x24."""

    def __init__(self):
        self.end, other = pty.openpty()
        self.resize(24, 80)
        self.before = termios.tcgetattr(other)
        self.other = other
        self.process = subprocess.Popen([TASKPOOL, "top", "--interval", "200ms"], stdin=other, stdout=other,
                                        stderr=other, start_new_session=True, env=environment({"TERM": "xterm"}))
        self.text = ""

    def resize(self, lines, columns):
        fcntl.ioctl(self.end, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def shows(self, words):
        """Whether these come; what was shown up to them is forgotten."""
        limit = time.monotonic() + LIMIT_S
        while words not in self.text and time.monotonic() < limit:
            if select.select([self.end], [], [], 1)[0]:
                try:
                    self.text += os.read(self.end, 65536).decode(errors="replace")
                except OSError:
                    break
        found, _, rest = self.text.partition(words)
        self.text = rest if words in self.text else found
        return found != self.text or bool(rest)

    def press(self, keys):
        os.write(self.end, keys.encode())

    def is_put_back(self):
        return termios.tcgetattr(self.other)[3] == self.before[3]


def test_check():
    code, out, _ = run("check")
    check("an empty pool is no alarm", code == 0, out)
    check("enqueue", run("enqueue", "pay", "1")[0] == 0)
    check("within the grace time there is no alarm", run("check")[0] == 0)
    code, out, _ = run("check", "--grace", "0")
    check("a task without a worker is an alarm", code == 9 and "pay: no living worker" in out, out)
    code, out, _ = run("check", "--grace", "0", "--nagios")
    check("as a plugin", code == 2 and out.startswith("TASKPOOL CRITICAL: pay") and out.count("\n") == 1, out)
    check("pause", run("pause", "pay", "--why", "test")[0] == 0)
    code, out, _ = run("check", "--grace", "0")
    check("a paused handler is a note", code == 0 and "note  workers: pay is paused" in out, out)
    check("resume", run("resume", "pay")[0] == 0)
    check("a needed worker", run("check", "--need-worker", "other")[0] == 9)
    check("limits", run("check", "--nagios", "--max-age", "0,1d")[0] == 1 and run("check", "--max-failed", "0")[0] == 0)
    code, out, _ = run("check", "--nagios", TASKPOOL_DSN="Driver=SQLite3;Database=/nowhere/at/all.db")
    check("what cannot be checked is unknown", code == 3 and out.startswith("TASKPOOL UNKNOWN: "), f"{code} {out}")


def test_metrics():
    code, out, _ = run("metrics")
    sample = re.compile(r'^[a-z_]+(\{([a-z]+="([^"\\\n]|\\["\\n])*",?)+\})? -?[0-9.]+$')
    lines = out.splitlines()
    check("metrics", code == 0 and lines[-1] == "# EOF", out[-200:])
    bad = [line for line in lines if not line.startswith("# ") and not sample.match(line)]
    check("each line is a sample", not bad, bad)
    check("the open task", 'taskpool_open_tasks{handler="pay",state="pending"} 1' in lines, out)
    check("into a file", run("metrics", "--output", "pool.prom")[0] == 0 and os.listdir(".") == ["pool.prom"], os.listdir("."))
    check("a folder that is not there", run("metrics", "--output", "no/pool.prom")[0] == 74)


def test_workers():
    check("no workers", run("workers")[0] == 1)
    check("a worker", run("work", "--handler", "none=/bin/true", "--drain")[0] == 0)
    code, out, _ = run("workers", "--all", "--json")
    check("it has ended", code == 0 and json.loads(out)["state"] == "ended", out)


def test_once():
    code, out, _ = run("top", "--once")
    check("top --once", code == 0 and "pay" in out and all(len(line) <= 80 for line in out.splitlines()), out)
    code, out, _ = run("top", "--once", "--json")
    check("as JSON", code == 0 and json.loads(out)["open"] == 1, out)
    check("no terminal", run("top")[0] == 2)


def test_screen():
    screen = Terminal()
    check("the handler is shown", screen.shows("pay"))
    screen.press("h")
    check("help", screen.shows("choose a row"))
    screen.press("\x7f")
    check("back", screen.shows("pay"))
    screen.press("\r")
    check("its failures", screen.shows("FAILED TASKS"))
    screen.press("p")
    check("paused", screen.shows("PAUSED"))
    screen.resize(5, 20)
    os.kill(screen.process.pid, signal.SIGWINCH)
    screen.press("q")
    check("it ends", screen.process.wait(LIMIT_S) == 0)
    check("the terminal is as before", screen.is_put_back())
    killed = Terminal()
    check("another", killed.shows("pay"))
    killed.process.terminate()
    check("a signal ends it", killed.process.wait(LIMIT_S) == -signal.SIGTERM)
    check("the terminal is as before a signal", killed.is_put_back())


def test():
    for one in test_check, test_metrics, test_workers, test_once, test_screen:
        one()


if __name__ == "__main__":
    main(test)
