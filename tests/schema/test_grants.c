/* sql/DIALECT/admin/grants.sql with real users, one of each kind, made by the server's administrator and
 * removed again: what each can do, and what it is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/uuid.h"
#include "support/check.h"
#include "support/pool.h"
#include "support/sql.h"

enum kind { PRODUCER, WORKER, VIEWER, REQUESTER, OPERATOR, APPROVER, ADMINISTRATOR, KINDS };
static const char *const kinds[KINDS] = {"producer", "worker",   "viewer",       "requester",
                                         "operator", "approver", "administrator"};

/* Connections of the users and of the server's administrator: what the library does goes over conn, what is
 * done past it over by_hand. */
struct user {
    tp_env *env;
    tp_conn *conn, *by_hand;
};
static struct user users[KINDS], admin;
static char password[TPI_UUID_SIZE];

static void open_as(struct user *user, const char *dsn) {
    must(tp_env_open(dsn, &user->env));
    must(tp_conn_open(user->env, &user->conn));
    must(tp_conn_open(user->env, &user->by_hand));
}

static void close_as(struct user *user) {
    tp_conn_close(user->conn);
    tp_conn_close(user->by_hand);
    tp_env_close(user->env);
}

/* ---- Users ------------------------------------------------------------------------------------------- */

static void open_admin(void) {
    char dsn[2200];
    const char *socket =
        getenv(pool_on_postgres() ? "TASKPOOL_TEST_PG_SOCKET" : "TASKPOOL_TEST_MARIADB_SOCKET");
    if (!socket) fail_msg("the administrator's socket is not known: tools/db_up.sh tells it");
    dsn_with(pool.dsn, "PWD", NULL, dsn, sizeof dsn);
    dsn_with(dsn, "UID", pool_on_postgres() ? "postgres" : "root", dsn, sizeof dsn);
    if (pool_on_postgres()) {
        dsn_with(dsn, "Server", socket, dsn, sizeof dsn);
    } else {
        dsn_with(dsn, "Server", NULL, dsn, sizeof dsn);
        dsn_with(dsn, "Port", NULL, dsn, sizeof dsn);
        dsn_with(dsn, "Socket", socket, dsn, sizeof dsn);
    }
    open_as(&admin, dsn);
}

/* The stand-in for Oracle wants to hear what kind of thing is executed, and has no READ. */
static void run_grant(const char *statement) {
    static const char *const ours[] = {"GRANT EXECUTE ON ", "GRANT READ ON "};
    static const char *const its[] = {"GRANT EXECUTE ON FUNCTION ", "GRANT SELECT ON "};
    char text[1000];
    snprintf(text, sizeof text, "%s", statement);
    for (size_t i = 0; i < 2; i++)
        if (strcmp(pool.entry, "oramode") == 0 && strncmp(statement, ours[i], strlen(ours[i])) == 0)
            snprintf(text, sizeof text, "%s%s", its[i], statement + strlen(ours[i]));
    sql_run(admin.by_hand, "%s", text);
}

/* Each statement of the script, or of those that it names for one kind of user, ends its line. */
static int run_grants(const char *begin, const char *end) {
    char path[400], line[1000];
    int count = 0;
    snprintf(path, sizeof path, TASKPOOL_SOURCE_DIR "/sql/%s/admin/grants.sql",
             tp_conn_about(pool.a)->dialect);
    FILE *file = fopen(path, "r");
    if (!file) fail_msg("cannot read %s", path);
    while (fgets(line, sizeof line, file)) {
        char *at = strstr(line, end);
        if (strncmp(line, begin, strlen(begin)) != 0 || !at) continue;
        if (!*begin && strncmp(line, "--", 2) == 0) continue;
        *strrchr(line, ';') = '\0';
        run_grant(line + strlen(begin));
        count++;
    }
    fclose(file);
    return count;
}

static void run_grants_script(void) {
    assert_in_range(run_grants("", ";\n"), 60, 140);
}

/* The password goes over the connection only. */
static void make_user(enum kind kind) {
    const char *name = kinds[kind];
    if (pool_on_postgres()) {
        sql_run(admin.by_hand, "CREATE ROLE tp_u%s LOGIN PASSWORD '%s' IN ROLE tp_%s", name, password, name);
        return;
    }
    sql_run(admin.by_hand, "CREATE USER tp_u%s@'%%' IDENTIFIED BY '%s'", name, password);
    sql_run(admin.by_hand, "GRANT tp_%s TO tp_u%s@'%%'", name, name);
    sql_run(admin.by_hand, "SET DEFAULT ROLE tp_%s %s tp_u%s@'%%'", name, pool_on_mysql() ? "TO" : "FOR",
            name);
}

static void open_user(enum kind kind) {
    char dsn[2200], name[40];
    snprintf(name, sizeof name, "%su%s", pool.prefix, kinds[kind]);
    dsn_with(pool.dsn, "UID", name, dsn, sizeof dsn);
    dsn_with(dsn, "PWD", password, dsn, sizeof dsn);
    open_as(&users[kind], dsn);
}

static void remove_user(enum kind kind) {
    const char *name = kinds[kind];
    close_as(&users[kind]);
    (void)sql_try(admin.by_hand, pool_on_postgres() ? "DROP ROLE tp_u%s" : "DROP USER tp_u%s@'%%'", name);
    if (pool_on_postgres()) (void)sql_try(admin.by_hand, "DROP OWNED BY tp_%s", name);
    (void)sql_try(admin.by_hand, "DROP ROLE tp_%s", name);
}

static int close_all(void **state) {
    (void)state;
    if (admin.by_hand)
        for (int i = 0; i < KINDS; i++)
            remove_user((enum kind)i);
    close_as(&admin);
    pool_close();
    return 0;
}

static int open_all(void **state) {
    (void)state;
    pool_open_bare(NULL);
    pool_install();
    open_admin();
    tpi_uuid_random(password);
    run_grants_script();
    if (pool_speaks("mysql")) run_grants_script(); /* safe to run again */
    for (int i = 0; i < KINDS; i++)
        make_user((enum kind)i);
    for (int i = 0; i < KINDS; i++)
        open_user((enum kind)i);
    return 0;
}

/* ---- Short ways -------------------------------------------------------------------------------------- */

#define may_not(call) check_may_not((call), #call)
static void check_may_not(tp_status status, const char *call) {
    if (status != TP_DB || !strstr(tp_last_error()->text, "permission denied"))
        fail_msg("%s: %s: %s", call, tp_status_name(status), tp_last_error()->text);
}

static void refused(enum kind kind, const char *sql) {
    if (sql_try(users[kind].by_hand, "%s", sql)) fail_msg("a %s may %s", kinds[kind], sql);
}

static void allowed(enum kind kind, const char *sql) {
    sql_run(users[kind].by_hand, "%s", sql);
}

static void put(const char *handler, const char *key) {
    tp_new_task task = TP_NEW_TASK_INIT;
    task.handler = handler;
    task.params = "secret";
    task.dedup_key = key;
    task.due_at = 1000000000000;
    must(tp_enqueue(users[PRODUCER].conn, &task));
}

static tp_status claim(enum kind kind, const char *handler, const char *plan, tp_batch **batch) {
    tp_claim_request request = TP_CLAIM_INIT;
    request.handlers = &handler;
    request.handler_count = 1;
    request.plan = plan;
    return tp_claim(users[kind].conn, &request, batch);
}

static tp_status operate(enum kind kind, tp_action action, const char *handler, const char *from,
                         size_t done) {
    tp_selection selection = TP_SELECTION_INIT;
    tp_operated result = TP_OPERATED_INIT;
    selection.handler = handler;
    selection.pool = from;
    selection.who = "test_grants";
    tp_status status = tp_operate(users[kind].conn, action, &selection, &result);
    if (status == TP_OK) assert_int_equal(result.done, done);
    return status;
}

/* ---- Producer ---------------------------------------------------------------------------------------- */

TEST(test_grants__a_producer_puts_tasks_in) {
    tp_conn *conn = users[PRODUCER].conn;
    tp_new_task task = TP_NEW_TASK_INIT, many[2] = {TP_NEW_TASK_INIT, TP_NEW_TASK_INIT};
    size_t inserted = 0;
    must(tp_schema_check(conn));
    task.handler = many[0].handler = many[1].handler = "put";
    task.dedup_key = "key";
    must(tp_enqueue(conn, &task));
    assert_int_equal(tp_enqueue(conn, &task), TP_EXISTS); /* asks the other pools too */
    task.id[0] = '\0';
    assert_int_equal(tp_enqueue(conn, &task), TP_EXISTS); /* the key */
    must(tp_enqueue_many(conn, many, 2, &inserted));
    assert_int_equal(inserted, 2);
    assert_int_equal(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_pending WHERE handler = 'put'"), 3);
}

TEST(test_grants__a_producer_by_plain_sql) {
    if (pool_speaks("generic"))
        allowed(PRODUCER, "INSERT INTO tp_pending (id, handler, params, due_at, created_at, modified_at) "
                          "VALUES ('00000000-0000-4000-8000-0000000000bb', 'plain', 'x', 1, 1, 1)");
    else
        allowed(PRODUCER, "INSERT INTO tp_pending (handler, params) VALUES ('plain', 'x')");
    assert_int_equal(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_pending WHERE handler = 'plain'"), 1);
}

TEST(test_grants__a_producer_uses_the_ledger_in_its_transaction) {
    tp_conn *conn = users[PRODUCER].conn;
    must(tp_begin(conn));
    must(tp_once(conn, "order-7", NULL));
    put("once", NULL);
    must(tp_commit(conn));
    assert_int_equal(tp_once(conn, "order-7", NULL), TP_EXISTS);
}

TEST(test_grants__a_producer_takes_nothing_out) {
    tp_batch *batch = NULL;
    put("taken", NULL);
    may_not(claim(PRODUCER, "taken", NULL, &batch));
    may_not(operate(PRODUCER, TP_ACTION_SKIP, "taken", "pending", 1));
    refused(PRODUCER, "DELETE FROM tp_pending");
    refused(PRODUCER, "UPDATE tp_pending SET handler = 'mine'");
    refused(PRODUCER, "INSERT INTO tp_history (id, event, created_at) VALUES "
                      "('00000000-0000-4000-8000-0000000000cc', 'x', 1)");
    refused(PRODUCER, "DELETE FROM tp_once");
    refused(PRODUCER, "UPDATE tp_meta SET value = '9'");
    refused(PRODUCER, "SELECT id FROM tp_tasks");
    assert_int_equal(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_pending WHERE handler = 'taken'"), 1);
}

/* Oracle grants no reading by column; generic leaves it to the database. */
TEST(test_grants__a_producer_reads_no_params) {
    if (!pool_speaks("postgres") && !pool_speaks("mysql")) skip();
    refused(PRODUCER, "SELECT params FROM tp_pending");
    refused(PRODUCER, "SELECT params FROM tp_finished");
    refused(PRODUCER, "SELECT reason FROM tp_failed");
    refused(PRODUCER, "SELECT reason FROM tp_history");
    refused(PRODUCER, "SELECT params FROM tp_schedule");
    allowed(PRODUCER, "SELECT id, dedup_key FROM tp_pending");
}

/* As another process, which has the id and not the struct. */
static tp_new_task with_id(const char *params) {
    tp_new_task task = TP_NEW_TASK_INIT;
    task.handler = "asked";
    task.params = params;
    snprintf(task.id, sizeof task.id, "%s", "00000000-0000-7000-8000-0000000000dd");
    return task;
}

TEST(test_grants__a_producer_that_reads_no_params_hears_of_the_id_alone) {
    tp_new_task first = with_id("10"), same = with_id("10"), other = with_id("20"), read = with_id("20");
    if (!pool_speaks("postgres") && !pool_speaks("mysql")) skip();
    must(tp_enqueue(users[PRODUCER].conn, &first));
    assert_int_equal(tp_enqueue(users[PRODUCER].conn, &same), TP_EXISTS);
    assert_int_equal(tp_enqueue(users[PRODUCER].conn, &other), TP_EXISTS);
    assert_int_equal(tp_enqueue(users[OPERATOR].conn, &read), TP_MISUSE);
    assert_int_equal(
        sql_number(pool.eye, "SELECT COUNT(*) FROM tp_pending WHERE handler = 'asked' AND params = '10'"), 1);
    assert_int_equal(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_pending WHERE handler = 'asked'"), 1);
}

static tp_status put_in_order(void) {
    tp_new_task task = TP_NEW_TASK_INIT;
    task.handler = "ordered";
    task.order_key = "granted";
    return tp_enqueue(users[PRODUCER].conn, &task);
}

static void put_in_groups(void) {
    tp_new_task in = TP_NEW_TASK_INIT, after = TP_NEW_TASK_INIT, late = TP_NEW_TASK_INIT;
    in.handler = after.handler = late.handler = "grouped";
    in.group = after.after = late.after = "granted";
    must(tp_group_open(users[PRODUCER].conn, "granted", TP_GROUP_ALL_ENDED, NULL));
    must(tp_enqueue(users[PRODUCER].conn, &in));
    must(tp_enqueue(users[PRODUCER].conn, &after));
    must(tp_group_close(users[PRODUCER].conn, "granted"));
    must(tp_group_cancel(users[OPERATOR].conn, "granted", "ann", NULL, NULL));
    must(tp_groups_end(users[WORKER].conn, NULL));
    must(tp_enqueue(users[PRODUCER].conn, &late));
    assert_int_equal(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_group_task WHERE waits = 2"), 2);
    may_not(tp_group_remove(users[VIEWER].conn, "granted", NULL));
    must(tp_group_remove(users[OPERATOR].conn, "granted", NULL));
}

static tp_status put_for_a_minute(void) {
    tp_new_task task = TP_NEW_TASK_INIT;
    task.handler = "quote";
    task.deadline_ms = 60000;
    return tp_enqueue(users[PRODUCER].conn, &task);
}

/* The last of the producer's: he may do more from here on. */
TEST(test_grants__a_producer_changes_tasks_that_wait_and_uses_gates_where_he_is_granted_that) {
    tp_new_task task = TP_NEW_TASK_INIT;
    put("changed", "key of changed");
    task.handler = "changed";
    task.dedup_key = "key of changed";
    task.params = "new";
    task.on_duplicate = TP_DUPLICATE_REPLACE;
    may_not(tp_enqueue(users[PRODUCER].conn, &task));
    may_not(put_in_order());
    may_not(put_for_a_minute());
    assert_in_range(run_grants("-- ", " TO tp_producer;\n"), 11, 16);
    must(put_for_a_minute());
    assert_int_equal(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_cancel"), 1);
    put_in_groups();
    must(put_in_order());
    must(put_in_order());
    assert_int_equal(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_gate_task WHERE gate = '=granted'"), 2);
    assert_int_equal(sql_number(pool.eye, "SELECT let_through FROM tp_gate WHERE name = '=granted'"), 1);
    must(tp_enqueue(users[PRODUCER].conn, &task));
    must(tp_enqueue(users[PRODUCER].conn, &task));
    assert_string_not_equal(task.existing_id, "");
    task = (tp_new_task)TP_NEW_TASK_INIT;
    task.handler = "changed";
    task.dedup_key = "key of changed";
    task.on_duplicate = TP_DUPLICATE_PUSH_BACK;
    must(tp_enqueue(users[PRODUCER].conn, &task));
    assert_string_not_equal(task.existing_id, "");
    assert_int_equal(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_history WHERE handler = 'changed'"), 2);
}

/* ---- Viewer ------------------------------------------------------------------------------------------ */

static void see_task(const tp_failure *failure, void *arg) {
    (void)failure;
    ++*(int *)arg;
}

/* What it may not write is refused by the database, whatever the library is asked for. */
TEST(test_grants__a_viewer_looks_at_everything_and_changes_nothing) {
    static const char *const tables[] = {"pending", "finished", "failed", "history",  "once",  "worker",
                                         "pause",   "activity", "meta",   "schedule", "audit", "audit_head"};
    tp_conn *conn = users[VIEWER].conn;
    tp_list_request list = TP_LIST_INIT;
    tp_new_task task = TP_NEW_TASK_INIT;
    tp_batch *batch = NULL;
    int groups = 0, cut = 0;
    char sql[100];
    put("seen", "seen");
    must(tp_schema_check(conn));
    list.handler = "seen";
    must(tp_list(conn, &list, &batch));
    assert_string_equal(tp_batch_task(batch, 0)->params, "secret");
    tp_batch_free(batch);
    assert_in_range(tp_failures_each(conn, &list, see_task, &groups, &cut), TP_OK, TP_NONE);
    allowed(VIEWER, "SELECT id FROM tp_tasks");
    may_not(claim(VIEWER, "seen", NULL, &batch));
    may_not(operate(VIEWER, TP_ACTION_SKIP, "seen", "pending", 1));
    may_not(tp_pause(conn, "seen", "viewer", "no"));
    task.handler = "seen";
    may_not(tp_enqueue(conn, &task));
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        snprintf(sql, sizeof sql, "DELETE FROM tp_%s", tables[i]);
        refused(VIEWER, sql);
    }
    refused(VIEWER, "UPDATE tp_pending SET due_at = 1");
    refused(VIEWER, "UPDATE tp_meta SET value = '9'");
    assert_int_equal(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_pending WHERE handler = 'seen'"), 1);
}

/* ---- Worker ------------------------------------------------------------------------------------------ */

TEST(test_grants__a_worker_claims_by_every_plan_and_settles) {
    static const char *const plans[] = {"row", "batch", "skip", "cas"};
    tp_conn *conn = users[WORKER].conn;
    must(tp_schema_check(conn));
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        tp_batch *batch = NULL;
        put("work", NULL);
        tp_status status = claim(WORKER, "work", plans[i], &batch);
        if (status == TP_UNSUPPORTED) status = claim(WORKER, "work", NULL, &batch);
        must(status);
        must(tp_extend(conn, tp_batch_task(batch, 0), 60000));
        must(tp_complete(conn, tp_batch_task(batch, 0)));
        tp_batch_free(batch);
    }
    assert_int_equal(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_finished WHERE handler = 'work'"), 4);
}

TEST(test_grants__a_worker_fails_and_gives_up) {
    tp_conn *conn = users[WORKER].conn;
    tp_batch *batch = NULL;
    put("fail", NULL);
    must(claim(WORKER, "fail", NULL, &batch));
    must(tp_release(conn, tp_batch_task(batch, 0), 0));
    tp_batch_free(batch);
    must(claim(WORKER, "fail", NULL, &batch));
    must(tp_fail(conn, tp_batch_task(batch, 0), "once", NULL));
    tp_batch_free(batch);
    sql_run(pool.eye, "UPDATE tp_pending SET due_at = 1 WHERE handler = 'fail'");
    must(claim(WORKER, "fail", NULL, &batch));
    assert_int_equal(tp_give_up(conn, tp_batch_task(batch, 0), "for good"), TP_EXHAUSTED);
    tp_batch_free(batch);
    assert_int_equal(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_failed WHERE handler = 'fail'"), 1);
    assert_true(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_history WHERE handler = 'fail'") >= 2);
}

TEST(test_grants__a_worker_uses_ledger_schedules_and_its_own_row) {
    tp_conn *conn = users[WORKER].conn;
    must(tp_once(conn, "work-7", NULL));
    assert_int_equal(tp_once(conn, "work-7", NULL), TP_EXISTS);
    allowed(OPERATOR,
            "INSERT INTO tp_schedule (name, rule, handler, shard, priority, missed, missed_max, alone, "
            "paused, created_at, modified_at) VALUES ('daily', 'every 1d', 'work', 0, 0, 'once', 1, 0, "
            "0, 1, 1)");
    allowed(WORKER, "UPDATE tp_schedule SET next_at = 5, modified_at = 5 WHERE name = 'daily'");
    refused(WORKER, "DELETE FROM tp_schedule");
    refused(WORKER, "INSERT INTO tp_pause (handler, created_at) VALUES ('work', 1)");
    allowed(WORKER, "SELECT handler FROM tp_pause");
    allowed(WORKER,
            "INSERT INTO tp_worker (id, name, host, pid, handlers, plan, threads, state, running, claimed, "
            "done, failed, started_at, seen_at) VALUES ('00000000-0000-4000-8000-0000000000dd', 'w', 'h', "
            "1, 'work', 'skip', 1, 'running', 0, 0, 0, 0, 1, 1)");
    allowed(WORKER, "DELETE FROM tp_worker");
}

/* ---- Worker with threads ----------------------------------------------------------------------------------
 */

static struct {
    int done, alerts;
    char error[400];
} ran;

static tp_verdict give_up(tp_run *run, void *arg) {
    (void)arg;
    tp_run_no_retry(run);
    return TP_RUN_FAILED;
}

static void note_event(tp_event event, const tp_task *task, const char *text, void *arg) {
    (void)task;
    (void)arg;
    if (event == TP_EVENT_GAVE_UP) ran.done++;
    if (event == TP_EVENT_ERROR) snprintf(ran.error, sizeof ran.error, "%s", text);
}

static int note_alert(const tp_task *task, const char *text, void *arg) {
    (void)task;
    (void)text;
    (void)arg;
    ran.alerts++;
    return 0;
}

TEST(test_grants__a_worker_with_threads_is_refused_nothing) {
    tp_worker *worker = NULL;
    tp_worker_options options = TP_WORKER_INIT;
    put("threads", NULL);
    options.drain = 1;
    options.schedules = 1;
    options.poll_ms = 50;
    options.on_event = note_event;
    options.on_alert = note_alert;
    must(tp_worker_open(users[WORKER].env, &options, &worker));
    must(tp_worker_handle(worker, "threads", give_up, NULL));
    must(tp_worker_start(worker));
    must(tp_worker_join(worker));
    tp_worker_close(worker);
    assert_string_equal(ran.error, "");
    assert_int_equal(ran.done, 1);
    /* The alert is told now or by a later worker. */
    assert_in_range(ran.alerts, 0, 1);
}

TEST(test_grants__a_worker_deletes_nothing_that_is_settled) {
    may_not(operate(WORKER, TP_ACTION_PURGE, "work", "finished", 1));
    may_not(operate(WORKER, TP_ACTION_PURGE, "fail", "failed", 1));
    refused(WORKER, "DELETE FROM tp_finished");
    refused(WORKER, "DELETE FROM tp_failed");
    refused(WORKER, "DELETE FROM tp_history");
    refused(WORKER, "DELETE FROM tp_once");
    refused(WORKER, "UPDATE tp_finished SET state = 'skipped'");
    refused(WORKER, "UPDATE tp_meta SET value = '9'");
}

/* ---- Operator ---------------------------------------------------------------------------------------- */

static void ignore_finding(const tp_finding *finding, void *arg) {
    (void)finding;
    (void)arg;
}

TEST(test_grants__an_operator_does_what_operators_do) {
    tp_conn *conn = users[OPERATOR].conn;
    int bad = 0;
    tp_batch *batch = NULL;
    must(tp_schema_check(conn));
    must(operate(OPERATOR, TP_ACTION_RETRY, "fail", "failed", 1));
    put("held", NULL);
    must(claim(WORKER, "held", NULL, &batch));
    tp_batch_free(batch);
    must(operate(OPERATOR, TP_ACTION_RELEASE, "held", "pending", 1));
    must(operate(OPERATOR, TP_ACTION_SKIP, "held", "pending", 1));
    must(operate(OPERATOR, TP_ACTION_PURGE, "held", "finished", 1));
    may_not(tp_retention_set(conn, "finished", 86400000, "test_grants"));
    must(tp_retention_set(users[ADMINISTRATOR].conn, "finished", 86400000, "test_grants"));
    must(tp_check(conn, ignore_finding, NULL, &bad));
    allowed(OPERATOR, "SELECT id, state FROM tp_tasks");
    allowed(OPERATOR, "INSERT INTO tp_pause (handler, created_at) VALUES ('work', 1)");
    allowed(OPERATOR, "DELETE FROM tp_pause");
    assert_int_equal(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_pending WHERE handler = 'fail'"), 1);
    refused(OPERATOR, "DROP TABLE tp_pending");
}

TEST(test_grants__nobody_changes_the_audit_and_only_operators_add_to_it) {
    static const char insert[] =
        "INSERT INTO tp_audit (seq, act, created_at, action, changed, prev_hash, row_hash) "
        "VALUES (1000, '00000000-0000-4000-8000-0000000000dd', 1, 'x', 0, 'x', 'x')";
    allowed(OPERATOR, "UPDATE tp_audit_head SET seq = seq + 1");
    allowed(OPERATOR, insert);
    for (enum kind kind = 0; kind < KINDS; kind++) {
        refused(kind, "UPDATE tp_audit SET action = 'y'");
        refused(kind, "DELETE FROM tp_audit");
        refused(kind, "TRUNCATE TABLE tp_audit");
        refused(kind, "DELETE FROM tp_audit_head");
        if (kind >= REQUESTER) continue;
        refused(kind, insert);
        if (kind != VIEWER) refused(kind, "SELECT seq FROM tp_audit");
        refused(kind, "UPDATE tp_audit_head SET seq = 0");
    }
}

/* ---- Four eyes --------------------------------------------------------------------------------------- */

static tp_status ask(enum kind kind, tp_action action, const char *pool_name, char id[TP_ID_SIZE]) {
    tp_operated result = TP_OPERATED_INIT;
    tp_selection selection = TP_SELECTION_INIT;
    selection.handler = "eyes";
    selection.pool = pool_name;
    selection.who = kinds[kind];
    tp_status status = tp_operate(users[kind].conn, action, &selection, &result);
    snprintf(id, TP_ID_SIZE, "%.36s", result.request_id);
    return status;
}

static tp_status approve_as(enum kind kind, const char *id) {
    return tp_approve(users[kind].conn, id, kinds[kind], NULL, NULL);
}

TEST(test_grants__a_requester_can_only_ask_and_an_operator_cannot_approve) {
    tp_four_eyes eyes = TP_FOUR_EYES_INIT;
    char id[TP_ID_SIZE];
    put("eyes", NULL);
    may_not(ask(REQUESTER, TP_ACTION_SKIP, NULL, id));
    eyes.on = 1;
    for (int kind = 0; kind < ADMINISTRATOR; kind++)
        may_not(tp_four_eyes_set(users[kind].conn, &eyes, "ann", NULL));
    must(tp_four_eyes_set(users[ADMINISTRATOR].conn, &eyes, "ann", NULL));
    sql_run(pool.eye, "UPDATE tp_request SET expires_at = 1"); /* those that are overdue hinder nobody */
    assert_int_equal(ask(REQUESTER, TP_ACTION_SKIP, NULL, id), TP_REQUESTED);
    for (int kind = 0; kind < APPROVER; kind++)
        if (kind != REQUESTER) may_not(approve_as((enum kind)kind, id));
    must(approve_as(APPROVER, id));
    assert_int_equal(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_finished WHERE handler = 'eyes'"), 1);
    assert_int_equal(ask(OPERATOR, TP_ACTION_PURGE, "finished", id), TP_REQUESTED);
    sql_run(pool.eye, "UPDATE tp_request SET expires_at = 1 WHERE state = 'waiting'");
    assert_int_equal(ask(REQUESTER, TP_ACTION_PURGE, "finished", id), TP_REQUESTED);
    must(approve_as(ADMINISTRATOR, id));
    static const char *const alone[] = {"DELETE FROM tp_finished", "UPDATE tp_request SET state = 'done'",
                                        "DELETE FROM tp_request", "UPDATE tp_meta SET value = '9'"};
    for (size_t i = 0; i < sizeof alone / sizeof alone[0]; i++)
        refused(REQUESTER, alone[i]);
    refused(REQUESTER, "DELETE FROM tp_pending");
    refused(REQUESTER, "UPDATE tp_failed SET state = 'failed'");
    refused(OPERATOR, alone[1]);
    refused(OPERATOR, alone[3]);
    refused(APPROVER, alone[2]);
    refused(APPROVER, alone[3]);
    sql_run(pool.eye, "DELETE FROM tp_meta WHERE name = 'four_eyes'");
}

/* ---- Doctor ------------------------------------------------------------------------------------------ */

static void note_table(const tp_finding *finding, void *arg) {
    if (strcmp(finding->name, "table") == 0 && !finding->ok && strstr(finding->remedy, "create"))
        ++*(int *)arg;
}

TEST(test_grants__the_doctor_says_that_it_may_not_make_its_table) {
    int told = 0, bad = 0;
    must(tp_doctor(users[WORKER].env, note_table, &told, &bad));
    assert_int_equal(told, 1);
    assert_int_equal(bad, 1);
}

int main(void) {
    return test_main("grants", open_all, close_all);
}
