/* The steps of an adoption: each row of the old table is one task, gets one result, and is given back once,
 * whichever call fails. */
#include <stdio.h>

#include "faults/operation.h"

enum { ROWS = 3 };

/* The old table is made once, like the links of it; each run empties them. */
static const char *mapping(bool alone) {
    static char text[600];
    int length = snprintf(text, sizeof text,
                          "name = fx\ntable = \"%sold\"\nkey = id\nhandler = '%s'\nparams = data\n%s",
                          pool.prefix, pool.handler, "");
    snprintf(text + length, sizeof text - (size_t)length, "%s",
             alone ? "alone = yes\ndone = delete\nfailed = delete\n"
                   : "state = status\nopen = 0\ntaken = 9\ndone = 1\nfailed = 2\n");
    return text;
}

static tp_status step_on(tp_conn *conn, bool alone, tp_adopt_step step) {
    return tp_adopt(conn, mapping(alone), step, "ann", NULL, NULL);
}

static void drop_links(void) {
    forget_all(pool.a);
    forget_all(pool.b);
    (void)sql_try(pool.eye, "DROP TABLE tp_adopt_fx");
    (void)sql_try(pool.eye, "DROP TABLE tp_adopted_fx");
}

STEP(drop_all, drop_links(); (void)sql_try(pool.eye, "DROP TABLE tp_old"))

/* Three open rows, and no links. */
static void with_rows(struct work *work) {
    drop_all(work);
    sql_run(pool.eye, "CREATE TABLE tp_old (id INTEGER PRIMARY KEY, data VARCHAR(40), status INTEGER)");
    for (int i = 1; i <= ROWS; i++)
        sql_run(pool.eye, "INSERT INTO tp_old (id, data, status) VALUES (%d, 'row', 0)", i);
}

static void with_links(struct work *work) {
    with_rows(work);
    must(step_on(pool.b, false, TP_ADOPT_APPLY));
}

static void with_tasks(struct work *work) {
    with_links(work);
    must(step_on(pool.b, false, TP_ADOPT_COPY));
    work_note_made(work);
}

static void with_results(struct work *work) {
    with_links(work);
    must(step_on(pool.b, false, TP_ADOPT_COPY));
    work_take(work, ROWS);
    for (size_t i = 0; i < ROWS; i++)
        must(tp_complete(pool.b, work->tasks[i]));
}

static void with_results_alone(struct work *work) {
    with_rows(work);
    must(step_on(pool.b, true, TP_ADOPT_APPLY));
    must(step_on(pool.b, true, TP_ADOPT_COPY));
    work_take(work, ROWS);
    for (size_t i = 0; i < ROWS; i++)
        must(tp_complete(pool.b, work->tasks[i]));
}

static int64_t old_rows(const char *condition) {
    return sql_number(pool.eye, "SELECT COUNT(*) FROM tp_old WHERE %s", condition);
}

static int64_t links(const char *stage) {
    return sql_number(pool.eye, "SELECT COUNT(*) FROM tp_adopt_fx WHERE link_stage = '%s'", stage);
}

CALL(apply, step_on(work->conn, false, TP_ADOPT_APPLY))
STEP(no_link_yet, want_number(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_adopt_fx"), 0))

CALL(copy, step_on(work->conn, false, TP_ADOPT_COPY))
CALL(copy_alone, step_on(work->conn, true, TP_ADOPT_COPY))

static void each_is_a_task(struct work *work) {
    want_number(old_rows("status = 9"), ROWS);
    want_number(links("pool"), ROWS);
    want_number(work->id_count, ROWS);
    want_all(work, "pending", "pending", 0);
}

static void each_has_its_result(struct work *work) {
    want_number(old_rows("status = 1"), ROWS);
    want_number(links("back"), ROWS);
    want_number(work->id_count, ROWS);
}

static void each_is_deleted(struct work *work) {
    want_number(old_rows("1 = 1"), 0);
    want_number(links("back"), ROWS);
    want_number(work->id_count, ROWS);
}

CALL(compare, step_on(work->conn, false, TP_ADOPT_COMPARE))
CALL(give_back, step_on(work->conn, false, TP_ADOPT_REMOVE))

static void each_is_open_again(struct work *work) {
    want_number(old_rows("status = 0"), ROWS);
    want_all(work, "finished", "skipped", 0);
    if (sql_try(pool.eye, "SELECT COUNT(*) FROM tp_adopt_fx") ||
        sql_try(pool.eye, "SELECT COUNT(*) FROM tp_adopted_fx"))
        wrong("the links are there");
}

static const struct operation operations[] = {
    {"adopt, apply", TRAIT_PIECEMEAL | TRAIT_OWN_IDS, with_rows, apply, TP_OK, no_link_yet,
     .clear = drop_all},
    {"adopt, copy", TRAIT_PIECEMEAL | TRAIT_OWN_IDS, with_links, copy, TP_OK, each_is_a_task,
     .finish = work_note_made, .clear = drop_all},
    {"adopt, results", TRAIT_PIECEMEAL | TRAIT_OWN_IDS, with_results, copy, TP_OK, each_has_its_result,
     .clear = drop_all},
    {"adopt, results, alone", TRAIT_PIECEMEAL | TRAIT_OWN_IDS, with_results_alone, copy_alone, TP_OK,
     each_is_deleted, .clear = drop_all},
    {"adopt, compare", TRAIT_OWN_IDS, with_tasks, compare, TP_OK, nothing_changed, .clear = drop_all},
    {"adopt, remove", TRAIT_PIECEMEAL | TRAIT_OWN_IDS, with_tasks, give_back, TP_OK, each_is_open_again,
     .clear = drop_all},
};

OPERATION_GROUP(adopt, test_faults__an_adoption_takes_each_row_once_whichever_call_fails, operations);
