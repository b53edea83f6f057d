/* See random.h. The system's random numbers, the way UUIDs get them. */
#include "base/random.h"

#include <string.h>
#include <uuid/uuid.h>

uint32_t tpi_random(void) {
    uuid_t uuid;
    uint32_t number;
    uuid_generate_random(uuid); /* version and variant stand further behind */
    memcpy(&number, uuid, sizeof number);
    return number;
}
