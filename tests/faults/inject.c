/* See inject.h. */
#include "faults/inject.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "faults/alloc.h"
#include "ops/conn.h"
#include "worker/faults.h"

static struct {
    bool all;
    enum way way;
    int k, seen;
    int points[WAYS]; /* while they are counted */
    bool counting, armed, hit;
    bool waits;          /* the session is being made */
    bool in_transaction; /* when it was hit */
    bool ended;          /* what was open then was rolled back */
    bool killed;
    const struct tpi_link *link;
    SQLHDBC dbc;
    long session;
    char where[100];
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
    return inject.way == WAY_ALLOCATION ? alloc_has_failed() : inject.hit;
}

const char *inject_where(void) {
    if (inject.way == WAY_ALLOCATION) return "an allocation";
    return inject.hit ? inject.where : "no call";
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

static bool can_fail(enum way way, const struct tpi_link *link, const char *function) {
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

static struct faults_aim aim_of(enum way way) {
    struct faults_aim aim = {.times = 1, .meet = meet, .fault = TPI_FAULT_NOT_SENT, .kind = FAULTS_DEAD};
    if (way == WAY_UNHEARD || way == WAY_COMMIT_DONE) aim.fault = TPI_FAULT_ANSWER_LOST;
    if (way == WAY_FALSE_COMMIT || (way == WAY_KILLED && engine_ends_sessions())) aim.fault = TPI_FAULT_NONE;
    if (way == WAY_KILLED) aim.kind = FAULTS_IO;
    if (way == WAY_COMMIT_DONE || way == WAY_COMMIT_UNDONE) aim.kind = FAULTS_DEAD_AT_COMMIT;
    if (way == WAY_DEADLOCK) aim.kind = FAULTS_CONFLICT;
    if (way == WAY_LOCKED) aim.kind = FAULTS_LOCKED;
    if (way == WAY_SERIALIZATION) aim.kind = FAULTS_SERIALIZATION;
    if (way == WAY_FORGOTTEN) aim.kind = FAULTS_FORGOTTEN;
    return aim;
}

/* ---- The application's own calls ----------------------------------------------------------------------- */

static bool own_can_fail(enum way way, bool commit) {
    /* Where nobody can ask whether the transaction stands, a statement alone is undone. */
    if (way == WAY_DEADLOCK && !pool_driver()->tx_probe) return false;
    if (way == WAY_COMMIT_DONE || way == WAY_COMMIT_UNDONE) return commit;
    if (way == WAY_KILLED && !can_kill()) return false;
    /* A false commit of its own nobody but the application could know; and its allocations are its affair. */
    return way != WAY_FALSE_COMMIT && way != WAY_FORGOTTEN && way != WAY_ALLOCATION;
}

bool inject_own_call(bool commit) {
    for (int way = 0; inject.counting && way < WAYS; way++)
        inject.points[way] += own_can_fail((enum way)way, commit);
    if (!inject.armed || inject.hit || !own_can_fail(inject.way, commit) || ++inject.seen != inject.k)
        return false;
    inject.hit = true;
    inject.in_transaction = false;
    snprintf(inject.where, sizeof inject.where, "the application's %s", commit ? "commit" : "statement");
    return true;
}

tp_status inject_own_failure(tp_conn *conn, bool (*call)(void *arg), void *arg) {
    struct tpi_link *link = &conn->store.link;
    struct faults_aim aim = aim_of(inject.way);
    if (aim.fault == TPI_FAULT_ANSWER_LOST) (void)call(arg);
    meet(link, NULL);
    if (aim.fault == TPI_FAULT_NONE) (void)call(arg);
    bool lost = aim.kind == FAULTS_DEAD || aim.kind == FAULTS_DEAD_AT_COMMIT;
    return lost ? TP_DISCONNECTED : TP_CONFLICT;
}

/* ---- One run ------------------------------------------------------------------------------------------- */

/* After an error in a transaction nothing may be executed before it is rolled
 * back. */
static void watch(const struct tpi_link *link, const char *function) {
    if (!inject.in_transaction || inject.ended || !inject.link || link != inject.link) return;
    if (inject.way == WAY_KILLED || inject.way == WAY_FALSE_COMMIT) return;
    if (is(function, "SQLDriverConnect") || is(link->statement, "rollback")) inject.ended = true;
    if (!inject.ended && faults_executes(link->statement, function))
        wrong("went on with %s of %s after an error in a transaction", function, link->statement);
}

static bool is_the_one(const struct tpi_link *link, const char *function) {
    if (!inject.armed || (inject.link && link != inject.link)) return false;
    if (inject.hit) {
        watch(link, function);
        return false;
    }
    if (inject.waits || !can_fail(inject.way, link, function) || ++inject.seen != inject.k) return false;
    inject.hit = true;
    inject.in_transaction = link->tx != TPI_TX_NONE;
    snprintf(inject.where, sizeof inject.where, "%s of %s", function, link->statement ? link->statement : "");
    return true;
}

static bool count_it(const struct tpi_link *link, const char *function) {
    for (int way = 0; inject.counting && way < WAYS; way++)
        inject.points[way] +=
            (!inject.link || link == inject.link) && can_fail((enum way)way, link, function);
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

static void begin(bool (*fits)(const struct tpi_link *link, const char *function),
                  const struct tpi_link *link) {
    struct faults_aim aim = aim_of(inject.way);
    aim.fits = fits;
    inject.link = link;
    faults_clear();
    (void)faults_add(aim);
}

void inject_count(const struct tpi_link *link) {
    memset(inject.points, 0, sizeof inject.points);
    inject.way = WAY_UNSENT;
    inject.hit = false;
    inject.counting = true;
    begin(count_it, link);
    alloc_arm(UINT_MAX);
}

void inject_end_count(int points[WAYS]) {
    unsigned allocations = alloc_disarm();
    faults_clear();
    inject.counting = false;
    inject.points[WAY_ALLOCATION] = (int)allocations;
    memcpy(points, inject.points, sizeof inject.points);
}

void inject_arm(enum way way, int k, const struct tpi_link *link) {
    inject.way = way;
    inject.k = k;
    inject.seen = 0;
    inject.hit = inject.ended = inject.killed = false;
    if (way == WAY_ALLOCATION) {
        alloc_arm((unsigned)k);
        return;
    }
    inject.armed = true;
    begin(is_the_one, link);
}

void inject_end_call(void) {
    if (!inject.hit || !inject.link || inject.killed || inject.way != WAY_COMMIT_DONE) return;
    inject.killed = true;
    session_kill(inject.session);
}

bool inject_disarm(void) {
    (void)alloc_disarm();
    faults_clear();
    inject.armed = false;
    return inject_has_hit();
}
