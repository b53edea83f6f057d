/* A savepoint in the transaction of a borrowed connection, for levels at which a row that another session
 * committed after the snapshot is an error: behind it the application's transaction goes on. Must not know
 * what is put in. See link.h. */
#include "base/error.h"
#include "odbc/link.h"
#include "odbc/stmt.h"

tp_status tpi_link_savepoint(struct tpi_link *link, bool *set) {
    *set = link->tx_state.forgot = false;
    if (link->owned || !link->driver->savepoint) return TP_OK;
    struct tpi_kept_error kept = tpi_error_keep();
    tp_status status = tpi_link_ask_reading(link);
    if (status != TP_UNSUPPORTED) return status;
    tpi_error_restore(&kept);
    status = tpi_stmt_direct(link, "savepoint", link->driver->savepoint);
    *set = status == TP_OK;
    return status;
}

/* Back to it, which also says that this is still the transaction in which it was set: some drivers roll back
 * after an error, and begin another. */
static bool go_back(struct tpi_link *link) {
    return tpi_stmt_direct(link, "savepoint", link->driver->savepoint_back) == TP_OK &&
           tpi_stmt_direct(link, "savepoint", link->driver->savepoint_end) == TP_OK;
}

/* Of an error that stays an error, retrying would never end. */
static tp_status ended(tp_status status, const struct tpi_kept_error *kept) {
    bool may_retry = tp_status_may_retry(status);
    return tpi_error_db(
        may_retry ? TP_CONFLICT : status, kept->error.sqlstate, kept->error.native, kept->error.statement,
        "%s; your own transaction must be rolled back: the driver or the server has ended it%s", kept->text,
        may_retry ? ". Do the whole of it again" : "");
}

tp_status tpi_link_savepoint_end(struct tpi_link *link, tp_status status, bool *undone) {
    *undone = false;
    tp_status released = TP_OK;
    if (status >= TP_OK) released = tpi_stmt_direct(link, "savepoint", link->driver->savepoint_end);
    if (status >= TP_OK && released == TP_OK) return status;
    if (released != TP_OK) status = released;
    if (link->dead) return status;
    struct tpi_kept_error kept = tpi_error_keep();
    struct tpi_diag diag = link->diag;
    *undone = !link->tx_state.forgot && go_back(link);
    if (link->dead) return tpi_link_usable(link);
    tpi_error_restore(&kept);
    if (!*undone) return ended(status, &kept);
    if (status != TP_CONFLICT || !kept.error.sqlstate[0]) return status;
    return tpi_error_db(
        TP_CONFLICT, diag.state, diag.native, kept.error.statement,
        "what others committed after the snapshot of your transaction, such as this key, got "
        "in the way: %s [%s, %d]; nothing was put in, and your transaction goes on, with what you "
        "have done for this before: take that back. Ask again in a new one",
        diag.text, diag.state, (int)diag.native);
}
