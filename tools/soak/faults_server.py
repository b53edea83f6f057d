"""Servers that stop or die, and sessions that are killed from inside the database."""
from world import Fault

# What each database's administrator sees of the others' sessions, and how one is ended.
SESSIONS = {
    "postgres": ("SELECT pid FROM pg_stat_activity WHERE usename = 'taskpool' ORDER BY pid",
                 "SELECT pg_terminate_backend({})"),
    "mariadb": ("SELECT id FROM information_schema.processlist WHERE user = 'taskpool' ORDER BY id", "KILL {}"),
}
SESSIONS["oramode"] = SESSIONS["mariadb"]
SESSIONS["mysql"] = tuple(text.replace("information_schema", "performance_schema") for text in SESSIONS["mariadb"])


class ServerFault(Fault):
    @classmethod
    def applies(cls, database):
        return database != "sqlite"

    def end_server(self, server):
        raise NotImplementedError

    def inject(self, world):
        self.end_server(world.server)
        world.wait(world.random.uniform(0, 1))
        return 1

    def heal(self, world):
        world.server.start()


class ServerFast(ServerFault):
    """PostgreSQL -m fast, MariaDB's shutdown."""

    name = "server-fast"

    def end_server(self, server):
        server.stop_fast()


class ServerImmediate(ServerFault):
    """PostgreSQL -m immediate, MariaDB with innodb_fast_shutdown=2: the next start recovers from the log."""

    name = "server-immediate"

    def end_server(self, server):
        server.stop_immediate()


class ServerKill(ServerFault):
    """SIGKILL to the server and all its processes."""

    name = "server-kill"

    def end_server(self, server):
        server.kill()


class SessionKill(ServerFault):
    """Sessions ended from inside the database, a third of them at a time."""

    name = "session-kill"

    def inject(self, world):
        look, end = SESSIONS[world.database]
        killed = 0
        for _ in range(3):
            sessions = [row[0] for row in world.sql(look)]
            for number in sorted(world.random.sample(sessions, (len(sessions) + 2) // 3)):
                try:
                    world.sql(end.format(number))
                    killed += 1
                except Exception as error:  # it went by itself meanwhile
                    world.note(str(error))
            world.wait(world.random.uniform(0.1, 0.5))
        return killed

    def heal(self, world):
        pass


FAULTS = [ServerFast, ServerImmediate, ServerKill, SessionKill]
