/* tp_once: a key goes into the ledger once. Each try writes a mark of its own, so that a try outside a
 * transaction that got no answer is known again by it. Where the database cannot pass over what is there
 * without an error, the ledger is looked at first. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ops/conn.h"
#include "ops/refused.h"
#include "store/record.h"

enum { TRIES = 5 };

/* The key is there, by this mark or TP_EXISTS; or TP_NONE. */
static tp_status look(struct tpi_store *store, struct tpi_args *args, const char *mark) {
    static const struct tpi_column only[] = TPI_COLUMN_ONLY(ID);
    char owner[TPI_UUID_SIZE];
    tp_status status = tpi_store_read(store, TPI_S_once_find, args, only, NULL, owner);
    if (status != TP_OK) return status;
    if (strcmp(owner, mark) != 0) return TP_EXISTS;
    store->link.seen = true;
    return TP_OK;
}

/* That the key is there is seen, not inferred from an insert that wrote nothing; it may be gone at the next
 * look. */
static tp_status try_once(struct tpi_store *store, struct tpi_args *args, const char *mark) {
    bool quiet = store->caps & TPI_CAP_QUIET_EXISTS;
    tp_status status = quiet ? TP_NONE : look(store, args, mark);
    for (int i = 0; i < TRIES && status == TP_NONE; i++) {
        status = tpi_store_change_one(store, TPI_S_once_add, args);
        if (status == TP_NONE) status = look(store, args, mark);
    }
    if (status != TP_NONE) return status;
    return tpi_refused_silently(store, "stored no row, and the key is not there", "once");
}

struct key {
    struct tpi_args *args;
    const char *mark;
};

/* TP_NONE: the key is not there. */
static tp_status look_for_key(struct tpi_store *store, void *arg) {
    const struct key *key = arg;
    return look(store, key->args, key->mark);
}

static tp_status judge(struct tpi_store *store, tp_status status, struct tpi_args *args, const char *mark) {
    struct key key = {args, mark};
    return tpi_refused_judge(store, status, "once", look_for_key, &key);
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

static struct tpi_once_try *find_try(const tp_conn *conn, const char *key) {
    for (size_t i = 0; i < conn->once.count; i++)
        if (strcmp(conn->once.all[i].key, key) == 0) return &conn->once.all[i];
    return NULL;
}

/* Noted before the database is asked. NULL: out of memory. */
static struct tpi_once_try *add_try(tp_conn *conn, const char *key) {
    struct tpi_once_tries *tries = &conn->once;
    struct tpi_once_try *all = realloc(tries->all, (tries->count + 1) * sizeof *all);
    if (!all) return NULL;
    tries->all = all;
    struct tpi_once_try *one = &all[tries->count++];
    memcpy(one->key, key, strlen(key) + 1); /* checked: it fits */
    tpi_uuid_random(one->mark);
    return one;
}

/* ---- The call ------------------------------------------------------------------------------------------ */

/* Two sessions may be at the same key: outside a transaction the loser only has to look again. Not on a
 * borrowed connection: the conflict may have ended a transaction there. */
static tp_status once_alone(tp_conn *conn, const char *key, struct tpi_args *args) {
    struct tpi_once_try *one = find_try(conn, key);
    bool again = one != NULL;
    if (!one) one = add_try(conn, key);
    if (!one) return tpi_error(TP_NOMEM, "out of memory");
    tpi_args_text(args, TPI_P_token, one->mark);
    tp_status status = TP_CONFLICT;
    for (int i = 0; i < TRIES && status == TP_CONFLICT; i++)
        status = try_once(&conn->store, args, one->mark);
    status = tpi_conn_answer(conn, judge(&conn->store, status, args, one->mark));
    /* The database may have done it all the same. */
    bool unsure = status < TP_OK && status != TP_CONFLICT && status != TP_TOOBIG;
    if (status >= TP_OK || (!again && !unsure)) *one = conn->once.all[--conn->once.count];
    return status;
}

static tp_status once_inside(tp_conn *conn, struct tpi_args *args) {
    char mark[TPI_UUID_SIZE];
    tpi_uuid_random(mark);
    tpi_args_text(args, TPI_P_token, mark);
    return judge(&conn->store, try_once(&conn->store, args, mark), args, mark);
}

tp_status tp_once(tp_conn *conn, const char *key, const tp_task *task) {
    struct tpi_args args = {0};
    tp_status status = tpi_conn_ready_to_put(conn);
    if (status == TP_OK) status = check(key, task);
    if (status != TP_OK) return tpi_conn_doom(conn, status);
    tpi_args_text(&args, TPI_P_once_key, key);
    if (task) tpi_args_text(&args, TPI_P_id, task->id);
    if (task) tpi_args_text(&args, TPI_P_handler, task->handler);
    bool inside = !conn->store.link.owned || tpi_conn_in_transaction(conn);
    return inside ? once_inside(conn, &args) : once_alone(conn, key, &args);
}
