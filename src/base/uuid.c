/* See uuid.h. Without locks, which another thread might hold for ever in a forked child. */
#include "base/uuid.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uuid/uuid.h>

#include "base/clock.h"
#include "base/random.h"

enum { TAG_AT = 10, TAG_BYTES = 6 };

static _Atomic uint64_t last_tick; /* milliseconds << 12 | a 12-bit counter */

/* The counter starts anew each millisecond and runs over into the next one (RFC 9562, method 1). */
static uint64_t next_tick(void) {
    uint64_t now = (uint64_t)tpi_clock_wall_ms() << 12;
    uint64_t last = atomic_load(&last_tick), tick;
    do
        tick = now > last ? now : last + 1;
    while (!atomic_compare_exchange_weak(&last_tick, &last, tick));
    return tick;
}

static void make_ordered(uuid_t uuid) {
    tpi_random_bytes(uuid, sizeof(uuid_t));
    uint64_t tick = next_tick();
    for (int i = 0; i < 6; i++)
        uuid[i] = (unsigned char)(tick >> (52 - 8 * i));
    uuid[6] = (unsigned char)(0x70 | ((tick >> 8) & 0x0f));
    uuid[7] = (unsigned char)(tick & 0xff);
    uuid[8] = (unsigned char)(0x80 | (uuid[8] & 0x3f));
}

void tpi_uuid_ordered(char out[TPI_UUID_SIZE]) {
    uuid_t uuid = {0};
    make_ordered(uuid);
    uuid_unparse_lower(uuid, out);
}

void tpi_uuid_random(char out[TPI_UUID_SIZE]) {
    uuid_t uuid;
    uuid_generate_random(uuid);
    uuid_unparse_lower(uuid, out);
}

void tpi_uuid_at(int64_t ms, char out[TPI_UUID_SIZE]) {
    uint64_t time = ms > 0 ? (uint64_t)ms : 0;
    snprintf(out, TPI_UUID_SIZE, "%08" PRIx64 "-%04" PRIx64 "-7000-8000-000000000000",
             time >> 16 & UINT32_MAX, time & UINT16_MAX);
}

void tpi_uuid_named(const char *name, char out[TPI_UUID_SIZE]) {
    /* e9d0ae88-5f0d-4c57-9d43-1b7c4f3f2a61 */
    static const uuid_t space = {0xe9, 0xd0, 0xae, 0x88, 0x5f, 0x0d, 0x4c, 0x57,
                                 0x9d, 0x43, 0x1b, 0x7c, 0x4f, 0x3f, 0x2a, 0x61};
    uuid_t uuid;
    uuid_generate_sha1(uuid, space, name, strlen(name));
    uuid_unparse_lower(uuid, out);
}

/* ---- Tokens -------------------------------------------------------------------------------------------- */

/* Never freed: texts of it are handed out. A forked child puts its own in front of its parent's. */
struct tag {
    pid_t pid;
    unsigned char bytes[TAG_BYTES];
    char digits[2 * TAG_BYTES + 1];
    struct tag *before;
};

static _Atomic(struct tag *) newest_tag;

static void fill_tag(struct tag *tag, pid_t pid, struct tag *before) {
    uuid_t uuid;
    char text[TPI_UUID_SIZE];
    uuid_generate_random(uuid);
    uuid_unparse_lower(uuid, text);
    tag->pid = pid;
    memcpy(tag->bytes, uuid + TAG_AT, TAG_BYTES);
    memcpy(tag->digits, text + strlen(text) - 2 * TAG_BYTES, sizeof tag->digits);
    tag->before = before;
}

/* Without memory all such processes are alike; tokens still differ by time, counter and chance. */
static const struct tag *process_tag(void) {
    static const struct tag none = {.digits = "000000000000"};
    struct tag *tag = atomic_load(&newest_tag);
    pid_t pid = getpid();
    if (tag && tag->pid == pid) return tag;
    struct tag *mine = malloc(sizeof *mine);
    if (!mine) return &none;
    fill_tag(mine, pid, tag);
    if (atomic_compare_exchange_strong(&newest_tag, &tag, mine)) return mine;
    free(mine); /* another thread was faster; tag is its */
    return tag;
}

const char *tpi_uuid_process(void) {
    return process_tag()->digits;
}

void tpi_uuid_token(char out[TPI_UUID_SIZE]) {
    uuid_t uuid = {0};
    make_ordered(uuid);
    memcpy(uuid + TAG_AT, process_tag()->bytes, TAG_BYTES);
    uuid_unparse_lower(uuid, out);
}

const char *tpi_uuid_tag(const char *token) {
    return token + strlen(token) - 2 * TAG_BYTES;
}

int64_t tpi_uuid_time(const char *uuid) {
    enum { VERSION_AT = 14, TIME_DIGITS = 8, DASH = 1, MORE_DIGITS = 4 };
    char digits[TIME_DIGITS + MORE_DIGITS + 1];
    if (strlen(uuid) != TPI_UUID_SIZE - 1 || uuid[VERSION_AT] != '7') return -1;
    memcpy(digits, uuid, TIME_DIGITS);
    memcpy(digits + TIME_DIGITS, uuid + TIME_DIGITS + DASH, MORE_DIGITS);
    digits[TIME_DIGITS + MORE_DIGITS] = '\0';
    return (int64_t)strtoull(digits, NULL, 16);
}

bool tpi_uuid_normal(const char *text, char out[TPI_UUID_SIZE]) {
    uuid_t uuid;
    if (uuid_parse(text, uuid) != 0) return false;
    uuid_unparse_lower(uuid, out);
    return true;
}
