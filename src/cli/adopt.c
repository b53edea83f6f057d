/* taskpool adopt: an old task table as the producer. What the steps do is the library's. */
#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/args.h"
#include "common/operator_name.h"

static struct {
    int apply, copy, compare, remove;
    char *who, *why;
} options;

static struct poptOption table[] = {
    OPTION_FLAG("apply", '\0', &options.apply, "make the table of links; nothing is copied yet"),
    OPTION_FLAG("copy", '\0', &options.copy,
                "one round: results into the old table, open rows into the pool"),
    OPTION_FLAG("compare", '\0', &options.compare, "count rows and tasks; exit code 12 when they differ"),
    OPTION_FLAG("remove", '\0', &options.remove, "return what no worker has begun, and drop the links"),
    OPTION_WHY(&options.why),
    OPTION_WHO(&options.who),
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

const struct usage adopt_usage = {
    "FILE",
    "A task table that an application already has becomes the producer. FILE says which table, columns\n"
    "and states. Without an option the SQL is shown, and nothing is run. Run --copy from any scheduler,\n"
    "every minute, say; it may be asked again at any time.\n",
    "  taskpool adopt points.adopt\n"
    "  taskpool adopt points.adopt --apply\n"
    "  taskpool adopt points.adopt --copy\n"
    "  taskpool adopt points.adopt --compare\n"
    "  taskpool adopt points.adopt --remove\n",
    table,
    1,
    1,
};

static void write_text(const char *text, size_t length, void *arg) {
    (void)arg;
    out_bytes(text, length);
}

static void write_counts(const char *what, int64_t in_old, int64_t in_pool, void *arg) {
    (void)arg;
    if (common.json)
        out_members(MEMBERS(MEMBER_TEXT("what", what), MEMBER_NUMBER("in_old", in_old),
                            MEMBER_NUMBER("in_pool", in_pool)));
    else if (options.compare)
        out_text("%-22s %10lld %10lld%s\n", what, (long long)in_old, (long long)in_pool,
                 in_old == in_pool ? "" : "  differs");
    else if (!common.quiet)
        out_text("%s %lld\n", what, (long long)in_old);
}

/* The whole file, which is small. */
static enum cli_exit read_mapping(const char *path, char *text, size_t size) {
    FILE *file = fopen(path, "rb");
    size_t length = file ? fread(text, 1, size, file) : 0;
    bool bad = !file || ferror(file);

    if (bad) (void)cli_fail(EXIT_IO, "%s: %s", path, strerror(errno));
    if (file) (void)fclose(file);
    if (bad) return EXIT_IO;
    if (length == size || memchr(text, '\0', length))
        return cli_fail(EXIT_INPUT, "%s: no mapping: longer than %zu bytes, or with a zero byte", path, size);
    text[length] = '\0';
    return EXIT_DONE;
}

/* Of a wrong mapping the library's text names the line. */
static enum cli_exit fail(const char *path, tp_status status) {
    if (status == TP_MISUSE) return cli_fail(EXIT_INPUT, "%s: %s", path, tp_last_error()->text);
    if (status != TP_CONFLICT || (!options.compare && !options.remove)) return cli_fail_tp(status);
    return cli_fail(options.compare ? EXIT_TOTALS : EXIT_BAD, "%s: %s", path, tp_last_error()->text);
}

/* Where the connection string names no dialect, the server does. */
static enum cli_exit print(const char *path, const char *mapping) {
    tp_env *env = NULL;
    tp_conn *conn = NULL;
    enum cli_exit code = args_open_env(&env);

    if (code != EXIT_DONE) return code;
    tp_status status = tp_conn_open(env, &conn);
    if (status == TP_OK) status = tp_adopt_print(env, mapping, write_text, NULL);
    code = status == TP_OK ? EXIT_DONE : fail(path, status);
    tp_conn_close(conn);
    tp_env_close(env);
    return code;
}

enum cli_exit adopt_command(const char **args) {
    enum { SIZE = 65536 };
    static char text[SIZE];
    tp_adopt_step step = options.apply     ? TP_ADOPT_APPLY
                         : options.copy    ? TP_ADOPT_COPY
                         : options.compare ? TP_ADOPT_COMPARE
                                           : TP_ADOPT_REMOVE;
    enum cli_exit code;

    if (options.apply + options.copy + options.compare + options.remove > 1)
        args_fail("one of --apply, --copy, --compare and --remove at a time");
    code = read_mapping(args[0], text, sizeof text);
    if (code != EXIT_DONE) return code;
    if (!options.apply && !options.copy && !options.compare && !options.remove) return print(args[0], text);
    operator_acts(args_connect(), options.who, options.why);
    tp_status status = tp_adopt(args_connect(), text, step, operator_name(options.who), write_counts, NULL);
    return status == TP_OK ? EXIT_DONE : fail(args[0], status);
}
