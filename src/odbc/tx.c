/* Transactions on our own connections; see link.h. Two ways, by the profile: statements (BEGIN ...), or the
 * autocommit attribute and SQLEndTran. Autocommit is on outside a transaction. */
#include "base/error.h"
#include "base/trace.h"
#include "odbc/link.h"
#include "odbc/stmt.h"

static tp_status set_autocommit(struct tpi_link *link, bool on) {
    SQLULEN value = on ? SQL_AUTOCOMMIT_ON : SQL_AUTOCOMMIT_OFF;
    SQLRETURN answer =
        TPI_ODBC(link, SQLSetConnectAttr, link->dbc, SQL_ATTR_AUTOCOMMIT, (SQLPOINTER)value, 0);
    return SQL_SUCCEEDED(answer) ? TP_OK : tpi_link_failed(link, SQL_HANDLE_DBC, link->dbc);
}

bool tpi_link_autocommit(struct tpi_link *link) {
    SQLUINTEGER mode = SQL_AUTOCOMMIT_ON;
    SQLRETURN answer = TPI_ODBC_SURE(link, SQLGetConnectAttr, link->dbc, SQL_ATTR_AUTOCOMMIT, &mode, 0, NULL);
    return !SQL_SUCCEEDED(answer) || mode == SQL_AUTOCOMMIT_ON;
}

/* A driver that noticed a lost connection between two statements thinks that nothing is open and reports
 * success. */
static bool lied(struct tpi_link *link, SQLSMALLINT how) {
    return how == SQL_COMMIT && link->driver->commit_may_lie && tpi_link_ask_dead(link);
}

static tp_status end_transaction(struct tpi_link *link, SQLSMALLINT how) {
    SQLRETURN answer = TPI_ODBC(link, SQLEndTran, SQL_HANDLE_DBC, link->dbc, how);
    if (!SQL_SUCCEEDED(answer)) return tpi_link_failed(link, SQL_HANDLE_DBC, link->dbc);
    if (!lied(link, how)) return TP_OK;
    link->dead = true;
    return tpi_error(TP_DISCONNECTED,
                     "the connection was lost before the commit; reopen it and ask what was stored");
}

tp_status tpi_link_begin(struct tpi_link *link) {
    link->statement = "begin";
    tp_status status = link->driver->begin ? tpi_stmt_direct(link, "begin", link->driver->begin)
                                           : set_autocommit(link, false);
    if (status != TP_OK) return status;
    if (!link->driver->begin) link->counters.round_trips += link->driver->trips.begin;
    link->tx = TPI_TX_OPEN;
    return TP_OK;
}

void tpi_link_doom(struct tpi_link *link) {
    if (link->tx == TPI_TX_OPEN) link->tx = TPI_TX_DOOMED;
}

/* Both ends of a transaction. The state is left before the call: whatever its answer, the transaction is
 * over. */
static tp_status finish(struct tpi_link *link, const char *word, const char *sql, SQLSMALLINT how,
                        unsigned trips) {
    link->tx = TPI_TX_NONE;
    link->statement = word;
    tpi_trace(TPI_TRACE_STATEMENTS, "%p %s", (void *)link, word);
    if (sql) return tpi_stmt_direct(link, word, sql);
    tp_status status = end_transaction(link, how);
    link->counters.round_trips += trips;
    if (status == TP_OK) status = set_autocommit(link, true);
    return status;
}

void tpi_link_rollback(struct tpi_link *link) {
    if (link->tx == TPI_TX_NONE) return;
    const struct tpi_driver *driver = link->driver;
    link->counters.rollbacks++;
    if (link->dead) {
        link->tx = TPI_TX_NONE;
        return;
    }
    if (finish(link, "rollback", driver->rollback, SQL_ROLLBACK, driver->trips.rollback) != TP_OK)
        link->dead = true;
}

/* A commit that reports success for a transaction the server gave up is found out by one question before it.
 */
static tp_status probe(struct tpi_link *link) {
    char answer[16] = "";
    if (!link->shared || !link->driver->commit_probe) return TP_OK;
    return tpi_stmt_ask(link, "commit_probe", link->driver->commit_probe, answer, sizeof answer);
}

tp_status tpi_link_commit(struct tpi_link *link) {
    const struct tpi_driver *driver = link->driver;
    tp_status status = link->tx == TPI_TX_OPEN ? probe(link) : TP_CONFLICT;
    if (status != TP_OK) {
        bool doomed = status == TP_CONFLICT;
        bool dead = link->dead;
        tpi_link_rollback(link);
        if (dead)
            return tpi_error(TP_DISCONNECTED,
                             "the connection was lost inside the transaction, which was rolled "
                             "back; reopen it and do the whole again");
        return doomed
                   ? tpi_error(TP_CONFLICT, "something failed inside the transaction, so it was rolled back "
                                            "instead of committed; do the whole again")
                   : status;
    }
    status = finish(link, "commit", driver->commit, SQL_COMMIT, driver->trips.commit);
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
