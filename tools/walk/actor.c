/* See actor.h. */
#include "walk/actor.h"
#include "ops/for_workers.h"

#include <stdio.h>
#include <string.h>

#include "support/session.h"
#include "support/tasks.h"
#include "walk/chance.h"

char actor_last[120];

/* ---- Answers ------------------------------------------------------------------------------------------- */

static void end_transaction(struct actor *actor) {
    actor->inside = actor->failed = false;
    actor->done_count = 0;
    memset(actor->settled_inside, 0, sizeof actor->settled_inside);
}

tp_status actor_heard(struct actor *actor, const char *call, tp_status status) {
    snprintf(actor_last, sizeof actor_last, "%s by %d%s answered %s", call, actor->number,
             actor->inside ? " inside" : "", tp_status_name(status));
    if (status >= TP_OK) return status;
    sure(tp_status_may_retry(status) || status == TP_LOST, "%s: %s", actor_last, tp_last_error()->text);
    actor->failed = actor->inside;
    if (status != TP_DISCONNECTED) return status;
    actor->lost = true;
    end_transaction(actor);
    if (actor->conn) chance_lose(actor->conn, actor->session);
    return status;
}

/* ---- Connections --------------------------------------------------------------------------------------- */

static void connected(struct actor *actor, tp_status status) {
    if (status != TP_OK) return;
    actor->lost = false;
    actor->session = session_number(actor->conn);
}

void actor_open(struct actor *actor) {
    tp_conn *conn = NULL;
    tp_status status = tp_conn_open(pool.user_env, &conn);
    if (status == TP_OK) actor->conn = conn;
    connected(actor, actor_heard(actor, "tp_conn_open", status));
}

void actor_reopen(struct actor *actor) {
    end_transaction(actor);
    tp_status status = tp_conn_reopen(actor->conn);
    session_await_end(actor->session);
    connected(actor, actor_heard(actor, "tp_conn_reopen", status));
}

void actor_close(struct actor *actor) {
    snprintf(actor_last, sizeof actor_last, "tp_conn_close by %d", actor->number);
    tp_conn_close(actor->conn);
    session_await_end(actor->session);
    actor->conn = NULL;
    actor->lost = false;
    end_transaction(actor);
}

void actor_kill(struct actor *actor) {
    session_kill(actor->session);
}

/* ---- Transactions -------------------------------------------------------------------------------------- */

void actor_begin(struct actor *actor) {
    actor->inside = actor_heard(actor, "tp_begin", tp_begin(actor->conn)) == TP_OK;
}

struct done *actor_did(struct actor *actor) {
    sure(actor->done_count < DONE_MAX, "too long a transaction");
    struct done *done = &actor->done[actor->done_count++];
    *done = (struct done){.key = -1};
    return done;
}

void actor_confirm(const struct done *done) {
    if (done->put) done->put->there = true;
    if (done->put) done->put->refused = false;
    if (done->refused) done->refused->refused = true;
    if (done->completed) notebook_end(done->completed, "done");
    if (done->key >= 0) notebook.keys[done->key] = true;
}

static void confirm_all(struct actor *actor) {
    for (size_t i = 0; i < actor->done_count; i++)
        actor_confirm(&actor->done[i]);
    for (size_t i = 0; i < HELD; i++)
        if (actor->settled_inside[i]) actor->held[i] = NULL;
}

void actor_commit(struct actor *actor, bool and_begin) {
    bool failed = actor->failed, settled[HELD];
    struct actor before = *actor;
    memcpy(settled, actor->settled_inside, sizeof settled);
    tp_status status = and_begin ? tpi_commit_begin(actor->conn) : tp_commit(actor->conn);
    (void)actor_heard(actor, and_begin ? "tpi_commit_begin" : "tp_commit", status);
    end_transaction(actor);
    sure(!failed || status < TP_OK, "a transaction that had failed was committed");
    if (status >= TP_OK) {
        confirm_all(&before);
        memcpy(actor->held, before.held, sizeof actor->held);
        actor->inside = and_begin && status == TP_OK;
        return;
    }
    for (size_t i = 0; i < HELD; i++)
        actor->unsure[i] |= settled[i];
}

void actor_roll_back(struct actor *actor) {
    tp_status status = tp_rollback(actor->conn);
    end_transaction(actor);
    (void)actor_heard(actor, "tp_rollback", status);
}
