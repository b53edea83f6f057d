/* Names and meanings of tp_status and the library's version; see the lists in taskpool.h. */
#include "taskpool.h"

static const struct status {
    tp_status number;
    const char *name;
    int retryable;
    const char *text;
} statuses[] = {
#define STATUS(id, number, name, retryable, text) {id, name, retryable, text},
    TP_STATUS_LIST(STATUS)
#undef STATUS
};

static const struct status *find(tp_status status) {
    static const struct status unknown = {TP_DB, "unknown", 0, "not a status of this library"};
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
        if (statuses[i].number == status) return &statuses[i];
    return &unknown;
}

const char *tp_status_name(tp_status status) {
    return find(status)->name;
}

const char *tp_status_text(tp_status status) {
    return find(status)->text;
}

int tp_status_may_retry(tp_status status) {
    return find(status)->retryable;
}

const char *tp_version(void) {
    return TP_VERSION;
}
