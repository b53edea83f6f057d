"""The workers of examples/ that use plain SQL, by language: how each is started on the database of a connection string for ODBC, and
what it needs here."""
import os
import re
import shutil
import subprocess
import tempfile

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")
PYTHON = "/usr/bin/python3"
JARS = "/usr/share/java"
# dialect: (Perl's driver, the packages; Java's jar and how its URL begins)
DBD = {"sqlite": ("SQLite", "libdbd-sqlite3-perl"), "postgres": ("Pg", "libdbd-pg-perl"), "mysql": ("MariaDB", "libdbd-mariadb-perl")}
JDBC = {"postgres": ("postgresql.jar", "postgresql"), "mysql": ("mariadb-java-client.jar", "mariadb")}


def runs(*command):
    return shutil.which(command[0]) and subprocess.run(command, capture_output=True, check=False).returncode == 0


def keys(dsn):
    return {name.lower(): value for name, value in re.findall(r"(\w+)=([^;{]*)", dsn)}


class Python:
    missing = None if runs(PYTHON, "-c", "import pyodbc") else "python3-pyodbc is not installed"

    def __init__(self, dialect, dsn, prefix):
        self.command = [PYTHON, "-B", os.path.join(EXAMPLES, "python", "plain_worker.py"), dialect]
        self.environment = {}


class Perl:
    missing = None if runs("perl", "-MDBI", "-e", "1") else "libdbi-perl is not installed"

    def __init__(self, dialect, dsn, prefix):
        driver, package = DBD[dialect]
        if not self.missing and not runs("perl", f"-MDBD::{driver}", "-e", "1"):
            self.missing = f"{package} is not installed"
        key = keys(dsn)
        source = f"dbname={key['database']}" if dialect == "sqlite" else f"host={key['server']};port={key['port']};database={key['database']}"
        self.command = ["perl", os.path.join(EXAMPLES, "perl", "plain_worker.pl"), dialect]
        self.environment = {"TASKPOOL_DBI": f"dbi:{driver}:{source}", "DBI_USER": key.get("uid", ""), "DBI_PASS": key.get("pwd", ""),
                            "TASKPOOL_PREFIX": prefix}


class Java:
    """Compiled once, into a folder that is left to the process."""
    missing = None if runs("javac", "-version") else "there is no javac (openjdk-17-jdk-headless)"

    def __init__(self, dialect, dsn, prefix):
        jar, begin = JDBC[dialect]
        jar, key = os.path.join(JARS, jar), keys(dsn)
        if not self.missing and not os.path.exists(jar):
            self.missing = f"{jar} is not there (libpostgresql-jdbc-java, libmariadb-java)"
        if self.missing:
            return
        self.folder = tempfile.TemporaryDirectory()
        source = os.path.join(EXAMPLES, "java", "PlainWorker.java")
        subprocess.run(["javac", "-Xlint:all", "-Werror", "-d", self.folder.name, source], check=True)
        self.command = ["java", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-cp", f"{self.folder.name}:{jar}", "PlainWorker", dialect]
        self.environment = {"TASKPOOL_JDBC": f"jdbc:{begin}://{key['server']}:{key['port']}/{key['database']}", "JDBC_USER": key["uid"],
                            "JDBC_PASSWORD": key["pwd"], "TASKPOOL_PREFIX": prefix,
                            "TASKPOOL_SQL": os.path.join(EXAMPLES, "sql")}


class CSharp:
    """On Mono, by ODBC; compiled as in Java."""
    missing = None if runs("mcs", "--version") and runs("mono", "--version") else "there is no Mono (mono-mcs, mono-runtime)"

    def __init__(self, dialect, dsn, prefix):
        if self.missing:
            return
        self.folder = tempfile.TemporaryDirectory()
        program = os.path.join(self.folder.name, "PlainWorker.exe")
        source = os.path.join(EXAMPLES, "csharp", "PlainWorker.cs")
        subprocess.run(["mcs", "-warnaserror", "-r:System.Data.dll", f"-out:{program}", source], check=True)
        self.command = ["mono", program, dialect]
        self.environment = {"TASKPOOL_PREFIX": prefix, "TASKPOOL_SQL": os.path.join(EXAMPLES, "sql")}


LANGUAGES = {"python": Python, "perl": Perl, "java": Java, "csharp": CSharp}
