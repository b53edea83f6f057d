/* Makes a call of the driver fail in a given way. See inject.h. */
#include "faults/inject.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "ops/conn.h"
#include "support/faults.h"

static struct {
    bool all;
    enum way way;
    size_t aim; /* the number of its aim */
    bool armed, hit;
    bool waits;          /* the session is being made */
    bool in_transaction; /* when it was hit */
    bool ended;          /* what was open then was rolled back */
    bool killed;
    const struct tpi_link *link;
    SQLHDBC dbc;
    long session;
} inject;

long inject_session(void) {
    return inject.session;
}

/* What is tried here does not hang on the disk. */
static void skip_sync(SQLHDBC dbc) {
    if (pool_on_postgres()) (void)sql_raw(dbc, "SET synchronous_commit = off");
    if (pool_on_sqlite()) (void)sql_raw(dbc, "PRAGMA synchronous = OFF");
}

void inject_set_session(SQLHDBC dbc) {
    inject.dbc = dbc;
    inject.session = session_number_of(dbc);
    skip_sync(dbc);
}

void inject_forget_session(void) {
    inject.dbc = NULL;
    inject.session = 0;
}

void inject_follow(const struct tpi_link *link) {
    inject.waits = !link;
    if (!link || !inject.link || link == inject.link) return;
    inject.link = link;
    inject.ended = true;
}

bool inject_has_hit(void) {
    return inject.armed ? faults_hits(inject.aim) > 0 : inject.hit;
}

const char *inject_where(void) {
    return faults_where(inject.aim);
}

/* ---- Which calls can fail so --------------------------------------------------------------------------- */

static bool is(const char *name, const char *wanted) {
    return name && strcmp(name, wanted) == 0;
}

static bool commits(const struct tpi_link *link, const char *function) {
    return is(link->statement, "commit") && faults_executes("commit", function);
}

/* A statement outside a transaction is one of its own. */
static bool commits_by_itself(const struct tpi_link *link, const char *function) {
    bool runs = is(function, "SQLExecute") || is(function, "SQLExecDirect");
    return runs && link->owned && link->tx == TPI_TX_NONE && !is(link->statement, "begin") &&
           !is(link->statement, "commit") && !is(link->statement, "rollback");
}

static bool travels(const struct tpi_link *link, const char *function) {
    return faults_executes(link->statement, function) || is(function, "SQLPrepare") ||
           is(function, "SQLDriverConnect") || is(function, "SQLSetConnectAttr");
}

/* SQLite fails instead: lose(). */
static bool can_kill(void) {
    bool can = engine_ends_sessions() || pool_on_sqlite();
    if (!can) not_tried("calls during which the server ends the session");
    return can;
}

static const char own_statement_call[] = "the application's statement",
                  own_commit_call[] = "the application's commit";

/* The application's own calls. */
static bool own_can_fail(enum way way, bool commit) {
    /* Where nobody can ask whether the transaction stands, a statement alone is undone. */
    if (way == WAY_DEADLOCK && !pool_driver()->tx_probe) return false;
    if (way == WAY_COMMIT_DONE || way == WAY_COMMIT_UNDONE) return commit;
    if (way == WAY_KILLED && !can_kill()) return false;
    /* A false commit of its own nobody but the application could know; and its allocations are its affair. */
    return way != WAY_FALSE_COMMIT && way != WAY_FORGOTTEN && way != WAY_ALLOCATION;
}

static bool can_fail(enum way way, const struct tpi_link *link, const char *function) {
    if (function == own_statement_call || function == own_commit_call)
        return own_can_fail(way, function == own_commit_call);
    if (inject.waits || (inject.link && link != inject.link)) return false;
    if (!link->dbc) return false; /* no connection to lose */
    switch (way) {
    case WAY_UNSENT:
    case WAY_UNHEARD:
        return true;
    case WAY_KILLED:
        return can_kill() && (inject.all || travels(link, function));
    case WAY_COMMIT_DONE:
    case WAY_COMMIT_UNDONE:
        return commits(link, function) || commits_by_itself(link, function);
    case WAY_DEADLOCK:
    case WAY_LOCKED:
    case WAY_SERIALIZATION:
        return faults_executes(link->statement, function) && !is(link->statement, "rollback");
    case WAY_FALSE_COMMIT:
        return commits(link, function);
    case WAY_FORGOTTEN:
        return is(function, "SQLExecute");
    default:
        return false;
    }
}

/* ---- What happens then --------------------------------------------------------------------------------- */

static void kill_session(struct tpi_link *link) {
    if (link->dbc) session_kill(link->dbc == inject.dbc ? inject.session : session_number_of(link->dbc));
}

static bool is_open(const struct tpi_link *link) {
    return link->tx != TPI_TX_NONE || !link->owned;
}

/* As the server does when it chooses a victim. */
static void roll_back_on_server(struct tpi_link *link) {
    if (!is_open(link)) return;
    if (pool_on_postgres())
        (void)sql_raw(link->dbc, "SELECT 1/0");
    else
        (void)sql_raw(link->dbc, "ROLLBACK");
}

/* Where there is no session to lose, as on SQLite, what comes nearest is an I/O error, at which it rolls back
 * by itself. */
static void lose(struct tpi_link *link) {
    if (engine_ends_sessions())
        kill_session(link);
    else
        roll_back_on_server(link);
}

/* The driver finds the connection lost, and has told nobody. */
static void lose_and_notice(struct tpi_link *link) {
    lose(link);
    if (engine_ends_sessions()) (void)sql_raw(link->dbc, "SELECT COUNT(*) FROM tp_meta");
}

static void meet(struct tpi_link *link, void *arg) {
    (void)arg;
    inject.in_transaction = link->tx != TPI_TX_NONE;
    inject.hit = true;
    switch (inject.way) {
    case WAY_KILLED:
    case WAY_COMMIT_UNDONE:
        kill_session(link);
        break;
    case WAY_DEADLOCK:
        roll_back_on_server(link);
        break;
    case WAY_LOCKED:
    case WAY_SERIALIZATION:
    case WAY_FORGOTTEN:
        if (pool_on_postgres()) roll_back_on_server(link);
        break;
    case WAY_FALSE_COMMIT:
        lose_and_notice(link);
        break;
    default:
        break;
    }
}

#define FITS(id, name)                                                                                       \
    static bool fits_##id(const struct tpi_link *link, const char *function) {                               \
        return can_fail(id, link, function);                                                                 \
    }
WAY_LIST(FITS)
#undef FITS

static struct faults_aim aim_of(enum way way) {
    static const struct faults_aim aims[WAYS] = {
        [WAY_UNSENT] = {.fits = fits_WAY_UNSENT, .fault = TPI_FAULT_NOT_SENT, .kind = FAULTS_DEAD},
        [WAY_UNHEARD] = {.fits = fits_WAY_UNHEARD, .fault = TPI_FAULT_ANSWER_LOST, .kind = FAULTS_DEAD},
        [WAY_KILLED] = {.fits = fits_WAY_KILLED, .fault = TPI_FAULT_NOT_SENT, .kind = FAULTS_IO},
        [WAY_COMMIT_DONE] = {.fits = fits_WAY_COMMIT_DONE,
                             .fault = TPI_FAULT_ANSWER_LOST,
                             .kind = FAULTS_DEAD_AT_COMMIT},
        [WAY_COMMIT_UNDONE] = {.fits = fits_WAY_COMMIT_UNDONE,
                               .fault = TPI_FAULT_NOT_SENT,
                               .kind = FAULTS_DEAD_AT_COMMIT},
        [WAY_DEADLOCK] = {.fits = fits_WAY_DEADLOCK, .fault = TPI_FAULT_NOT_SENT, .kind = FAULTS_CONFLICT},
        [WAY_LOCKED] = {.fits = fits_WAY_LOCKED, .fault = TPI_FAULT_NOT_SENT, .kind = FAULTS_LOCKED},
        [WAY_SERIALIZATION] = {.fits = fits_WAY_SERIALIZATION,
                               .fault = TPI_FAULT_NOT_SENT,
                               .kind = FAULTS_SERIALIZATION},
        [WAY_FALSE_COMMIT] = {.fits = fits_WAY_FALSE_COMMIT, .fault = TPI_FAULT_NONE},
        [WAY_FORGOTTEN] = {.fits = fits_WAY_FORGOTTEN, .fault = TPI_FAULT_NOT_SENT, .kind = FAULTS_FORGOTTEN},
        [WAY_ALLOCATION] = {.fits = fits_WAY_ALLOCATION, .function = FAULTS_ALLOCATION},
    };
    struct faults_aim aim = aims[way];
    if (way == WAY_KILLED && engine_ends_sessions()) aim.fault = TPI_FAULT_NONE;
    return aim;
}

tp_status inject_own(tp_conn *conn, bool commit, tp_status (*call)(void *arg), void *arg) {
    struct faults_aim aim = aim_of(inject.way);
    bool before = inject_has_hit();
    enum tpi_fault fault = faults_ask(&conn->store.link, commit ? own_commit_call : own_statement_call);
    tp_status status = fault == TPI_FAULT_NOT_SENT ? TP_CONFLICT : call(arg);
    if (inject_has_hit() == before) return status;
    inject.in_transaction = false;
    return aim.kind == FAULTS_DEAD || aim.kind == FAULTS_DEAD_AT_COMMIT ? TP_DISCONNECTED : TP_CONFLICT;
}

/* ---- One run ------------------------------------------------------------------------------------------- */

/* After an error in a transaction nothing may be executed before it is rolled back. An aim that means no
 * call. */
static bool watch(const struct tpi_link *link, const char *function) {
    if (!inject.hit || !inject.in_transaction || inject.ended || !inject.link || link != inject.link)
        return false;
    if (inject.way == WAY_KILLED || inject.way == WAY_FALSE_COMMIT) return false;
    bool back = is(link->statement, "rollback") || is(link->statement, "savepoint");
    if (is(function, "SQLDriverConnect") || back) inject.ended = true;
    if (!inject.ended && faults_executes(link->statement, function))
        wrong("went on with %s of %s after an error in a transaction", function, link->statement);
    return false;
}

void inject_open(bool all) {
    static bool spared;
    faults_open();
    faults_clear();
    if (!spared) {
        faults_spare(&pool.b->store.link);
        faults_spare(&pool.eye->store.link);
        skip_sync(tp_conn_dbc(pool.b));
        skip_sync(tp_conn_dbc(pool.eye));
    }
    spared = true;
    inject.all = all;
    inject_set_session(pool.a->store.link.dbc);
}

void inject_count(const struct tpi_link *link) {
    inject.link = link;
    inject.hit = inject.killed = false; /* of the operation before */
    faults_clear();
    for (int way = 0; way < WAYS; way++) {
        struct faults_aim aim = aim_of((enum way)way);
        aim.times = 0;
        (void)faults_add(aim);
    }
}

void inject_end_count(int points[WAYS]) {
    for (int way = 0; way < WAYS; way++)
        points[way] = faults_seen((size_t)way);
    faults_clear();
}

void inject_arm(enum way way, int k, const struct tpi_link *link) {
    struct faults_aim aim = aim_of(way);
    inject.way = way;
    inject.link = link;
    inject.hit = inject.ended = inject.killed = false;
    aim.meet = meet;
    aim.skip = k - 1;
    aim.times = 1;
    faults_clear();
    inject.armed = true;
    if (way != WAY_ALLOCATION) (void)faults_add((struct faults_aim){.fits = watch});
    inject.aim = faults_add(aim);
}

void inject_end_call(void) {
    if (!inject_has_hit() || !inject.link || inject.killed || inject.way != WAY_COMMIT_DONE) return;
    inject.killed = true;
    session_kill(inject.session);
}

bool inject_disarm(void) {
    inject.hit = inject_has_hit();
    inject.armed = false;
    faults_clear();
    return inject.hit;
}
