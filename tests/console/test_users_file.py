#!/usr/bin/env -S python3 -B
"""test_users_file.py PATH_TO_TASKPOOL_CONSOLE: the file of users, as editors, root and two commands at once leave it. Needs no
database."""
import fcntl
import glob
import os
import stat
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.path.realpath(sys.argv.pop(1))
LIMIT_S = 300  # for what hangs
ANN = "ann:viewer:-:$y$j9T$abc$def"


def start(*args):
    with open("password", encoding="ascii") as password:
        return subprocess.Popen([PROGRAM, "user", *args, "--users", "users"], stdin=password, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)


def waits_for_a_lock(process):
    with open("/proc/locks", encoding="ascii") as file:
        return any("->" in line and f" {process.pid} " in line for line in file)


class UsersFile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        self.write(ANN + "\n")
        self.write("correct horse battery\n", "password")

    @staticmethod
    def write(text, name="users"):
        with open(name, "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(text)

    def ends(self, process, code=0):
        out, err = process.communicate(timeout=LIMIT_S)
        self.assertEqual(process.returncode, code, err)
        return out

    def names(self):
        return [line.split(":")[0] for line in self.ends(start("list")).splitlines()]

    def test_a_last_line_without_its_end_stays_a_user(self):
        for act in "add", "remove":
            self.write("bob:viewer:-:$y$x\n" + ANN)
            self.ends(start(act, "bob"))
            self.assertEqual(sorted(self.names()), ["ann", "bob"] if act == "add" else ["ann"])
            self.ends(start("add", "eve"))
            self.assertIn("ann", self.names())

    def test_a_link_stays_one(self):
        os.mkdir("elsewhere")
        os.rename("users", "elsewhere/file")
        os.symlink("elsewhere/file", "users")
        self.ends(start("add", "bob"))
        self.assertTrue(os.path.islink("users"))
        self.assertEqual(self.names(), ["ann", "bob"])

    @unittest.skipIf(os.getuid(), "SKIPPED: only root gives files to others")
    def test_it_stays_its_owners_when_root_changes_it(self):
        os.chown("users", 54321, 54321)
        for act in "add", "remove":
            self.ends(start(act, "bob"))
            about = os.stat("users")
            self.assertEqual((about.st_uid, stat.S_IMODE(about.st_mode)), (54321, 0o600))

    def test_two_changes_at_once_are_both_made(self):
        folder = os.open(".", os.O_RDONLY)
        self.addCleanup(os.close, folder)
        fcntl.flock(folder, fcntl.LOCK_EX)  # as another command has it
        process = start("add", "bob")
        limit = time.monotonic() + LIMIT_S
        while process.poll() is None and not waits_for_a_lock(process):
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.01)
        self.write("cid:viewer:-:$y$x\n")
        fcntl.flock(folder, fcntl.LOCK_UN)
        self.ends(process)
        self.assertEqual(self.names(), ["cid", "bob"])

    def test_a_file_that_is_not_read_whole_is_refused(self):
        """Files of the kernel say that they are longer than they are."""
        found = [name for name in glob.glob("/sys/module/*/parameters/*")
                 if not os.stat(name).st_mode & 0o077 and os.access(name, os.R_OK)]
        if not found:
            self.skipTest("SKIPPED: no file of the kernel is ours alone")
        os.remove("users")
        os.symlink(found[0], "users")
        self.ends(start("list"), 74)


if __name__ == "__main__":
    unittest.main()
