/* Standard output and standard error, for any thread. A worker writes them by threads of their own; read
 * next: stream.h. */
#ifndef COMMON_OUT_H
#define COMMON_OUT_H

#include <stdbool.h>
#include <stddef.h>

#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))
#define NO_RETURN                __attribute__((noreturn))

/* After the first failure all further output is dropped; out_failed() is then true. */
void out_bytes(const char *text, size_t length);
void out_text(const char *format, ...) PRINTF_LIKE(1, 2);
bool out_failed(void);
/* 0, or errno of the first failure. */
int out_flush(void);

void err_bytes(const char *text, size_t length);
void err_text(const char *format, ...) PRINTF_LIKE(1, 2);

#endif
