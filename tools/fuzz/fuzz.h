/* What the fuzz targets share. A target turns bytes into input for one part of the library or the program and
 * checks what must hold for every input; require() ends the process where it does not. Each target is built
 * twice: with libFuzzer (tools/fuzz.sh), and with replay.c, which runs what is kept under corpus/. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline _Noreturn void fuzz_broken(const char *what, const char *file, int line) {
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
    abort();
}
#define require(condition) ((condition) ? (void)0 : fuzz_broken(#condition, __FILE__, __LINE__))

/* The bytes that are left. */
struct fuzz {
    const uint8_t *at;
    size_t left;
};

/* 0 when nothing is left. */
static inline uint8_t fuzz_byte(struct fuzz *fuzz) {
    if (!fuzz->left) return 0;
    fuzz->left--;
    return *fuzz->at++;
}

static inline uint64_t fuzz_number(struct fuzz *fuzz) {
    uint64_t number = 0;
    for (int i = 0; i < 8; i++)
        number = number << 8 | fuzz_byte(fuzz);
    return number;
}

/* Up to the byte end, which is left out, or to the last; without what follows a NUL. To be freed. */
static inline char *fuzz_text(struct fuzz *fuzz, uint8_t end) {
    const uint8_t *stop = fuzz->left ? memchr(fuzz->at, end, fuzz->left) : NULL;
    size_t length = stop ? (size_t)(stop - fuzz->at) : fuzz->left;
    char *text = calloc(1, length + 1);
    require(text != NULL);
    if (length) memcpy(text, fuzz->at, length);
    fuzz->at += length;
    fuzz->left -= length;
    if (stop) (void)fuzz_byte(fuzz);
    return text;
}

/* All that is left. */
static inline char *fuzz_rest(struct fuzz *fuzz) {
    char *text = calloc(1, fuzz->left + 1);
    require(text != NULL);
    if (fuzz->left) memcpy(text, fuzz->at, fuzz->left);
    fuzz->left = 0;
    return text;
}

/* The next step bytes of at[0..left), on the heap and no byte longer; step 0: as many as the first byte says.
 * To be freed. */
static inline char *fuzz_piece(const char *at, size_t left, size_t step, size_t *size) {
    *size = step ? step : (unsigned char)*at % 29u + 1u;
    if (*size > left) *size = left;
    char *copy = malloc(*size);
    require(copy != NULL);
    memcpy(copy, at, *size);
    return copy;
}

#endif
