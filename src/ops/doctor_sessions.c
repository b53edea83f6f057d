/* What the doctor tries out with two sessions: session a does something, session b does the other; where the
 * two are to meet, b does so in a thread of its own. A row is never used twice. Read next:
 * sql/.../doctor_*.sql. */
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "base/cond.h"
#include "ops/doctor.h"
#include "store/record.h"

enum {
    GRACE_MS = 200,      /* long enough to see that a session waits */
    ROWS_MS = 3000,      /* a session that need not wait is mostly through by then */
    ONE_WRITER_MS = 400, /* the same, where waiting is likely */
    AT_ONCE_MS = 2000,   /* a refusal later than that was a wait ... */
    TRIES = 3            /* ... unless this machine stood still: a wait is one each time */
};

#define SESSION_REMEDY                                                                                       \
    "take isolation and transaction settings out of the connection string and of any pooler"

static bool can(const struct tpi_doctor *doctor, unsigned caps) {
    return (doctor->a->store.caps & caps) != 0;
}

static tp_status see_state(tp_conn *conn, const char *id, char state[16]) {
    return tpi_doctor_state(conn, TPI_S_doctor_read, id, state);
}

/* ---- A session in a thread of its own ------------------------------------------------------------------ */

/* Begins, reads, takes the row, commits. */
struct rival {
    pthread_t thread;
    pthread_mutex_t lock; /* for these */
    pthread_cond_t changed;
    bool has_read, ended;
    tp_conn *conn;
    const char *id;
    /* Once it was joined. */
    int64_t rows;
    tp_status answer;
    struct tpi_kept_error error;
};

static void say(struct rival *rival, bool *what) {
    pthread_mutex_lock(&rival->lock);
    *what = true;
    pthread_cond_signal(&rival->changed);
    pthread_mutex_unlock(&rival->lock);
}

static void *run_rival(void *arg) {
    struct rival *rival = arg;
    char state[16];
    tp_status answer = tp_begin(rival->conn);
    if (answer == TP_OK) answer = see_state(rival->conn, rival->id, state);
    if (answer == TP_OK) {
        say(rival, &rival->has_read);
        answer = tpi_doctor_take(rival->conn, rival->id, &rival->rows);
    }
    if (answer == TP_OK) answer = tp_commit(rival->conn);
    rival->error = tpi_error_keep();
    if (answer != TP_OK) tpi_link_rollback(&rival->conn->store.link);
    rival->answer = answer;
    say(rival, &rival->ended);
    return NULL;
}

static tp_status start_rival(struct rival *rival, tp_conn *conn, const char *id) {
    *rival = (struct rival){.conn = conn, .id = id};
    pthread_mutex_init(&rival->lock, NULL);
    if (tpi_cond_init(&rival->changed) && pthread_create(&rival->thread, NULL, run_rival, rival) == 0)
        return TP_OK;
    return tpi_error(TP_NOMEM, "no thread can be started");
}

/* Whether that is so within this time; what has ended says nothing more. */
static bool said_within(struct rival *rival, const bool *what, int ms) {
    int64_t until_ms = tpi_clock_mono_ms() + ms;
    pthread_mutex_lock(&rival->lock);
    while (!*what && !rival->ended)
        if (!tpi_cond_wait(&rival->changed, &rival->lock, until_ms)) break;
    bool said = *what;
    pthread_mutex_unlock(&rival->lock);
    return said;
}

static void join_rival(struct rival *rival) {
    pthread_join(rival->thread, NULL);
    pthread_cond_destroy(&rival->changed);
    pthread_mutex_destroy(&rival->lock);
}

/* Its answer, with its error as this thread's last. */
static tp_status rival_error(const struct rival *rival) {
    tpi_error_restore(&rival->error);
    return rival->answer;
}

/* ---- Prepared statements ----------------------------------------------------------------------------- */

/* If a pooler is between, session b takes what a has just given back, so that a gets another next. */
static tp_status check_prepared(struct tpi_doctor *doctor) {
    char id[TPI_UUID_SIZE], state[16];
    tp_status status = tpi_doctor_put(doctor->a, id);
    if (status == TP_OK) status = see_state(doctor->a, id, state);
    if (status == TP_OK) status = see_state(doctor->b, id, state);
    if (status == TP_OK) status = tp_begin(doctor->b);
    if (status == TP_OK) status = see_state(doctor->b, id, state);
    if (status == TP_OK) status = see_state(doctor->a, id, state);
    return tpi_doctor_answer(doctor, status, true, "a prepared statement is there in the next transaction",
                             NULL, "%s", "");
}

/* ---- Transactions ------------------------------------------------------------------------------------ */

static tp_status check_autocommit(struct tpi_doctor *doctor) {
    char id[TPI_UUID_SIZE], state[16] = "";
    tp_status status = tp_begin(doctor->a);
    if (status == TP_OK) status = tpi_doctor_put(doctor->a, id);
    if (status == TP_OK) status = see_state(doctor->b, id, state);
    return tpi_doctor_answer(
        doctor, status, !*state, "off inside a transaction: nothing is seen before the commit",
        SESSION_REMEDY,
        "another session sees what a transaction wrote before its commit: it commits by itself, "
        "or reads are uncommitted");
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
    return tpi_doctor_answer(doctor, status, !*inserted && strcmp(changed, "pending") == 0,
                             "undoes an insert and an update",
                             SESSION_REMEDY ", and use tables of a kind that knows transactions",
                             "what was rolled back is still there");
}

static tp_status check_commit(struct tpi_doctor *doctor) {
    char id[TPI_UUID_SIZE], state[16] = "";
    tp_status status = tp_begin(doctor->a);
    if (status == TP_OK) status = tpi_doctor_put(doctor->a, id);
    if (status == TP_OK) status = tp_commit(doctor->a);
    if (status == TP_OK) status = see_state(doctor->b, id, state);
    return tpi_doctor_answer(doctor, status, *state, "is seen by the other session",
                             "connect to the primary server for both reading and writing",
                             "another session does not see what was committed");
}

/* ---- Row counts -------------------------------------------------------------------------------------- */

static tp_status check_found_rows(struct tpi_doctor *doctor) {
    char id[TPI_UUID_SIZE];
    int64_t rows = 0;
    tp_status status = tpi_doctor_put(doctor->a, id);
    if (status == TP_OK) status = tpi_doctor_change(doctor->a, TPI_S_doctor_same, id, &rows);
    return tpi_doctor_answer(doctor, status, rows == 1, "an UPDATE counts the rows it found, changed or not",
                             "have the driver count found rows (OPTION=2 or FOUND_ROWS=1)",
                             "an UPDATE that writes what is there already counts %" PRId64 " rows, not 1",
                             rows);
}

static tp_status check_duplicate(struct tpi_doctor *doctor) {
    char id[TPI_UUID_SIZE];
    tp_status status = tpi_doctor_put(doctor->a, id);
    if (status != TP_OK) return status;
    status = tpi_doctor_put_text(doctor->a, id, NULL, NULL, 0);
    bool refused = status == TP_CONFLICT && tpi_link_failed_as(TPI_CLASS_EXISTS);
    return tpi_doctor_answer(doctor, refused ? TP_OK : status, refused,
                             "a second row with the same key is refused, and known to be for that reason",
                             "see that unique keys are enforced",
                             "a second row with the same primary key is taken");
}

/* Two that change the same row: the second waits for the end of the first, then its count is 0. */
static void report_second(struct tpi_doctor *doctor, const struct rival *rival, bool waited) {
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
    struct rival rival;
    char id[TPI_UUID_SIZE];
    tp_status status = tpi_doctor_put(doctor->a, id);
    if (status == TP_OK) status = tp_begin(doctor->a);
    if (status == TP_OK) status = tpi_doctor_take_surely(doctor->a, id);
    if (status == TP_OK) status = start_rival(&rival, doctor->b, id);
    if (status != TP_OK) return status;
    if (!doctor->one_writer) (void)said_within(&rival, &rival.has_read, ROWS_MS);
    bool waited = !said_within(&rival, &rival.ended, GRACE_MS);
    status = tp_commit(doctor->a);
    join_rival(&rival);
    if (status != TP_OK) return status;
    if (rival.answer == TP_DISCONNECTED) return rival_error(&rival);
    report_second(doctor, &rival, waited);
    return TP_OK;
}

/* ---- Locks ------------------------------------------------------------------------------------------- */

static void report_row_locks(struct tpi_doctor *doctor) {
    if (!doctor->one_writer)
        tpi_doctor_good(doctor, "two sessions change two rows at the same time");
    else if (can(doctor, TPI_CAP_SKIP))
        tpi_doctor_bad(doctor, "use tables of a kind that locks single rows",
                       "a session that changes one row keeps others from changing any");
    else
        tpi_doctor_good(doctor, "one session writes at a time, the others wait");
}

/* Two that change different rows: whether the second waits for the end of the first. */
static tp_status try_row_locks(struct tpi_doctor *doctor, struct rival *rival, bool *waits) {
    int64_t rows = 0; /* not what is checked here */
    char ours[TPI_UUID_SIZE], theirs[TPI_UUID_SIZE];
    tp_status status = tpi_doctor_put(doctor->a, ours);
    if (status == TP_OK) status = tpi_doctor_put(doctor->a, theirs);
    if (status == TP_OK) status = tp_begin(doctor->a);
    if (status == TP_OK) status = tpi_doctor_take(doctor->a, ours, &rows);
    if (status == TP_OK) status = start_rival(rival, doctor->b, theirs);
    if (status != TP_OK) return status;
    *waits = !said_within(rival, &rival->ended, can(doctor, TPI_CAP_SKIP) ? ROWS_MS : ONE_WRITER_MS);
    tpi_link_rollback(&doctor->a->store.link);
    join_rival(rival);
    return TP_OK;
}

static tp_status check_row_locks(struct tpi_doctor *doctor) {
    struct rival rival = {.answer = TP_OK};
    bool waits = true;
    for (int n = can(doctor, TPI_CAP_SKIP) ? TRIES : 1; waits && rival.answer == TP_OK && n > 0; n--) {
        tp_status status = try_row_locks(doctor, &rival, &waits);
        if (status != TP_OK) return status;
    }
    doctor->one_writer = waits || rival.answer == TP_TIMEOUT;
    if (rival.answer == TP_OK || rival.answer == TP_TIMEOUT) {
        report_row_locks(doctor);
        return TP_OK;
    }
    return rival_error(&rival);
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

/* How long the answer for a locked row takes. */
static tp_status try_nowait(struct tpi_doctor *doctor, const char *id, int64_t *ms) {
    char state[16];
    tp_status status = tp_begin(doctor->b);
    if (status != TP_OK) return status;
    int64_t began = tpi_clock_mono_ms();
    status = tpi_doctor_state(doctor->b, TPI_S_doctor_lock, id, state);
    *ms = tpi_clock_mono_ms() - began;
    return status;
}

static tp_status check_nowait(struct tpi_doctor *doctor) {
    char id[TPI_UUID_SIZE];
    int64_t ms = 0;
    if (not_tried(doctor, TPI_CAP_ROW)) return TP_OK;
    tp_status status = tpi_doctor_put(doctor->a, id);
    if (status == TP_OK) status = tp_begin(doctor->a);
    if (status == TP_OK) status = tpi_doctor_take_surely(doctor->a, id);
    if (status == TP_OK) status = try_nowait(doctor, id, &ms);
    for (int i = 1; i < TRIES && status == TP_TIMEOUT && ms > AT_ONCE_MS; i++) {
        tpi_link_rollback(&doctor->b->store.link);
        status = try_nowait(doctor, id, &ms);
    }
    if (status < TP_OK && status != TP_TIMEOUT) return status;
    if (status >= TP_OK)
        tpi_doctor_bad(doctor, "use tables of a kind that locks single rows",
                       "a row that another session changed can be locked all the same");
    else if (ms > AT_ONCE_MS)
        tpi_doctor_bad(doctor, "see why, or choose another plan by Plan=",
                       "a locked row is refused only after %" PRId64 " ms", ms);
    else
        tpi_doctor_good(doctor, "a locked row is refused after %" PRId64 " ms", ms);
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
    return tpi_doctor_answer(doctor, status, count == 1 && strcmp(last, other) == 0,
                             "passes over the locked row and gives the other", "choose another plan by Plan=",
                             "gives %zu rows where one of two is locked; it must be the other one", count);
}

/* ---- What others did --------------------------------------------------------------------------------- */

/* Session a reads, b takes the row, a comes back to it in its transaction. Where one session writes at a time
 * a cannot have begun before. */
static tp_status read_then_lose(struct tpi_doctor *doctor, char id[TPI_UUID_SIZE]) {
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
    tp_status status = read_then_lose(doctor, id);
    if (status == TP_OK) status = see_state(doctor->a, id, state);
    return tpi_doctor_answer(
        doctor, status, strcmp(state, "handling") == 0, "a transaction reads what others committed meanwhile",
        SESSION_REMEDY,
        "a transaction does not read what others committed meanwhile: it is not read committed");
}

static tp_status check_recheck(struct tpi_doctor *doctor) {
    char id[TPI_UUID_SIZE], state[16] = "";
    int64_t rows = 0;
    bool locks = can(doctor, TPI_CAP_ROW);
    tp_status status = read_then_lose(doctor, id);
    if (status == TP_OK && locks) status = tpi_doctor_state(doctor->a, TPI_S_doctor_lock, id, state);
    if (status == TP_OK && !locks) status = tpi_doctor_take(doctor->a, id, &rows);
    return tpi_doctor_answer(doctor, status, locks ? strcmp(state, "handling") == 0 : rows == 0,
                             locks ? "under the lock, what others committed since the first read is seen"
                                   : "a guarded UPDATE sees what others committed since the first read",
                             SESSION_REMEDY, "what others committed since the first read is not seen");
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
