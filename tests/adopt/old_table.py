"""An old task table of the application, as its own programs see it: over pyodbc, in transactions of their own."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from pool import BASE, PREFIX, SQLITE, environment  # noqa: E402

ORACLE = "Dialect=oracle" in BASE or os.environ.get("TASKPOOL_TEST_ENTRY") == "oracle"
OLD = PREFIX + "old_"
MARIADB = any(name in BASE for name in ("MariaDB", "MySQL"))
TIME = "DATE" if ORACLE else "DATETIME" if MARIADB else "TIMESTAMP"
FAR = "'2037-01-02 03:04:05'" if MARIADB or not ORACLE else "TO_DATE('2037-01-02 03:04:05', 'YYYY-MM-DD HH24:MI:SS')"
FAR_MS = 2114478245000


def table(name):
    return f'"{OLD}{name}"' if ORACLE else OLD + name


def connect():
    import pyodbc
    last = None
    for _ in range(50):
        try:
            return pyodbc.connect(environment({})["TASKPOOL_DSN"], autocommit=SQLITE)  # there a BEGIN is its own
        except pyodbc.Error as error:
            last = error
            time.sleep(0.05)
    raise last


def finish(connection, how):
    if SQLITE:
        connection.cursor().execute(how)
    elif how == "COMMIT":
        connection.commit()
    else:
        connection.rollback()


def attempt(connection, statements):
    """Runs them in one transaction, again where another session got in the way. The last one's row count, or rows."""
    import pyodbc
    for _ in range(400):
        try:
            cursor = connection.cursor()
            if SQLITE:
                cursor.execute("BEGIN IMMEDIATE")
            for sql, *values in statements:
                cursor.execute(sql, *values)
            result = cursor.fetchall() if cursor.description else cursor.rowcount
            cursor.close()
            finish(connection, "COMMIT")
            return result
        except pyodbc.Error as error:
            try:
                finish(connection, "ROLLBACK")
            except pyodbc.Error:
                pass  # it ended already
            last = error
            time.sleep(0.01)
    raise last
