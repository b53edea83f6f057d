/* See random.h. The system's random numbers; libuuid's where the system has none to give. */
#include "base/random.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>
#include <uuid/uuid.h>

#if defined(__linux__) && !defined(TP_PLAIN_POSIX)
#include <sys/random.h>
static bool ask_system(void *out, size_t size) {
    return getrandom(out, size, 0) == (ssize_t)size;
}
#else
static bool ask_system(void *out, size_t size) {
    (void)out, (void)size;
    return false;
}
#endif

static_assert(TPI_RANDOM_MAX <= sizeof(uuid_t), "one UUID is enough");

void tpi_random_bytes(void *out, size_t size) {
    uuid_t uuid; /* six of its bits are not random */
    if (ask_system(out, size)) return;
    uuid_generate_random(uuid);
    memcpy(out, uuid, size);
}

uint32_t tpi_random(void) {
    uint32_t number;
    tpi_random_bytes(&number, sizeof number);
    return number;
}
