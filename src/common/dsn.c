/* See args.h. Finds the connection string, hides it from other users, and connects. It is never printed. */
#include "args.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "examples.h"

#define DSN_MAX 65536

/* The text seems to be a connection string, where the name of a file belongs. */
static bool looks_like_dsn(const char *text) {
    return strpbrk(text, "=;") != NULL;
}

/* The kernel shows the original bytes: popt gets a copy, and those are struck out. */
static char *strike_out(char *arg, size_t keep) {
    char *copy = cli_must(strdup(arg));

    memset(arg + keep, 'x', strlen(arg + keep));
    return copy;
}

/* Is arg the option, and where in it does its value begin? 0: the next argument is the value. */
static bool is_option(const char *arg, const char *name, size_t *value) {
    size_t length = strlen(name);

    if (strncmp(arg, name, length) != 0 || (arg[length] != '=' && arg[length] != '\0')) return false;
    *value = arg[length] == '=' ? length + 1 : 0;
    return true;
}

/* The next argument behind *at that holds a connection string, from *value on. False: there is no more. */
static bool next_dsn(int argc, const char *const *argv, int *at, size_t *value) {
    for (int i = *at + 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        bool is_file = is_option(argv[i], "--dsn-file", value);

        if (!is_file && !is_option(argv[i], "--dsn", value)) continue;
        if (*value == 0 && ++i == argc) break;
        *at = i;
        if (!is_file || looks_like_dsn(argv[i] + *value)) return true;
    }
    return false;
}

void args_hide_dsn(int argc, char **argv) {
    size_t value;

    for (int i = 0; next_dsn(argc, (const char *const *)argv, &i, &value);)
        argv[i] = strike_out(argv[i], value);
}

/* The variable in which argument i is passed. */
static const char *variable_of(int i, char name[32]) {
    snprintf(name, 32, "TASKPOOL_ARGUMENT_%d", i);
    return name;
}

void args_hand_over(const char **argv) {
    size_t value;
    char name[32];
    int argc = 0;

    while (argv[argc])
        argc++;
    for (int i = 0; next_dsn(argc, argv, &i, &value);) {
        char *shown = cli_must(strdup(argv[i]));

        cli_must(setenv(variable_of(i, name), shown, 1) == 0 ? shown : NULL);
        memset(shown + value, 'x', strlen(shown + value));
        argv[i] = shown;
    }
}

void args_take_over(int argc, char **argv) {
    char name[32];
    bool taken = false;

    for (int i = 1; i < argc; i++) {
        char *given = getenv(variable_of(i, name));

        if (!given) continue;
        argv[i] = strike_out(given, 0);
        (void)unsetenv(name);
        taken = true;
    }
    if (!taken) args_hide_dsn(argc, argv);
}

/* Up to size - 1 bytes of the file; -1: errno says why. */
static ssize_t read_whole(int fd, char *text, size_t size) {
    size_t used = 0;

    for (;;) {
        ssize_t got = read(fd, text + used, size - 1 - used);

        if (got < 0 && errno != EINTR) return -1;
        if (got == 0 || used == size - 1) break;
        used += got > 0 ? (size_t)got : 0;
    }
    text[used] = '\0';
    return (ssize_t)used;
}

static bool is_usable(const char *path, char *text, size_t length) {
    while (length && (text[length - 1] == '\n' || text[length - 1] == '\r'))
        text[--length] = '\0';
    if (length == 0)
        (void)cli_fail(EXIT_USAGE, "%s is empty; write the ODBC connection string into it", path);
    else if (strlen(text) != length || strpbrk(text, "\r\n"))
        (void)cli_fail(EXIT_USAGE, "%s must hold one line, the ODBC connection string", path);
    else
        return true;
    return false;
}

/* Who can read it has the password; who can write it chooses the driver, which is code that we run. */
static bool is_for_us_only(int fd, const char *path) {
    struct stat about;
    bool read;

    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) return true;
    if ((about.st_mode & (S_IROTH | S_IWOTH)) == 0) return true;
    read = (about.st_mode & S_IROTH) != 0;
    (void)cli_fail(EXIT_IO, "everybody on this machine can %s %s, so it is not used; chmod 600 it%s",
                   read ? "read" : "write", path, read ? " and change the password that was in it" : "");
    return false;
}

static const char *read_dsn_file(const char *path, enum cli_exit *code) {
    static char text[DSN_MAX];
    ssize_t length = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 && looks_like_dsn(path))
        args_fail("--dsn-file takes the name of a file, not a connection string");
    *code = EXIT_IO;
    if (fd >= 0 && !is_for_us_only(fd, path)) {
        (void)close(fd);
        return NULL;
    }
    if (fd >= 0) length = read_whole(fd, text, sizeof text);
    if (length < 0) {
        *code = cli_fail(EXIT_IO, "cannot read %s: %s", path, strerror(errno));
        if (fd >= 0) (void)close(fd);
        return NULL;
    }
    (void)close(fd);
    *code = EXIT_USAGE;
    return is_usable(path, text, (size_t)length) ? text : NULL;
}

/* Handler programs run as the same user and can read what the kernel shows of our environment. */
static const char *dsn_variable(void) {
    static char *copy;
    char *value = getenv("TASKPOOL_DSN");

    if (!copy && value) copy = strike_out(value, 0);
    return copy;
}

/* NULL: the reason was reported, with *code. */
static const char *find_dsn(enum cli_exit *code) {
    const char *dsn = dsn_variable();

    if (common.dsn && common.dsn_file) args_fail("--dsn and --dsn-file exclude each other");
    if (common.dsn) return common.dsn;
    if (common.dsn_file) return read_dsn_file(common.dsn_file, code);
    if (dsn && *dsn) return dsn;
    *code =
        cli_fail(EXIT_USAGE,
                 "no database given; set TASKPOOL_DSN to an ODBC connection string (for instance " EXAMPLE_DSN
                 ") or use --dsn-file");
    return NULL;
}

enum cli_exit args_open_env(tp_env **env) {
    enum cli_exit code = EXIT_USAGE;
    const char *dsn = find_dsn(&code);
    tp_status status;

    if (!dsn) return code;
    status = tp_env_open(dsn, env);
    return status == TP_OK ? EXIT_DONE : cli_fail_tp(status);
}

enum cli_exit args_open_env_of(const char *path, tp_env **env) {
    enum cli_exit code = EXIT_USAGE;
    const char *dsn = read_dsn_file(path, &code);
    tp_status status;

    if (!dsn) return code;
    status = tp_env_open(dsn, env);
    return status == TP_OK ? EXIT_DONE : cli_fail_tp(status);
}

static struct {
    tp_env *env;
    tp_conn *conn;
} opened;

static void disconnect(void) {
    tp_conn_close(opened.conn);
    tp_env_close(opened.env);
}

tp_conn *args_connect_unchecked(void) {
    enum cli_exit code = args_open_env(&opened.env);
    tp_status status;

    (void)atexit(disconnect);
    if (code != EXIT_DONE) cli_end(code);
    status = tp_conn_open(opened.env, &opened.conn);
    if (status != TP_OK) cli_end(cli_fail_tp(status));
    return opened.conn;
}

/* A producer may be allowed to see too little for the whole check, and a lost connection is the command's to
 * wait for: only an answer about the tables counts. */
tp_conn *args_connect(void) {
    tp_conn *conn;

    if (opened.conn) return opened.conn;
    conn = args_connect_unchecked();
    if (tp_schema_check(conn) == TP_SCHEMA) cli_end(cli_fail_tp(TP_SCHEMA));
    return conn;
}

tp_env *args_env(void) {
    return opened.env;
}

mode_t args_own_files(void) {
    mode_t theirs = umask(S_IRWXG | S_IRWXO);

    (void)umask(theirs | S_IRWXG | S_IRWXO);
    return theirs;
}
