/* See sha256.h. */
#include "base/sha256.h"

#include <glib.h>
#include <string.h>

void tpi_sha256(const char *text, size_t length, char out[TPI_SHA256_SIZE]) {
    gchar *digits = g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)text, length);
    memcpy(out, digits, TPI_SHA256_SIZE);
    g_free(digits);
}
