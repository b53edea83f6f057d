/* See program.h. Handler threads run here: nothing may end the process, memory may run out. */
/* For posix_spawn_file_actions_addclosefrom_np. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Finding ----------------------------------------------------------------------------------------- */

/* 0 or errno. */
static int check_program(const char *path) {
    struct stat about;

    if (stat(path, &about) != 0) return errno;
    if (S_ISDIR(about.st_mode)) return EISDIR;
    return access(path, X_OK) == 0 ? 0 : errno;
}

static char *absolute(const char *path) {
    char folder[PATH_MAX];
    char *whole;
    size_t size;

    if (path[0] == '/') return cli_must(strdup(path));
    if (!getcwd(folder, sizeof folder)) return cli_must(strdup(path));
    size = strlen(folder) + strlen(path) + 2;
    whole = cli_must(malloc(size));
    snprintf(whole, size, "%s/%s", folder, path);
    return whole;
}

/* As a shell would, but an empty folder in PATH is skipped: programs are not taken from the working folder.
 */
static char *find_along_path(const char *name) {
    const char *at = getenv("PATH");
    char path[PATH_MAX];

    for (at = at ? at : "/usr/local/bin:/usr/bin:/bin"; *at; at += *at == ':') {
        size_t length = strcspn(at, ":");
        int printed = snprintf(path, sizeof path, "%.*s/%s", (int)length, at, name);

        if (length && printed > 0 && (size_t)printed < sizeof path && check_program(path) == 0)
            return absolute(path);
        at += length;
    }
    return NULL;
}

char *program_find(const char *name) {
    int error;
    char *path;

    if (!strchr(name, '/')) {
        path = find_along_path(name);
        if (!path)
            (void)cli_fail(EXIT_PROGRAM,
                           "the handler program %s is nowhere in PATH; give its path, like ./%s", name, name);
        return path;
    }
    error = check_program(name);
    if (error == 0) return absolute(name);
    (void)cli_fail(EXIT_PROGRAM, "the handler program %s cannot be run: %s%s", name, strerror(error),
                   error == EACCES ? " (chmod +x it?)" : "");
    return NULL;
}

/* Numbers in the program. */
enum { PROGRESS_FILE = 3, RESULT_FILE = 4, PIPES = 5 };

/* ---- Its environment --------------------------------------------------------------------------------- */

/* What is passed on, names and beginnings of names; above all not TASKPOOL_DSN. */
static const char *const passed_on[] = {"PATH=", "HOME=", "LANG=", "LC_", "TZ=", "TMPDIR="};
#define PASSED_MAX 32

static bool is_passed_on(const char *variable) {
    for (size_t i = 0; i < sizeof passed_on / sizeof passed_on[0]; i++)
        if (strncmp(variable, passed_on[i], strlen(passed_on[i])) == 0) return true;
    return false;
}

/* A list of "NAME=value" with a NULL at its end; list is NULL once memory ran out. */
struct variables {
    char **list;
    size_t count;
};

static void put_text(struct variables *variables, const char *name, const char *value) {
    size_t size = strlen(name) + strlen(value) + 2;
    char *text;

    if (!variables->list) return;
    text = malloc(size);
    if (!text) {
        for (size_t i = 0; i < variables->count; i++)
            free(variables->list[i]);
        free(variables->list);
        variables->list = NULL;
        return;
    }
    snprintf(text, size, "%s=%s", name, value);
    variables->list[variables->count++] = text;
}

static void put_number(struct variables *variables, const char *name, int64_t number) {
    char text[32];

    snprintf(text, sizeof text, "%lld", (long long)number);
    put_text(variables, name, text);
}

static void put_passed_on(struct variables *variables) {
    for (char **at = environ; *at && variables->count < PASSED_MAX; at++) {
        char name[64];
        size_t length = strcspn(*at, "=");

        if (!is_passed_on(*at) || length >= sizeof name) continue;
        memcpy(name, *at, length);
        name[length] = '\0';
        put_text(variables, name, *at + length + 1);
    }
}

/* X(variable, getter) */
#define TASK_TEXTS(X)                                                                                        \
    X("TASKPOOL_ID", id)                                                                                     \
    X("TASKPOOL_HANDLER", handler)                                                                           \
    X("TASKPOOL_BIZ_KEY", biz_key)                                                                           \
    X("TASKPOOL_TOKEN", owner)                                                                               \
    X("TASKPOOL_REASON", reason)
#define TASK_NUMBERS(X)                                                                                      \
    X("TASKPOOL_SHARD", shard)                                                                               \
    X("TASKPOOL_PRIORITY", priority)                                                                         \
    X("TASKPOOL_FAILURES", failures)                                                                         \
    X("TASKPOOL_MAX_FAILURES", max_failures)                                                                 \
    X("TASKPOOL_CREATED_AT", created_at)
#define TASK_VARIABLES 10
#define REPORTS        2 /* variables and files */
#define MORE_MAX       2

static char **make_environment(const tp_task *task, const char *const *more, bool reports) {
    struct variables variables = {
        calloc(PASSED_MAX + TASK_VARIABLES + REPORTS + MORE_MAX + 1, sizeof(char *)), 0};

    put_passed_on(&variables);
#define PUT_TEXT(name, member) put_text(&variables, name, task->member ? task->member : "");
    TASK_TEXTS(PUT_TEXT)
#undef PUT_TEXT
#define PUT_NUMBER(name, member) put_number(&variables, name, task->member);
    TASK_NUMBERS(PUT_NUMBER)
#undef PUT_NUMBER
    if (reports) {
        put_number(&variables, "TASKPOOL_PROGRESS_FD", PROGRESS_FILE);
        put_number(&variables, "TASKPOOL_RESULT_FD", RESULT_FILE);
    }
    for (size_t i = 0; more && more[2 * i] && i < MORE_MAX; i++)
        put_text(&variables, more[2 * i], more[2 * i + 1]);
    return variables.list;
}

static void free_environment(char **list) {
    for (size_t i = 0; list && list[i]; i++)
        free(list[i]);
    free(list);
}

/* ---- Starting ---------------------------------------------------------------------------------------- */

/* Ours are kept out of programs that other threads start at the same moment as far as fcntl can; where the
 * C library closes everything above 2 in the child, nothing gets there at all. */
static int open_pipe(int ends[2]) {
    if (pipe(ends) != 0) return errno;
    for (int i = 0; i < 2; i++) {
        /* Numbers that are the program's would be overwritten before they are given to it. */
        if (ends[i] < PIPES) {
            int low = ends[i];

            ends[i] = fcntl(low, F_DUPFD_CLOEXEC, PIPES);
            (void)close(low);
            if (ends[i] < 0) return errno;
        }
        (void)fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    }
    return 0;
}

static void close_pair(int ends[2]) {
    for (int i = 0; i < 2; i++) {
        if (ends[i] >= 0) (void)close(ends[i]);
        ends[i] = -1;
    }
}

static int fill_actions(posix_spawn_file_actions_t *actions, int ends[PIPES][2], int pipes) {
    int error = 0;

    for (int i = 0; i < pipes && !error; i++)
        error = posix_spawn_file_actions_adddup2(actions, ends[i][i != STDIN_FILENO], i);
#if defined(__GLIBC__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 34)
    if (!error) error = posix_spawn_file_actions_addclosefrom_np(actions, pipes);
#endif
#endif
    /* BUG: with another C library, sockets that the driver opened without close-on-exec reach the program. */
    return error;
}

/* Signals as a fresh program expects them; a group of its own, so that Ctrl-C is ours and a kill reaches what
 * it started. */
static int fill_attributes(posix_spawnattr_t *attributes) {
    sigset_t none;
    sigset_t all;
    int error;

    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    (void)sigdelset(&all, SIGKILL);
    (void)sigdelset(&all, SIGSTOP);
    error = posix_spawnattr_setsigmask(attributes, &none);
    if (!error) error = posix_spawnattr_setsigdefault(attributes, &all);
    if (!error) error = posix_spawnattr_setpgroup(attributes, 0);
    if (!error)
        error = posix_spawnattr_setflags(
            attributes, (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP));
    return error;
}

/* ends: as pipe() gave them, of the program's files from number 0 on. */
static int spawn(const char *path, char **environment, int ends[PIPES][2], int pipes, pid_t *pid) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char *argv[] = {(char *)path, NULL};
    int error = posix_spawn_file_actions_init(&actions);

    if (error) return error;
    error = posix_spawnattr_init(&attributes);
    if (error) goto out;
    error = fill_actions(&actions, ends, pipes);
    if (!error) error = fill_attributes(&attributes);
    if (!error) error = posix_spawn(pid, path, &actions, &attributes, argv, environment);
    (void)posix_spawnattr_destroy(&attributes);
out:
    (void)posix_spawn_file_actions_destroy(&actions);
    return error;
}

static int keep_end(int ends[2], int which) {
    int fd = ends[which];

    ends[which] = -1;
    (void)fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

int program_start(const char *path, const tp_task *task, const char *const *more, bool reports,
                  struct started *started) {
    int ends[PIPES][2] = {{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
    int pipes = reports ? PIPES : PROGRESS_FILE;
    char **environment = make_environment(task, more, reports);
    int error = environment ? 0 : ENOMEM;

    for (int i = 0; i < pipes && !error; i++)
        error = open_pipe(ends[i]);
    if (!error) error = spawn(path, environment, ends, pipes, &started->pid);
    if (!error) {
        started->in = keep_end(ends[STDIN_FILENO], 1);
        started->out = keep_end(ends[STDOUT_FILENO], 0);
        started->err = keep_end(ends[STDERR_FILENO], 0);
        started->progress = reports ? keep_end(ends[PROGRESS_FILE], 0) : -1;
        started->result = reports ? keep_end(ends[RESULT_FILE], 0) : -1;
    }
    for (int i = 0; i < PIPES; i++)
        close_pair(ends[i]);
    free_environment(environment);
    return error;
}
