/* Loaded before the C library: a SIGTERM comes after the program has looked whether one came, and before its
 * first wait for a named pipe. */
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

__attribute__((visibility("default"))) int poll(struct pollfd *files, nfds_t count, int ms) {
    static int (*real)(struct pollfd *, nfds_t, int);
    struct stat about;
    if (!real) {
        *(void **)&real = dlsym(RTLD_NEXT, "poll");
        if (!real) abort();
    }
    if (count && ms < 0 && fstat(files[0].fd, &about) == 0 && S_ISFIFO(about.st_mode)) (void)raise(SIGTERM);
    return real(files, count, ms);
}
