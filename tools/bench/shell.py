"""Programs that are run for a figure, and the databases they run on. Knows nothing of what is measured."""
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools", "soak"))
import client  # noqa: E402  the soak's way of talking to a database
import server  # noqa: E402

LIMIT_S = 600
RAW_LIBRARIES = {"raw_sqlite": "libsqlite3-dev", "raw_mariadb": "libmariadb-dev"}  # the packages they are built with


class CannotMeasure(Exception):
    """The text says what is missing or what went wrong."""


def reason(text):
    """The line that says most; of the programs' folders, which are nobody's business, only the last."""
    lines = text.strip().splitlines() or ["no output"]
    line = next((line for line in lines if "rror:" in line), lines[-1])
    return re.sub(r"(?:/[^/\s:']+)+/", "", line)


def run(words, env=None, timeout=LIMIT_S):
    """The output of a program that has to end well."""
    try:
        done = subprocess.run(words, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=timeout)
    except FileNotFoundError:
        raise CannotMeasure(f"{words[0]} is not installed: run tools/install_packages.sh test") from None
    except subprocess.TimeoutExpired:
        raise CannotMeasure(f"{os.path.basename(words[0])} did not end within {timeout} s") from None
    if done.returncode != 0:
        raise CannotMeasure(f"{os.path.basename(words[0])} ended with {done.returncode}: {reason(done.stderr or done.stdout)}")
    return done.stdout


def run_json(words, env=None):
    return json.loads(run(words, env))


def together(words, env, count):
    """The same program several times at once; their JSON."""
    programs = [subprocess.Popen(words, env={**os.environ, **env}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True) for _ in range(count)]
    results = [program.communicate(timeout=LIMIT_S) for program in programs]
    for program, (_, err) in zip(programs, results):
        if program.returncode != 0:
            raise CannotMeasure(f"{os.path.basename(words[0])} ended with {program.returncode}: {reason(err)}")
    return [json.loads(out) for out, _ in results]


def lines(words):
    """What a program prints, line by line as it comes; its messages go where ours go."""
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as program:
        for line in program.stdout:
            yield line.rstrip("\n")
    if program.returncode != 0:
        raise CannotMeasure(f"{os.path.basename(words[0])} ended with {program.returncode}")


def run_paused(words, env, read):
    """A program that prints "ready" and "done" and waits for a line after each: what read() grew by between them, and the JSON
    that it prints in the end."""
    program = subprocess.Popen(words, env={**os.environ, **env}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    before = after = 0
    answer = None
    for line in program.stdout:
        before = read() if line == "ready\n" else before
        after = read() if line == "done\n" else after
        answer = json.loads(line) if line.startswith("{") else answer
        if line in ("ready\n", "done\n"):
            program.stdin.write("\n")
            program.stdin.flush()
    _, err = program.communicate(timeout=LIMIT_S)
    if program.returncode != 0 or answer is None:
        raise CannotMeasure(f"{os.path.basename(words[0])} ended with {program.returncode}: {reason(err)}")
    return after - before, answer


def threads_us(pid):
    """Processor time of a process up to now, in microseconds."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as file:
                total += int(file.read().split()[0])
        except OSError:
            pass  # it has just ended
    return total / 1000


# ---- Databases -----------------------------------------------------------------------------------------------------

class Database:
    """One that is up. prefix: of taskpool's tables here."""

    def __init__(self, name, settings, build):
        self.name = name
        self.settings = settings
        self.build = build
        self.client = client.make(name, settings)

    def dsn(self, prefix, words=""):
        return self.settings["TASKPOOL_TEST_DSN_" + self.name.upper()] + f"Prefix={prefix};" + words

    def program(self, name):
        path = os.path.join(self.build, name)
        if not os.path.exists(path):
            package = RAW_LIBRARIES.get(os.path.basename(name))
            raise CannotMeasure(f"{name} is not built" + (f", {package} was missing: run tools/install_packages.sh test" if package else ""))
        return path

    def settings_env(self):
        """For tests/support/on_database.sh."""
        return {name: value for name, value in self.settings.items() if name.startswith("TASKPOOL_TEST_")}

    def server_us(self):
        """Processor time of the server up to now: on PostgreSQL of the sessions of our user; 0 where the database is in the client."""
        if self.name == "sqlite":
            return 0
        pids = [self.settings["server"].pid()]
        if self.name == "postgres":
            pids = [pid for pid in server.children(pids[0]) if is_our_session(pid)]
        return sum(threads_us(pid) for pid in pids)

    def taskpool(self, prefix, *words, dsn_words=""):
        return run([self.program("taskpool"), *words], {"TASKPOOL_DSN": self.dsn(prefix, dsn_words)})

    def sql(self, *statements):
        for statement in statements:
            self.client.run(statement, LIMIT_S)

    def drop_pool(self, prefix):
        """So that the next one is made by the schema of today."""
        folder = {"mariadb": "mysql"}.get(self.name, self.name)
        with open(os.path.join(ROOT, "sql", folder, "admin", "drop.sql"), encoding="utf-8") as file:
            lines = [line.replace("tp_", prefix) for line in file if not line.startswith("--")]
        self.sql(*(text for text in "".join(lines).split(";") if text.strip()))

    def fresh_pool(self, prefix):
        """An empty pool, with what was there before not in the way of what is measured next."""
        self.taskpool(prefix, "schema", "install")
        verb = "DELETE FROM" if self.name == "sqlite" else "TRUNCATE TABLE"
        self.sql(*(f"{verb} {prefix}{table}" for table in ("pending", "finished", "failed", "history")))
        self.settle_down()

    def settle_down(self):
        """Work that the database put off is not to be done in the time of the next."""
        if self.name == "postgres":
            self.sql("CHECKPOINT")
        elif self.name == "sqlite":
            self.sql("PRAGMA wal_checkpoint(TRUNCATE)")


def is_our_session(pid):
    with open(f"/proc/{pid}/cmdline", encoding="ascii", errors="replace") as file:
        return " taskpool taskpool " in file.read()


def open_database(name, scratch, build):
    """Starts the server in the scratch folder, unless it runs there already."""
    if name == "sqlite":
        path = os.path.join(scratch, "bench.db")
        return Database(name, {"file": path, "TASKPOOL_TEST_DSN_SQLITE": f"Driver=SQLite3;Database={path};"}, build)
    one = server.Server(name, scratch)
    one.start()
    return Database(name, {**one.settings, "server": one}, build)

