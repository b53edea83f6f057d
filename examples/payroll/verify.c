/* Does what came out agree with what went in? The control file was written before anything ran. */
#include "payroll.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct control {
    char run[17];
    int64_t employees, due, total_cents, failed, skipped;
};

struct books {
    int64_t payments, total_cents, paid_twice; /* of the payment table */
    int64_t done, skipped, failed, open;       /* of the pools */
};

/* ---- What must come out ------------------------------------------------------------------------------ */

/* run=2026-11, due=1998 and so on. */
static void read_line(const char *line, struct control *control) {
    const struct {
        const char *key;
        int64_t *number;
    } numbers[] = {
        {"employees=", &control->employees}, {"due=", &control->due},
        {"failed=", &control->failed},       {"total_cents=", &control->total_cents},
        {"skipped=", &control->skipped},
    };

    if (sscanf(line, "run=%16[0-9A-Za-z-]", control->run) == 1) return;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        size_t length = strlen(numbers[i].key);
        char *end = NULL;

        if (strncmp(line, numbers[i].key, length) != 0) continue;
        *numbers[i].number = strtoll(line + length, &end, 10);
        if (end == line + length || *end != '\n') *numbers[i].number = -1;
    }
}

static bool read_control(const char *path, struct control *control) {
    char line[100];
    FILE *file = path ? fopen(path, "r") : NULL;

    *control = (struct control){"", -1, -1, -1, -1, -1};
    while (file && fgets(line, sizeof line, file))
        read_line(line, control);
    if (file) (void)fclose(file);
    if (control->run[0] && control->employees >= 0 && control->due >= 0 && control->total_cents >= 0 &&
        control->failed >= 0 && control->skipped >= 0)
        return true;
    fprintf(stderr, "payroll: %s is no control file of make_employees.sh; name it with --control\n",
            path ? path : "(none)");
    return false;
}

/* ---- What came out ----------------------------------------------------------------------------------- */

static bool count_payments(tp_conn *conn, const char *table, const char *run, struct books *books) {
    static const char *const asks[] = {
        "SELECT COUNT(*) FROM %s WHERE run = '%s'",
        "SELECT COALESCE(SUM(amount_cents), 0) FROM %s WHERE run = '%s'",
        ("SELECT COUNT(*) FROM (SELECT employee FROM %s WHERE run = '%s' GROUP BY employee"
         " HAVING COUNT(*) > 1) twice"),
    };
    int64_t *const answers[] = {&books->payments, &books->total_cents, &books->paid_twice};
    char sql[300];
    char error[DB_TEXT];

    for (size_t i = 0; i < sizeof asks / sizeof asks[0]; i++) {
        snprintf(sql, sizeof sql, asks[i], table, run);
        if (db_number(conn, sql, answers[i], error)) continue;
        fprintf(stderr, "payroll: cannot read table %s: %s\n", table, error);
        return false;
    }
    return true;
}

static void count_pool(const tp_stat *stat, void *arg) {
    struct books *books = arg;

    if (strcmp(stat->handler, HANDLER) != 0) return;
    if (strcmp(stat->pool, "failed") == 0)
        books->failed += stat->count;
    else if (strcmp(stat->pool, "pending") == 0)
        books->open += stat->count;
    else if (strcmp(stat->state, "skipped") == 0)
        books->skipped += stat->count;
    else
        books->done += stat->count;
}

/* In one transaction, which only reads. */
static bool read_books(tp_conn *conn, const char *table, const char *run, struct books *books) {
    tp_status status = tp_begin(conn);
    bool counted = false;

    memset(books, 0, sizeof *books);
    if (status == TP_OK) status = tp_stats(conn, 1, count_pool, books);
    if (status == TP_OK) {
        counted = count_payments(conn, table, run, books);
        status = tp_rollback(conn);
    }
    if (status != TP_OK) fprintf(stderr, "payroll: %s\n", tp_last_error()->text);
    return status == TP_OK && counted;
}

/* ---- The comparison ---------------------------------------------------------------------------------- */

static bool check(const char *what, int64_t found, int64_t wanted) {
    bool ok = found == wanted;

    printf("  %-34s %12" PRId64, what, found);
    if (ok)
        printf("   ok\n");
    else
        printf("   WRONG, must be %" PRId64 "\n", wanted);
    return ok;
}

static bool check_money(const char *what, int64_t found, int64_t wanted) {
    bool ok = found == wanted;

    printf("  %-34s %9" PRId64 ".%02" PRId64, what, found / 100, found % 100);
    if (ok)
        printf("   ok, the control total\n");
    else
        printf("   WRONG, the control total is %" PRId64 ".%02" PRId64 "\n", wanted / 100, wanted % 100);
    return ok;
}

/* Every line is printed, whatever the others say. A file that was read again made a task more for each
 * employee; for those who had been paid it was skipped. */
static bool compare(const struct control *control, const struct books *books, int64_t runs) {
    int64_t again = runs - 1;
    bool ok = true;

    printf("  %-34s %12" PRId64 "\n", "employees in the file", control->employees);
    printf("  %-34s %12" PRId64 "\n", "of these due for payment", control->due);
    ok &= check("payments made", books->payments, control->due);
    ok &= check_money("sum of all payments", books->total_cents, control->total_cents);
    ok &= check("employees paid twice", books->paid_twice, 0);
    ok &= check("tasks done", books->done, control->due);
    if (again)
        ok &= check("tasks skipped (left; paid before)", books->skipped,
                    control->skipped * runs + control->due * again);
    else
        ok &= check("tasks skipped (left the company)", books->skipped, control->skipped);
    ok &= check("tasks failed (account closed)", books->failed, control->failed * runs);
    ok &= check("tasks still open", books->open, 0);
    ok &= check("tasks in all pools together", books->done + books->skipped + books->failed + books->open,
                control->employees * runs);
    return ok;
}

bool verify(tp_conn *conn, const struct settings *settings) {
    struct control control;
    struct books books;

    if (!read_control(settings->control, &control) || !read_books(conn, settings->table, control.run, &books))
        return false;
    if (compare(&control, &books, settings->runs)) return true;
    fflush(stdout);
    fprintf(stderr, "payroll: the books do not agree, see the lines marked WRONG\n");
    return false;
}
