/* Connecting; see link.h. The driver is only known once it answers, so the first connection of a source may
 * be made twice: plainly, then with the keys of the profile that was found. */
#include "odbc/link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "odbc/loader.h"
#include "odbc/source.h"
#include "odbc/stmt.h"
#include "odbc/turn.h"

enum { LOGIN_TIMEOUT_S = 10 };

static void disconnect(struct tpi_link *link) {
    if (!link->dbc) return;
    tpi_stmt_forget_word(link);
    unsigned long turn = tpi_loader_enter();
    TPI_ODBC_SURE(link, SQLDisconnect, link->dbc);
    tpi_loader_leave(turn);
    TPI_ODBC_SURE(link, SQLFreeHandle, SQL_HANDLE_DBC, link->dbc);
    link->dbc = NULL;
}

static tp_status connect_text(struct tpi_link *link, SQLHENV henv, char *text) {
    if (!SQL_SUCCEEDED(TPI_ODBC(link, SQLAllocHandle, SQL_HANDLE_DBC, henv, &link->dbc)))
        return tpi_error(TP_NOMEM, "the ODBC driver manager gives no connection handle; out of memory?");
    TPI_ODBC(link, SQLSetConnectAttr, link->dbc, SQL_ATTR_LOGIN_TIMEOUT, (SQLPOINTER)LOGIN_TIMEOUT_S, 0);
    unsigned long turn = tpi_loader_enter();
    SQLRETURN answer = TPI_ODBC(link, SQLDriverConnect, link->dbc, NULL, (SQLCHAR *)text, SQL_NTS, NULL, 0,
                                NULL, SQL_DRIVER_NOPROMPT);
    tpi_loader_leave(turn);
    if (SQL_SUCCEEDED(answer)) return TP_OK;
    tp_status status = tpi_link_failed(link, SQL_HANDLE_DBC, link->dbc);
    disconnect(link);
    return status == TP_DB ? tpi_error_db(TP_DISCONNECTED, link->diag.state, link->diag.native, NULL,
                                          "%s: %s; %s", tpi_class_text(TPI_CLASS_REFUSED), link->diag.text,
                                          tpi_class_hint(TPI_CLASS_REFUSED))
                           : status;
}

static tp_status read_info(struct tpi_link *link, SQLUSMALLINT what, char *out, SQLSMALLINT size) {
    SQLSMALLINT length = 0;
    out[0] = '\0';
    SQLRETURN answer = TPI_ODBC(link, SQLGetInfo, link->dbc, what, out, size, &length);
    return SQL_SUCCEEDED(answer) ? TP_OK : tpi_link_failed(link, SQL_HANDLE_DBC, link->dbc);
}

static tp_status identify(struct tpi_link *link) {
    tp_status status = read_info(link, SQL_DRIVER_NAME, link->driver_name, sizeof link->driver_name);
    if (status == TP_OK)
        status = read_info(link, SQL_DRIVER_VER, link->driver_version, sizeof link->driver_version);
    if (status == TP_OK) status = read_info(link, SQL_DBMS_NAME, link->dbms_name, sizeof link->dbms_name);
    if (status == TP_OK)
        status = read_info(link, SQL_DBMS_VER, link->dbms_version, sizeof link->dbms_version);
    if (status == TP_OK) link->driver = tpi_driver_for_module(link->driver_name);
    return status;
}

static tp_status check_session(struct tpi_link *link) {
    for (const struct tpi_session_check *check = link->driver->checks; check->sql; check++) {
        char answer[128] = "";
        if (check->ours_only && !link->owned) continue;
        tp_status status = tpi_stmt_ask(link, "session", check->sql, answer, sizeof answer);
        if (status != TP_OK) return status;
        if (strcasecmp(answer, check->expected) != 0)
            return tpi_error(TP_UNSUPPORTED, "%s (it is '%s')", check->what, answer);
    }
    return TP_OK;
}

static tp_status set_up_session(struct tpi_link *link, bool utc) {
    tp_status status = TP_OK;
    if (link->driver->isolation_attribute &&
        !SQL_SUCCEEDED(TPI_ODBC(link, SQLSetConnectAttr, link->dbc, SQL_ATTR_TXN_ISOLATION,
                                (SQLPOINTER)SQL_TXN_READ_COMMITTED, 0)))
        status = tpi_link_failed(link, SQL_HANDLE_DBC, link->dbc);
    for (const char *const *sql = link->driver->session; *sql && status == TP_OK; sql++)
        status = tpi_stmt_direct(link, "session", *sql);
    if (status == TP_OK && utc && link->driver->utc)
        status = tpi_stmt_direct(link, "session", link->driver->utc);
    return status == TP_OK ? check_session(link) : status;
}

/* Connects with what is known of the source; *again: the profile was found, connect once more with its keys.
 */
static tp_status connect_once(struct tpi_link *link, struct tpi_source *source, bool *again) {
    bool is_complete = false;
    char *text = tpi_source_text(source, &is_complete);
    if (!text) return tpi_error(TP_NOMEM, "out of memory");
    tp_status status = connect_text(link, source->henv, text);
    tpi_wipe(text, strlen(text));
    free(text);
    if (status != TP_OK) return tpi_source_check_typing(source) != TP_OK ? TP_MISUSE : status;
    status = identify(link);
    if (status != TP_OK) return status;
    *again = !is_complete;
    return is_complete ? TP_OK : tpi_source_complete(source, link->driver);
}

tp_status tpi_link_open(struct tpi_link *link, struct tpi_source *source, bool utc) {
    bool again = false;
    link->owned = true;
    link->dead = false;
    link->shared = false;
    link->tx = TPI_TX_NONE;
    link->statement = NULL;
    link->source = source;
    link->has_turn = false;
    tp_status status = connect_once(link, source, &again);
    if (status == TP_OK && again) {
        disconnect(link);
        status = connect_once(link, source, &again);
    }
    if (status == TP_OK) status = set_up_session(link, utc);
    if (status != TP_OK) tpi_link_close(link);
    return status;
}

void tpi_link_manager(struct tpi_link *link, char *out, size_t size) {
    SQLSMALLINT length = 0;
    out[0] = '\0';
    TPI_ODBC_SURE(link, SQLGetInfo, link->dbc, SQL_DM_VER, out, (SQLSMALLINT)size, &length);
}

tp_status tpi_link_borrow(struct tpi_link *link, SQLHDBC dbc) {
    link->owned = false;
    link->dbc = dbc;
    if (identify(link) != TP_OK) return tpi_error(TP_MISUSE, "the borrowed ODBC connection is not connected");
    return check_session(link);
}

void tpi_link_close(struct tpi_link *link) {
    if (link->owned) {
        if (link->tx != TPI_TX_NONE && !link->dead) tpi_link_rollback(link);
        disconnect(link);
        tpi_turn_give(link);
    }
    link->dbc = NULL;
    link->tx = TPI_TX_NONE;
    link->dead = true;
}
