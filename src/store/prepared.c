/* The cache of prepared statements of one connection, least recently used first. See prepared.h. */
#include "store/prepared.h"

#include <stdlib.h>
#include <string.h>

enum { PREPARED_MAX = 100 }; /* a server counts what all its sessions keep */

static void take_out(struct tpi_store *store, size_t i) {
    struct tpi_prepared **at = &store->prepared[i];
    memmove(at, at + 1, (--store->prepared_count - i) * sizeof *at);
}

static bool same_repeats(const struct tpi_repeats *a, const struct tpi_repeats *b) {
    return a->list == b->list && a->numbers == b->numbers && a->rows == b->rows && a->zero == b->zero;
}

struct tpi_prepared *tpi_prepared_find(struct tpi_store *store, enum tpi_statement statement,
                                       const struct tpi_repeats *repeats) {
    for (size_t i = store->prepared_count; i-- > 0;) {
        struct tpi_prepared *prepared = store->prepared[i];
        if (prepared->statement != statement || !same_repeats(&prepared->repeats, repeats)) continue;
        take_out(store, i);
        store->prepared[store->prepared_count++] = prepared;
        return prepared;
    }
    return NULL;
}

struct tpi_prepared *tpi_prepared_add(struct tpi_store *store, enum tpi_statement statement,
                                      const struct tpi_repeats *repeats) {
    size_t most = store->link.driver->prepared_max ? store->link.driver->prepared_max : PREPARED_MAX;
    /* What was used last may still be read from; the first was not used for so long that it is not. */
    while (store->prepared_count >= most)
        tpi_prepared_forget(store, store->prepared[0]);
    struct tpi_prepared **all = realloc(store->prepared, (store->prepared_count + 1) * sizeof *all);
    if (all) store->prepared = all;
    struct tpi_prepared *prepared = all ? calloc(1, sizeof *prepared) : NULL;
    if (!prepared) return NULL;
    *prepared = (struct tpi_prepared){.statement = statement, .repeats = *repeats};
    all[store->prepared_count++] = prepared;
    return prepared;
}

void tpi_prepared_forget(struct tpi_store *store, struct tpi_prepared *prepared) {
    size_t i = 0;
    while (store->prepared[i] != prepared)
        i++;
    take_out(store, i);
    tpi_stmt_free(&prepared->stmt);
    free(prepared);
}

void tpi_prepared_forget_all(struct tpi_store *store) {
    while (store->prepared_count)
        tpi_prepared_forget(store, store->prepared[store->prepared_count - 1]);
    free(store->prepared);
    store->prepared = NULL;
}

void tpi_store_forget(struct tpi_store *store) {
    tpi_prepared_forget_all(store);
    store->clock = (struct tpi_db_clock){.known = false};
}
