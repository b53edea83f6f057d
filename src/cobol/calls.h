/* The calls, as COBOL makes them: CALL "TP_ENQUEUE" USING ... Every argument is by reference; every call
 * answers its status in the area, and gives it back as RETURN-CODE. docs/cobol.md describes them. Blocks are
 * copied, because a group of COBOL may lie at any address. */
#ifndef COBOL_CALLS_H
#define COBOL_CALLS_H

#include "taskpool.h"

TP_API int TP_OPEN(void *area, void *env, void *env_block);
TP_API int TP_CLOSE(void *area, void *env);
TP_API int TP_CONNECT(void *area, void *env, void *conn);
TP_API int TP_BORROW(void *area, void *env, void *conn, void *dbc);
TP_API int TP_REOPEN(void *area, void *conn);
TP_API int TP_DISCONNECT(void *area, void *conn);
TP_API int TP_INSTALL(void *area, void *conn);

TP_API int TP_BEGIN(void *area, void *conn);
TP_API int TP_COMMIT(void *area, void *conn);
TP_API int TP_ROLLBACK(void *area, void *conn);
TP_API int TP_EXECUTE(void *area, void *conn, void *sql_block);

TP_API int TP_ENQUEUE(void *area, void *conn, void *new_block, void *params);
TP_API int TP_ONCE(void *area, void *conn, void *once_block);

TP_API int TP_CLAIM(void *area, void *conn, void *claim_block, void *task_block, void *params);
TP_API int TP_PARAMS(void *area, void *task_block, void *params);
TP_API int TP_COMPLETE(void *area, void *task_block);
TP_API int TP_FAIL(void *area, void *claim_block, void *task_block);
TP_API int TP_GIVE_UP(void *area, void *task_block);
TP_API int TP_SKIP(void *area, void *task_block);
TP_API int TP_RELEASE(void *area, void *task_block);
TP_API int TP_EXTEND(void *area, void *task_block);
TP_API int TP_SETTLED(void *area, void *task_block);
TP_API int TP_FORGET(void *area, void *task_block);

TP_API int TP_STEP(void *area, void *conn, void *claim_block, void *task_block, void *params);
TP_API int TP_SETTLE(void *area, void *conn, void *claim_block, void *task_block);

TP_API int TP_STEP_FIND(void *area, void *task_block, void *step_block, void *result);
TP_API int TP_STEP_DONE(void *area, void *task_block, void *step_block, void *result);
TP_API int TP_RESULT(void *area, void *task_block, void *result_block, void *result);
TP_API int TP_AWAIT(void *area, void *conn, void *task_block, void *result_block, void *result);
TP_API int TP_PROGRESS(void *area, void *conn, void *task_block, void *progress_block);
TP_API int TP_STOP_CAUSE(void *area, void *task_block, void *stop_block);

TP_API int TP_CANCEL(void *area, void *conn, void *cancel_block);
TP_API int TP_EDIT(void *area, void *conn, void *edit_block, void *params);
TP_API int TP_BUSINESS_DAY(void *area, void *conn, void *day_block);
TP_API int TP_GATE_SET(void *area, void *conn, void *gate_block);
TP_API int TP_GATE_SHOW(void *area, void *conn, void *gate_block);
TP_API int TP_GATE_REMOVE(void *area, void *conn, void *gate_block);
TP_API int TP_GROUP_OPEN(void *area, void *conn, void *group_block);
TP_API int TP_GROUP_CLOSE(void *area, void *conn, void *group_block);
TP_API int TP_GROUP_SHOW(void *area, void *conn, void *group_block);
TP_API int TP_GROUP_CANCEL(void *area, void *conn, void *group_block);
TP_API int TP_GROUP_REMOVE(void *area, void *conn, void *group_block);
TP_API int TP_GROUPS_END(void *area, void *conn);

TP_API int TP_SHOW(void *area, void *conn, void *task_block, void *params);
TP_API int TP_LIST(void *area, void *conn, void *list_block, void *task_block);

#endif
