/* A small file system that only this process sees, to be filled and made read-only. */
#ifndef TESTS_INPUT_TINY_DISK_H
#define TESTS_INPUT_TINY_DISK_H

#include <stdbool.h>
#include <stddef.h>

/* Mounts it in a private mount namespace; before any thread is started. False: this user may not mount. */
bool tiny_disk_mount(void);
void tiny_disk_unmount(void);
/* The folder it is mounted on. */
const char *tiny_disk_path(void);
/* Mounts it anew with this many KiB, contents kept. Fails the test when it cannot. */
void tiny_disk_resize(int kib);
void tiny_disk_read_only(bool on);
/* Takes all space but so many bytes, with one file; and gives it back. */
void tiny_disk_fill(size_t left);
void tiny_disk_empty(void);

#endif
