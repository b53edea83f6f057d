/* Copies structs of older programs and checks those of newer ones. See sized.h. */
#include "core/sized.h"

#include <stddef.h>
#include <string.h>

/* Longer is garbage. */
enum { MOST = 4096 };

struct kind {
    size_t size;
    size_t least;
    const char *wrong;
    const char *newer;
};

#define KIND(name, init, next, last)                                                                         \
    [TPI_SIZED_##name] = {                                                                                   \
        sizeof(tp_##name), offsetof(tp_##name, next),                                                        \
        "tp_" #name ": the size is wrong; start from " init ", so that it is sizeof(tp_" #name ")",          \
        "tp_" #name ": the program was built for a newer taskpool and asks for what this one (" TP_VERSION   \
        ") does not know"},
static const struct kind kinds[] = {TPI_SIZED_LIST(KIND)};

/* A field behind padding would read what an older program never set. */
#define NO_PADDING(name, init, next, last)                                                                   \
    _Static_assert(offsetof(tp_##name, last) + sizeof(((tp_##name *)0)->last) == sizeof(tp_##name) &&        \
                       offsetof(tp_##name, next) % sizeof(size_t) == 0,                                      \
                   "tp_" #name " has padding at an end");
TPI_SIZED_LIST(NO_PADDING)

static size_t size_of(const void *given) {
    size_t size = 0;
    memcpy(&size, given, sizeof size);
    return size;
}

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

const char *tpi_sized_fault(enum tpi_sized kind, const void *given) {
    size_t size = size_of(given);
    bool right = size >= kinds[kind].least && size <= MOST && size % sizeof(size_t) == 0;
    return right ? NULL : kinds[kind].wrong;
}

const char *tpi_sized_read_fault(enum tpi_sized kind, const void *given) {
    const char *fault = tpi_sized_fault(kind, given);
    const char *bytes = given;
    if (fault) return fault;
    for (size_t i = kinds[kind].size, size = size_of(given); i < size; i++)
        if (bytes[i]) return kinds[kind].newer;
    return NULL;
}

bool tpi_sized_is_whole(enum tpi_sized kind, const void *given) {
    return size_of(given) >= kinds[kind].size;
}

void tpi_sized_read(enum tpi_sized kind, const void *given, void *ours) {
    size_t size = kinds[kind].size, common = smaller(size_of(given), size);
    memcpy(ours, given, common);
    memset((char *)ours + common, 0, size - common);
    memcpy(ours, &size, sizeof size);
}

void tpi_sized_write(enum tpi_sized kind, const void *ours, void *given) {
    size_t size = size_of(given), common = smaller(size, kinds[kind].size);
    memcpy((char *)given + sizeof size, (const char *)ours + sizeof size, common - sizeof size);
    memset((char *)given + common, 0, size - common);
}
