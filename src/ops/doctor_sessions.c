/* What the doctor tries out with two sessions: session a does something, session b does the other; where the
 * two are to meet, b does so in a thread of its own. A row is never used twice. Read next:
 * sql/.../doctor_*.sql. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "ops/doctor.h"
#include "store/record.h"

enum {
    GRACE_MS = 200,      /* long enough to see that a session waits */
    ROWS_MS = 3000,      /* a session that need not wait is through by then, on any machine */
    ONE_WRITER_MS = 400, /* the same, where waiting is likely */
    AT_ONCE_MS = 2000    /* a refusal later than that was a wait */
};

#define SESSION_REMEDY                                                                                       \
    "take isolation and transaction settings out of the connection string and of any pooler"

static bool can(const struct tpi_doctor *doctor, unsigned caps) {
    return (doctor->a->store.caps & caps) != 0;
}

static tp_status see_state(tp_conn *conn, const char *id, char state[16]) {
    return tpi_doctor_look(conn, TPI_S_doctor_read, id, state);
}

/* ---- Prepared statements ----------------------------------------------------------------------------- */

/* If a pooler is between, session b takes what a has just given back, so that a gets another the next time.
 */
static tp_status check_prepared(struct tpi_doctor *doctor) {
    char id[TPI_UUID_SIZE], state[16];
    tp_status status = tpi_doctor_put(doctor->a, id);
    if (status == TP_OK) status = see_state(doctor->a, id, state);
    if (status == TP_OK) status = see_state(doctor->b, id, state);
    if (status == TP_OK) status = tp_begin(doctor->b);
    if (status == TP_OK) status = see_state(doctor->b, id, state);
    if (status == TP_OK) status = see_state(doctor->a, id, state);
    if (status == TP_OK) tpi_doctor_good(doctor, "a prepared statement is there in the next transaction");
    return status;
}

/* ---- Transactions ------------------------------------------------------------------------------------ */

static tp_status check_autocommit(struct tpi_doctor *doctor) {
    char id[TPI_UUID_SIZE], state[16] = "";
    tp_status status = tp_begin(doctor->a);
    if (status == TP_OK) status = tpi_doctor_put(doctor->a, id);
    if (status == TP_OK) status = see_state(doctor->b, id, state);
    if (status != TP_OK) return status;
    if (*state)
        tpi_doctor_bad(
            doctor, SESSION_REMEDY,
            "another session sees what a transaction wrote before its commit: it commits by itself, "
            "or reads are uncommitted");
    else
        tpi_doctor_good(doctor, "off inside a transaction: nothing is seen before the commit");
    return TP_OK;
}

static tp_status check_rollback(struct tpi_doctor *doctor) {
    char kept[TPI_UUID_SIZE], gone[TPI_UUID_SIZE], changed[16] = "", inserted[16] = "";
    tp_status status = tpi_doctor_put(doctor->a, kept);
    if (status == TP_OK) status = tp_begin(doctor->a);
    if (status == TP_OK) status = tpi_doctor_put(doctor->a, gone);
    if (status == TP_OK) status = tpi_doctor_take_surely(doctor->a, kept);
    if (status == TP_OK) status = tp_rollback(doctor->a);
    if (status == TP_OK) status = see_state(doctor->b, gone, inserted);
    if (status == TP_OK) status = see_state(doctor->b, kept, changed);
    if (status != TP_OK) return status;
    if (*inserted || strcmp(changed, "pending") != 0)
        tpi_doctor_bad(doctor, SESSION_REMEDY ", and use tables of a kind that knows transactions",
                       "what was rolled back is still there");
    else
        tpi_doctor_good(doctor, "undoes an insert and an update");
    return TP_OK;
}

static tp_status check_commit(struct tpi_doctor *doctor) {
    char id[TPI_UUID_SIZE], state[16] = "";
    tp_status status = tp_begin(doctor->a);
    if (status == TP_OK) status = tpi_doctor_put(doctor->a, id);
    if (status == TP_OK) status = tp_commit(doctor->a);
    if (status == TP_OK) status = see_state(doctor->b, id, state);
    if (status != TP_OK) return status;
    if (*state)
        tpi_doctor_good(doctor, "is seen by the other session");
    else
        tpi_doctor_bad(doctor, "connect to the primary server for both reading and writing",
                       "another session does not see what was committed");
    return TP_OK;
}

/* ---- Row counts -------------------------------------------------------------------------------------- */

static tp_status check_found_rows(struct tpi_doctor *doctor) {
    char id[TPI_UUID_SIZE];
    int64_t rows = 0;
    tp_status status = tpi_doctor_put(doctor->a, id);
    if (status == TP_OK) status = tpi_doctor_change(doctor->a, TPI_S_doctor_same, id, &rows);
    if (status != TP_OK) return status;
    if (rows == 1)
        tpi_doctor_good(doctor, "an UPDATE counts the rows it found, changed or not");
    else
        tpi_doctor_bad(doctor, "have the driver count found rows (OPTION=2 or FOUND_ROWS=1)",
                       "an UPDATE that writes what is there already counts %" PRId64 " rows, not 1", rows);
    return TP_OK;
}

static tp_status check_duplicate(struct tpi_doctor *doctor) {
    char id[TPI_UUID_SIZE];
    tp_status status = tpi_doctor_put(doctor->a, id);
    if (status != TP_OK) return status;
    status = tpi_doctor_put_text(doctor->a, id, NULL, NULL, 0);
    bool told = status == TP_CONFLICT && doctor->a->store.link.diag.class == TPI_CLASS_EXISTS;
    if (status < TP_OK && !told) return status;
    if (told)
        tpi_doctor_good(doctor, "a second row with the same key is refused and told as such");
    else
        tpi_doctor_bad(doctor, "see that unique keys are enforced",
                       "a second row with the same primary key is taken");
    return TP_OK;
}

/* Two that change the same row: the second waits for the end of the first, then its count is 0. */
static void tell_second(struct tpi_doctor *doctor, const struct tpi_rival *rival, bool waited) {
    if (rival->answer == TP_OK && rival->rows == 0 && waited)
        tpi_doctor_good(doctor, "waits for the first, then its row count says 0: it lost");
    else if (rival->answer == TP_TIMEOUT)
        tpi_doctor_good(doctor, "gives up waiting (%s): it is asked again", rival->error.text);
    else if (rival->answer == TP_OK && rival->rows != 0)
        tpi_doctor_bad(doctor, "do not use this driver with these settings: two workers would get one task",
                       "two sessions are both told that they changed the row; the second counts %" PRId64,
                       rival->rows);
    else if (rival->answer == TP_OK)
        tpi_doctor_bad(doctor, "use tables of a kind that locks what is written",
                       "the second does not wait for the end of the first");
    else
        tpi_doctor_bad(doctor, SESSION_REMEDY, "the second fails instead of counting 0: %s",
                       rival->error.text);
}

static tp_status check_second_update(struct tpi_doctor *doctor) {
    struct tpi_rival rival;
    char id[TPI_UUID_SIZE];
    tp_status status = tpi_doctor_put(doctor->a, id);
    if (status == TP_OK) status = tp_begin(doctor->a);
    if (status == TP_OK) status = tpi_doctor_take_surely(doctor->a, id);
    if (status == TP_OK) status = tpi_rival_start(&rival, doctor->b, id);
    if (status != TP_OK) return status;
    bool waited = !tpi_rival_ends_within(&rival, GRACE_MS);
    status = tp_commit(doctor->a);
    tpi_rival_join(&rival);
    if (status != TP_OK) return status;
    if (rival.answer == TP_DISCONNECTED) return tpi_rival_error(&rival);
    tell_second(doctor, &rival, waited);
    return TP_OK;
}

/* ---- Locks ------------------------------------------------------------------------------------------- */

static void tell_row_locks(struct tpi_doctor *doctor) {
    if (!doctor->one_writer)
        tpi_doctor_good(doctor, "two sessions change two rows at the same time");
    else if (can(doctor, TPI_CAP_SKIP))
        tpi_doctor_bad(doctor, "use tables of a kind that locks single rows",
                       "a session that changes one row keeps others from changing any");
    else
        tpi_doctor_good(doctor, "one session writes at a time, the others wait");
}

/* Two that change different rows. */
static tp_status check_row_locks(struct tpi_doctor *doctor) {
    struct tpi_rival rival;
    int64_t rows = 0; /* not what is looked at here */
    char ours[TPI_UUID_SIZE], theirs[TPI_UUID_SIZE];
    tp_status status = tpi_doctor_put(doctor->a, ours);
    if (status == TP_OK) status = tpi_doctor_put(doctor->a, theirs);
    if (status == TP_OK) status = tp_begin(doctor->a);
    if (status == TP_OK) status = tpi_doctor_take(doctor->a, ours, &rows);
    if (status == TP_OK) status = tpi_rival_start(&rival, doctor->b, theirs);
    if (status != TP_OK) return status;
    bool waits = !tpi_rival_ends_within(&rival, can(doctor, TPI_CAP_SKIP) ? ROWS_MS : ONE_WRITER_MS);
    tpi_link_rollback(&doctor->a->store.link);
    tpi_rival_join(&rival);
    doctor->one_writer = waits || rival.answer == TP_TIMEOUT;
    if (rival.answer == TP_OK || rival.answer == TP_TIMEOUT) {
        tell_row_locks(doctor);
        return TP_OK;
    }
    return tpi_rival_error(&rival);
}

static bool not_tried(const struct tpi_doctor *doctor, unsigned caps) {
    if (!can(doctor, caps))
        tpi_doctor_good(doctor, "not used by dialect %s", doctor->a->store.dialect->name);
    else if (doctor->one_writer)
        tpi_doctor_good(doctor, "not needed: one session writes at a time");
    else
        return false;
    return true;
}

static void tell_nowait(struct tpi_doctor *doctor, tp_status answer, int64_t ms) {
    if (answer >= TP_OK)
        tpi_doctor_bad(doctor, "use tables of a kind that locks single rows",
                       "a row that another session changed can be locked all the same");
    else if (ms > AT_ONCE_MS)
        tpi_doctor_bad(doctor, "see why, or choose another plan by Plan=",
                       "a locked row is refused only after %" PRId64 " ms", ms);
    else
        tpi_doctor_good(doctor, "a locked row is refused after %" PRId64 " ms", ms);
}

static tp_status check_nowait(struct tpi_doctor *doctor) {
    char id[TPI_UUID_SIZE], state[16];
    if (not_tried(doctor, TPI_CAP_ROW)) return TP_OK;
    tp_status status = tpi_doctor_put(doctor->a, id);
    if (status == TP_OK) status = tp_begin(doctor->a);
    if (status == TP_OK) status = tpi_doctor_take_surely(doctor->a, id);
    if (status == TP_OK) status = tp_begin(doctor->b);
    if (status != TP_OK) return status;
    int64_t began = tpi_clock_mono_ms();
    status = tpi_doctor_look(doctor->b, TPI_S_doctor_lock, id, state);
    if (status < TP_OK && status != TP_TIMEOUT) return status;
    tell_nowait(doctor, status, tpi_clock_mono_ms() - began);
    return TP_OK;
}

/* How many of two rows conn can lock, and the id of the last. */
static tp_status lock_free_rows(tp_conn *conn, const char *const *ids, char last[TPI_UUID_SIZE],
                                size_t *count) {
    static const struct tpi_column only[] = TPI_COLUMN_ONLY(ID);
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    tpi_args_list(&args, ids, 2);
    *count = 0;
    tp_status status = tpi_store_query(&conn->store, TPI_S_doctor_skip, &args, &stmt);
    if (status != TP_OK) return status;
    while ((status = tpi_record_next(stmt, only, NULL, last)) == TP_OK && *last)
        ++*count;
    tpi_stmt_close(stmt);
    return status == TP_NONE ? TP_OK : status;
}

static tp_status check_skip_locked(struct tpi_doctor *doctor) {
    char held[TPI_UUID_SIZE], other[TPI_UUID_SIZE];
    const char *ids[2] = {held, other};
    char last[TPI_UUID_SIZE] = "";
    size_t count = 0;
    if (not_tried(doctor, TPI_CAP_SKIP)) return TP_OK;
    tp_status status = tpi_doctor_put(doctor->a, held);
    if (status == TP_OK) status = tpi_doctor_put(doctor->a, other);
    if (status == TP_OK) status = tp_begin(doctor->a);
    if (status == TP_OK) status = tpi_doctor_take_surely(doctor->a, held);
    if (status == TP_OK) status = tp_begin(doctor->b);
    if (status == TP_OK) status = lock_free_rows(doctor->b, ids, last, &count);
    if (status != TP_OK) return status;
    if (count == 1 && strcmp(last, other) == 0)
        tpi_doctor_good(doctor, "passes over the locked row and gives the other");
    else
        tpi_doctor_bad(doctor, "choose another plan by Plan=",
                       "gives %zu rows where one of two is locked; it must be the other one", count);
    return TP_OK;
}

/* ---- What others did --------------------------------------------------------------------------------- */

/* Session a looks, b takes the row, a comes back to it in its transaction. Where one session writes at a time
 * a cannot have begun before. */
static tp_status look_then_lose(struct tpi_doctor *doctor, char id[TPI_UUID_SIZE]) {
    char state[16];
    tp_status status = tpi_doctor_put(doctor->a, id);
    if (status == TP_OK && !doctor->one_writer) status = tp_begin(doctor->a);
    if (status == TP_OK) status = see_state(doctor->a, id, state);
    if (status == TP_OK) status = tpi_doctor_take_surely(doctor->b, id);
    if (status == TP_OK && doctor->one_writer) status = tp_begin(doctor->a);
    return status;
}

static tp_status check_isolation(struct tpi_doctor *doctor) {
    char id[TPI_UUID_SIZE], state[16] = "";
    tp_status status = look_then_lose(doctor, id);
    if (status == TP_OK) status = see_state(doctor->a, id, state);
    if (status != TP_OK) return status;
    if (strcmp(state, "handling") == 0)
        tpi_doctor_good(doctor, "a transaction reads what others committed meanwhile");
    else
        tpi_doctor_bad(
            doctor, SESSION_REMEDY,
            "a transaction does not read what others committed meanwhile: it is not read committed");
    return TP_OK;
}

static tp_status check_recheck(struct tpi_doctor *doctor) {
    char id[TPI_UUID_SIZE], state[16] = "";
    int64_t rows = 0;
    bool locks = can(doctor, TPI_CAP_ROW);
    tp_status status = look_then_lose(doctor, id);
    if (status == TP_OK && locks) status = tpi_doctor_look(doctor->a, TPI_S_doctor_lock, id, state);
    if (status == TP_OK && !locks) status = tpi_doctor_take(doctor->a, id, &rows);
    if (status != TP_OK) return status;
    if (locks ? strcmp(state, "handling") == 0 : rows == 0)
        tpi_doctor_good(doctor, locks ? "under the lock, what others committed since the look is seen"
                                      : "a guarded UPDATE sees what others committed since the look");
    else
        tpi_doctor_bad(doctor, SESSION_REMEDY, "what others committed since the look is not seen");
    return TP_OK;
}

/* row-locks comes before what hangs on one_writer. */
const struct tpi_doctor_check tpi_doctor_sessions[] = {
    {"prepared", check_prepared},
    {"autocommit", check_autocommit},
    {"rollback", check_rollback},
    {"commit", check_commit},
    {"found-rows", check_found_rows},
    {"duplicate", check_duplicate},
    {"row-locks", check_row_locks},
    {"second-update", check_second_update},
    {"nowait", check_nowait},
    {"skip-locked", check_skip_locked},
    {"isolation", check_isolation},
    {"recheck", check_recheck},
    {0},
};
