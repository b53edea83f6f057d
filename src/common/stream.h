/* Standard output and error of a worker, each written by a thread of its own out of a buffer of 1 MiB, so
 * that no handler thread waits for a slow reader. Lines that find no room are counted; their number is
 * reported on standard error once the buffer is written. A reader that is slow, but reads, is waited for by
 * handler programs: see stream_takes. */
#ifndef COMMON_STREAM_H
#define COMMON_STREAM_H

#include <stdbool.h>
#include <stddef.h>

/* From here on both are written by threads. failed: called by one of them when standard output cannot be
 * written any more. False: the system gives no threads. */
bool streams_start(void (*failed)(void));
/* fd: STDOUT_FILENO or STDERR_FILENO. False: it is not written by a thread; the caller writes. */
bool stream_put(int fd, const char *text, size_t length);
/* False: there is little room, and the reader reads: who can wait does. Once it has not read for 3 seconds,
 * or nothing could be written for a minute: true, and what finds no room is thrown away. */
bool stream_takes(int fd);
/* Waits until all is written, but not for a reader that has not read for 3 seconds, nor for a minute in which
 * nothing could be written; then nothing more is written by a thread. How many lines were not written, as far
 * as that was not reported. *error: errno of a write that failed, or 0. */
long long stream_end(int fd, int *error);

#endif
