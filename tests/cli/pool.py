"""A pool of its own for a test of taskpool(1), on the database of TASKPOOL_DSN under a random prefix, and how the
program is run there, waited for and checked. PATH_TO_TASKPOOL is the test's first argument."""
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
import time

TASKPOOL = os.path.realpath(sys.argv[1])
PREFIX = os.environ.get("TASKPOOL_TEST_PREFIX") or "y" + secrets.token_hex(4) + "_"
BASE = os.environ["TASKPOOL_DSN"].rstrip(";")
SQLITE = "SQLite" in BASE
DSN = f"{BASE};Prefix={PREFIX}"
LIMIT_S = 300  # for what hangs
failed = passed = 0


def check(name, good, what=""):
    global failed, passed
    if good:
        passed += 1
    else:
        failed += 1
        print(f"not ok - {name}: {what}", flush=True)


def environment(changes):
    return {**os.environ, "TASKPOOL_DSN": DSN, **changes}


def start(*args, **changes):
    """As a process of its own, whose output is read by end()."""
    return subprocess.Popen([TASKPOOL, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env=environment(changes))


def told(args, code, out, err):
    password = os.environ.get("TASKPOOL_TEST_PASSWORD", "")
    if password and password.encode() in out + err:
        check("no password is told", False, f"it is, by {args[0]}")
    return code, out.decode(errors="replace"), err.decode(errors="replace")


def end(process):
    out, err = process.communicate(timeout=900)
    return told(process.args[1:], process.returncode, out, err)


def run(*args, text=None, **changes):
    done = subprocess.run([TASKPOOL, *args], input=text, capture_output=True, env=environment(changes), timeout=900)
    return told(args, done.returncode, done.stdout, done.stderr)


def listed(*args):
    """The tasks of a list, the first thousand."""
    code, out, err = run("list", "--json", "--limit", "1000", *args)
    check("list", code in (0, 1), f"exit code {code}: {err}")
    return [json.loads(line) for line in out.splitlines()]


def shown(task_id):
    return json.loads(run("show", "--json", task_id)[1])


def until(condition):
    """Whether it came true in time."""
    limit = time.monotonic() + LIMIT_S
    while not condition():
        if time.monotonic() > limit:
            return False
        time.sleep(0.02)
    return True


def at_once(*calls):
    """Each in a thread of its own; one that raises is a failure."""
    def attempt(call):
        try:
            call()
        except BaseException as error:  # pylint: disable=broad-except
            check(getattr(call, "__name__", "a thread"), False, repr(error))

    threads = [threading.Thread(target=attempt, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def program(name, text, interpreter="/bin/sh"):
    """Writes a handler program; what --handler calls it."""
    with open(name, "w", encoding="utf-8") as file:
        file.write(f"#!{interpreter}\n{text}")
    os.chmod(name, 0o755)
    return "./" + name


def read(name):
    """The whole lines of a file that somebody may be writing to; "" when it is not there."""
    if not os.path.exists(name):
        return ""
    with open(name, encoding="utf-8", errors="replace") as file:
        return file.read().rpartition("\n")[0]


def lines(name):
    return read(name).splitlines()


def main(test):
    """Makes the pool, runs the test in a folder of its own, and ends the process with its result."""
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    prepare = os.environ.get("TASKPOOL_TEST_PREPARE")
    if prepare and "TASKPOOL_TEST_PREFIX" not in os.environ:
        subprocess.run([prepare, PREFIX], check=True)
    code, _, err = run("schema", "install")
    check("schema install", code == 0, err)
    if code == 0:
        test()
    print(f"{passed} passed, {failed} failed")
    shutil.rmtree(folder)
    sys.exit(failed != 0)
