"""The database servers of one run: started by tools/db_up.sh in a scratch folder of their own, and stopped or killed in
the ways that faults ask for."""
import os
import signal
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class ServerError(Exception):
    pass


def read_settings(path):
    """The variables that tools/db_up.sh wrote."""
    out = subprocess.run(["bash", "-c", '. "$1" && env -0', "bash", path], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, check=True).stdout.decode()
    pairs = dict(line.split("=", 1) for line in out.split("\0") if "=" in line)
    return {name: value for name, value in pairs.items() if name.startswith("TASKPOOL_TEST_")}


def mysql_is_there():
    return subprocess.run(["bash", "-c", '. "$1" && find_mysql', "bash", os.path.join(ROOT, "tools", "lib.sh")], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL).returncode == 0


def as_user(user):
    """Words in front of a command that the server's own user has to run."""
    return ["runuser", "-u", user, "--"] if os.geteuid() == 0 else []


def alive(pid):
    """Not gone, and not a zombie that nobody has waited for."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def children(pid):
    found = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as file:
                if name.isdigit() and int(file.read().rsplit(")", 1)[1].split()[1]) == pid:
                    found.append(int(name))
        except (OSError, IndexError):
            pass
    return found


def await_end(pid, seconds=300):
    end = time.monotonic() + seconds
    while alive(pid):
        if time.monotonic() > end:
            raise ServerError(f"the server, process {pid}, does not end")
        time.sleep(0.05)


def kill_all(pid):
    """SIGKILL to a server and all its processes."""
    for victim in [pid] + children(pid):
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            pass
    await_end(pid)


class Server:
    def __init__(self, kind, scratch):
        self.kind = kind  # postgres, mariadb or mysql
        self.scratch = scratch
        self.settings = {}

    def tool(self, name, *words):
        done = subprocess.run([os.path.join(ROOT, "tools", name), *words], env={**os.environ, "TP_SCRATCH": self.scratch},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise ServerError(f"{name}: {done.stdout.strip()}")

    def start(self):
        self.tool("db_up.sh", "--only", self.kind)
        self.settings = {**read_settings(os.path.join(self.scratch, "env.sh")), "as_user": as_user}
        if self.kind == "mysql":  # what goes to MariaDB's server goes to it
            for what in "PORT", "SOCKET", "PIDFILE":
                self.settings["TASKPOOL_TEST_MARIADB_" + what] = self.settings["TASKPOOL_TEST_MYSQL_" + what]

    def remove(self):
        self.tool("db_down.sh", "--wipe")

    @property
    def port(self):
        return int(self.settings["TASKPOOL_TEST_PG_PORT" if self.kind == "postgres" else "TASKPOOL_TEST_MARIADB_PORT"])

    def pid(self):
        path = self.settings["TASKPOOL_TEST_PG_PIDFILE" if self.kind == "postgres" else "TASKPOOL_TEST_MARIADB_PIDFILE"]
        try:
            with open(path, encoding="ascii") as file:
                pid = int(file.readline())
        except (OSError, ValueError):
            return None
        return pid if alive(pid) else None

    def signal(self, number):
        pid = self.pid()
        if pid is None:
            return
        os.kill(pid, number)
        await_end(pid)

    def stop_fast(self):
        """Sessions are ended, everything is written."""
        self.signal(signal.SIGINT if self.kind == "postgres" else signal.SIGTERM)

    def stop_immediate(self):
        """As little is written as the server can be told to; the next start recovers."""
        if self.kind != "postgres" and self.pid() is not None:
            subprocess.run(["mariadb", "--no-defaults", "--socket=" + self.settings["TASKPOOL_TEST_MARIADB_SOCKET"],
                            "--user=root"], input="SET GLOBAL innodb_fast_shutdown = 2", text=True, check=True)
        self.signal(signal.SIGQUIT if self.kind == "postgres" else signal.SIGTERM)

    def kill(self):
        """SIGKILL to the server and all its processes."""
        pid = self.pid()
        if pid is not None:
            kill_all(pid)
