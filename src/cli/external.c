/* Runs a command that is a program of its own: taskpool-NAME replaces this process. It must be in the folder
 * of this program or in the one of the installation; PATH is not searched, because another user's program
 * may have that name. */
#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "common/args.h"

/* The folder of this program, without a slash at its end; "": nobody knows. */
static void find_own_folder(char folder[PATH_MAX]) {
    ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    char *slash;

    folder[length > 0 ? length : 0] = '\0';
    slash = strrchr(folder, '/');
    *(slash ? slash : folder) = '\0';
}

/* Returns when it is not there. */
static enum cli_exit start(const char *folder, const char *program, const char **argv) {
    char path[PATH_MAX];

    if (!*folder || snprintf(path, sizeof path, "%s/%s", folder, program) >= (int)sizeof path)
        return EXIT_DONE;
    (void)execv(path, (char **)argv);
    if (errno == ENOENT) return EXIT_DONE;
    return cli_fail(EXIT_PROGRAM, "%s cannot be run: %s", path, strerror(errno));
}

const struct usage external_usage = {.options = NULL};

enum cli_exit external_command(const char **args) {
    char folder[PATH_MAX];
    char program[64];
    enum cli_exit code;

    snprintf(program, sizeof program, "taskpool-%s", args[0]);
    args_hand_over(args);
    args[0] = program;
    find_own_folder(folder);
    code = start(folder, program, args);
    if (code == EXIT_DONE) code = start(TASKPOOL_PROGRAMS, program, args);
    if (code != EXIT_DONE) return code;
    return cli_fail(EXIT_PROGRAM, "the program %s is missing; it belongs beside taskpool, or into %s",
                    program, TASKPOOL_PROGRAMS);
}
