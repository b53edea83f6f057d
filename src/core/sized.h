/* The structs that a caller provides: each begins with its size, and is that of this library's header, of an
 * older one (shorter) or of a newer one (longer). A new field goes to the end, leaves no padding behind it,
 * and is default when zero; what stands in TPI_SIZED_LIST stays. */
#ifndef TPI_CORE_SIZED_H
#define TPI_CORE_SIZED_H

#include <stdbool.h>
#include <stddef.h>

#include "taskpool.h"

/* X(name without tp_, its initialiser's name, the first field that a program may lack, the last field) */
#define TPI_SIZED_LIST(X)                                                                                    \
    X(new_task, "TP_NEW_TASK_INIT", content, deadline_ms)                                                    \
    X(gate_options, "TP_GATE_INIT", period_ms, keeps)                                                        \
    X(retry, "TP_RETRY_INIT", first_ms, arg)                                                                 \
    X(claim_request, "TP_CLAIM_INIT", retries, retries)                                                      \
    X(list_request, "TP_LIST_INIT", handler, gate)                                                           \
    X(selection, "TP_SELECTION_INIT", why, gate)                                                             \
    X(schedule, "TP_SCHEDULE_INIT", params, reserved)                                                        \
    X(calendar, "TP_CALENDAR_INIT", changed_at, changed_by)                                                  \
    X(calendar_day, "TP_CALENDAR_DAY_INIT", name, reserved)                                                  \
    X(business_day_info, "TP_BUSINESS_DAY_INIT", begins_at, cut_off_at)                                      \
    X(worker_options, "TP_WORKER_INIT", keep_alive_ms, hook_count)                                           \
    X(handler_options, "TP_HANDLER_INIT", retry, run_limit_ms)                                               \
    X(hook, "TP_HOOK_INIT", arg, arg)                                                                        \
    X(running_request, "TP_RUNNING_INIT", limit, limit)                                                      \
    X(activity_request, "TP_ACTIVITY_INIT", handler, reserved)                                               \
    X(operated, "TP_OPERATED_INIT", passed, unstored)                                                        \
    X(cancelled, "TP_CANCELLED_INIT", request_id, request_id)                                                \
    X(counters, "TP_COUNTERS_INIT", statements, errors)                                                      \
    X(edit_request, "TP_EDIT_INIT", edit_id, modified_at)                                                    \
    X(erased, "TP_ERASED_INIT", failed, request_id)                                                          \
    X(four_eyes, "TP_FOUR_EYES_INIT", retry_max, request_id)                                                 \
    X(actor, "TP_ACTOR_INIT", why, request_id)                                                               \
    X(audit_request, "TP_AUDIT_INIT", limit, limit)                                                          \
    X(worker_info, "TP_WORKER_INFO_INIT", queued, unstored)

enum tpi_sized {
#define TPI_SIZED_ENUM(name, init, next, last) TPI_SIZED_##name,
    TPI_SIZED_LIST(TPI_SIZED_ENUM)
#undef TPI_SIZED_ENUM
};

/* What is wrong with the size of a struct to be written, for people; NULL: nothing. */
const char *tpi_sized_fault(enum tpi_sized kind, const void *given);
/* The same of one to be read, and with what lies behind the end of ours. */
const char *tpi_sized_read_fault(enum tpi_sized kind, const void *given);
/* Does it have all fields of ours? */
bool tpi_sized_is_whole(enum tpi_sized kind, const void *given);
/* Does it have this field of ours? */
#define TPI_SIZED_HAS(given, type, field) ((given)->size >= offsetof(type, field) + sizeof((type){0}.field))
/* These two want one without a fault. Reads it into ours, what it lacks is zero. */
void tpi_sized_read(enum tpi_sized kind, const void *given, void *ours);
/* Writes ours as far as it goes; what is not ours becomes zero. */
void tpi_sized_write(enum tpi_sized kind, const void *ours, void *given);

#endif
