/* What a handler gives back: kept from its call to the settle that stores it, by its job and by whichever
 * claim of this process takes over what is done. */
#ifndef TPI_WORKER_RESULT_H
#define TPI_WORKER_RESULT_H

struct tpi_result;

/* With one reference; NULL: no memory. */
struct tpi_result *tpi_result_new(const char *text);
/* One reference more, or less; NULL may be given. Any thread. */
struct tpi_result *tpi_result_ref(struct tpi_result *result);
void tpi_result_unref(struct tpi_result *result);
/* NULL of NULL. */
const char *tpi_result_text(const struct tpi_result *result);

#endif
