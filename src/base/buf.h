/* A growing byte string. Remembers that an append failed for want of memory, so that callers check once at
 * the end. Always NUL-terminated once something was appended. */
#ifndef TPI_BASE_BUF_H
#define TPI_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tpi_buf {
    char *data; /* NULL while empty */
    size_t length;
    size_t capacity;
    bool failed; /* an append found no memory; the content is short */
};

/* Writes the number in digits, with a NUL; gives their count. */
enum { TPI_DIGITS_SIZE = 24 };
size_t tpi_digits(int64_t number, char out[TPI_DIGITS_SIZE]);
/* The number with which the text begins: strtoll, but quick where it is digits alone, and for 1.7E+12 too. */
int64_t tpi_number(const char *text);
/* The same, and whether the text is nothing else. */
bool tpi_number_exact(const char *text, int64_t *number);

void tpi_buf_free(struct tpi_buf *buf);
/* Overwrites the memory first. Room is to be reserved beforehand: growing leaves copies behind. */
void tpi_buf_wipe(struct tpi_buf *buf);
/* Overwrites size bytes in a way no compiler leaves out, because they held a password. */
void tpi_wipe(void *memory, size_t size);
void tpi_buf_clear(struct tpi_buf *buf);
/* Makes room for extra bytes beyond the length, and a NUL. False: no memory, and failed is set. */
bool tpi_buf_reserve(struct tpi_buf *buf, size_t extra);
void tpi_buf_add(struct tpi_buf *buf, const char *bytes, size_t length);
void tpi_buf_text(struct tpi_buf *buf, const char *text);
void tpi_buf_char(struct tpi_buf *buf, char c);
/* ASCII letters to lower case: drivers differ in the case of a UUID's digits. */
void tpi_lower(char *text, size_t length);
void tpi_buf_int(struct tpi_buf *buf, int64_t number);
/* The text as a JSON string with its quotes. text is valid UTF-8. */
void tpi_buf_json(struct tpi_buf *buf, const char *text);
/* The content, "" when empty, NULL when an append failed. */
const char *tpi_buf_str(const struct tpi_buf *buf);

#endif
