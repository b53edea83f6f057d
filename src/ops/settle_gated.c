/* Completing tasks behind gates among many: the statements for many pass over them, and each is completed by
 * itself. See settle_group.h. */
#include <stdlib.h>
#include <string.h>

#include "ops/gate.h"
#include "ops/settle_group.h"

tp_status tpi_group_leave_out_gated(struct tpi_settle_many *many, struct tpi_settle_group *group,
                                    struct tpi_args *args, int64_t rows) {
    const char *gates[TPI_LIST_MAX];
    size_t gated = 0, kept = 0;
    tp_status status = tpi_gate_of_each(many->conn, group->ids, group->count, &many->texts, gates, &gated);
    if (status != TP_OK || rows + (int64_t)gated != (int64_t)group->count)
        return status == TP_OK ? TP_NONE : status;
    many->gated += gated;
    for (size_t i = 0; i < group->count; i++) {
        group->items[i]->gate = gates[i];
        if (gates[i]) continue;
        group->items[kept] = group->items[i];
        group->ids[kept++] = group->ids[i];
    }
    group->count = kept;
    tpi_args_list(args, group->ids, kept);
    return TP_OK;
}

static int by_gate(const void *a, const void *b) {
    const struct tpi_settle_item *one = *(struct tpi_settle_item *const *)a,
                                 *two = *(struct tpi_settle_item *const *)b;
    return strcmp(one->gate, two->gate);
}

tp_status tpi_group_complete_gated(struct tpi_settle_many *many) {
    size_t count = 0;
    tp_status status = TP_OK;
    struct tpi_settle_item **items =
        many->gated ? calloc(many->count, sizeof(struct tpi_settle_item *)) : NULL;
    if (!many->gated) return TP_OK;
    if (!items) return tpi_link_no_memory(&many->conn->store.link);
    for (size_t i = 0; i < many->count; i++)
        if (many->items[i].open && many->items[i].gate) items[count++] = &many->items[i];
    if (count) qsort(items, count, sizeof(struct tpi_settle_item *), by_gate);
    for (size_t i = 0; i < count && status >= TP_OK; i++) {
        status = tp_complete_with(many->conn, items[i]->task, items[i]->result);
        if (status < TP_OK && status != TP_LOST) break;
        items[i]->answer = status;
        items[i]->open = false;
        if (status == TP_LOST && tpi_conn_is_alone(many->conn)) status = TP_OK;
    }
    free(items);
    return status == TP_LOST ? TP_OK : status;
}
