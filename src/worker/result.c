/* See result.h. The text does not change, so that a settle may read it while another claim takes it over. */
#include "worker/result.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct tpi_result {
    atomic_size_t refs;
    char text[];
};

struct tpi_result *tpi_result_new(const char *text) {
    size_t size = strlen(text) + 1;
    struct tpi_result *result = malloc(sizeof *result + size);
    if (!result) return NULL;
    atomic_init(&result->refs, 1);
    memcpy(result->text, text, size);
    return result;
}

struct tpi_result *tpi_result_ref(struct tpi_result *result) {
    if (result) atomic_fetch_add(&result->refs, 1);
    return result;
}

void tpi_result_unref(struct tpi_result *result) {
    if (result && atomic_fetch_sub(&result->refs, 1) == 1) free(result);
}

const char *tpi_result_text(const struct tpi_result *result) {
    return result ? result->text : NULL;
}
