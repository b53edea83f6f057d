/* The reader of an adoption's mapping: what of a mapping would have a row done twice, or never, is refused.
 */
#include "ops/adopt.h"
#include "support/test.h"

extern const struct tpi_dialect tpi_dialect_sqlite, tpi_dialect_postgres;

#define SHARED(key, open, taken)                                                                             \
    "name = x\ntable = old\nkey = " key "\nhandler = 'h'\nstate = status\nopen = " open "\ntaken = " taken   \
    "\ndone = 1\nfailed = -2\n"
#define ALONE(more)                                                                                          \
    "name = x\ntable = old\nkey = id, mon\nhandler = 'h'\nalone = yes\ndone = delete\nfailed = delete\n"     \
    "history = gone\ncolumns = id, mon\n" more

static tp_status read_by(const struct tpi_dialect *dialect, const char *mapping) {
    struct tpi_adoption adoption = {0};
    tp_status status = tpi_adopt_read(mapping, dialect, &adoption);
    tpi_adopt_free(&adoption);
    return status;
}

static void taken(const struct tpi_dialect *dialect, const char *mapping) {
    if (read_by(dialect, mapping) != TP_OK) fail_msg("%s", tp_last_error()->text);
}

static void refused(const struct tpi_dialect *dialect, const char *mapping, const char *line) {
    assert_int_equal(read_by(dialect, mapping), TP_MISUSE);
    if (!strstr(tp_last_error()->text, line)) fail_msg("not %s: %s", line, tp_last_error()->text);
}

TEST(test_adopt__a_key_that_a_round_writes_is_refused) {
    taken(&tpi_dialect_sqlite, SHARED("id", "0", "9"));
    refused(&tpi_dialect_sqlite, SHARED("status", "0", "9"), "line 3: key");
    refused(&tpi_dialect_sqlite, SHARED("id, Status", "0", "9"), "line 3: key");
    refused(&tpi_dialect_postgres, SHARED("id, Status", "0", "9"), "line 3: key");
    taken(&tpi_dialect_postgres, SHARED("\"Status\"", "0", "9"));
    refused(&tpi_dialect_sqlite, SHARED("id, worker", "0", "9") "owner = worker\n", "line 3: key");
    taken(&tpi_dialect_sqlite, ALONE("reason = why\nfailures = n\n"));
    refused(&tpi_dialect_sqlite, ALONE("reason = id\n"), "line 3: key");
    refused(&tpi_dialect_sqlite, ALONE("failures = mon\n"), "line 3: key");
}

/* SQLite takes any text for greater than any number. */
TEST(test_adopt__a_text_beside_numbers_above_one_is_refused) {
    taken(&tpi_dialect_sqlite, SHARED("id", "> 2", "'-5'"));
    taken(&tpi_dialect_sqlite, SHARED("id", "-1, 0", "'pool'"));
    refused(&tpi_dialect_sqlite, SHARED("id", "-1, > 2", "'pool'"), "line 7: taken");
}
