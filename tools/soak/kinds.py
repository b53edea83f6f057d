"""The kinds of clusters that tools/cluster_up.sh starts: how one loses a node, and what somebody does then. Knows nothing of tasks."""
import os
import signal
import subprocess
import time

import client
import server


class Cluster:
    """Started with its object. Nodes are numbered from 1."""

    database = "mariadb"  # whose client its administrator uses
    nodes = 3
    at_most_lost = 0      # of what was acknowledged, when a node is killed

    def __init__(self, kind, world):
        self.kind = kind
        self.world = world
        self.tool("cluster_up.sh", kind)
        self.settings = server.read_settings(os.path.join(world.folder, "cluster.sh"))

    def tool(self, name, *words):
        done = subprocess.run([os.path.join(server.ROOT, "tools", name), *words], env={**os.environ, "TP_SCRATCH": self.world.folder},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode == 3:
            raise Missing(done.stdout.strip())
        if done.returncode != 0:
            raise server.ServerError(f"{name}: {done.stdout.strip()}")

    def remove(self):
        self.tool("cluster_down.sh")

    def of_node(self, node, what):
        return self.settings[f"TASKPOOL_TEST_NODE{node}_{what}"]

    def client(self, node):
        names = ("PG", "MARIADB")
        settings = {f"TASKPOOL_TEST_{name}_{what}": self.of_node(node, what) for name in names for what in ("PORT", "SOCKET")}
        return client.make(self.database, {**settings, "as_user": server.as_user})

    def ask(self, node, text):
        """None: no answer."""
        try:
            rows = self.client(node).run(text, 10)
            return rows[0][0] if rows else ""
        except client.SqlError:
            return None

    def pid(self, node):
        with open(self.of_node(node, "PIDFILE"), encoding="ascii") as file:
            return int(file.readline())

    def kill(self, node):
        """SIGKILL to the server and all its processes. When it was."""
        pid = self.pid(node)
        at = time.monotonic()
        server.kill_all(pid)
        return at

    def again(self, node):
        self.tool("cluster_up.sh", "--node", str(node))

    # ---- What differs ---------------------------------------------------------------------------------------------

    def dsn(self, number):
        """For the process of this number: of all nodes."""
        return self.settings["TASKPOOL_TEST_CLUSTER_DSN"]

    def clients_of(self, node, processes):
        """Those whose server is gone with this node."""
        return processes

    def lose(self, chance):
        """Kills a node, and does what somebody does who watches over the cluster. The node, and when it was."""
        raise NotImplementedError

    def to_judge(self):
        """The node whose tables are judged."""
        return 1

    def check(self):
        """What is wrong between the nodes at the end, or None."""


class Missing(Exception):
    """A package is not installed."""


LAG_S = 1  # that a standby is behind when its primary dies


class Streaming(Cluster):
    database = "postgres"
    nodes = 2

    def primary(self):
        for node in (1, 2):
            if self.ask(node, "SELECT pg_is_in_recovery()") == "f":
                return node
        raise server.ServerError("there is no primary")

    to_judge = primary

    def lose(self, chance):
        """For a moment before, it sends its standby nothing any more."""
        node = self.primary()
        os.kill(int(self.ask(node, "SELECT pid FROM pg_stat_replication")), signal.SIGSTOP)
        self.world.wait(LAG_S)
        behind = self.ask(node, "SELECT pg_current_wal_lsn() - sent_lsn FROM pg_stat_replication")
        at = self.kill(node)
        self.world.note(f"the standby lacks {behind} bytes of the log")
        self.tool("cluster_up.sh", "--promote", str(3 - node))
        return node, at


class Asynchronous(Streaming):
    at_most_lost = None


class PgBouncer(Cluster):
    database = "postgres"
    nodes = 2
    turn = 0

    def lose(self, chance):
        """The server and the pooler by turns."""
        self.turn += 1
        node = 2 - self.turn % 2
        at = self.kill(node)
        self.again(node)
        return node, at


# As tools/cluster_up.sh calls them.
KINDS = {"streaming": Streaming, "asynchronous": Asynchronous, "pgbouncer": PgBouncer}
