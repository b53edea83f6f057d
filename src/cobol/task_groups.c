/* TP_GATE_... and TP_GROUP_...: what belongs to many tasks. */
#include <string.h>

#include "call.h"
#include "calls.h"
#include "fields.h"

/* ---- Gates ----------------------------------------------------------------------------------------------
 */

struct gate_call {
    struct call call;
    struct gate_block block;
    char name[HANDLER_FIELD + 1], who[KEY_FIELD + 1];
};

static tp_status begin_gate(struct gate_call *gate, void *area, void *conn, const char *name,
                            const void *block) {
    struct call *call = &gate->call;
    tp_status status = call_begin_on(call, area, name, conn);
    if (status == TP_OK) status = call_block(call, &gate->block, block, sizeof gate->block, "TPGATE");
    if (status == TP_OK)
        status = call_text(call, "TPG-NAME", gate->block.name, sizeof gate->block.name, gate->name);
    if (status == TP_OK)
        status = call_text(call, "TPG-WHO", gate->block.who, sizeof gate->block.who, gate->who);
    return status;
}

int TP_GATE_SET(void *area, void *conn, void *gate_block) {
    struct gate_call gate;
    tp_gate_options options = TP_GATE_INIT;
    tp_status status = begin_gate(&gate, area, conn, "TP_GATE_SET", gate_block);
    if (status == TP_OK) status = call_may_write(&gate.call);
    if (status == TP_OK) {
        options.width = gate.block.width;
        options.tokens = gate.block.tokens;
        options.period_ms = gate.block.period_ms;
        options.on_failure = (tp_gate_failure)gate.block.on_failure;
        status = tp_gate_set_with(gate.call.conn->conn, gate.name, &options, gate.who);
    }
    return call_end(&gate.call, status);
}

static void fill_gate(const tp_gate *from, void *arg) {
    struct gate_block *block = arg;
    block->width = from->width ? from->width : TP_GATE_CLOSED; /* as TP_GATE_SET takes it */
    block->tokens = from->tokens;
    block->period_ms = from->period_ms;
    block->on_failure = (int32_t)from->on_failure;
    block->through = from->through;
    block->waiting = from->waiting;
}

int TP_GATE_SHOW(void *area, void *conn, void *gate_block) {
    struct gate_call gate;
    tp_status status = begin_gate(&gate, area, conn, "TP_GATE_SHOW", gate_block);
    if (status == TP_OK && !gate.name[0]) status = call_refuse(&gate.call, TP_MISUSE, "TPG-NAME is empty");
    if (status == TP_OK) status = tp_gate_each(gate.call.conn->conn, gate.name, fill_gate, &gate.block);
    if (status == TP_OK) memcpy(gate_block, &gate.block, sizeof gate.block);
    return call_end(&gate.call, status);
}

int TP_GATE_REMOVE(void *area, void *conn, void *gate_block) {
    struct gate_call gate;
    tp_status status = begin_gate(&gate, area, conn, "TP_GATE_REMOVE", gate_block);
    if (status == TP_OK) status = call_may_write(&gate.call);
    if (status == TP_OK) status = tp_gate_remove(gate.call.conn->conn, gate.name, gate.who);
    return call_end(&gate.call, status);
}

/* ---- Groups ---------------------------------------------------------------------------------------------
 */

struct group_call {
    struct call call;
    struct group_block block;
    char name[KEY_FIELD + 1], parent[KEY_FIELD + 1], who[KEY_FIELD + 1], why[REASON_FIELD + 1];
};

static tp_status begin_group(struct group_call *group, void *area, void *conn, const char *name,
                             const void *block) {
    struct call *call = &group->call;
    const struct group_block *given = &group->block;
    tp_status status = call_begin_on(call, area, name, conn);
    if (status == TP_OK) status = call_block(call, &group->block, block, sizeof group->block, "TPGROUP");
    if (status == TP_OK) status = call_text(call, "TPU-NAME", given->name, sizeof given->name, group->name);
    if (status == TP_OK)
        status = call_text(call, "TPU-PARENT", given->parent, sizeof given->parent, group->parent);
    if (status == TP_OK) status = call_text(call, "TPU-WHO", given->who, sizeof given->who, group->who);
    if (status == TP_OK) status = call_text_whole(call, "TPU-WHY", given->why, sizeof given->why, group->why);
    return status;
}

int TP_GROUP_OPEN(void *area, void *conn, void *group_block) {
    struct group_call group;
    tp_status status = begin_group(&group, area, conn, "TP_GROUP_OPEN", group_block);
    if (status == TP_OK) status = call_may_write(&group.call);
    if (status == TP_OK)
        status =
            tp_group_open(group.call.conn->conn, group.name, (tp_group_rule)group.block.rule, group.parent);
    return call_end(&group.call, status);
}

int TP_GROUP_CLOSE(void *area, void *conn, void *group_block) {
    struct group_call group;
    tp_status status = begin_group(&group, area, conn, "TP_GROUP_CLOSE", group_block);
    if (status == TP_OK) status = call_may_write(&group.call);
    if (status == TP_OK) status = tp_group_close(group.call.conn->conn, group.name);
    return call_end(&group.call, status);
}

static void fill_group(const tp_group *from, void *arg) {
    struct group_block *block = arg;
    block->rule = (int32_t)from->rule;
    field_fill(block->parent, sizeof block->parent, from->parent);
    field_fill(block->state, sizeof block->state, from->state);
    block->tasks = from->tasks;
    block->waiting = from->waiting;
    block->handling = from->handling;
    block->done = from->done;
    block->skipped = from->skipped;
    block->failed = from->failed;
    block->waiting_after = from->after;
}

int TP_GROUP_SHOW(void *area, void *conn, void *group_block) {
    struct group_call group;
    tp_status status = begin_group(&group, area, conn, "TP_GROUP_SHOW", group_block);
    if (status == TP_OK && !group.name[0]) status = call_refuse(&group.call, TP_MISUSE, "TPU-NAME is empty");
    if (status == TP_OK) status = tp_group_each(group.call.conn->conn, group.name, fill_group, &group.block);
    if (status == TP_OK) memcpy(group_block, &group.block, sizeof group.block);
    return call_end(&group.call, status);
}

int TP_GROUP_CANCEL(void *area, void *conn, void *group_block) {
    struct group_call group;
    size_t skipped = 0;
    tp_status status = begin_group(&group, area, conn, "TP_GROUP_CANCEL", group_block);
    if (status == TP_OK)
        status = tp_group_cancel(group.call.conn->conn, group.name, group.who, group.why, &skipped);
    if (status == TP_OK) {
        group.block.skipped = (int64_t)skipped;
        memcpy(group_block, &group.block, sizeof group.block);
    }
    return call_end(&group.call, status);
}

int TP_GROUP_REMOVE(void *area, void *conn, void *group_block) {
    struct group_call group;
    tp_status status = begin_group(&group, area, conn, "TP_GROUP_REMOVE", group_block);
    if (status == TP_OK) status = tp_group_remove(group.call.conn->conn, group.name, group.who);
    return call_end(&group.call, status);
}

int TP_GROUPS_END(void *area, void *conn) {
    struct call call;
    tp_status status = call_begin_on(&call, area, "TP_GROUPS_END", conn);
    if (status == TP_OK) status = tp_groups_end(call.conn->conn, NULL);
    return call_end(&call, status);
}
