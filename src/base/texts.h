/* An arena for strings: they are kept together and freed together. A string stays at its address while
 * others are added. */
#ifndef TPI_BASE_TEXTS_H
#define TPI_BASE_TEXTS_H

#include <stdbool.h>
#include <stddef.h>

struct tpi_text_block;

struct tpi_texts {
    struct tpi_text_block *blocks; /* NULL: none are kept */
};

/* A copy, which ends with a NUL; NULL: no memory. */
const char *tpi_texts_keep(struct tpi_texts *texts, const char *text, size_t length);
/* Of none yet: memory for just so many bytes, NULs counted, instead of a whole block. False: no memory. */
bool tpi_texts_reserve(struct tpi_texts *texts, size_t bytes);
/* Forgets all texts; their memory is for the next ones. */
void tpi_texts_clear(struct tpi_texts *texts);
void tpi_texts_free(struct tpi_texts *texts);

#endif
