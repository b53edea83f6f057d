/* What the doctor's files share: two sessions, how a check says what it found, and the statements on its
 * table. Read first: doctor.c. */
#ifndef TPI_OPS_DOCTOR_H
#define TPI_OPS_DOCTOR_H

#include "base/error.h"
#include "base/texts.h"
#include "ops/conn.h"

struct tpi_doctor {
    tp_env *env;
    tp_conn *a, *b;
    tp_finding_fn see;
    void *arg;
    int bad;
    bool pooler_remedy_given;
    bool cannot_write; /* nothing is tried out that writes */
    bool one_writer;   /* while a session writes, every other waits, whatever row it wants */
    const char *name;  /* of the check that runs */
};

/* ---- Findings (doctor_findings.c) --------------------------------------------------------------------- */

/* A check says one thing, by one of these. */
/* The end of most checks: a failure is handed on; otherwise the answer is good, or bad with a remedy. */
TP_CHECKED tp_status tpi_doctor_answer(struct tpi_doctor *doctor, tp_status status, bool good,
                                       const char *text, const char *remedy, const char *format, ...)
    TPI_PRINTF(6, 7);
void tpi_doctor_good(const struct tpi_doctor *doctor, const char *format, ...) TPI_PRINTF(2, 3);
void tpi_doctor_bad(struct tpi_doctor *doctor, const char *remedy, const char *format, ...) TPI_PRINTF(3, 4);
/* This thread's last error, as a finding. */
void tpi_doctor_error(struct tpi_doctor *doctor);
/* Is the text, or this thread's last error, what a pooler causes? One between gives each transaction another
 * session, which knows nothing of what was prepared, or tells apart what the driver prepares under one name
 * after another. */
bool tpi_doctor_is_poolers(const char *text);
/* What helps against it, said in full the first time. */
const char *tpi_doctor_pooler_remedy(struct tpi_doctor *doctor);

/* ---- Checks -------------------------------------------------------------------------------------------- */

struct tpi_doctor_check {
    const char *name;
    /* A failure is said for it, with the last error. */
    tp_status (*run)(struct tpi_doctor *doctor);
};
/* What stands behind the connection, and what is tried out on the doctor's table; each ends with a NULL name.
 */
extern const struct tpi_doctor_check tpi_doctor_servers[];
extern const struct tpi_doctor_check tpi_doctor_sessions[];
extern const struct tpi_doctor_check tpi_doctor_values[];

/* The version of the pool's tables, 0: there are none (schema.c). */
TP_CHECKED tp_status tpi_schema_version(tp_conn *conn, long *version);
/* How long tp_schema_install lets others go on before it asks for its locks once more; tests make it short.
 */
extern int tpi_schema_pause_ms;

/* ---- One statement each (doctor_rows.c) -------------------------------------------------------------- */

/* A row in state pending; the first makes the id. */
TP_CHECKED tp_status tpi_doctor_put(tp_conn *conn, char id[TPI_UUID_SIZE]);
TP_CHECKED tp_status tpi_doctor_put_text(tp_conn *conn, const char *id, const char *reason,
                                         const char *params, int64_t number);
/* A guarded UPDATE of a row in state pending; rows is what the driver counts. */
TP_CHECKED tp_status tpi_doctor_change(tp_conn *conn, enum tpi_statement statement, const char *id,
                                       int64_t *rows);
/* pending becomes handling. */
TP_CHECKED tp_status tpi_doctor_take(tp_conn *conn, const char *id, int64_t *rows);
/* The same where it must count one row, or there is nothing to see. */
TP_CHECKED tp_status tpi_doctor_take_surely(tp_conn *conn, const char *id);

/* The answer of a statement that is prepared for it and does not stay so, cut to size. */
TP_CHECKED tp_status tpi_doctor_ask_prepared(struct tpi_link *link, const char *name, const char *question,
                                             char *answer, size_t size);

/* A row as a session sees it; all "" when it sees none. The texts are to be freed. */
struct tpi_doctor_row {
    const char *state, *number, *reason, *params;
    struct tpi_texts texts;
};
TP_CHECKED tp_status tpi_doctor_read(tp_conn *conn, const char *id, struct tpi_doctor_row *row);
/* Its state alone, by the statement; "" when it sees no such row. */
TP_CHECKED tp_status tpi_doctor_state(tp_conn *conn, enum tpi_statement statement, const char *id,
                                      char state[16]);

#endif
