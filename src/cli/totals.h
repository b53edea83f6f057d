/* Control totals: how many tasks of each handler came in and what became of them, and the sums of a number
 * in their params. Must not know the database or files. Read next: totals_record.h. */
#ifndef CLI_TOTALS_H
#define CLI_TOTALS_H

#include "cli.h"
#include "common/decimal.h"

/* X(enumerator, "key") */
#define FATE_LIST(X)                                                                                         \
    X(FATE_CAME, "came")                                                                                     \
    X(FATE_DONE, "done")                                                                                     \
    X(FATE_SKIPPED, "skipped")                                                                               \
    X(FATE_FAILED, "failed")                                                                                 \
    X(FATE_OPEN, "open")

enum fate {
#define FATE_ENUM(id, key) id,
    FATE_LIST(FATE_ENUM)
#undef FATE_ENUM
        FATE_COUNT
};
extern const char *const fate_keys[FATE_COUNT];

struct total {
    int64_t count;
    struct decimal sum;
};

struct handler_totals {
    char handler[TP_HANDLER_MAX + 1];
    struct total of[FATE_COUNT];
};

struct totals {
    const char *pointer;             /* of the number (RFC 6901); NULL: only counts */
    struct handler_totals *handlers; /* by name, when they were sorted */
    size_t count;
    int64_t unread; /* tasks without such a number; in no sum */
    char first_unread[TP_ID_SIZE];
    bool too_long; /* a sum has more than 18 digits */
};

void totals_add(struct totals *totals, const tp_created *task);
void totals_sort(struct totals *totals);
/* NULL: there is none of this name. */
const struct handler_totals *totals_find(const struct totals *totals, const char *handler);
/* A new one of zeros. */
struct handler_totals *totals_new(struct totals *totals, const char *handler);
void totals_free(struct totals *totals);

#endif
