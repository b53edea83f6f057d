/* taskpool schema install|check|print. The scripts are the library's. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

#include "common/args.h"
#include "common/examples.h"

static struct {
    char *dialect;
    char *prefix;
} options;

static struct poptOption table[] = {
    OPTION_TEXT("dialect", '\0', &options.dialect, "NAME",
                "print: the scripts of " EXAMPLE_DIALECTS "; no database is asked"),
    OPTION_TEXT("prefix", '\0', &options.prefix, "TEXT",
                "print with --dialect: in front of every table name (tp_)"),
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

const struct usage schema_usage = {
    "install|check|print",
    "install  creates the tables that are missing; drops no data; may be run again\n"
    "check    says whether the tables are there and of the right version (exit code 5: no)\n"
    "print    shows the SQL that install would run, for a DBA to read or to run\n",
    "  taskpool schema install\n"
    "  taskpool schema print --dialect " EXAMPLE_DIALECT " --prefix pay_ > taskpool.sql\n",
    table,
    1,
    1,
};

static enum cli_exit report_version(bool was_there) {
    if (common.json)
        out_members(
            MEMBERS(MEMBER_NUMBER("version", tp_schema_version()), MEMBER_YES_NO("was_there", was_there)));
    else if (!common.quiet)
        out_text("schema version %d %s\n", tp_schema_version(), was_there ? "is there" : "installed");
    return EXIT_DONE;
}

static enum cli_exit install(tp_conn *conn) {
    bool was_there = tp_schema_check(conn) == TP_OK;
    tp_status status = tp_schema_install(conn);

    return status == TP_OK ? report_version(was_there) : cli_fail_tp(status);
}

static enum cli_exit check(tp_conn *conn) {
    tp_status status = tp_schema_check(conn);

    return status == TP_OK ? report_version(true) : cli_fail_tp(status);
}

static void write_text(const char *text, size_t length, void *arg) {
    (void)arg;
    out_bytes(text, length);
}

/* Where the connection string names no dialect, the server does. */
static enum cli_exit print_scripts(tp_env *env) {
    tp_conn *conn = NULL;
    tp_status status = tp_schema_print(env, write_text, NULL);

    if (status == TP_MISUSE) {
        status = tp_conn_open(env, &conn);
        if (status == TP_OK) status = tp_schema_print(env, write_text, NULL);
    }
    if (status != TP_OK) (void)cli_fail_tp(status);
    tp_conn_close(conn);
    return cli_exit_of(status);
}

/* By --dialect, without a database. */
static enum cli_exit open_by_name(tp_env **env) {
    char text[128];
    tp_status status;

    if (strpbrk(options.dialect, ";{}=") || strlen(options.dialect) > 32)
        args_fail("--dialect must be " EXAMPLE_DIALECTS);
    if (options.prefix && (strpbrk(options.prefix, ";{}=") || strlen(options.prefix) > TP_PREFIX_MAX))
        args_fail("--prefix must be a letter and up to 15 letters, digits or _");
    snprintf(text, sizeof text, "Dialect=%s;Prefix=%s", options.dialect,
             options.prefix ? options.prefix : "tp_");
    status = tp_env_open(text, env);
    return status == TP_OK ? EXIT_DONE : cli_fail_tp(status);
}

static enum cli_exit print(void) {
    tp_env *env = NULL;
    enum cli_exit code;

    if (common.json) args_fail("print gives SQL; --json is for install and check");
    if (options.prefix && !options.dialect)
        args_fail("--prefix belongs to --dialect; a connection string has Prefix=");
    code = options.dialect ? open_by_name(&env) : args_open_env(&env);
    if (code == EXIT_DONE) code = print_scripts(env);
    tp_env_close(env);
    return code;
}

enum cli_exit schema_command(const char **args) {
    if (strcmp(args[0], "print") == 0) return print();
    if (options.dialect || options.prefix)
        args_fail("--dialect and --prefix are for print; a connection string has Dialect= and Prefix=");
    if (strcmp(args[0], "install") == 0) return install(args_connect_unchecked());
    if (strcmp(args[0], "check") == 0) return check(args_connect_unchecked());
    args_fail("schema takes install, check or print");
}
