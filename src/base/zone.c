/* See zone.h. GLib says in which interval an instant lies, not where that begins and ends; so its ends are
 * searched for, and the last answer is kept.
 * BUG: where a zone's rule for the years to come gives its second offset as 0, GLib takes it for not given.
 * Of all zones that is Europe/Dublin, whose winters from 2038 on are two hours off. */
#include "base/zone.h"

#include <ctype.h>
#include <errno.h>
#include <glib.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Between these instants, the years 1800 and 3100, changes are searched for. */
#define FIRST INT64_C(-5364662400)
#define LAST  INT64_C(35659440000)
enum { NAME_MAX_BYTES = 64, STEP_S = 64 * 86400 };

struct tpi_zone {
    GTimeZone *zone;
    bool known; /* what follows: */
    int64_t start, end, offset, before;
};

/* GLib shares zones between threads under a lock of its own that thread checkers cannot see. */
static pthread_mutex_t zone_lock = PTHREAD_MUTEX_INITIALIZER;

static void lock_zones(void) {
    pthread_mutex_lock(&zone_lock);
}

static void unlock_zones(void) {
    pthread_mutex_unlock(&zone_lock);
}

/* A fork waits until no thread has GLib's lock, which nobody would release in the child. */
__attribute__((constructor)) static void watch_forks(void) {
    (void)pthread_atfork(lock_zones, unlock_zones, unlock_zones);
}

/* A name, not a path out of the database nor a rule in the manner of TZ. */
static bool is_name(const char *name) {
    if (!isalpha((unsigned char)*name) || strlen(name) > NAME_MAX_BYTES) return false;
    for (const char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("_+-/", *at)) return false;
    return true;
}

/* As GLib finds it. */
static const char *base_directory(void) {
    const char *given = getenv("TZDIR");
    return given ? given : "/usr/share/zoneinfo";
}

/* No more files or memory for now says nothing about the name. */
static bool is_short(int code) {
    return code == ENOMEM || code == EMFILE || code == ENFILE;
}

/* Is there a file of this name with a zone in it? GLib would also take a rule in the manner of TZ, in which
 * UTC+3 is three hours behind UTC. */
static tp_status find_in_database(const char *name, bool *found) {
    char path[4096], magic[4] = "";
    int length = snprintf(path, sizeof path, "%s/%s", base_directory(), name);
    if (length <= 0 || (size_t)length >= sizeof path) return TP_OK;
    FILE *file = fopen(path, "rb");
    int code = errno;
    if (!file && is_short(code))
        return tpi_error(TP_NOMEM, "%s cannot be opened: out of memory, or too many files are open", path);
    if (!file) return TP_OK;
    size_t read = fread(magic, 1, sizeof magic, file);
    fclose(file);
    *found = read == sizeof magic && memcmp(magic, "TZif", sizeof magic) == 0;
    return TP_OK;
}

/* Zones that another machine reads otherwise, and zones that count leap seconds, which no database does. */
static bool is_peculiar(const char *name) {
    return strcmp(name, "localtime") == 0 || strcmp(name, "posixrules") == 0 ||
           strncmp(name, "right/", 6) == 0;
}

static tp_status find_name(const char *name, bool *usable) {
    *usable = false;
    if (!is_name(name) || is_peculiar(name)) return TP_OK;
    *usable = strcmp(name, "UTC") == 0;
    return *usable ? TP_OK : find_in_database(name, usable);
}

static GTimeZone *find_zone(const char *name) {
    lock_zones();
    GTimeZone *found = g_time_zone_new_identifier(name);
    unlock_zones();
    return found;
}

static void release(GTimeZone *zone) {
    lock_zones();
    g_time_zone_unref(zone);
    unlock_zones();
}

tp_status tpi_zone_open(const char *name, struct tpi_zone **zone) {
    if (!name || !*name) {
        *zone = NULL;
        return TP_OK;
    }
    bool usable = false;
    tp_status status = find_name(name, &usable);
    if (status != TP_OK) return status;
    GTimeZone *found = usable ? find_zone(name) : NULL;
    if (!found)
        return tpi_error(TP_MISUSE,
                         "there is no time zone '%.64s' in this machine's tz database; give a name such as "
                         "Europe/Berlin, and see that the package tzdata is installed",
                         name);
    struct tpi_zone *opened = calloc(1, sizeof *opened);
    if (!opened) {
        release(found);
        return tpi_error(TP_NOMEM, "out of memory");
    }
    opened->zone = found;
    *zone = opened;
    return TP_OK;
}

void tpi_zone_close(struct tpi_zone *zone) {
    if (!zone) return;
    release(zone->zone);
    free(zone);
}

static int interval(const struct tpi_zone *zone, int64_t at) {
    return g_time_zone_find_interval(zone->zone, G_TIME_TYPE_UNIVERSAL, at);
}

/* Of in, which lies in the interval, and out, which does not: the last instant on the side of in that does.
 */
static int64_t narrow(const struct tpi_zone *zone, int number, int64_t in, int64_t out) {
    while (in + 1 != out && in - 1 != out) {
        int64_t middle = in + (out - in) / 2;
        if (interval(zone, middle) == number)
            in = middle;
        else
            out = middle;
    }
    return in;
}

/* The first and the last instant of the interval, searched for from at on. */
static int64_t first_of(const struct tpi_zone *zone, int number, int64_t at) {
    for (int64_t in = at, out, step = STEP_S; in > FIRST; in = out, step *= 2) {
        out = in - step;
        if (interval(zone, out) != number) return narrow(zone, number, in, out);
    }
    return INT64_MIN;
}

static int64_t last_of(const struct tpi_zone *zone, int number, int64_t at) {
    for (int64_t in = at, out, step = STEP_S; in < LAST; in = out, step *= 2) {
        out = in + step;
        if (interval(zone, out) != number) return narrow(zone, number, in, out);
    }
    return INT64_MAX;
}

static void find_span(struct tpi_zone *zone, int64_t at) {
    int number = interval(zone, at);
    int64_t last = last_of(zone, number, at);
    zone->start = first_of(zone, number, at);
    zone->end = last == INT64_MAX ? last : last + 1;
    zone->offset = g_time_zone_get_offset(zone->zone, number);
    zone->before = zone->offset;
    if (zone->start != INT64_MIN)
        zone->before = g_time_zone_get_offset(zone->zone, interval(zone, zone->start - 1));
    zone->known = true;
}

void tpi_zone_span(struct tpi_zone *zone, int64_t at, int64_t *start, int64_t *end, int64_t *offset,
                   int64_t *before) {
    if (!zone->known || at < zone->start || at >= zone->end) find_span(zone, at);
    *start = zone->start;
    *end = zone->end;
    *offset = zone->offset;
    *before = zone->before;
}
