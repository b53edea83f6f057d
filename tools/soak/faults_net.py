"""Bad networks between workers, producers and their server: connections cut, stalled, slowed down, and answers that
get lost at the worst moment. How it is done is proxy.py's; whether it did harm is the judge's."""
import proxy
import world

LONGER_THAN_THE_LEASE_S = world.LEASE_S * 1.6


class Net(world.Fault):
    @classmethod
    def applies(cls, database):
        return database != "sqlite"

    def heal(self, world):
        world.proxy.hits(0, 0)
        world.proxy.refuse(False)
        world.proxy.delay(0)
        world.proxy.go()


class Cut(Net):
    """Connections end, by RST or FIN, one or all at once; after some, for a while new ones do too."""

    name = "cut"

    def inject(self, world):
        times = 0
        for _ in range(8):
            one = world.random if world.random.random() < 0.7 else None
            times += world.proxy.cut(reset=world.random.random() < 0.5, random=one)
            if world.random.random() < 0.2:
                world.proxy.refuse(True)
            world.wait(world.random.uniform(0.1, 0.7))
            world.proxy.refuse(False)
        return times


class Half(Net):
    """Connections end in the middle of a message, to the server or from it."""

    name = "cut-in-message"

    def inject(self, world):
        shots = [world.random.choice((proxy.REQUEST_HALF, proxy.ANSWER_HALF)) for _ in range(12)]
        world.proxy.aim(rb"\w", spread(world, shots))
        return world.proxy.hits(len(shots), 4)


class Swallow(Net):
    """The request that stores something arrives, its answer does not; sometimes the request does not either."""

    name = "swallow"
    SHOTS = (proxy.ANSWER_LOST,) * 4 + (proxy.SENT_AND_CUT,) * 2 + (proxy.NOT_SENT,)

    def inject(self, world):
        shots = [world.random.choice(self.SHOTS) for _ in range(15)]
        world.proxy.aim(rb"^\s*(COMMIT|UPDATE|INSERT|DELETE|WITH)\b", spread(world, shots))
        return world.proxy.hits(len(shots), 5)


class Stall(Net):
    """Nothing arrives for longer than the lease, then all of it: requests of claims that others have by now."""

    name = "stall"

    def inject(self, world):
        which = world.random.choice(((proxy.UP, proxy.DOWN), (proxy.UP,), (proxy.DOWN,)))
        times = world.proxy.stall(which)
        world.wait(LONGER_THAN_THE_LEASE_S)
        return times


class StallOne(Net):
    """The same for a few connections, each alone: their neighbours in the process go on."""

    name = "stall-one"

    def inject(self, world):
        times = 0
        for _ in range(3):
            times += world.proxy.stall(random=world.random)
        world.wait(LONGER_THAN_THE_LEASE_S)
        return times


class StallAndCut(Net):
    """Connections that are silent for longer than the lease and then break: what was held back is never heard."""

    name = "stall-and-cut"

    def inject(self, world):
        world.proxy.stall()
        world.wait(LONGER_THAN_THE_LEASE_S)
        return world.proxy.cut()


class Slow(Net):
    """Each message takes long, the answers of long statements very long."""

    name = "slow"

    def inject(self, world):
        world.proxy.delay(world.random.uniform(0.02, 0.15))
        times = world.proxy.count()
        world.wait(4)
        return times


def spread(world, shots):
    """Misses between the hits, so that other statements of a transaction get their turn."""
    return [shot for hit in shots for shot in [None] * world.random.randrange(6) + [hit]]


FAULTS = [Cut, Half, Swallow, Stall, StallOne, StallAndCut, Slow]
