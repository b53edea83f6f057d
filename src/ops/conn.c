/* tp_conn: opens and reopens connections, decides what may run on one now, and begins and ends transactions.
 * Must not know what a call does in them. Read next: conn.h, then odbc/link.h. */
#include "ops/conn.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/wake.h"
#include "ops/for_workers.h"
#include "ops/pause.h"
#include "ops/refused.h"

enum { STATEMENT_SLACK = 64 * 1024 }; /* room for the statement around a long parameter */

static tp_status choose_plan(tp_conn *conn) {
    const struct tpi_store *store = &conn->store;
    conn->plan = tpi_plan_default(store->dialect, store->caps);
    if (!conn->env->plan_given) return TP_OK;
    conn->plan = conn->env->plan;
    if (tpi_plan_possible(conn->plan, store->caps)) return TP_OK;
    return tpi_error(TP_UNSUPPORTED, "plan %s cannot run with dialect %s on %s %s; leave Plan= out for %s",
                     tpi_plan_name(conn->plan), store->dialect->name, store->link.software.dbms_name,
                     store->link.software.dbms_version,
                     tpi_plan_name(tpi_plan_default(store->dialect, store->caps)));
}

/* What follows from knowing the database: its dialect, plan and limits, and what tp_conn_about says. */
static tp_status choose_dialect(tp_conn *conn) {
    struct tpi_store *store = &conn->store;
    struct tpi_link *link = &store->link;
    struct tp_env *env = conn->env;
    const struct tpi_dialect *dialect = atomic_load(&env->dialect);
    char packet[32] = "";
    if (!dialect) {
        dialect = tpi_dialect_for_dbms(link->software.dbms_name);
        atomic_store(&env->dialect, dialect);
    }
    if (!tpi_dialect_may_fit(dialect, link->software.dbms_name))
        return tpi_error(TP_MISUSE, "Dialect=%s, but the database is %s; leave Dialect= out", dialect->name,
                         link->software.dbms_name);
    store->dialect = dialect;
    store->caps = tpi_dialect_caps(dialect, link->software.dbms_name, link->software.dbms_version);
    if (link->driver->locking_reads && dialect->sql[TPI_S_find_keys_locking].text)
        store->caps |= TPI_CAP_LOCKING_READ;
    store->by_locks = !link->owned && (store->caps & TPI_CAP_LOCKING_READ);
    tp_status status = choose_plan(conn);
    if (status == TP_OK && link->driver->max_packet)
        status = tpi_stmt_ask(link, "max_packet", link->driver->max_packet, packet, sizeof packet);
    if (status == TP_OK && (store->caps & TPI_CAP_QUOTE)) status = tpi_link_names(link, &store->names);
    if (status != TP_OK) return status;
    long long bytes = strtoll(packet, NULL, 10);
    if (bytes > STATEMENT_SLACK) store->text_max = (size_t)(bytes - STATEMENT_SLACK);
    conn->info = (tp_conn_info){.dialect = dialect->name,
                                .plan = tpi_plan_name(conn->plan),
                                .leased_plan = tpi_plan_name(tpi_plan_default(dialect, store->caps)),
                                .dbms_name = link->software.dbms_name,
                                .dbms_version = link->software.dbms_version,
                                .driver_name = link->software.driver_name,
                                .driver_version = link->software.driver_version,
                                .server = link->software.server,
                                .database = link->software.database,
                                .prefix = env->prefix,
                                .profile = link->driver->name};
    return TP_OK;
}

static bool wants_utc(const tp_env *env) {
    const struct tpi_dialect *dialect = atomic_load(&env->dialect);
    return dialect && (dialect->caps & TPI_CAP_CLIENT_CLOCK);
}

static tp_status connect_link(tp_conn *conn) {
    struct tpi_link *link = &conn->store.link;
    bool known = atomic_load(&conn->env->dialect) != NULL;
    tp_status status = tpi_link_open(link, &conn->env->source, known && wants_utc(conn->env));
    if (status != TP_OK) return status;
    status = choose_dialect(conn);
    if (status == TP_OK && !known && wants_utc(conn->env) && link->driver->utc)
        status = tpi_stmt_direct(link, "session", link->driver->utc);
    link->utc = wants_utc(conn->env);
    if (status != TP_OK) {
        tpi_store_forget(&conn->store);
        tpi_link_close(link);
    }
    return status;
}

static tp_conn *new_conn(tp_env *env) {
    tp_conn *conn = calloc(1, sizeof *conn);
    if (!conn) return NULL;
    conn->env = env;
    conn->store.prefix = env->prefix;
    conn->store.link.counters.size = sizeof conn->store.link.counters;
    return conn;
}

tp_status tp_conn_open(tp_env *env, tp_conn **out) {
    if (!env || !out) return tpi_error(TP_MISUSE, "tp_conn_open: an argument is NULL");
    tp_conn *conn = new_conn(env);
    if (!conn) return tpi_error(TP_NOMEM, "out of memory");
    tp_status status = connect_link(conn);
    if (status == TP_OK)
        *out = conn;
    else
        free(conn);
    return status;
}

tp_status tpi_conn_borrow(tp_env *env, void *dbc, tp_conn **out) {
    if (!env || !dbc || !out) return tpi_error(TP_MISUSE, "tp_conn_borrow: an argument is NULL");
    tp_conn *conn = new_conn(env);
    if (!conn) return tpi_error(TP_NOMEM, "out of memory");
    tp_status status = tpi_link_borrow(&conn->store.link, dbc);
    if (status == TP_OK) status = choose_dialect(conn);
    if (status == TP_OK)
        *out = conn;
    else
        free(conn);
    return status;
}

void tpi_conn_guard(tp_conn *conn, bool on) {
    conn->guarded = on;
}

static tp_status refuse_guarded(const char *operation) {
    return tpi_error(TP_MISUSE, "%s: not in a handler or a step: the worker ends its transaction", operation);
}

tp_status tp_conn_reopen(tp_conn *conn) {
    if (!conn) return tpi_error(TP_MISUSE, "tp_conn_reopen: conn is NULL");
    if (conn->guarded) return refuse_guarded("tp_conn_reopen");
    if (!conn->store.link.owned)
        return tpi_error(TP_MISUSE, "a borrowed connection is reopened by whoever opened it");
    tpi_pause_forget(conn);
    tpi_store_forget(&conn->store);
    tpi_link_close(&conn->store.link);
    return connect_link(conn);
}

void tp_conn_close(tp_conn *conn) {
    if (!conn) return;
    tpi_pause_forget(conn);
    tpi_store_forget(&conn->store);
    tpi_link_close(&conn->store.link);
    free(conn->holds.entries);
    free(conn->left_alone.all);
    free(conn);
}

const tp_conn_info *tp_conn_about(const tp_conn *conn) {
    return &conn->info;
}

const tp_counters *tp_conn_counters(const tp_conn *conn) {
    return &conn->store.link.counters;
}

tp_status tpi_conn_ready_to_put(tp_conn *conn) {
    if (!conn) return tpi_error(TP_MISUSE, "conn is NULL");
    tp_status status = tpi_link_usable(&conn->store.link);
    return status == TP_OK ? tpi_link_check_tx(&conn->store.link) : status;
}

tp_status tpi_conn_ready(tp_conn *conn) {
    tp_status status = tpi_conn_ready_to_put(conn);
    return status == TP_OK ? tpi_link_ask_all(&conn->store.link) : status;
}

tp_status tpi_conn_doom(tp_conn *conn, tp_status status) {
    if (conn && status < TP_OK) tpi_link_doom(&conn->store.link);
    return status;
}

tp_status tpi_conn_ready_alone(tp_conn *conn, const char *operation) {
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (!conn->store.link.owned)
        return tpi_error(TP_MISUSE, "%s does not run on a borrowed connection; open one with tp_conn_open",
                         operation);
    if (conn->store.link.tx != TPI_TX_NONE)
        return tpi_error(TP_MISUSE, "%s does not run inside a transaction; commit or roll back first",
                         operation);
    return TP_OK;
}

tp_status tpi_ask_number(tp_conn *conn, enum tpi_statement statement, struct tpi_args *args,
                         int64_t *number) {
    static const struct tpi_column only[] = TPI_COLUMN_ONLY(EXACT);
    tp_status status = tpi_store_read(&conn->store, statement, args, only, NULL, number);
    if (status != TP_NONE) return status;
    return tpi_error(TP_SCHEMA, "the pool's meta table is empty; run 'taskpool schema install'");
}

tp_status tpi_ask_now(tp_conn *conn, int64_t *now_ms) {
    struct tpi_args none = {0};
    return tpi_ask_number(conn, TPI_S_now, &none, now_ms);
}

/* What nothing refused may be met again: its transaction was given up for another reason. */
static void keep_refused(struct tpi_left_alone *alone) {
    size_t kept = 0;
    for (size_t i = 0; i < alone->count; i++)
        if (alone->all[i].refused) alone->all[kept++] = alone->all[i];
    alone->count = kept;
}

static void note_begin(tp_conn *conn) {
    static atomic_uint_fast64_t last = 1;
    conn->transaction = atomic_fetch_add(&last, 1) + 1;
    keep_refused(&conn->left_alone);
    conn->enqueued[0] = '\0';
}

tp_status tp_begin(tp_conn *conn) {
    tp_status status = tpi_conn_ready_alone(conn, "tp_begin");
    if (status == TP_OK) status = tpi_link_begin(&conn->store.link);
    if (status == TP_OK) note_begin(conn);
    return status;
}

static const char any_handler[] = "*";

void tpi_conn_enqueued(tp_conn *conn, const tp_new_task *task) {
    const struct tpi_link *link = &conn->store.link;
    if (!link->owned || link->tx == TPI_TX_NONE) {
        tpi_wake_signal(&(struct tpi_arrival){task->handler, task->priority});
        return;
    }
    bool first = conn->enqueued[0] == '\0';
    bool same = strcmp(conn->enqueued, task->handler) == 0 && conn->enqueued_priority == task->priority;
    const char *who = first || same ? task->handler : any_handler;
    memcpy(conn->enqueued, who, strlen(who) + 1);
    conn->enqueued_priority = task->priority;
}

void tpi_conn_let_through(tp_conn *conn) {
    memcpy(conn->enqueued, any_handler, sizeof any_handler);
}

/* Any that reaches the server. */
static tp_status run_a_statement(tp_conn *conn) {
    struct tpi_args args = {0};
    bool found = false;
    return tpi_store_exists(&conn->store, TPI_S_meta_version, &args, &found);
}

tp_status tpi_conn_know_mode(tp_conn *conn) {
    const struct tpi_link *link = &conn->store.link;
    return link->owned || !link->driver->autocommit_late ? TP_OK : run_a_statement(conn);
}

tp_status tpi_conn_in_transaction(tp_conn *conn, bool *open) {
    struct tpi_link *link = &conn->store.link;
    bool autocommit = true;
    *open = link->tx != TPI_TX_NONE;
    if (link->owned) return TP_OK;
    tp_status status = tpi_link_autocommit(link, &autocommit);
    *open = !autocommit;
    return status == TP_OK && autocommit ? tpi_link_own_tx(link, open) : status;
}

bool tpi_conn_is_alone(const tp_conn *conn) {
    return conn->store.link.owned && conn->store.link.tx == TPI_TX_NONE;
}

bool tpi_conn_is_idle(const tp_conn *conn) {
    return tpi_conn_is_alone(conn) && !conn->store.link.dead;
}

tp_status tpi_conn_needs_transaction(tp_conn *conn, const char *what) {
    bool open = false;
    tp_status status = tpi_conn_know_mode(conn);
    if (status == TP_OK && !conn->store.link.owned) status = tpi_conn_in_transaction(conn, &open);
    if (status != TP_OK || conn->store.link.owned || open) return status;
    return tpi_error(TP_MISUSE, "%s, which needs a transaction on a borrowed connection: %s", what,
                     conn->store.link.driver->own_tx ? "switch autocommit off, or begin one"
                                                     : "switch autocommit off (with this driver, one that a "
                                                       "statement of your own began cannot be seen)");
}

static tp_status in_transaction(tp_conn *conn, const char *operation) {
    if (!conn) return tpi_error(TP_MISUSE, "conn is NULL");
    if (!conn->store.link.owned)
        return tpi_error(TP_MISUSE, "%s: the caller ends transactions on a borrowed connection", operation);
    if (conn->guarded) return refuse_guarded(operation);
    if (conn->store.link.tx == TPI_TX_NONE)
        return tpi_error(TP_MISUSE, "%s: no transaction was begun", operation);
    return TP_OK;
}

/* Wakes the workers that tasks of the transaction are for. */
static tp_status note_commit(tp_conn *conn, tp_status status) {
    if (status < TP_OK || conn->enqueued[0] == '\0') return status;
    bool any = strcmp(conn->enqueued, any_handler) == 0;
    tpi_wake_signal(&(struct tpi_arrival){any ? NULL : conn->enqueued, conn->enqueued_priority});
    conn->enqueued[0] = '\0';
    return status;
}

/* Did a rule of the application's own, or an index that it has, refuse the commit? */
static void note_refused(tp_conn *conn, tp_status status) {
    if (!tpi_refused_by_rule(&conn->store, status) && !tpi_refused_as_there(status)) return;
    for (size_t i = 0; i < conn->left_alone.count; i++)
        conn->left_alone.all[i].refused = true;
}

/* Of a driver that may report success for a commit of nothing, and is not known well enough to be asked
 * whether the transaction stands: a statement that fails says that it does not, and dooms it. */
static void ask_before_commit(tp_conn *conn) {
    const struct tpi_link *link = &conn->store.link;
    bool ask =
        link->driver->commit_may_lie && !link->driver->tx_probe && (link->tx_state.used || link->shared);
    if (ask && link->tx == TPI_TX_OPEN) (void)!run_a_statement(conn);
}

tp_status tpi_conn_answer(tp_conn *conn, tp_status status) {
    struct tpi_link *link = conn ? &conn->store.link : NULL;
    char answer[32] = "";
    if (!link || !link->tx_state.seen || !tpi_conn_is_alone(conn)) return status;
    link->tx_state.seen = false;
    if (!link->driver->catch_up || (status < TP_OK && status != TP_LOST)) return status;
    struct tpi_kept_error kept = tpi_error_keep();
    tp_status caught_up = tpi_stmt_ask(link, "catch_up", link->driver->catch_up, answer, sizeof answer);
    /* A server that does not know the statement keeps no one waiting. */
    if (caught_up != TP_OK && (caught_up != TP_DB || link->dead)) return caught_up;
    tpi_error_restore(&kept);
    return status;
}

tp_status tp_commit(tp_conn *conn) {
    tp_status status = in_transaction(conn, "tp_commit");
    if (status != TP_OK) return status;
    ask_before_commit(conn);
    status = note_commit(conn, tpi_link_commit(&conn->store.link));
    note_refused(conn, status);
    tp_status answer = tpi_conn_answer(conn, status);
    if (status < TP_OK || answer >= TP_OK || answer == TP_DISCONNECTED) return answer;
    /* It is committed here, so nobody may do it anew without asking. */
    struct tpi_kept_error kept = tpi_error_keep();
    conn->store.link.dead = true;
    return tpi_error(TP_DISCONNECTED, "whether other servers have what was committed got no answer: %s",
                     kept.text);
}

tp_status tpi_commit_begin(tp_conn *conn) {
    tp_status status = in_transaction(conn, "tpi_commit_begin");
    if (status != TP_OK) return status;
    ask_before_commit(conn);
    status = note_commit(conn, tpi_link_commit_begin(&conn->store.link));
    note_refused(conn, status);
    if (status == TP_OK) note_begin(conn);
    return status;
}

tp_status tp_rollback(tp_conn *conn) {
    tp_status status = in_transaction(conn, "tp_rollback");
    if (status == TP_OK) tpi_link_rollback(&conn->store.link);
    return status;
}

tp_status tpi_tx_lost(tp_conn *conn) {
    tp_status status = in_transaction(conn, "tpi_tx_lost");
    return status == TP_OK ? tpi_link_tx_lost(&conn->store.link) : status;
}

tp_status tpi_scope_begin(tp_conn *conn, struct tpi_scope *scope) {
    *scope = (struct tpi_scope){.own = tpi_conn_is_alone(conn)};
    return scope->own ? tpi_link_begin(&conn->store.link) : TP_OK;
}

tp_status tpi_scope_begin_put(tp_conn *conn, struct tpi_scope *scope, bool keyed) {
    bool open = false;
    tp_status status = tpi_scope_begin(conn, scope);
    if (status != TP_OK || !keyed || !conn->store.link.driver->savepoint) return status;
    status = conn->store.link.owned ? TP_OK : tpi_conn_in_transaction(conn, &open);
    return status == TP_OK && open ? tpi_link_savepoint(&conn->store.link, &scope->savepoint) : status;
}

tp_status tpi_scope_end(tp_conn *conn, struct tpi_scope *scope, tp_status status) {
    struct tpi_link *link = &conn->store.link;
    if (scope->savepoint) return tpi_link_savepoint_end(link, status, &scope->undone);
    if (!scope->own) {
        if (status < TP_OK) tpi_link_doom(link);
        return status;
    }
    if (status < TP_OK) {
        tpi_link_rollback(link);
        return status;
    }
    ask_before_commit(conn);
    tp_status committed = note_commit(conn, tpi_link_commit(link));
    return committed == TP_OK ? status : committed;
}
