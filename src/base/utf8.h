/* UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef TPI_BASE_UTF8_H
#define TPI_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

bool tpi_utf8_valid(const char *text, size_t length);
/* The longest length <= limit at which the text can be cut without splitting a character. */
size_t tpi_utf8_cut(const char *text, size_t length, size_t limit);
/* Copies text, cut to size - 1 bytes on a character boundary; bytes that are no UTF-8, and controls, become a
 * ?. */
void tpi_utf8_copy(const char *text, char *out, size_t size);
/* Controls become blanks in place: those below a blank, DEL, and U+0080 to U+009F, which terminals obey too.
 */
void tpi_utf8_tame(char *text);

#endif
