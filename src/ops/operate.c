/* What operators do to many tasks: one call, which operate_select.c (the selection), operate_move.c (retry,
 * skip, release) and purge.c carry out. */
#include <stdlib.h>

#include "base/error.h"
#include "ops/operate.h"

/* result may be NULL. */
static tp_status read_arguments(const tp_selection *given, tp_selection *selection,
                                const tp_operated *result) {
    const char *fault = result ? tpi_sized_fault(TPI_SIZED_operated, result) : NULL;
    if (fault) return tpi_error(TP_MISUSE, "%s", fault);
    if (!given) return tpi_error(TP_MISUSE, "tp_operate: selection is NULL");
    return tpi_read_sized(TPI_SIZED_selection, given, selection);
}

tp_status tp_operate(tp_conn *conn, tp_action action, const tp_selection *given, tp_operated *result) {
    tp_selection selection = TP_SELECTION_INIT;
    struct tpi_operation op = {.conn = conn, .selection = &selection};
    tp_status status = tpi_conn_ready_alone(conn, "tp_operate");
    if (status != TP_OK) return status;
    status = read_arguments(given, &selection, result);
    if (status == TP_OK) status = tpi_operate_check(action, &selection);
    if (status == TP_OK) status = tpi_operate_begin(&op, action);
    if (status == TP_OK) status = action == TP_ACTION_PURGE ? tpi_purge(&op) : tpi_operate_move(&op, action);
    free(op.ids);
    if (status == TP_OK && result) tpi_sized_write(TPI_SIZED_operated, &op.result, result);
    return status;
}
