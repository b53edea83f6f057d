"""Producers and workers that die or stand still."""
from world import LEASE_S, Fault


class WorkerKill(Fault):
    """SIGKILL to one or two workers in whatever they are doing."""

    name = "worker-kill"

    def inject(self, world):
        self.victims = world.random.sample(world.workers(), world.random.choice((1, 1, 2)))
        for victim in self.victims:
            victim.kill()
        world.wait(world.random.uniform(0, 0.5))
        return len(self.victims)

    def heal(self, world):
        for victim in self.victims:
            victim.start()


class WorkerKillAll(Fault):
    """All workers at once, as when their machine goes down."""

    name = "workers-kill-all"

    def inject(self, world):
        for victim in world.workers():
            victim.kill()
        return len(world.workers())

    def heal(self, world):
        for victim in world.workers():
            victim.start()


class WorkerStop(Fault):
    """SIGSTOP past the lease, then SIGCONT: others have its tasks by then, and its settles must be refused."""

    name = "worker-stop"

    def inject(self, world):
        self.victims = world.random.sample(world.workers(), 2)
        for victim in self.victims:
            victim.stop()
        world.wait(LEASE_S + world.random.uniform(1, 2))
        return len(self.victims)

    def heal(self, world):
        for victim in self.victims:
            victim.go_on()


class ProducerKill(Fault):
    """SIGKILL to a producer, between the answer and its record for instance."""

    name = "producer-kill"

    def inject(self, world):
        self.victim = world.random.choice(world.producers())
        self.victim.kill()
        return 1

    def heal(self, world):
        self.victim.start()


class ProducerStop(Fault):
    """SIGSTOP to a producer in whatever it is doing, its transaction perhaps open."""

    name = "producer-stop"

    def inject(self, world):
        self.victim = world.random.choice(world.producers())
        self.victim.stop()
        world.wait(world.random.uniform(1, 3))
        return 1

    def heal(self, world):
        self.victim.go_on()


FAULTS = [WorkerKill, WorkerKillAll, WorkerStop, ProducerKill, ProducerStop]
