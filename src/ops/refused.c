/* Tells errors of the application's own constraints and triggers from those of the pool. See refused.h. */
#include "ops/refused.h"

#include "base/error.h"

/* What was prepared while a rule was there may go on doing nothing when it is gone: it is prepared anew. */
tp_status tpi_refused_silently(struct tpi_store *store, const char *what, const char *table) {
    tpi_link_doom(&store->link);
    tpi_store_forget(store);
    return tpi_error(TP_DB,
                     "the database %s, without an error; does a trigger, a rule or a constraint of your own "
                     "on %s%s refuse it?",
                     what, store->prefix, table);
}

bool tpi_refused_as_there(tp_status status) {
    return status == TP_CONFLICT && tpi_link_failed_as(TPI_CLASS_EXISTS);
}

bool tpi_refused_by_rule(const struct tpi_store *store, tp_status status) {
    return status == TP_DB && !tpi_link_failed_as(TPI_CLASS_DISK) && !store->link.dead;
}

tp_status tpi_refused_or_there(struct tpi_store *store, tp_status status, tpi_find_fn *find, void *arg) {
    if (!tpi_refused_as_there(status)) return status;
    struct tpi_kept_error kept = tpi_error_keep();
    tp_status there = find(store, arg);
    if (there != TP_NONE) return there;
    tpi_error_restore(&kept);
    return status;
}

tp_status tpi_refused_judge(struct tpi_store *store, tp_status status, const char *table, tpi_find_fn *find,
                            void *arg) {
    if (!tpi_refused_as_there(status)) return status;
    struct tpi_link *link = &store->link;
    struct tpi_kept_error kept = tpi_error_keep();
    bool doomed = link->tx == TPI_TX_DOOMED;
    if (doomed) link->tx = TPI_TX_OPEN;
    /* Through an old snapshot nothing can be seen. Of a transaction that the error ended, find knows best. */
    bool sees = store->by_locks || tpi_link_ask_reading(link) != TP_UNSUPPORTED;
    tp_status there = !sees ? TP_CONFLICT : find ? find(store, arg) : TP_NONE;
    if (doomed) tpi_link_doom(link);
    tpi_error_restore(&kept);
    if (there != TP_NONE) return status;
    return tpi_error_db(TP_DB, kept.error.sqlstate, kept.error.native, kept.error.statement,
                        "an index of your own on %s%s refuses it, or another row of this id is there: %s",
                        store->prefix, table, kept.text);
}
