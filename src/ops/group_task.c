/* What a new task says of groups. Asks no database. See group.h. */
#include <string.h>

#include "base/error.h"
#include "ops/group.h"

static bool given(const char *name) {
    return name && *name;
}

bool tpi_group_in(const tp_new_task *task) {
    return given(task->group);
}

bool tpi_group_after(const tp_new_task *task) {
    return given(task->after);
}

tp_status tpi_group_check(const tp_new_task *task) {
    bool in = tpi_group_in(task), after = tpi_group_after(task);
    if (!in && !after) return TP_OK;
    tp_status status = tpi_check_key("group", task->group);
    if (status == TP_OK) status = tpi_check_key("after", task->after);
    if (status != TP_OK) return status;
    if ((in || after) && task->on_duplicate != TP_DUPLICATE_KEEP)
        return tpi_error(TP_MISUSE, "on_duplicate does not go with group or after");
    if (after && (given(task->order_key) || given(task->gate)))
        return tpi_error(TP_MISUSE,
                         "a task waits for a group or at a gate: give after, or order_key or gate");
    if (in && after && strcmp(task->group, task->after) == 0)
        return tpi_error(TP_MISUSE, "a task of group %s cannot wait for the end of that group", task->group);
    return TP_OK;
}
