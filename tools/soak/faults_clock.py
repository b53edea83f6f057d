"""Workers whose clock is wrong, by libfaketime: a day off, jumping, ten times too fast, ten times too slow, its
monotonic clock along with it or not. The database decides what is due and what has lapsed, so nothing may come of
it but losses of claims to those who are in time."""
import functools
import glob
import os
import sys

import world

LIBRARY = next(iter(glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")), None)
LASTS_S = 4


@functools.lru_cache(maxsize=None)
def is_installed():
    if LIBRARY is None and os.environ.get("TASKPOOL_TEST_REQUIRE") == "1":
        raise SystemExit("clock: libfaketime is not installed, and TASKPOOL_TEST_REQUIRE=1")
    if LIBRARY is None:
        print("SKIPPED: clock: libfaketime is not installed (package faketime)", file=sys.stderr)
    return LIBRARY is not None


class Clock(world.Fault):
    """One or two workers are started anew under a wrong clock, and at the end under the right one again."""

    keeps_monotonic = True

    def __init__(self):
        self.chosen = []
        self.file = None

    @classmethod
    def applies(cls, database):
        # SQLite is in the process: its clock is the process's, so there it is the database's clock that would be wrong.
        return database != "sqlite" and is_installed()

    def set(self, text):
        """Running processes see it at their next look at the clock."""
        with open(self.file + ".new", "w") as file:
            file.write(text + "\n")
        os.replace(self.file + ".new", self.file)

    def environment(self):
        keep = {"FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1"} if self.keeps_monotonic else {}
        return {"LD_PRELOAD": LIBRARY, "FAKETIME_TIMESTAMP_FILE": self.file, "FAKETIME_NO_CACHE": "1", **keep}

    def inject(self, world):
        self.file = os.path.join(world.folder, f"clock.{world.random.getrandbits(32)}")
        self.set(self.first(world))
        workers = world.workers()
        self.chosen = world.random.sample(workers, max(1, len(workers) // 2))
        for worker in self.chosen:
            worker.end()
            worker.start(env=self.environment())
        return len(self.chosen) + self.go_on(world)

    def go_on(self, world):
        """How many times more the clock was moved."""
        world.wait(LASTS_S)
        return 0

    def heal(self, world):
        self.set("+0 x1")  # or a slow clock would take its time to end
        for worker in self.chosen:
            worker.end()
            worker.start()


class DayAhead(Clock):
    name = "clock-ahead"

    def first(self, world):
        return "+1d"


class DayBehind(Clock):
    name = "clock-behind"

    def first(self, world):
        return "-1d"


class Jumps(Clock):
    """It jumps forward and back while tasks run."""

    name = "clock-jumps"

    def first(self, world):
        return "+0"

    def go_on(self, world):
        jumps = ("+1h", "-1h", "+400d", "-1d", "+30", "-30")
        for jump in jumps:
            self.set(jump)
            world.wait(LASTS_S / len(jumps))
        return len(jumps)


class JumpsMonotonic(Jumps):
    """The same, and the monotonic clock jumps along, which no real one does."""

    name = "clock-jumps-mono"
    keeps_monotonic = False
    short = False


class Fast(Clock):
    """All its clocks run ten times too fast: it extends, polls and gives up ten times too soon."""

    name = "clock-fast"
    keeps_monotonic = False

    def first(self, world):
        return "+0 x10"


class Slow(Clock):
    """All its clocks run ten times too slow: it extends leases when they have lapsed."""

    name = "clock-slow"
    keeps_monotonic = False

    def first(self, world):
        return "+0 x0.1"


FAULTS = [DayAhead, DayBehind, Jumps, JumpsMonotonic, Fast, Slow]
