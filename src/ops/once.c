/* tp_once: a key goes into the ledger once. Each try writes a mark of its own, so that a try outside a
 * transaction that got no answer is recognised by it, on any connection of its tp_env. Its task does not
 * tell: one that runs again asks again though its first try was answered, and the effect may be there. Where
 * the database cannot pass over what is there without an error, the ledger is read first. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ops/conn.h"
#include "ops/refused.h"
#include "store/record.h"

enum { TRIES = 5, UNANSWERED_MAX = 1000 };

/* What is asked of the ledger: a key, by a mark. */
struct request {
    struct tpi_args args;
    const char *mark;
};

/* The key is there, by this mark or TP_EXISTS; or TP_NONE. */
static tp_status find_key(struct tpi_store *store, void *arg) {
    static const struct tpi_column only[] = TPI_COLUMN_ONLY(ID);
    struct request *request = arg;
    char owner[TPI_UUID_SIZE];
    enum tpi_statement find = store->by_locks ? TPI_S_once_find_locking : TPI_S_once_find;
    tp_status status = tpi_store_read(store, find, &request->args, only, NULL, owner);
    if (status != TP_OK) return status;
    if (strcmp(owner, request->mark) != 0) return TP_EXISTS;
    store->link.tx_state.seen = true;
    return TP_OK;
}

/* Somebody else's key that was read on a borrowed connection may not be committed yet. */
static tp_status confirm_key(struct tpi_store *store) {
    bool uncommitted = false;
    if (store->link.owned) return TP_EXISTS;
    tp_status status = tpi_link_ask_uncommitted(&store->link, &uncommitted);
    if (status != TP_OK || !uncommitted) return status == TP_OK ? TP_EXISTS : status;
    return tpi_error(TP_UNSUPPORTED,
                     "at READ UNCOMMITTED nobody knows whether a key that is there will stay: "
                     "set another isolation level on the borrowed connection first");
}

/* That the key is there is seen, not inferred from an insert that wrote nothing; it may be gone when it is
 * read next. */
static tp_status add_key(struct tpi_store *store, struct request *request) {
    bool first = (store->caps & TPI_CAP_QUIET_EXISTS) || store->by_locks;
    tp_status status = first ? TP_NONE : find_key(store, request);
    if (status == TP_EXISTS) status = confirm_key(store);
    for (int i = 0; i < TRIES && status == TP_NONE; i++) {
        status = tpi_store_change_one(store, TPI_S_once_add, &request->args);
        if (store->by_locks) status = tpi_refused_or_there(store, status, find_key, request);
        if (status == TP_NONE) status = find_key(store, request);
    }
    if (status != TP_NONE) return status;
    return tpi_refused_silently(store, "stored no row, and the key is not there", "once");
}

static tp_status check(const char *key, const tp_task *task) {
    char id[TPI_UUID_SIZE];
    if (!key || !*key) return tpi_error(TP_MISUSE, "tp_once needs a key");
    tp_status status = tpi_check_key("the key", key);
    if (status != TP_OK || !task) return status;
    status = tpi_check_handler(task->handler);
    return status == TP_OK ? tpi_check_uuid("the task's id", task->id, id) : status;
}

/* ---- Tries without an answer --------------------------------------------------------------------------- */

/* Called with the lock held. */
static struct tpi_once_try **find_try(struct tpi_once_tries *tries, const char *key) {
    struct tpi_once_try **at = &tries->first;
    while (*at && strcmp((*at)->key, key) != 0)
        at = &(*at)->next;
    return at;
}

static bool has_try(struct tpi_once_tries *tries, const char *key) {
    pthread_mutex_lock(&tries->lock);
    bool has = *find_try(tries, key) != NULL;
    pthread_mutex_unlock(&tries->lock);
    return has;
}

/* Takes it out of the list: of two who ask at once only one may go on with an earlier try. NULL: there is
 * none. */
static struct tpi_once_try *take_try(struct tpi_once_tries *tries, const char *key) {
    pthread_mutex_lock(&tries->lock);
    struct tpi_once_try **at = find_try(tries, key), *one = *at;
    if (one) {
        *at = one->next;
        tries->count--;
    }
    pthread_mutex_unlock(&tries->lock);
    return one;
}

/* Made before the database is asked. NULL: out of memory. */
static struct tpi_once_try *new_try(const char *key) {
    struct tpi_once_try *one = calloc(1, sizeof *one);
    if (!one) return NULL;
    memcpy(one->key, key, strlen(key) + 1); /* checked: it fits */
    tpi_uuid_random(one->mark);
    return one;
}

/* Instead of the oldest, when there are too many. */
static void keep_try(struct tpi_once_tries *tries, struct tpi_once_try *one) {
    pthread_mutex_lock(&tries->lock);
    one->next = tries->first;
    tries->first = one;
    struct tpi_once_try **last = &tries->first, *oldest = NULL;
    if (++tries->count > UNANSWERED_MAX) {
        while ((*last)->next)
            last = &(*last)->next;
        oldest = *last;
        *last = NULL;
        tries->count--;
    }
    pthread_mutex_unlock(&tries->lock);
    free(oldest);
}

/* ---- The call ------------------------------------------------------------------------------------------ */

/* On a borrowed connection whose driver lets a BEGIN of the caller's own be known. */
static bool may_be_alone(const tp_conn *conn) {
    return !conn->store.link.owned && conn->store.link.driver->own_tx;
}

/* Not in a transaction of the caller's: if that were rolled back, nobody would know the try any more. So it
 * stays in the list until the mode is known. */
static tp_status take_if_alone(tp_conn *conn, const char *key, struct tpi_once_try **one) {
    struct tpi_once_tries *tries = &conn->env->once;
    bool open = !tpi_conn_is_alone(conn);
    tp_status status = TP_OK;
    if (may_be_alone(conn) && has_try(tries, key)) status = tpi_conn_in_transaction(conn, &open);
    *one = status == TP_OK && !open ? take_try(tries, key) : NULL;
    return status;
}

/* The database may have done it all the same. In a transaction it has not: that is given up. */
static bool is_unsure(tp_conn *conn, tp_status status) {
    if (status >= TP_OK || status == TP_CONFLICT || status == TP_TOOBIG) return false;
    return tpi_conn_is_alone(conn) || (may_be_alone(conn) && tpi_link_autocommit_set(&conn->store.link));
}

/* Two sessions may be at the same key: outside a transaction the loser only has to ask again. Not on a
 * borrowed connection: the conflict may have ended a transaction there. */
static tp_status ask(tp_conn *conn, struct request *request) {
    struct tpi_scope scope;
    tp_status status = TP_CONFLICT;
    if (tpi_conn_is_alone(conn)) {
        for (int i = 0; i < TRIES && status == TP_CONFLICT; i++)
            status = add_key(&conn->store, request);
    } else {
        status = tpi_scope_begin_put(conn, &scope, true);
        if (status == TP_OK) status = add_key(&conn->store, request);
        status = tpi_scope_end(conn, &scope, status);
    }
    status = tpi_refused_judge(&conn->store, status, "once", find_key, request);
    return tpi_conn_answer(conn, status);
}

/* A key that is there may be that of another try that was kept: of two threads whose tries got no answer. */
static tp_status ask_by_tries(tp_conn *conn, const char *key, struct request *request) {
    struct tpi_once_try *one;
    tp_status status = take_if_alone(conn, key, &one), taken = TP_OK;
    if (status != TP_OK) return status;
    bool again = one != NULL;
    if (!one) one = new_try(key);
    if (!one) return tpi_error(TP_NOMEM, "out of memory");
    for (; one; again = true) {
        request->mark = one->mark;
        tpi_args_text(&request->args, TPI_P_token, one->mark);
        status = ask(conn, request);
        if (status >= TP_OK || (!again && !is_unsure(conn, status)))
            free(one);
        else
            keep_try(&conn->env->once, one);
        one = NULL;
        if (status == TP_EXISTS) taken = take_if_alone(conn, key, &one);
    }
    return taken == TP_OK ? status : taken;
}

tp_status tp_once(tp_conn *conn, const char *key, const tp_task *task) {
    struct request request = {.mark = NULL};
    tp_status status = tpi_conn_ready_to_put(conn);
    if (status == TP_OK) status = check(key, task);
    if (status != TP_OK) return tpi_conn_doom(conn, status);
    tpi_args_text(&request.args, TPI_P_once_key, key);
    if (task) tpi_args_text(&request.args, TPI_P_id, task->id);
    if (task) tpi_args_text(&request.args, TPI_P_handler, task->handler);
    return tpi_conn_doom(conn, ask_by_tries(conn, key, &request));
}
