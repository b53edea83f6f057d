/* SHA-256 of a text, in hexadecimal digits. */
#ifndef TPI_BASE_SHA256_H
#define TPI_BASE_SHA256_H

#include <stddef.h>

enum { TPI_SHA256_SIZE = 65 };

void tpi_sha256(const char *text, size_t length, char out[TPI_SHA256_SIZE]);

#endif
