/* Reads the chain of the audit from its first row to its last, and says what does not fit. A row that was
 * changed does not fit its own hash, or the row behind it does not name it; one that is missing leaves a gap,
 * or at the end a head that counts more rows. Who changes the head and all hashes behind a row leaves no such
 * trace: for him there is the anchor. Read next: docs/audit.md. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "ops/audit.h"
#include "store/cursor.h"

enum { PAGE = 1000, FAULTS_MAX = 20 };

struct chain {
    tp_conn *conn;
    tp_finding_fn see;
    void *arg;
    int bad;                    /* findings */
    int64_t faults;             /* rows, or gaps, that do not fit */
    int64_t rows, first_at;     /* that were read; when the first was written */
    int64_t seq;                /* of the row that was read last */
    char hash[TPI_SHA256_SIZE]; /* its hash, as it is stored */
    int64_t anchor_seq;         /* -1: none was given with the hash */
    const char *anchor_hash;    /* NULL: none is asked for */
    bool anchor_found;
};

/* ---- Findings ------------------------------------------------------------------------------------------ */

__attribute__((format(printf, 6, 7))) static void tell(struct chain *chain, const char *name, bool ok,
                                                       int64_t count, const char *remedy, const char *format,
                                                       ...) {
    char text[600];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    tp_finding finding = {.name = name, .ok = ok, .count = count, .text = text, .remedy = ok ? "" : remedy};
    if (!ok) chain->bad++;
    chain->see(&finding, chain->arg);
}

#define LOOK_REMEDY                                                                                          \
    "compare with a saved database and with what was exported (taskpool audit); whoever did it could "       \
    "change "                                                                                                \
    "tp_audit"

/* At most FAULTS_MAX of them by themselves. */
#define fault(chain, ...)                                                                                    \
    do {                                                                                                     \
        if ((chain)->faults++ < FAULTS_MAX) tell(chain, "chain", false, 1, LOOK_REMEDY, __VA_ARGS__);        \
    } while (0)

/* ---- The chain ----------------------------------------------------------------------------------------- */

static void check_place(struct chain *chain, const tp_audit *row) {
    int64_t wanted = chain->seq + 1;
    if (row->seq == wanted + 1)
        fault(chain, "row %" PRId64 " is missing", wanted);
    else if (row->seq > wanted)
        fault(chain, "rows %" PRId64 " to %" PRId64 " are missing", wanted, row->seq - 1);
    else if (strcmp(row->prev_hash, chain->hash) != 0)
        fault(chain, "row %" PRId64 " does not follow row %" PRId64 ": one of them was changed or inserted",
              row->seq, row->seq - 1);
}

static void note_anchor(struct chain *chain, const tp_audit *row) {
    if (chain->anchor_hash && strcmp(chain->anchor_hash, row->hash) == 0 &&
        (chain->anchor_seq < 0 || chain->anchor_seq == row->seq))
        chain->anchor_found = true;
}

static tp_status check_row(struct chain *chain, const tp_audit *row) {
    char hash[TPI_SHA256_SIZE];
    if (row->seq < 1) {
        fault(chain, "row %" PRId64 " was inserted: the chain begins with row 1", row->seq);
        return TP_OK;
    }
    if (!tpi_audit_hash(row, hash)) return tpi_error(TP_NOMEM, "out of memory");
    check_place(chain, row);
    if (strcmp(hash, row->hash) != 0)
        fault(chain, "row %" PRId64 " was changed: its hash does not fit (%.40s by %.60s)", row->seq,
              row->action, row->who);
    note_anchor(chain, row);
    if (chain->rows++ == 0) chain->first_at = row->at;
    chain->seq = row->seq;
    snprintf(chain->hash, sizeof chain->hash, "%.64s", row->hash);
    return TP_OK;
}

/* TP_NONE: there are no more. */
static tp_status check_page(struct chain *chain, int64_t *last) {
    tp_audit_request request = TP_AUDIT_INIT;
    struct tpi_args args = {0};
    struct tpi_cursor cursor;
    tp_audit row;
    tp_status status = TP_OK;
    request.limit = PAGE;
    tpi_audit_args(&request, &args);
    tpi_args_number(&args, TPI_P_seq, *last);
    tpi_cursor_open(&cursor, &chain->conn->store, TPI_S_audit_chain, &args, tpi_audit_columns, PAGE);
    while (status == TP_OK && tpi_cursor_next(&cursor, &row)) {
        status = check_row(chain, &row);
        *last = row.seq;
    }
    tp_status closed = tpi_cursor_close(&cursor);
    return status == TP_OK ? closed : status;
}

static tp_status check_rows(struct chain *chain) {
    int64_t last = INT64_MIN;
    tp_status status = TP_OK;
    memcpy(chain->hash, tpi_audit_no_hash, TPI_SHA256_SIZE);
    while (status == TP_OK)
        status = check_page(chain, &last);
    return status == TP_NONE ? TP_OK : status;
}

/* What was written since is not missing. */
static void check_end(struct chain *chain, int64_t before, int64_t after) {
    if (chain->seq < before)
        fault(chain,
              "the last %" PRId64 " rows are missing: the head counts %" PRId64 ", the last row is %" PRId64,
              before - chain->seq, before, chain->seq);
    else if (chain->seq > after)
        fault(chain, "rows behind row %" PRId64 " were inserted, or the head was set back: it counts no more",
              after);
    if (!chain->faults)
        tell(chain, "chain", true, 0, "", "%" PRId64 " rows follow each other, unchanged", chain->rows);
    else if (chain->faults > FAULTS_MAX)
        tell(chain, "chain", false, chain->faults, LOOK_REMEDY, "%" PRId64 " faults in all", chain->faults);
}

static tp_status ask_head(tp_conn *conn, int64_t *seq) {
    static const struct tpi_column columns[] = {{TPI_READ_NUMBER, 0, sizeof(int64_t)}, TPI_COLUMN_END};
    struct tpi_args none = {0};
    tp_status status = tpi_store_read(&conn->store, TPI_S_audit_place, &none, columns, NULL, seq);
    if (status == TP_NONE) *seq = 0; /* deleted: then all rows are too many */
    return status < TP_OK ? status : TP_OK;
}

static tp_status check_chain(struct chain *chain) {
    int64_t before = 0, after = 0;
    tp_status status = ask_head(chain->conn, &before);
    if (status == TP_OK) status = check_rows(chain);
    if (status == TP_OK) status = ask_head(chain->conn, &after);
    if (status == TP_OK) check_end(chain, before, after);
    return status;
}

/* ---- The anchor ---------------------------------------------------------------------------------------- */

static tp_status read_anchor(struct chain *chain, const char *anchor) {
    enum { DIGITS = TPI_SHA256_SIZE - 1 };
    chain->anchor_seq = -1;
    if (!anchor) return TP_OK;
    const char *colon = strchr(anchor, ':'), *hash = colon ? colon + 1 : anchor;
    if (colon) chain->anchor_seq = tpi_number(anchor);
    if (strlen(hash) != DIGITS || strspn(hash, "0123456789abcdef") != DIGITS ||
        (colon && strspn(anchor, "0123456789") != (size_t)(colon - anchor)))
        return tpi_error(TP_MISUSE, "'%.80s' is no anchor; 'taskpool audit --anchor' prints one", anchor);
    chain->anchor_hash = hash;
    return TP_OK;
}

static void check_anchor(struct chain *chain) {
    if (!chain->anchor_hash) return;
    if (strcmp(chain->anchor_hash, tpi_audit_no_hash) == 0) chain->anchor_found = chain->anchor_seq <= 0;
    if (chain->anchor_found)
        tell(chain, "anchor", true, 0, "", "the chain still has the row of the anchor");
    else
        tell(chain, "anchor", false, 1, LOOK_REMEDY,
             "no row has the hash of the anchor: it, or a row before it, was changed or deleted");
}

/* ---- Beside the chain ---------------------------------------------------------------------------------- */

struct unchained {
    int64_t count;
    const char *who;
};

static tp_status count_unchained(struct chain *chain, int64_t since, int64_t until, bool wrong) {
    static const struct tpi_column columns[] = {TPI_COLUMN(NUMBER, struct unchained, count),
                                                TPI_COLUMN(TEXT, struct unchained, who), TPI_COLUMN_END};
    struct tpi_args args = {0};
    struct tpi_texts texts = {0};
    struct unchained found = {0, ""};
    tpi_args_number(&args, TPI_P_since, since);
    tpi_args_number(&args, TPI_P_until, until);
    tp_status status =
        tpi_store_read(&chain->conn->store, TPI_S_audit_unchained, &args, columns, &texts, &found);
    if (status == TP_OK && !wrong)
        tell(chain, "before the chain", true, found.count, "",
             "%" PRId64 " events of the history by people are older than the chain", found.count);
    else if (status == TP_OK && found.count)
        tell(chain, "outside the chain", false, found.count,
             "taskpool history shows them; bring every operator's taskpool to this version",
             "%" PRId64 " events of the history by people, such as %.60s, are not in the chain: an older "
             "taskpool wrote them, or plain SQL",
             found.count, found.who);
    else if (status == TP_OK)
        tell(chain, "outside the chain", true, 0, "", "the history has nothing by people that is not in it");
    tpi_texts_free(&texts);
    return status < TP_OK ? status : TP_OK;
}

static tp_status check_history(struct chain *chain) {
    int64_t began = chain->rows ? chain->first_at : INT64_MAX;
    tp_status status = count_unchained(chain, INT64_MIN, began, false);
    return status == TP_OK && chain->rows ? count_unchained(chain, began, INT64_MAX, true) : status;
}

/* An update of the last row, rolled back whatever it says. */
static tp_status check_refused(struct chain *chain) {
    struct tpi_link *link = &chain->conn->store.link;
    struct tpi_args args = {0};
    int64_t rows = 0;
    if (!chain->rows) return TP_OK;
    tpi_args_number(&args, TPI_P_seq, chain->seq);
    tp_status status = tp_begin(chain->conn);
    if (status != TP_OK) return status;
    status = tpi_store_change(&chain->conn->store, TPI_S_audit_try, &args, &rows);
    bool dead = link->dead;
    tp_status undone = tp_rollback(chain->conn);
    if (dead || status == TP_NOMEM || status == TP_CONFLICT || status == TP_TIMEOUT) return status;
    if (status == TP_OK && undone != TP_OK) return undone;
    if (status == TP_OK && rows)
        tell(chain, "append-only", false, 1,
             "connect as a user with an operator's grants (sql/DIALECT/admin/grants.sql), and make the "
             "triggers of 0004_audit.sql",
             "this user may change rows of tp_audit: no grant and no trigger hinders it");
    else
        tell(chain, "append-only", true, 0, "", "the database refuses this user to change a row");
    return TP_OK;
}

tp_status tp_audit_check(tp_conn *conn, const char *anchor, tp_finding_fn see, void *arg, int *bad) {
    struct chain chain = {.conn = conn, .see = see, .arg = arg};
    tp_status status = tpi_conn_ready_alone(conn, "tp_audit_check");
    if (status == TP_OK && !see) status = tpi_error(TP_MISUSE, "tp_audit_check: see is NULL");
    if (status == TP_OK) status = read_anchor(&chain, anchor);
    if (status == TP_OK) status = check_chain(&chain);
    if (status != TP_OK) return status;
    check_anchor(&chain);
    status = check_history(&chain);
    if (status == TP_OK) status = check_refused(&chain);
    if (status == TP_OK && bad) *bad = chain.bad;
    return status;
}
