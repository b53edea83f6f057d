/* payroll setup | work | verify: a payroll run as a user of taskpool would write it. This file reads the
 * command line and creates the payment table; see payroll.h for the others. */
#include "payroll.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_NAME_MAX 30

static const char help[] =
    "Usage: payroll setup|work|verify [OPTIONS]\n"
    "  setup    creates the payment table\n"
    "  work     pays the employees whose tasks are in the pool\n"
    "  verify   compares payments and pools with the control file; exit code 1 when they do not agree\n"
    "Options:\n"
    "  --table NAME      payment table (the variable PAYROLL_TABLE, or payment)\n"
    "  --threads N       work: employees paid at the same time (4)\n"
    "  --lease-ms N      work: how long a claim holds without sign of life (60000)\n"
    "  --retry-ms LIST   work: pauses after failures, in milliseconds (60000,300000,1200000)\n"
    "  --pay-ms N        work: how long the bank takes to answer (0)\n"
    "  --drain           work: end when nothing is left to do\n"
    "  --verbose         work: print a line for every task\n"
    "  --control FILE    verify: the control file of make_employees.sh\n"
    "  --runs N          verify: how often the file was put into the pool (1)\n"
    "The database is the ODBC connection string in the variable TASKPOOL_DSN.\n";

/* ---- Options ----------------------------------------------------------------------------------------- */

static bool refuse(const char *what, const char *text) {
    fprintf(stderr, "payroll: %s: \"%s\"; see payroll --help\n", what, text);
    return false;
}

static bool read_number(const char *text, int64_t most, int64_t *number) {
    char *end = NULL;
    long long value = strtoll(text, &end, 10);

    if (end == text || *end != '\0' || value < 0 || value > most) return refuse("not a fitting number", text);
    *number = value;
    return true;
}

static bool read_retries(const char *list, struct settings *settings) {
    const char *at = list;

    for (settings->retries = 0; settings->retries < RETRIES_MAX; at++) {
        char *end = NULL;
        long long value = strtoll(at, &end, 10);

        if (end == at || value < 0) break;
        settings->retry_ms[settings->retries++] = value;
        at = end;
        if (*at == '\0') return true;
        if (*at != ',') break;
    }
    return refuse("--retry-ms takes up to 8 numbers with commas between them", list);
}

/* The name becomes part of SQL text, so nothing but a plain name is taken. */
static bool check_table(const char *name) {
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    size_t length = strspn(name, allowed);

    if (length && length <= TABLE_NAME_MAX && name[length] == '\0' && strspn(name, "0123456789_") == 0)
        return true;
    return refuse("not a table name of at most 30 letters, digits and _", name);
}

static const struct option options[] = {
    {"table", required_argument, NULL, 't'},
    {"threads", required_argument, NULL, 'n'},
    {"lease-ms", required_argument, NULL, 'l'},
    {"retry-ms", required_argument, NULL, 'r'},
    {"pay-ms", required_argument, NULL, 'p'},
    {"control", required_argument, NULL, 'c'},
    {"drain", no_argument, NULL, 'd'},
    {"verbose", no_argument, NULL, 'v'},
    {"runs", required_argument, NULL, 'R'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static bool take_option(int letter, struct settings *settings) {
    int64_t threads = 0;

    switch (letter) {
    case 't':
        settings->table = optarg;
        return true;
    case 'c':
        settings->control = optarg;
        return true;
    case 'n':
        if (!read_number(optarg, 64, &threads)) return false;
        settings->threads = (int)threads;
        return true;
    case 'l':
        return read_number(optarg, 3600000, &settings->lease_ms);
    case 'p':
        return read_number(optarg, 60000, &settings->pay_ms);
    case 'R':
        return read_number(optarg, 100, &settings->runs);
    case 'r':
        return read_retries(optarg, settings);
    case 'd':
        settings->drain = 1;
        return true;
    case 'v':
        settings->verbose = 1;
        return true;
    default:
        return false;
    }
}

/* The command's name, or NULL. */
static const char *read_arguments(int argc, char **argv, struct settings *settings) {
    int letter;

    while ((letter = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (letter == 'h') {
            printf("%s", help);
            exit(EXIT_SUCCESS);
        }
        if (!take_option(letter, settings)) return NULL;
    }
    if (!check_table(settings->table)) return NULL;
    if (argc - optind == 1) return argv[optind];
    fprintf(stderr, "%s", help);
    return NULL;
}

/* ---- Commands ---------------------------------------------------------------------------------------- */

/* The employee is no key on purpose: a second payment would be stored and seen, not refused and hidden. */
static bool setup(tp_conn *conn, const struct settings *settings) {
    const char *dbms = tp_conn_about(conn)->dbms_name;
    bool utf8mb4 = strstr(dbms, "MariaDB") || strstr(dbms, "MySQL");
    char sql[400];
    char error[DB_TEXT];
    bool ok;

    snprintf(sql, sizeof sql,
             "CREATE TABLE %s (run VARCHAR(16) NOT NULL, employee VARCHAR(16) NOT NULL, name VARCHAR(200) "
             "NOT NULL,"
             " amount_cents DECIMAL(15,0) NOT NULL, task_id VARCHAR(36) NOT NULL)%s",
             settings->table, utf8mb4 ? " DEFAULT CHARACTER SET utf8mb4" : "");
    ok = db_exec(conn, sql, error); /* outside a transaction: many databases commit DDL by themselves */
    if (!ok) fprintf(stderr, "payroll: cannot create table %s: %s\n", settings->table, error);
    return ok;
}

static bool with_connection(tp_env *env, const struct settings *settings,
                            bool (*command)(tp_conn *, const struct settings *)) {
    tp_conn *conn = NULL;
    bool ok = false;

    if (tp_conn_open(env, &conn) == TP_OK)
        ok = command(conn, settings);
    else
        fprintf(stderr, "payroll: %s\n", tp_last_error()->text);
    tp_conn_close(conn);
    return ok;
}

static bool run_command(const char *name, tp_env *env, struct settings *settings) {
    if (strcmp(name, "setup") == 0) return with_connection(env, settings, setup);
    if (strcmp(name, "verify") == 0) return with_connection(env, settings, verify);
    if (strcmp(name, "work") == 0) return work(env, settings);
    return refuse("no such command", name);
}

int main(int argc, char **argv) {
    struct settings settings = {.table = getenv("PAYROLL_TABLE"),
                                .runs = 1,
                                .lease_ms = 60000,
                                .retry_ms = {60000, 300000, 1200000},
                                .retries = 3};
    const char *command;
    tp_env *env = NULL;
    bool ok;

    if (!settings.table) settings.table = "payment";
    command = read_arguments(argc, argv, &settings);
    if (!command) return 2;
    if (tp_env_open(getenv("TASKPOOL_DSN"), &env) != TP_OK) {
        fprintf(stderr, "payroll: TASKPOOL_DSN: %s\n", tp_last_error()->text);
        return 2;
    }
    ok = run_command(command, env, &settings);
    tp_env_close(env);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
