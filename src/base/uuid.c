/* See uuid.h. */
#include "base/uuid.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <uuid/uuid.h>

#include "base/clock.h"

static pthread_mutex_t order_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t last_tick; /* under order_lock: milliseconds << 12 | a 12-bit counter */

/* The counter starts anew each millisecond and runs over into the next one (RFC 9562, method 1). */
static uint64_t next_tick(void) {
    uint64_t tick = (uint64_t)tpi_clock_wall_ms() << 12;
    pthread_mutex_lock(&order_lock);
    if (tick <= last_tick) tick = last_tick + 1;
    last_tick = tick;
    pthread_mutex_unlock(&order_lock);
    return tick;
}

void tpi_uuid_ordered(char out[TPI_UUID_SIZE]) {
    uuid_t uuid;
    uuid_generate_random(uuid);
    uint64_t tick = next_tick();
    for (int i = 0; i < 6; i++)
        uuid[i] = (unsigned char)(tick >> (52 - 8 * i));
    uuid[6] = (unsigned char)(0x70 | ((tick >> 8) & 0x0f));
    uuid[7] = (unsigned char)(tick & 0xff);
    uuid_unparse_lower(uuid, out);
}

void tpi_uuid_random(char out[TPI_UUID_SIZE]) {
    uuid_t uuid;
    uuid_generate_random(uuid);
    uuid_unparse_lower(uuid, out);
}

void tpi_uuid_named(const char *name, char out[TPI_UUID_SIZE]) {
    /* e9d0ae88-5f0d-4c57-9d43-1b7c4f3f2a61 */
    static const uuid_t space = {0xe9, 0xd0, 0xae, 0x88, 0x5f, 0x0d, 0x4c, 0x57,
                                 0x9d, 0x43, 0x1b, 0x7c, 0x4f, 0x3f, 0x2a, 0x61};
    uuid_t uuid;
    uuid_generate_sha1(uuid, space, name, strlen(name));
    uuid_unparse_lower(uuid, out);
}

bool tpi_uuid_normal(const char *text, char out[TPI_UUID_SIZE]) {
    uuid_t uuid;
    if (uuid_parse(text, uuid) != 0) return false;
    uuid_unparse_lower(uuid, out);
    return true;
}
