/* When the console takes its database for one that does not answer: by a clock that each statement moves on.
 */
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clocks.h"
#include "console/overview.h"
#include "console/reader.h"
#include "support/test.h"

enum { LIMIT_MS = 300000 };

static struct reader *reader;
static int64_t start_ms; /* the clock moves with statements alone */
static sem_t begun;
static atomic_int ahead_ms, statement_ms, statements, seen_away;

int64_t __real_clock_ms(void);
int64_t __wrap_clock_ms(void);
int64_t __wrap_clock_ms(void) {
    return start_ms + ahead_ms;
}

/* Somebody looks just before the answer comes. */
static void take_long(void) {
    char error[READER_ERROR_SIZE];

    statements++;
    ahead_ms += statement_ms;
    seen_away |= reader_away(reader, error);
}

tp_status __wrap_tp_conn_open(tp_env *env, tp_conn **conn);
tp_status __wrap_tp_conn_open(tp_env *env, tp_conn **conn) {
    static int any;

    (void)env;
    *conn = (tp_conn *)(void *)&any; /* nobody looks into it */
    while (sem_wait(&begun) != 0)
        continue;
    return TP_OK;
}

void __wrap_tp_conn_close(tp_conn *conn);
void __wrap_tp_conn_close(tp_conn *conn) {
    (void)conn;
}

tp_status __wrap_tp_schema_check(tp_conn *conn);
tp_status __wrap_tp_schema_check(tp_conn *conn) {
    (void)conn;
    return TP_OK;
}

const tp_conn_info *__wrap_tp_conn_about(const tp_conn *conn);
const tp_conn_info *__wrap_tp_conn_about(const tp_conn *conn) {
    static const tp_conn_info about = {.dialect = "none"};

    (void)conn;
    return &about;
}

tp_status __wrap_tp_now(tp_conn *conn, int64_t *now);
tp_status __wrap_tp_now(tp_conn *conn, int64_t *now) {
    (void)conn;
    *now = 1;
    take_long();
    return TP_OK;
}

tp_status __wrap_figures_read_tasks(tp_conn *conn, struct figures *figures, char *const *names,
                                    int64_t window_ms);
tp_status __wrap_figures_read_tasks(tp_conn *conn, struct figures *figures, char *const *names,
                                    int64_t window_ms) {
    (void)conn, (void)figures, (void)names, (void)window_ms;
    take_long();
    return TP_OK;
}

tp_status __wrap_figures_read_rest(tp_conn *conn, struct figures *figures);
tp_status __wrap_figures_read_rest(tp_conn *conn, struct figures *figures) {
    (void)conn, (void)figures;
    take_long();
    return TP_OK;
}

tp_status __wrap_overview_read(tp_conn *conn, const struct figures *figures, char **text);
tp_status __wrap_overview_read(tp_conn *conn, const struct figures *figures, char **text) {
    (void)conn, (void)figures;
    take_long();
    *text = strdup("{}");
    return TP_OK;
}

static void read_once(int each_ms) {
    char error[READER_ERROR_SIZE];
    uint64_t serial = 0;

    start_ms = __real_clock_ms();
    ahead_ms = statements = seen_away = 0;
    statement_ms = each_ms;
    expect_number(sem_init(&begun, 0, 0), 0);
    reader = reader_start(NULL);
    (void)sem_post(&begun);
    free(reader_overview(reader, &serial, LIMIT_MS, error));
    sure(serial >= 1, "nothing was read");
    sure(reader_stop(reader), "it does not end");
    sure(statements >= 5, "%d statements", statements);
}

TEST(test_reader__takes_a_database_that_answers_slowly_for_one_that_answers) {
    read_once(6000);
    expect_number(seen_away, 0);
}

TEST(test_reader__sees_a_database_that_does_not_answer) {
    read_once(11000);
    expect_number(seen_away, 1);
}
