/* See uuid.h. */
#include "base/uuid.h"

#include <pthread.h>
#include <stdint.h>
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

bool tpi_uuid_normal(const char *text, char out[TPI_UUID_SIZE]) {
    uuid_t uuid;
    if (uuid_parse(text, uuid) != 0) return false;
    uuid_unparse_lower(uuid, out);
    return true;
}
