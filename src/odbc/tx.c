/* Transactions: on our own connections, and whether one is open on the caller's; see link.h. Two ways, by the
 * profile: statements (BEGIN ...), or the autocommit attribute and SQLEndTran. Autocommit is on outside a
 * transaction. */
#include <string.h>

#include "base/error.h"
#include "base/trace.h"
#include "odbc/link.h"
#include "odbc/stmt.h"
#include "odbc/turn.h"

static tp_status set_autocommit(struct tpi_link *link, bool on) {
    SQLULEN value = on ? SQL_AUTOCOMMIT_ON : SQL_AUTOCOMMIT_OFF;
    SQLRETURN answer =
        TPI_ODBC(link, SQLSetConnectAttr, link->dbc, SQL_ATTR_AUTOCOMMIT, (SQLPOINTER)value, 0);
    return SQL_SUCCEEDED(answer) ? TP_OK : tpi_link_failed(link, SQL_HANDLE_DBC, link->dbc);
}

/* A question that fails speaks of a transaction that failed, or of a lost connection: the statement that
 * follows says which. */
static bool asked_autocommit(struct tpi_link *link) {
    char answer[16] = "";
    struct tpi_kept_error kept = tpi_error_keep();
    tp_status status = tpi_stmt_ask(link, "autocommit", link->driver->autocommit, answer, sizeof answer);
    tpi_error_restore(&kept);
    return status == TP_OK && strcmp(answer, "1") == 0;
}

bool tpi_link_autocommit(struct tpi_link *link) {
    if (link->driver->autocommit) return asked_autocommit(link);
    SQLUINTEGER mode = SQL_AUTOCOMMIT_ON;
    SQLRETURN answer = TPI_ODBC_SURE(link, SQLGetConnectAttr, link->dbc, SQL_ATTR_AUTOCOMMIT, &mode, 0, NULL);
    return !SQL_SUCCEEDED(answer) || mode == SQL_AUTOCOMMIT_ON;
}

/* Taken back at once when nothing refuses it. */
static bool own_tx_by_refusal(struct tpi_link *link) {
    const char *undo = link->driver->own_tx_undo;
    if (tpi_stmt_direct(link, "tx_probe", link->driver->own_tx) != TP_OK) return true;
    if (undo && tpi_stmt_direct(link, "tx_probe", undo) != TP_OK) link->dead = true;
    return false;
}

/* As above of a question that fails. */
bool tpi_link_own_tx(struct tpi_link *link) {
    const struct tpi_driver *driver = link->driver;
    char answer[16] = "";
    if (!driver->own_tx || link->dead) return false;
    struct tpi_kept_error kept = tpi_error_keep();
    bool open = true;
    if (!driver->own_tx_open)
        open = own_tx_by_refusal(link);
    else if (tpi_stmt_ask(link, "tx_probe", driver->own_tx, answer, sizeof answer) == TP_OK)
        open = strcmp(answer, driver->own_tx_open) == 0;
    tpi_error_restore(&kept);
    return open;
}

/* A driver that noticed a lost connection between two statements, or in one of the application's own, thinks
 * that nothing is open and reports success. */
static bool lied(struct tpi_link *link) {
    return link->driver->commit_may_lie && tpi_link_ask_dead(link);
}

static tp_status check_honest(struct tpi_link *link) {
    if (!lied(link)) return TP_OK;
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
    tpi_turn_take(link);
    tp_status status =
        link->driver->begin ? tpi_stmt_word(link, "begin", link->driver->begin) : set_autocommit(link, false);
    if (status != TP_OK) {
        tpi_turn_give(link);
        return status;
    }
    if (!link->driver->begin) link->counters.round_trips += link->driver->trips.begin;
    link->tx = TPI_TX_OPEN;
    link->tx_lost = TP_OK;
    link->used = link->seen = false;
    return TP_OK;
}

/* Both ends of a transaction. The state is left before the call: whatever its answer, the transaction is
 * over. */
static tp_status finish(struct tpi_link *link, const char *word, const char *sql, SQLSMALLINT how,
                        unsigned trips) {
    link->tx = TPI_TX_NONE;
    link->statement = word;
    tpi_trace(TPI_TRACE_STATEMENTS, "%p %s", (void *)link, word);
    tp_status status = sql ? tpi_stmt_word(link, word, sql) : end_transaction(link, how);
    if (!sql) link->counters.round_trips += trips;
    if (!sql && status == TP_OK) status = set_autocommit(link, true);
    tpi_turn_give(link);
    return status;
}

void tpi_link_rollback(struct tpi_link *link) {
    if (link->tx == TPI_TX_NONE) return;
    const struct tpi_driver *driver = link->driver;
    link->counters.rollbacks++;
    if (link->dead) {
        link->tx = TPI_TX_NONE;
        tpi_turn_give(link);
        return;
    }
    struct tpi_kept_error kept = tpi_error_keep();
    if (finish(link, "rollback", driver->rollback, SQL_ROLLBACK, driver->trips.rollback) != TP_OK)
        link->dead = link->diag.class != TPI_CLASS_NO_TX;
    tpi_error_restore(&kept);
}

static tp_status transaction_over(struct tpi_link *link) {
    tpi_link_doom(link);
    link->tx_lost = TP_CONFLICT;
    return tpi_error(TP_CONFLICT,
                     "an error ended the transaction before; roll it back and do the whole again");
}

/* The probe is refused while a transaction is open. */
static tp_status probe_by_refusal(struct tpi_link *link) {
    struct tpi_kept_error kept = tpi_error_keep();
    tp_status status = tpi_stmt_direct(link, "tx_probe", link->driver->tx_probe);
    if (status == TP_OK) return transaction_over(link);
    if (link->diag.class != TPI_CLASS_IN_TX) return status;
    link->tx = TPI_TX_OPEN;
    tpi_error_restore(&kept);
    return TP_OK;
}

static tp_status ask_probe(struct tpi_link *link) {
    char answer[16] = "";
    const struct tpi_driver *driver = link->driver;
    if (!link->shared || !driver->tx_probe) return TP_OK;
    if (!driver->tx_open) return probe_by_refusal(link);
    tp_status status = tpi_stmt_ask(link, "tx_probe", driver->tx_probe, answer, sizeof answer);
    return status == TP_OK && strcmp(answer, driver->tx_open) != 0 ? transaction_over(link) : status;
}

/* The question is a statement of its own, and the end of it may fail after the answer. */
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
    if (link->dead) link->tx_lost = TP_DISCONNECTED;
    if (link->tx_lost == TP_OK) return TP_OK;
    return tpi_error(link->tx_lost, "the transaction is lost: %s", tp_status_text(link->tx_lost));
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

static tp_status committed(struct tpi_link *link, tp_status status) {
    if (status == TP_OK) {
        link->counters.commits++;
        return TP_OK;
    }
    /* Not committed, or nobody knows: the session must not go on with half of it. */
    if (!link->dead) {
        link->tx = TPI_TX_DOOMED;
        tpi_link_rollback(link);
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
    status = tpi_stmt_word(link, "commit", link->driver->commit_begin);
    if (status == TP_OK) status = check_honest(link);
    status = committed(link, status);
    if (status == TP_OK) link->tx = TPI_TX_OPEN;
    link->tx_lost = TP_OK;
    link->used = false;
    return status;
}
