/* The fields of a task that an input file can name: CSV columns and JSON members have these names. The
 * readers deliver text; rows.c decides what a text means. */
#ifndef CLI_FIELDS_H
#define CLI_FIELDS_H

#include <string.h>

#define FIELD_LIST(X)                                                                                        \
    X(FIELD_ID, "id")                                                                                        \
    X(FIELD_HANDLER, "handler")                                                                              \
    X(FIELD_PARAMS, "params")                                                                                \
    X(FIELD_BIZ_KEY, "biz_key")                                                                              \
    X(FIELD_DEDUP_KEY, "dedup_key")                                                                          \
    X(FIELD_SHARD, "shard")                                                                                  \
    X(FIELD_PRIORITY, "priority")                                                                            \
    X(FIELD_DELAY_MS, "delay_ms")                                                                            \
    X(FIELD_DUE_AT, "due_at")                                                                                \
    X(FIELD_MAX_FAILURES, "max_failures")                                                                    \
    X(FIELD_ORDER_KEY, "order_key")                                                                          \
    X(FIELD_GATE, "gate")                                                                                    \
    X(FIELD_DEADLINE_AT, "deadline_at")                                                                      \
    X(FIELD_DEADLINE_MS, "deadline_ms")                                                                      \
    X(FIELD_GROUP, "group")                                                                                  \
    X(FIELD_AFTER, "after")

enum field {
    FIELD_NONE = -1,
#define FIELD_ENUM(id, name) id,
    FIELD_LIST(FIELD_ENUM)
#undef FIELD_ENUM
        FIELD_COUNT
};

static const char *const field_names[FIELD_COUNT] = {
#define FIELD_NAME(id, name) name,
    FIELD_LIST(FIELD_NAME)
#undef FIELD_NAME
};

/* FIELD_NONE when no field has that name. */
static inline enum field field_find(const char *name) {
    for (int i = 0; i < FIELD_COUNT; i++)
        if (strcmp(field_names[i], name) == 0) return (enum field)i;
    return FIELD_NONE;
}

/* What a reader answers after it has been fed. */
enum read_status {
    READ_MORE,   /* everything was taken, no record is complete yet */
    READ_RECORD, /* a record is complete; it stays until the reader is fed again */
    READ_BAD,    /* the input cannot be read; the reader's error says why. It stays bad */
    READ_NOMEM
};

#endif
