/* Mounts a small file system for one process. See tiny_disk.h. */
#include "input/tiny_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cmocka.h>

enum { FIRST_KIB = 3600 /* an empty pool, and some tasks */ };

static char folder[] = "/tmp/taskpool.disk.XXXXXX";
static int size_kib = FIRST_KIB;

static bool write_file(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    bool done = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    close(fd);
    return done;
}

/* Root of a namespace of its own, where users may have one. */
static bool become_root_of_namespace(void) {
    char map[32];
    int uid = (int)getuid();
    if (uid == 0) return unshare(CLONE_NEWNS) == 0;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    snprintf(map, sizeof map, "0 %d 1", uid);
    return write_file("/proc/self/setgroups", "deny") && write_file("/proc/self/uid_map", map);
}

static bool mount_it(unsigned long flags) {
    char options[32];
    snprintf(options, sizeof options, "mode=0777,size=%dk", size_kib);
    return mount("tmpfs", folder, "tmpfs", flags, options) == 0;
}

bool tiny_disk_mount(void) {
    if (!mkdtemp(folder)) return false;
    if (become_root_of_namespace() && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 && mount_it(0))
        return true;
    rmdir(folder);
    return false;
}

void tiny_disk_unmount(void) {
    (void)umount2(folder, MNT_DETACH);
    rmdir(folder);
}

const char *tiny_disk_path(void) {
    return folder;
}

void tiny_disk_resize(int kib) {
    size_kib = kib;
    if (!mount_it(MS_REMOUNT)) fail_msg("remounting: %s", strerror(errno));
}

void tiny_disk_read_only(bool on) {
    if (!mount_it(MS_REMOUNT | (on ? MS_RDONLY : 0ul))) fail_msg("remounting: %s", strerror(errno));
}

static const char *ballast(void) {
    static char path[sizeof folder + 16];
    snprintf(path, sizeof path, "%s/ballast", folder);
    return path;
}

void tiny_disk_fill(size_t left) {
    struct statvfs space;
    assert_int_equal(statvfs(folder, &space), 0);
    size_t room = (size_t)space.f_bavail * space.f_frsize;
    int fd = open(ballast(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    if (room > left) assert_int_equal(posix_fallocate(fd, 0, (off_t)(room - left)), 0);
    close(fd);
}

void tiny_disk_empty(void) {
    assert_int_equal(unlink(ballast()), 0);
}
