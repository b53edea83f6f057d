/* Adoption beside an application that changes its table meanwhile: a row is one task, whatever it does. */
#include "suite.h"

#include "support/faults.h"

THEME(adopt, ONCE);

static const char *mapping(void) {
    static char text[400];
    snprintf(text, sizeof text,
             "name = meets\ntable = \"%sold\"\nkey = id\nhandler = '%s'\nparams = data\nalone = yes\n"
             "only = kind = 1\ndone = delete\nfailed = delete\n",
             pool.prefix, pool.handler);
    return text;
}

static void step(tp_adopt_step step) {
    must(tp_adopt(pool.a, mapping(), step, "ann", NULL, NULL));
}

static void drop(void *nothing) {
    (void)nothing;
    (void)sql_try(pool.eye, "DROP TABLE tp_adopt_meets");
    (void)sql_try(pool.eye, "DROP TABLE tp_old");
}

static void delete_one(struct tpi_link *link, void *arg) {
    (void)link;
    (void)arg;
    (void)sql_try(pool.eye, "DELETE FROM tp_old WHERE id = 2");
}

static int64_t tasks_for(const char *key) {
    return sql_number(pool.eye, "SELECT COUNT(*) FROM tp_pending WHERE handler = '%s' AND biz_key = '%s'",
                      pool.handler, key);
}

/* A round, in which row 2 is deleted before that statement. True: there is one. */
static bool round_with(int at) {
    sql_run(pool.eye, "DELETE FROM tp_pending");
    sql_run(pool.eye, "DELETE FROM tp_adopt_meets");
    sql_run(pool.eye, "DELETE FROM tp_old");
    for (int i = 1; i <= 3; i++)
        sql_run(pool.eye, "INSERT INTO tp_old (id, kind, data) VALUES (%d, 1, 'row')", i);
    faults_open();
    faults_clear();
    size_t aim = faults_at(.statement = "adopt", .skip = at, .times = 1, .meet = delete_one);
    step(TP_ADOPT_COPY);
    bool met = faults_hits(aim) > 0;
    faults_clear();
    return met;
}

TEST(test_adopt__a_row_deleted_while_it_is_copied_can_be_put_in_again) {
    if (!pool_on_oracle() && !prepared()) skip(); /* the others lock the rows that they read */
    at_end(drop, NULL);
    drop(NULL);
    sql_run(pool.eye, "CREATE TABLE tp_old (id INTEGER PRIMARY KEY, kind INTEGER, data VARCHAR(40))");
    step(TP_ADOPT_APPLY);
    for (int at = 0; round_with(at); at++) {
        step(TP_ADOPT_COPY);
        expect_number(tasks_for("2"), 0);
        sql_run(pool.eye, "INSERT INTO tp_old (id, kind, data) VALUES (2, 1, 'again')");
        step(TP_ADOPT_COPY);
        for (int i = 1; i <= 3; i++)
            expect_number(tasks_for((const char[]){(char)('0' + i), '\0'}), 1);
    }
}
