/* Tasks that COBOL has a number of, and their blocks. */
#ifndef COBOL_TASK_H
#define COBOL_TASK_H

#include "call.h"

struct task_handle *task_of(int32_t number);
const tp_task *task_in(const struct task_handle *task);
/* Gives the task's memory back; the claim stays. */
void task_drop(int32_t number);
/* The claim that a block stands for; and that it stands for none. */
TP_CHECKED tp_status task_find(struct call *call, const struct task_block *block, struct task_handle **task);
TP_CHECKED tp_status task_check_free(struct call *call, const struct task_block *block);
/* Sets call->conn too. */
TP_CHECKED tp_status task_begin(struct call *call, void *area, const char *name, void *block,
                                struct task_block *copy, struct task_handle **task);

/* Fills a block with a task as it was read, but neither its number nor its params; sizes given stay. */
void task_fill(struct task_block *block, const tp_task *task);
/* Copies params into the argument for them. TP_TOOBIG: they do not fit; PARAMS-LENGTH says how long they are,
 * and the argument is all blanks. */
TP_CHECKED tp_status task_fill_params(struct call *call, struct task_block *block, char *field,
                                      const char *params, size_t length);
/* A batch of one task becomes a number; the batch is freed when that fails. */
TP_CHECKED tp_status task_give(struct call *call, tp_batch *batch, int64_t lease_ms,
                               struct task_block *block);

#endif
