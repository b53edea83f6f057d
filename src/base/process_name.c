/* See process_name.h. The host is asked for once; the process number each time, so that a forked child has
 * its own. */
#include "base/process_name.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "base/uuid.h"

enum { HOST_SIZE = 100 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char host[HOST_SIZE];

static void ask_host(void) {
    char name[256] = "";
    if (gethostname(name, sizeof name - 1) != 0 || !name[0]) name[0] = '?';
    tpi_utf8_copy(name, host, sizeof host);
}

void tpi_process_name(char out[TPI_PROCESS_NAME_SIZE]) {
    pthread_once(&once, ask_host);
    snprintf(out, TPI_PROCESS_NAME_SIZE, "%s:%ld", host, (long)getpid());
}

#ifdef TP_PLAIN_POSIX
bool tpi_process_pid_space(char out[TPI_PID_SPACE_SIZE]) {
    (void)out;
    return false;
}
#else
/* Found on Linux only. Each boot has a random id; each name space of process numbers has a number that is its
 * own while any process is in it. */
static bool read_boot(char *boot, int size) {
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    bool got = file && fgets(boot, size, file);
    if (file) fclose(file);
    return got;
}

bool tpi_process_pid_space(char out[TPI_PID_SPACE_SIZE]) {
    char name[128], uuid[TPI_UUID_SIZE];
    if (!read_boot(name, 64)) return false;
    size_t used = strlen(name);
    ssize_t length = readlink("/proc/self/ns/pid", name + used, sizeof name - used - 1);
    if (length <= 0) return false;
    name[used + (size_t)length] = '\0';
    tpi_uuid_named(name, uuid);
    memcpy(out, uuid + TPI_UUID_SIZE - TPI_PID_SPACE_SIZE, TPI_PID_SPACE_SIZE);
    return true;
}
#endif
