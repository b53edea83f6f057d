"""The database's own command line program, as its administrator. Knows nothing of tasks."""
import queue
import sqlite3
import subprocess
import threading

MARK = "--end-of-answer--"


class SqlError(Exception):
    pass


def make(database, settings):
    if database == "sqlite":
        return Sqlite(settings["file"])
    if database == "postgres":
        return Program(["psql", "-XqAt", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-h", settings["TASKPOOL_TEST_PG_SOCKET"],
                        "-p", settings["TASKPOOL_TEST_PG_PORT"], "-U", "postgres", "-d", "taskpool"],
                       settings["as_user"]("postgres"), f"\\echo {MARK}\n", "")
    name = "taskpool_ora" if database == "oramode" else "taskpool"
    return Program(["mariadb", "--no-defaults", "--socket=" + settings["TASKPOOL_TEST_MARIADB_SOCKET"], "--user=root",
                    "--batch", "--skip-column-names", "--raw", "--unbuffered", name], [], f"SELECT '{MARK}';\n", "NULL")


class Program:
    SqlError = SqlError

    def __init__(self, words, as_user, mark, null):
        self.words = as_user + words
        self.mark = mark
        self.null = null

    def start(self):
        return subprocess.Popen(self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, cwd="/")

    def fields(self, line):
        return ["" if field == self.null else field for field in line.rstrip("\n").split("\t")]

    def run(self, text, timeout=30):
        program = self.start()
        try:
            out, _ = program.communicate(text, timeout)
        except subprocess.TimeoutExpired:
            program.kill()
            program.communicate()
            raise SqlError(f"no answer within {timeout} s: {text}") from None
        if program.returncode != 0:
            raise SqlError(f"{text}: {out.strip()}")
        return [self.fields(line) for line in out.splitlines()]

    def stream(self, text):
        """The rows of one query, however many."""
        program = self.start()
        program.stdin.write(text)
        program.stdin.close()
        for line in program.stdout:
            yield self.fields(line)
        if program.wait() != 0:
            raise SqlError(f"{text}: exit code {program.returncode}")

    def session(self):
        return Session(self)


class Session:
    """One session that stays open. Its program reads statements from a pipe and echoes a mark after each text."""

    def __init__(self, client):
        self.client = client
        self.program = client.start()
        self.lines = queue.Queue()
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.program.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def send(self, text):
        """Without waiting for the answer."""
        try:
            self.program.stdin.write(text.rstrip().rstrip(";") + ";\n" + self.client.mark)
            self.program.stdin.flush()
        except OSError as error:
            raise SqlError(f"{text}: the session has ended") from error

    def answer(self, timeout=30):
        rows = []
        while True:
            try:
                line = self.lines.get(timeout=timeout)
            except queue.Empty:
                raise SqlError(f"no answer within {timeout} s") from None
            if line is None:
                raise SqlError("the session has ended: " + "; ".join("\t".join(row) for row in rows))
            if line.strip() == MARK:
                return rows
            rows.append(self.client.fields(line))

    def run(self, text, timeout=30):
        self.send(text)
        return self.answer(timeout)

    def close(self):
        try:
            self.program.stdin.close()
            self.program.wait(5)
        except (OSError, subprocess.TimeoutExpired):
            self.kill()

    def kill(self):
        self.program.kill()
        self.program.wait()


class Sqlite:
    """Python's own SQLite: the same library as the sqlite3 program."""

    SqlError = SqlError

    def __init__(self, path):
        self.path = path

    def connect(self, timeout):
        return sqlite3.connect(self.path, timeout=timeout, isolation_level=None, check_same_thread=False)

    def run(self, text, timeout=30):
        try:
            connection = self.connect(timeout)
            try:
                return [as_text(row) for row in connection.execute(text)]
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise SqlError(f"{text}: {error}") from error

    def stream(self, text):
        yield from self.run(text)

    def session(self):
        return SqliteSession(self)


class SqliteSession:
    def __init__(self, client):
        self.connection = client.connect(30)

    def run(self, text, timeout=30):
        try:
            self.connection.execute(f"PRAGMA busy_timeout = {int(timeout * 1000)}")
            return [as_text(row) for row in self.connection.execute(text)]
        except sqlite3.Error as error:
            raise SqlError(f"{text}: {error}") from error

    def close(self):
        self.connection.close()

    kill = close


def as_text(row):
    return ["" if value is None else str(value) for value in row]
