/* What went wrong: reads the driver's diagnostics, finds their class by the profile, notes the error with its
 * text, and decides what may still be done on the connection. Must not know any driver or database. Read
 * next: driver.h, secret.h. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "odbc/link.h"
#include "odbc/secret.h"
#include "odbc/source.h"

enum { LONGEST_TEXT = 4096 };

/* Without the names in brackets, "[unixODBC][Driver]...", with which the texts of drivers begin. */
static const char *without_names(const char *text) {
    while (*text == '[') {
        const char *end = strchr(text, ']');
        if (!end) break;
        text = end + 1;
    }
    while (*text == ' ')
        text++;
    return text;
}

static const struct tpi_connstr *given(const struct tpi_link *link) {
    return link->source ? &link->source->given : NULL;
}

static void read_record(struct tpi_link *link, SQLSMALLINT type, SQLHANDLE handle) {
    /* Longer than what is kept of it, so that no password is cut in two before it is found. */
    SQLCHAR state[6] = "", text[LONGEST_TEXT] = "";
    SQLINTEGER native = 0;
    SQLSMALLINT length = 0;
    SQLRETURN answer =
        TPI_ODBC_SURE(link, SQLGetDiagRec, type, handle, 1, state, &native, text, sizeof text, &length);
    struct tpi_diag *diag = &link->diag;
    if (!SQL_SUCCEEDED(answer)) {
        *diag =
            (struct tpi_diag){.state = "HY000", .text = "the driver reported a failure without saying which"};
        return;
    }
    tpi_secret_hide(given(link), (char *)text);
    snprintf(diag->state, sizeof diag->state, "%s", (const char *)state);
    snprintf(diag->text, sizeof diag->text, "%s", without_names((const char *)text));
    diag->native = native;
}

bool tpi_link_ask_dead(struct tpi_link *link) {
    SQLINTEGER dead = SQL_CD_FALSE;
    if (!link->dbc) return true;
    SQLRETURN answer =
        TPI_ODBC_SURE(link, SQLGetConnectAttr, link->dbc, SQL_ATTR_CONNECTION_DEAD, &dead, 0, NULL);
    return SQL_SUCCEEDED(answer) && dead == SQL_CD_TRUE;
}

/* The server forgot what was prepared. Another session can do what is asked, unless the application has this
 * one, or some of the transaction is done already. */
static enum tpi_class note_forgotten(struct tpi_link *link) {
    bool whole = link->tx == TPI_TX_NONE || !link->tx_state.used;
    link->tx_state.forgot = link->forgets = !link->owned;
    link->forgotten = !link->owned || (whole && !link->shared);
    return link->forgotten ? TPI_CLASS_FORGOTTEN : TPI_CLASS_DEAD;
}

/* Is the open transaction lost, whatever it did so far? */
static bool loses_transaction(enum tpi_class class) {
    return class == TPI_CLASS_DEAD || class == TPI_CLASS_CONFLICT || class == TPI_CLASS_FORGOTTEN ||
           class == TPI_CLASS_READ_ONLY || class == TPI_CLASS_READ_ONLY_FILE || class == TPI_CLASS_FULL;
}

/* A server that ends after the error may say the error only. */
static bool may_hide_a_loss(enum tpi_class class) {
    return class == TPI_CLASS_OTHER || class == TPI_CLASS_DISK || class == TPI_CLASS_FULL;
}

static enum tpi_class classify(struct tpi_link *link, bool from_driver) {
    const struct tpi_diag *diag = &link->diag;
    enum tpi_class class = tpi_driver_classify(link->driver ? link->driver : tpi_driver_for_module(""),
                                               diag->state, diag->native, diag->text);
    if (may_hide_a_loss(class) && from_driver && tpi_link_ask_dead(link)) class = TPI_CLASS_DEAD;
    if (class == TPI_CLASS_FORGOTTEN) class = note_forgotten(link);
    if (class == TPI_CLASS_DEAD) link->dead = true;
    if (loses_transaction(class)) link->tx_state.lost = tpi_class_info(class)->status;
    return class;
}

void tpi_link_doom(struct tpi_link *link) {
    if (link->tx == TPI_TX_OPEN) link->tx = TPI_TX_DOOMED;
}

tp_status tpi_link_failed(struct tpi_link *link, SQLSMALLINT type, SQLHANDLE handle) {
    bool from_driver = link->call.fault == TPI_FAULT_NONE;
    if (from_driver) read_record(link, type, handle);
    link->call.fault = TPI_FAULT_NONE;
    tpi_secret_hide(given(link), link->diag.text);
    enum tpi_class class = classify(link, from_driver);
    if (class != TPI_CLASS_IN_TX) link->counters.errors++; /* that is a probe's answer */
    tpi_link_doom(link);
    const struct tpi_diag *diag = &link->diag;
    const struct tpi_class_info *info = tpi_class_info(class);
    bool ends_lent = !link->owned && *info->hint &&
                     (info->status == TP_CONFLICT || info->status == TP_TIMEOUT) &&
                     class != TPI_CLASS_CURSORS;
    const char *hint = ends_lent
                           ? "your own transaction must be rolled back: do so, and do the whole of it again"
                           : info->hint;
    (void)tpi_error_db(info->status, diag->state, diag->native, link->statement, "%s: %s [%s, %d]%s%s",
                       info->text, diag->text, diag->state, (int)diag->native, *hint ? "; " : "", hint);
    tpi_error_set_class((int)class);
    return info->status;
}

bool tpi_link_failed_as(enum tpi_class class) {
    return tpi_error_class() == (int)class;
}

enum tpi_class tpi_link_warning(struct tpi_link *link, SQLSMALLINT type, SQLHANDLE handle) {
    struct tpi_diag before = link->diag;
    read_record(link, type, handle);
    enum tpi_class class =
        tpi_driver_classify(link->driver, link->diag.state, link->diag.native, link->diag.text);
    link->diag = before;
    return class;
}

tp_status tpi_link_no_memory(struct tpi_link *link) {
    tpi_link_doom(link);
    return tpi_error(TP_NOMEM, "out of memory");
}

tp_status tpi_link_usable(const struct tpi_link *link) {
    if (link->dead || !link->dbc)
        return tpi_error(TP_DISCONNECTED, "the connection is lost; reopen it and ask again");
    if (link->tx == TPI_TX_DOOMED)
        return tpi_error(TP_CONFLICT, "something failed inside this transaction; roll it back first");
    return TP_OK;
}
