"""The kinds of clusters that tools/cluster_up.sh starts: how one loses a node, and what somebody does then. Knows nothing of tasks."""
import os
import re
import signal
import subprocess
import time

import client
import proxy
import server
import wire


class Cluster:
    """Started with its object. Nodes are numbered from 1."""

    database = "mariadb"  # whose client its administrator uses
    nodes = 3
    may_lose = False      # what was acknowledged, when a node is killed
    doctor = "^cluster +ok"  # what it says
    plans = ("skip", "hold", "row", "batch", "cas")  # that are right there

    def __init__(self, kind, world):
        self.kind = kind
        self.world = world
        self.tool("cluster_up.sh", kind.split("-")[0])
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

    def judge_doctor(self, plan):
        """What is wrong with what it says where this plan was chosen, or None."""
        regex, code = self.doctor_for(plan)
        done = self.world.command(os.path.join(self.world.build, "taskpool"), "doctor", env={**os.environ, "TASKPOOL_DSN": f"{self.dsn(0)};Plan={plan}"})
        right = done.returncode == code and re.search(regex, done.stdout, re.MULTILINE)
        return None if right else f"the doctor does not say {regex} with exit code {code}, but {done.returncode}: {done.stdout}"

    def doctor_for(self, plan):
        return self.doctor, 0

    def prepare(self):
        """Before the soak's own tables are made."""

    def compare(self, first):
        """Whether all nodes have the same rows. first: has a session see all that was committed at others."""
        counts = "; ".join([first] + [f"SELECT COUNT(*), COALESCE(SUM(CRC32(id)), 0) FROM tp_{pool}" for pool in ("pending", "finished", "failed")])
        answers = [self.client(node).run(counts + "; SELECT COUNT(*) FROM soak_ledger") for node in range(1, self.nodes + 1)]
        return None if answers.count(answers[0]) == self.nodes else f"the nodes differ: {answers}"

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

    def conflicts(self):
        """How many transactions were refused because another node's came first; None: cannot be."""


class Missing(Exception):
    """A package is not installed."""


LAG_S = 1  # that a standby is behind when its primary dies


class Streaming(Cluster):
    database = "postgres"
    nodes = 2
    doctor = "^cluster +ok .* a commit waits"

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
    may_lose = True
    doctor = "^cluster +ok .* no commit waits"


class PgBouncer(Cluster):
    database = "postgres"
    nodes = 2
    doctor = "^pooler +ok .* another session"
    turn = 0

    def lose(self, chance):
        """The server and the pooler by turns."""
        self.turn += 1
        node = 2 - self.turn % 2
        at = self.kill(node)
        self.again(node)
        return node, at


class Galera(Cluster):
    """Each process at one node."""

    doctor = "^cluster +ok .* within one node only"
    plans = ("skip", "row", "batch", "cas")
    last = 1       # that was killed
    of_killed = 0  # conflicts

    def doctor_for(self, plan):
        return ("^cluster +BAD .*plan hold", 9) if plan == "hold" else (self.doctor, 0)

    def node_of(self, number):
        return number % self.nodes + 1

    def dsn(self, number):
        return self.of_node(self.node_of(number), "DSN")

    def clients_of(self, node, processes):
        return [each for each in processes if each.dsn == self.of_node(node, "DSN")]

    def lose(self, chance):
        self.last = chance.randrange(self.nodes) + 1
        self.of_killed += self.conflicts_of(self.last)
        return self.last, self.kill(self.last)

    def to_judge(self):
        return self.last

    def conflicts_of(self, node):
        return int(self.client(node).run("SELECT COALESCE(SUM(VARIABLE_VALUE), 0) FROM information_schema.global_status "
                                         "WHERE VARIABLE_NAME IN ('wsrep_local_cert_failures', 'wsrep_local_bf_aborts')")[0][0].split(".")[0])

    def conflicts(self):
        return self.of_killed + sum(self.conflicts_of(node) for node in range(1, self.nodes + 1))

    def check(self):
        return self.compare("SET SESSION wsrep_sync_wait = 1")


class GaleraLists(Galera):
    """Each process at whichever node answers, its own first."""

    def dsn(self, number):
        nodes = [self.node_of(number + i) for i in range(self.nodes)]
        servers = ",".join(f"127.0.0.1:{self.of_node(node, 'PORT')}" for node in nodes)
        return re.sub(r"Server=[^;]*;Port=[^;]*", f"Server={servers}", self.of_node(1, "DSN"))

    def clients_of(self, node, processes):
        return processes


class Group(Cluster):
    """The proxy stands for an address that follows the primary, as a router's does."""

    doctor = "^cluster +ok .* of which one member takes writes"
    MEMBERS = "SELECT MEMBER_PORT FROM performance_schema.replication_group_members WHERE MEMBER_STATE = 'ONLINE' AND MEMBER_ROLE = 'PRIMARY' AND @@super_read_only = 0 " \
              "AND MEMBER_PORT = @@port"

    def __init__(self, kind, world):
        super().__init__(kind, world)
        self.address = proxy.Proxy("127.0.0.1", int(self.of_node(1, "PORT")), reader=wire.MariaDB)

    def remove(self):
        self.address.close()
        super().remove()

    def prepare(self):
        """The group takes no tables without a primary key. The soak's are to have none, so that what is there twice is seen; the pool's have one."""
        done = self.world.command(os.path.join(self.world.build, "taskpool"), "schema", "install", env={**os.environ, "TASKPOOL_DSN": self.dsn(0)})
        if done.returncode != 0:
            raise server.ServerError(f"taskpool schema install: {done.stdout.strip()}")
        for node in range(1, self.nodes + 1):
            self.client(node).run("SET GLOBAL sql_generate_invisible_primary_key = ON")

    def dsn(self, number):
        return re.sub(r"Port=[^;]*", f"Port={self.address.port}", self.settings["TASKPOOL_TEST_CLUSTER_DSN"])

    def primary(self):
        for node in range(1, self.nodes + 1):
            if self.ask(node, self.MEMBERS):
                return node
        return None

    to_judge = primary

    def lose(self, chance):
        node = self.primary()
        at = self.kill(node)
        if not self.world.until(self.primary, 120):
            raise server.ServerError("the group has no new primary")
        self.address.server_port = int(self.of_node(self.primary(), "PORT"))
        return node, at

    def check(self):
        return self.compare("SET SESSION group_replication_consistency = 'BEFORE'")


# As tools/cluster_up.sh calls them, and how clients connect.
KINDS = {"streaming": Streaming, "asynchronous": Asynchronous, "pgbouncer": PgBouncer, "galera": Galera, "galera-lists": GaleraLists, "group": Group}
