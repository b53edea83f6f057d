"""A disk that is full: the database's files are on a small tmpfs, which shrinks to what it holds and grows again.
Mounting one takes root, in a sandbox it may be forbidden: then there is no such fault, said aloud, or the run fails
when TASKPOOL_TEST_REQUIRE=1."""
import functools
import os
import subprocess
import sys
import tempfile

import world

LASTS_S = 5
SIZE_MIB = 1024  # how much there usually is; memory is only taken for what is written


@functools.lru_cache(maxsize=None)
def can_mount():
    folder = tempfile.mkdtemp()
    try:
        mount(folder, 1 << 20)
        subprocess.run(["umount", folder], check=True)
        return True
    except (OSError, subprocess.CalledProcessError):
        if os.environ.get("TASKPOOL_TEST_REQUIRE") == "1":
            raise SystemExit("disk-full: no tmpfs can be mounted here, and TASKPOOL_TEST_REQUIRE=1") from None
        print("SKIPPED: disk-full: no tmpfs can be mounted here (root, outside a sandbox, can)", file=sys.stderr)
        return False
    finally:
        os.rmdir(folder)


def mount(folder, size, *flags):
    options = ",".join((f"size={size}", "mode=0755", *flags))
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], check=True, stderr=subprocess.DEVNULL)


class DiskFull(world.Fault):
    """No byte more can be stored for a while, then there is room again. A server may have ended meanwhile."""

    name = "disk-full"

    @classmethod
    def applies(cls, database):
        return can_mount()

    @classmethod
    def prepare(cls, world):
        """SQLite's file is in world.data; a server's files are in servers.d, which tools/db_up.sh makes, and
        tools/db_down.sh removes, unless it is there: so it is a link to a folder on the disk."""
        cls.disk = world.data if world.database == "sqlite" else os.path.join(world.folder, "disk")
        os.makedirs(cls.disk)
        mount(cls.disk, SIZE_MIB << 20)
        if world.database != "sqlite":
            os.mkdir(os.path.join(cls.disk, "servers.d"), 0o755)
            os.symlink(os.path.join(cls.disk, "servers.d"), os.path.join(world.folder, "servers.d"))

    @classmethod
    def clean_up(cls, world):
        subprocess.run(["umount", "--lazy", cls.disk], check=True)

    def inject(self, world):
        self.shrink()
        world.wait(LASTS_S)
        return 1

    def heal(self, world):
        mount(self.disk, SIZE_MIB << 20, "remount")
        if world.server:
            world.server.start()

    def shrink(self):
        """Never below what it holds, which may grow in between."""
        for _ in range(100):
            space = os.statvfs(self.disk)
            used = (space.f_blocks - space.f_bfree) * space.f_frsize
            try:
                mount(self.disk, used, "remount")
                return
            except subprocess.CalledProcessError:
                continue
        raise RuntimeError("the disk cannot be made smaller")


FAULTS = [DiskFull]
