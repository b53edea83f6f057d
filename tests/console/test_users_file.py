#!/usr/bin/env -S python3 -B
"""test_users_file.py PATH_TO_TASKPOOL_CONSOLE: the file of users, as editors, root and two commands at once leave it. Needs no
database."""
import fcntl
import glob
import os
import re
import stat
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.path.realpath(sys.argv.pop(1))
LIMIT_S = 300  # for what hangs
ANN = "ann:viewer:-:$y$j9T$abc$def"
STRANGER = 54321


def may_give():
    """Root that has all users here."""
    with tempfile.NamedTemporaryFile() as file:
        try:
            os.chown(file.name, STRANGER, STRANGER)
            return os.access(file.name, os.R_OK)
        except OSError:
            return False


def start(*args, users="users"):
    with open("password", encoding="ascii") as password:
        return subprocess.Popen([PROGRAM, "user", *args, "--users", users], stdin=password, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)


def sleeps(process):
    """A number for each time that it does: it tries the lock again and again. 0: it runs."""
    with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
        status = file.read()
    return int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", status, re.M)[1]) if re.search(r"^State:\s*S", status, re.M) else 0


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
        return err if code else out

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

    def test_a_link_to_nothing_stays_one(self):
        for end in "gone", "gone/users":
            os.remove("users")
            os.symlink(end, "users")
            self.assertIn("No such file", self.ends(start("add", "bob"), 74))
            self.assertEqual(os.readlink("users"), end)
            self.assertFalse(os.path.lexists(end))

    def test_a_new_file_behind_a_folders_link(self):
        os.mkdir("elsewhere")
        os.symlink("elsewhere", "etc")
        self.ends(start("add", "bob", users="etc/new"))
        self.assertEqual(stat.S_IMODE(os.lstat("elsewhere/new").st_mode), 0o600)

    def test_links_that_lead_to_each_other(self):
        os.remove("users")
        os.symlink("users", "users")
        self.assertIn("Too many levels", self.ends(start("add", "bob"), 74))

    @unittest.skipUnless(may_give(), "SKIPPED: only root gives files to others")
    def test_a_strangers_link_does_not_lead_to_a_file_of_root(self):
        os.mkdir("elsewhere")
        os.rename("users", "elsewhere/file")
        for link, target, users in (("users", "elsewhere/file", "users"), ("etc", "elsewhere", "etc/file"), ("etc", "elsewhere", "etc/new"),
                                    ("etc", os.path.abspath("elsewhere"), "etc/../elsewhere/file")):
            os.symlink(target, link)
            os.chown(link, STRANGER, STRANGER, follow_symlinks=False)
            for act in "add", "remove":
                self.ends(start(act, "ann", users=users), 74)
            with open("elsewhere/file", encoding="ascii") as file:
                self.assertEqual(file.read(), ANN + "\n")
            self.assertEqual(os.listdir("elsewhere"), ["file"])
            os.remove(link)
        os.symlink("elsewhere/file", "users")
        os.chown("users", STRANGER, STRANGER, follow_symlinks=False)
        os.chown("elsewhere/file", STRANGER, STRANGER)
        self.ends(start("add", "bob"))
        self.assertEqual((self.names(), os.stat("users").st_uid), (["ann", "bob"], STRANGER))

    @unittest.skipUnless(may_give(), "SKIPPED: only root gives files to others")
    def test_it_stays_its_owners_when_root_changes_it(self):
        os.chown("users", STRANGER, STRANGER)
        for act in "add", "remove":
            self.ends(start(act, "bob"))
            about = os.stat("users")
            self.assertEqual((about.st_uid, stat.S_IMODE(about.st_mode)), (STRANGER, 0o600))

    def test_two_changes_at_once_are_both_made(self):
        folder = os.open(".", os.O_RDONLY)
        self.addCleanup(os.close, folder)
        fcntl.flock(folder, fcntl.LOCK_EX)  # as another command has it
        process = start("add", "bob")
        limit = time.monotonic() + LIMIT_S
        times = set()
        while len(times - {0}) < 2 and process.poll() is None:
            times.add(sleeps(process))
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.01)
        self.write("cid:viewer:-:$y$x\n")
        fcntl.flock(folder, fcntl.LOCK_UN)
        self.ends(process)
        self.assertEqual(self.names(), ["cid", "bob"])

    def test_a_lock_is_not_waited_for_without_end(self):
        folder = os.open(".", os.O_RDONLY)
        self.addCleanup(os.close, folder)
        fcntl.flock(folder, fcntl.LOCK_EX)
        self.assertIn("another command changes users", self.ends(start("add", "bob"), 74))
        self.assertEqual(self.names(), ["ann"])

    @unittest.skipUnless(os.getuid(), "SKIPPED: root reads every folder")
    def test_a_folder_that_cannot_be_locked_is_said(self):
        os.chmod(".", 0o300)
        self.addCleanup(os.chmod, ".", 0o700)
        self.assertIn("cannot read the folder", self.ends(start("add", "bob"), 74))

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
