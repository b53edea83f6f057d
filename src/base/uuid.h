/* Task ids and claim tokens: UUIDs as 36 characters of lower-case text and a NUL. */
#ifndef TPI_BASE_UUID_H
#define TPI_BASE_UUID_H

#include <stdbool.h>
#include <stdint.h>

enum { TPI_UUID_SIZE = 37 };

/* Version 7 (RFC 9562): time-ordered, rising within this process even inside one millisecond. Any thread. */
void tpi_uuid_ordered(char out[TPI_UUID_SIZE]);
/* Version 4: random. */
void tpi_uuid_random(char out[TPI_UUID_SIZE]);
/* A claim token: version 7, ending in tpi_uuid_process(), never the same twice in this process. Any thread.
 */
void tpi_uuid_token(char out[TPI_UUID_SIZE]);
/* Twelve hexadecimal digits drawn at random for this process; a forked child draws its own. They live as long
 * as the process. Any thread. */
const char *tpi_uuid_process(void);
/* The last twelve digits of a token: of whoever made it, tpi_uuid_process(). */
const char *tpi_uuid_tag(const char *token);
/* The time in a UUID of version 7 in its normal form, in ms since 1970 by the clock of its maker; -1: there
 * is none. */
int64_t tpi_uuid_time(const char *uuid);
/* A UUID between those of version 7 that were made before that time and from then on. */
void tpi_uuid_at(int64_t ms, char out[TPI_UUID_SIZE]);
/* Version 5: always the same for the same name, in a name space of taskpool's own. */
void tpi_uuid_named(const char *name, char out[TPI_UUID_SIZE]);
/* Reads any form of UUID text that libuuid reads; writes the lower-case form. False: not a UUID. */
bool tpi_uuid_normal(const char *text, char out[TPI_UUID_SIZE]);

#endif
