/* Connecting, and what a session must be like; see link.h. The driver is only known once it answers, so the
 * first connection of a source may be made twice: with the string as it was given, then with the keys of the
 * profile that was found. Read next: source.c, diag.c. */
#include "odbc/link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "odbc/slot.h"
#include "odbc/source.h"
#include "odbc/stmt.h"

enum { LOGIN_TIMEOUT_S = 10 };

static void disconnect(struct tpi_link *link) {
    if (!link->dbc) return;
    tpi_stmt_forget_tx(link);
    unsigned long holder = tpi_connect_slot_take();
    TPI_ODBC_SURE(link, SQLDisconnect, link->dbc);
    tpi_connect_slot_give(holder);
    TPI_ODBC_SURE(link, SQLFreeHandle, SQL_HANDLE_DBC, link->dbc);
    link->dbc = NULL;
}

static tp_status connect_text(struct tpi_link *link, SQLHENV henv, char *text) {
    if (!SQL_SUCCEEDED(TPI_ODBC(link, SQLAllocHandle, SQL_HANDLE_DBC, henv, &link->dbc)))
        return tpi_error(TP_NOMEM, "the ODBC driver manager gives no connection handle; out of memory?");
    TPI_ODBC(link, SQLSetConnectAttr, link->dbc, SQL_ATTR_LOGIN_TIMEOUT, (SQLPOINTER)LOGIN_TIMEOUT_S, 0);
    unsigned long holder = tpi_connect_slot_take();
    SQLRETURN answer = TPI_ODBC(link, SQLDriverConnect, link->dbc, NULL, (SQLCHAR *)text, SQL_NTS, NULL, 0,
                                NULL, SQL_DRIVER_NOPROMPT);
    tpi_connect_slot_give(holder);
    if (SQL_SUCCEEDED(answer)) return TP_OK;
    tp_status status = tpi_link_failed(link, SQL_HANDLE_DBC, link->dbc);
    disconnect(link);
    bool reads = tpi_link_failed_as(TPI_CLASS_READ_ONLY); /* another server may be there soon */
    bool lost = tpi_link_failed_as(TPI_CLASS_DEAD) || tpi_link_failed_as(TPI_CLASS_TIMEOUT);
    bool refused = status == TP_DB || lost || reads;
    return refused ? tpi_error_db(TP_DISCONNECTED, link->diag.state, link->diag.native, NULL, "%s: %s; %s",
                                  tpi_class_info(TPI_CLASS_REFUSED)->text, link->diag.text,
                                  tpi_class_info(reads ? TPI_CLASS_READ_ONLY : TPI_CLASS_REFUSED)->hint)
                   : status;
}

static tp_status read_info(struct tpi_link *link, SQLUSMALLINT what, void *out, SQLSMALLINT size) {
    SQLSMALLINT length = 0;
    memset(out, 0, (size_t)size);
    SQLRETURN answer = TPI_ODBC(link, SQLGetInfo, link->dbc, what, out, size, &length);
    return SQL_SUCCEEDED(answer) ? TP_OK : tpi_link_failed(link, SQL_HANDLE_DBC, link->dbc);
}

tp_status tpi_link_names(struct tpi_link *link, struct tpi_names *names) {
    tp_status status = read_info(link, SQL_IDENTIFIER_QUOTE_CHAR, names->quote, sizeof names->quote);
    if (strcmp(names->quote, " ") == 0 || link->driver->quotes_texts) names->quote[0] = '\0';
    return status == TP_OK ? read_info(link, SQL_IDENTIFIER_CASE, &names->stored, sizeof names->stored)
                           : status;
}

/* Names for people, whose lack changes nothing. Some drivers ask the server, so a lent session is left alone.
 */
static void read_name(struct tpi_link *link, SQLUSMALLINT what, char *out, SQLSMALLINT size) {
    SQLSMALLINT length = 0;
    memset(out, 0, (size_t)size);
    if (link->owned && !SQL_SUCCEEDED(TPI_ODBC_SURE(link, SQLGetInfo, link->dbc, what, out, size, &length)))
        out[0] = '\0';
    out[size - 1] = '\0';
}

static tp_status identify(struct tpi_link *link) {
    tp_status status =
        read_info(link, SQL_DRIVER_NAME, link->software.driver_name, sizeof link->software.driver_name);
    if (status == TP_OK)
        status = read_info(link, SQL_DRIVER_VER, link->software.driver_version,
                           sizeof link->software.driver_version);
    if (status == TP_OK)
        status = read_info(link, SQL_DBMS_NAME, link->software.dbms_name, sizeof link->software.dbms_name);
    if (status == TP_OK)
        status =
            read_info(link, SQL_DBMS_VER, link->software.dbms_version, sizeof link->software.dbms_version);
    if (status != TP_OK) return status;
    link->driver = tpi_driver_for_server(link->software.driver_name, link->software.dbms_name,
                                         link->software.dbms_version);
    read_name(link, SQL_SERVER_NAME, link->software.server, sizeof link->software.server);
    read_name(link, SQL_DATABASE_NAME, link->software.database, sizeof link->software.database);
    return TP_OK;
}

/* By attribute; 0: the driver cannot say. Some write twice the bytes that they should. */
static SQLUINTEGER isolation_level(struct tpi_link *link) {
    SQLUINTEGER level[2] = {0, 0};
    SQLRETURN answer =
        TPI_ODBC_SURE(link, SQLGetConnectAttr, link->dbc, SQL_ATTR_TXN_ISOLATION, level, 0, NULL);
    return SQL_SUCCEEDED(answer) ? level[0] | level[1] : 0;
}

/* A driver that cannot say is believed. */
static tp_status check_isolation(struct tpi_link *link) {
    SQLUINTEGER level = isolation_level(link);
    if (!level || level == SQL_TXN_READ_COMMITTED) return TP_OK;
    return tpi_error(TP_UNSUPPORTED,
                     "the isolation level must be read committed, or what others did is not seen: %s",
                     link->owned && !link->shared
                         ? "it was set, and the driver kept another; make it the default of the database or "
                           "of the driver"
                         : "set SQL_ATTR_TXN_ISOLATION on the connection first");
}

static tp_status check_session(struct tpi_link *link, enum tpi_check_use use) {
    if (use == TPI_CHECK_READING && link->driver->isolation_attribute) {
        tp_status status = check_isolation(link);
        if (status != TP_OK) return status;
    }
    for (const struct tpi_session_check *check = link->driver->checks; check->sql; check++) {
        char answer[128] = "";
        if (check->use != use) continue;
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
    for (int use = 0; use < TPI_CHECKS && status == TP_OK; use++)
        status = check_session(link, (enum tpi_check_use)use);
    return status;
}

/* Connects with what is known of the source. *retry: the profile was found, connect once more with its keys.
 */
static tp_status connect_once(struct tpi_link *link, struct tpi_source *source, bool *retry) {
    bool is_complete = false;
    char *text = tpi_source_text(source, &is_complete);
    if (!text) return tpi_error(TP_NOMEM, "out of memory");
    tp_status status = connect_text(link, source->henv, text);
    tpi_wipe(text, strlen(text));
    free(text);
    if (status != TP_OK) return tpi_source_check_typing(source) != TP_OK ? TP_MISUSE : status;
    status = identify(link);
    if (status != TP_OK) return status;
    *retry = !is_complete;
    return is_complete ? TP_OK : tpi_source_complete(source, link->driver);
}

tp_status tpi_link_open(struct tpi_link *link, struct tpi_source *source, bool utc) {
    bool retry = false;
    link->owned = true;
    link->utc = utc;
    link->source = source;
    link->statement = NULL;
    link->tx = TPI_TX_NONE;
    link->dead = link->shared = link->forgotten = link->single_primary = link->has_write_slot = false;
    tp_status status = connect_once(link, source, &retry);
    if (status == TP_OK && retry) {
        disconnect(link);
        status = connect_once(link, source, &retry);
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

tp_status tpi_link_renew(struct tpi_link *link) {
    bool inside = link->tx != TPI_TX_NONE;
    tpi_link_close(link);
    tp_status status = tpi_link_open(link, link->source, link->utc);
    return status == TP_OK && inside ? tpi_link_begin(link) : status;
}

tp_status tpi_link_borrow(struct tpi_link *link, SQLHDBC dbc) {
    link->owned = false;
    link->dbc = dbc;
    if (identify(link) != TP_OK) return tpi_error(TP_MISUSE, "the borrowed ODBC connection is not connected");
    return check_session(link, TPI_CHECK_ANYTHING);
}

tp_status tpi_link_ask_all(struct tpi_link *link) {
    if (link->owned) return TP_OK;
    tp_status status = check_session(link, TPI_CHECK_READING);
    return status == TP_OK ? tpi_link_ask_text(link, true) : status;
}

tp_status tpi_link_ask_reading(struct tpi_link *link) {
    return link->owned && !link->shared ? TP_OK : check_session(link, TPI_CHECK_READING);
}

tp_status tpi_link_ask_text(struct tpi_link *link, bool read) {
    if (link->owned) return TP_OK;
    tp_status status = check_session(link, TPI_CHECK_TEXT);
    return status == TP_OK && read ? check_session(link, TPI_CHECK_LINES) : status;
}

tp_status tpi_link_ask_uncommitted(struct tpi_link *link, bool *reads) {
    *reads = !link->owned && link->driver->isolation_attribute &&
             isolation_level(link) == SQL_TXN_READ_UNCOMMITTED;
    for (const struct tpi_session_check *check = link->driver->checks; !link->owned && check->sql; check++) {
        char answer[128] = "";
        if (check->use != TPI_CHECK_READING) continue;
        tp_status status = tpi_stmt_ask(link, "session", check->sql, answer, sizeof answer);
        if (status != TP_OK) return status;
        *reads = *reads || strcasecmp(answer, "READ-UNCOMMITTED") == 0;
    }
    return TP_OK;
}

void tpi_link_close(struct tpi_link *link) {
    if (link->owned) {
        if (link->tx != TPI_TX_NONE && !link->dead) tpi_link_rollback(link);
        disconnect(link);
        tpi_write_slot_give(link);
    }
    link->dbc = NULL;
    link->tx = TPI_TX_NONE;
    link->dead = true;
}
