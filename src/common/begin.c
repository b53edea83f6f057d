/* See begin.h. */
#include "begin.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

/* A process started without 0, 1 or 2 would take a database's socket for its output. What stands in for them
 * opens the wrong way round, so that using it fails and is told. */
static void open_standard_files(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* What other programs of the same user, handlers among them, must not read: memory, environment and open
 * files hold the connection string. There is no core file either. */
static void protect_memory(void) {
#ifdef __linux__
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
}

void cli_begin(void) {
    protect_memory();
    open_standard_files();
    /* A broken pipe is an error code here: a handler that does not read, a database that went away. */
    (void)signal(SIGPIPE, SIG_IGN);
}
