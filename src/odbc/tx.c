/* Transactions: begun and ended on our own connections, only asked about on the caller's; see link.h. The
 * driver's profile says by which of two ways: by statements (BEGIN ...), or by the autocommit attribute and
 * SQLEndTran. Outside a transaction autocommit is on. After any error in a transaction nothing is committed.
 */
#include <string.h>

#include "base/error.h"
#include "base/trace.h"
#include "odbc/link.h"
#include "odbc/slot.h"
#include "odbc/stmt.h"

static tp_status set_autocommit(struct tpi_link *link, bool on) {
    SQLULEN value = on ? SQL_AUTOCOMMIT_ON : SQL_AUTOCOMMIT_OFF;
    SQLRETURN answer =
        TPI_ODBC(link, SQLSetConnectAttr, link->dbc, SQL_ATTR_AUTOCOMMIT, (SQLPOINTER)value, 0);
    return SQL_SUCCEEDED(answer) ? TP_OK : tpi_link_failed(link, SQL_HANDLE_DBC, link->dbc);
}

bool tpi_link_autocommit_set(struct tpi_link *link) {
    SQLUINTEGER mode = SQL_AUTOCOMMIT_ON;
    SQLRETURN answer = TPI_ODBC_SURE(link, SQLGetConnectAttr, link->dbc, SQL_ATTR_AUTOCOMMIT, &mode, 0, NULL);
    return !SQL_SUCCEEDED(answer) || mode == SQL_AUTOCOMMIT_ON;
}

/* A question that fails is no answer, and no error of the caller's: a transaction that failed, or a lost
 * connection, is reported by the statement that follows. But where the server has rolled back, that one would
 * begin another transaction. */
tp_status tpi_link_autocommit(struct tpi_link *link, bool *on) {
    *on = false;
    if (link->driver->autocommit) {
        char answer[16] = "";
        struct tpi_kept_error kept = tpi_error_keep();
        tp_status status = tpi_stmt_ask(link, "autocommit", link->driver->autocommit, answer, sizeof answer);
        if (status == TP_CONFLICT) return status;
        tpi_error_restore(&kept);
        *on = status == TP_OK && strcmp(answer, "1") == 0;
        return TP_OK;
    }
    *on = tpi_link_autocommit_set(link);
    return TP_OK;
}

/* Nothing refused the statement, so no transaction was open; what it did is taken back at once. */
static tp_status undo_own_tx(struct tpi_link *link) {
    const char *undo = link->driver->own_tx_undo;
    tp_status status = undo ? tpi_stmt_direct(link, "tx_probe", undo) : TP_OK;
    link->dead = link->dead || status != TP_OK;
    return status;
}

/* A question that fails may have ended the transaction: some drivers roll back after any error. */
tp_status tpi_link_own_tx(struct tpi_link *link, bool *open) {
    const struct tpi_driver *driver = link->driver;
    char answer[16] = "";
    *open = false;
    if (!driver->own_tx) return TP_OK;
    if (driver->own_tx_open) {
        tp_status status = tpi_stmt_ask(link, "tx_probe", driver->own_tx, answer, sizeof answer);
        *open = strcmp(answer, driver->own_tx_open) == 0;
        return status;
    }
    struct tpi_kept_error kept = tpi_error_keep();
    tp_status status = tpi_stmt_direct(link, "tx_probe", driver->own_tx);
    if (status == TP_OK) return undo_own_tx(link);
    if (!tpi_link_failed_as(TPI_CLASS_IN_TX) || link->dead) return status;
    *open = true;
    tpi_error_restore(&kept);
    return TP_OK;
}

/* After a commit that reported success: a driver that noticed a lost connection between two statements, or in
 * one of the application's own, takes the transaction for closed and the commit for done. */
static tp_status check_honest(struct tpi_link *link) {
    if (!link->driver->commit_may_lie || !tpi_link_ask_dead(link)) return TP_OK;
    link->dead = true;
    return tpi_error(TP_DISCONNECTED,
                     "the connection was lost inside the transaction; reopen it and ask what was stored");
}

static tp_status end_transaction(struct tpi_link *link, SQLSMALLINT how) {
    SQLRETURN answer = TPI_ODBC(link, SQLEndTran, SQL_HANDLE_DBC, link->dbc, how);
    if (!SQL_SUCCEEDED(answer)) return tpi_link_failed(link, SQL_HANDLE_DBC, link->dbc);
    return check_honest(link);
}

tp_status tpi_link_begin(struct tpi_link *link) {
    link->statement = "begin";
    tpi_write_slot_take(link);
    tp_status status =
        link->driver->begin ? tpi_stmt_tx(link, "begin", link->driver->begin) : set_autocommit(link, false);
    if (status != TP_OK) {
        tpi_write_slot_give(link);
        return status;
    }
    if (!link->driver->begin) link->counters.round_trips += link->driver->trips.begin;
    link->tx = TPI_TX_OPEN;
    link->tx_state.lost = TP_OK;
    link->tx_state.used = link->tx_state.seen = false;
    return TP_OK;
}

/* A commit or a rollback. The state is left before the call: whatever it answers, the transaction is over. */
static tp_status finish(struct tpi_link *link, const char *name, const char *sql, SQLSMALLINT how,
                        unsigned trips) {
    link->tx = TPI_TX_NONE;
    link->statement = name;
    tpi_trace(TPI_TRACE_STATEMENTS, "%p %s", (void *)link, name);
    tp_status status = sql ? tpi_stmt_tx(link, name, sql) : end_transaction(link, how);
    if (!sql) link->counters.round_trips += trips;
    if (!sql && status == TP_OK) status = set_autocommit(link, true);
    tpi_write_slot_give(link);
    return status;
}

void tpi_link_rollback(struct tpi_link *link) {
    if (link->tx == TPI_TX_NONE) return;
    const struct tpi_driver *driver = link->driver;
    link->counters.rollbacks++;
    if (link->dead) {
        link->tx = TPI_TX_NONE;
        tpi_write_slot_give(link);
        return;
    }
    struct tpi_kept_error kept = tpi_error_keep();
    if (finish(link, "rollback", driver->rollback, SQL_ROLLBACK, driver->trips.rollback) != TP_OK)
        link->dead = !tpi_link_failed_as(TPI_CLASS_NO_TX);
    tpi_error_restore(&kept);
}

static tp_status transaction_over(struct tpi_link *link) {
    tpi_link_doom(link);
    link->tx_state.lost = TP_CONFLICT;
    return tpi_error(TP_CONFLICT, "an error, or a statement that commits by itself, ended the transaction "
                                  "before; roll it back and do the whole again");
}

/* Is the open transaction still there? Asked where other statements share the connection, by a question or by
 * a statement that is refused inside a transaction. */
static tp_status ask_probe(struct tpi_link *link) {
    char answer[16] = "";
    const struct tpi_driver *driver = link->driver;
    if (!link->shared || !driver->tx_probe) return TP_OK;
    if (driver->tx_open) {
        tp_status status = tpi_stmt_ask(link, "tx_probe", driver->tx_probe, answer, sizeof answer);
        return status == TP_OK && strcmp(answer, driver->tx_open) != 0 ? transaction_over(link) : status;
    }
    struct tpi_kept_error kept = tpi_error_keep();
    tp_status status = tpi_stmt_direct(link, "tx_probe", driver->tx_probe);
    if (status == TP_OK) return transaction_over(link);
    if (!tpi_link_failed_as(TPI_CLASS_IN_TX)) return status;
    link->tx = TPI_TX_OPEN;
    tpi_error_restore(&kept);
    return TP_OK;
}

/* The question is a statement of its own, which may fail after its answer, while it is closed. */
static tp_status probe(struct tpi_link *link) {
    tp_status status = ask_probe(link);
    if (status != TP_OK || link->tx != TPI_TX_DOOMED) return status;
    return link->dead ? tpi_link_usable(link) : transaction_over(link);
}

tp_status tpi_link_check_tx(struct tpi_link *link) {
    bool silent = link->tx == TPI_TX_OPEN && link->driver->tx_ends_silently;
    return silent ? probe(link) : TP_OK;
}

tp_status tpi_link_tx_lost(struct tpi_link *link) {
    if (link->tx == TPI_TX_OPEN) (void)!probe(link);
    if (link->dead) link->tx_state.lost = TP_DISCONNECTED;
    if (link->tx_state.lost == TP_OK) return TP_OK;
    return tpi_error(link->tx_state.lost, "the transaction is lost: %s", tp_status_text(link->tx_state.lost));
}

/* Rolls back, and says so, unless the transaction is open and sound. */
static tp_status check_sound(struct tpi_link *link) {
    tp_status status = link->tx == TPI_TX_OPEN ? probe(link) : TP_CONFLICT;
    if (status == TP_OK) return TP_OK;
    bool doomed = status == TP_CONFLICT;
    bool dead = link->dead;
    tpi_link_rollback(link);
    if (dead)
        return tpi_error(TP_DISCONNECTED, "the connection was lost inside the transaction, which was rolled "
                                          "back; reopen it and do the whole again");
    return doomed ? tpi_error(TP_CONFLICT, "something failed inside the transaction, so it was rolled back "
                                           "instead of committed; do the whole again")
                  : status;
}

/* The server may have gone while it committed. */
static tp_status nobody_knows(void) {
    return tpi_error(TP_DISCONNECTED,
                     "%s; the session did not survive its commit: reopen it and ask what became of it",
                     tp_last_error()->text);
}

/* What a commit's answer means. */
static tp_status committed(struct tpi_link *link, tp_status status) {
    if (status == TP_OK) {
        link->counters.commits++;
    } else if (!link->dead) {
        /* Not committed, or nobody knows: the session must not go on with half of it. */
        link->tx = TPI_TX_DOOMED;
        tpi_link_rollback(link);
        if (link->dead && (status == TP_DB || status == TP_UNWRITABLE)) return nobody_knows();
    }
    return status;
}

tp_status tpi_link_commit(struct tpi_link *link) {
    const struct tpi_driver *driver = link->driver;
    tp_status status = check_sound(link);
    if (status != TP_OK) return status;
    return committed(link, finish(link, "commit", driver->commit, SQL_COMMIT, driver->trips.commit));
}

tp_status tpi_link_commit_begin(struct tpi_link *link) {
    if (!link->driver->commit_begin) {
        tp_status status = tpi_link_commit(link);
        return status == TP_OK ? TP_NONE : status;
    }
    tp_status status = check_sound(link);
    if (status != TP_OK) return status;
    link->tx = TPI_TX_NONE;
    status = tpi_stmt_tx(link, "commit", link->driver->commit_begin);
    if (status == TP_OK) status = check_honest(link);
    status = committed(link, status);
    if (status == TP_OK) link->tx = TPI_TX_OPEN;
    link->tx_state.lost = TP_OK;
    link->tx_state.used = false;
    return status;
}
