/* See strike.h. */
#include "faults/strike.h"

#include <stdio.h>
#include <string.h>

#include "ops/conn.h"
#include "worker/faults.h"

static struct {
    bool all;
    enum way way;
    int k, seen;
    bool armed, hit;
    bool in_transaction; /* when it was hit */
    bool ended;          /* what was open then was rolled back */
    bool killed;
    const struct tpi_link *link;
    SQLHDBC dbc;
    long session;
    char where[100];
} strike;

void strike_all(bool all) {
    strike.all = all;
}

long strike_session(void) {
    return strike.session;
}

void strike_know_session(SQLHDBC dbc) {
    strike.dbc = dbc;
    strike.session = session_number_of(dbc);
}

void strike_forget_session(void) {
    strike.dbc = NULL;
    strike.session = 0;
}

const char *strike_where(void) {
    return strike.hit ? strike.where : "no call";
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

static bool suffers(enum way way, const struct tpi_link *link, const char *function) {
    if (!link->dbc) return false; /* no connection to lose */
    switch (way) {
    case WAY_UNSENT:
    case WAY_UNHEARD:
        return true;
    case WAY_KILLED:
        return strike.all || travels(link, function);
    case WAY_COMMIT_DONE:
    case WAY_COMMIT_UNDONE:
        return commits(link, function) || commits_by_itself(link, function);
    case WAY_DEADLOCK:
    case WAY_LOCKED:
    case WAY_SERIALIZATION:
        return faults_executes(link->statement, function) && !is(link->statement, "rollback");
    case WAY_FALSE_COMMIT:
        return commits(link, function);
    default:
        return false;
    }
}

/* ---- What happens then --------------------------------------------------------------------------------- */

static void kill_session(struct tpi_link *link) {
    if (link->dbc) session_kill(link->dbc == strike.dbc ? strike.session : session_number_of(link->dbc));
}

static bool is_open(const struct tpi_link *link) {
    return link->tx != TPI_TX_NONE || !link->owned;
}

/* As the server does when it chooses a victim. */
static void take_back(struct tpi_link *link) {
    if (!is_open(link)) return;
    if (pool_on_postgres())
        (void)sql_raw(link->dbc, "SELECT 1/0");
    else
        (void)sql_raw(link->dbc, "ROLLBACK");
}

/* SQLite has no session to lose. What comes nearest is an I/O error, at which
 * it rolls back by itself. */
static void lose(struct tpi_link *link) {
    if (pool_on_sqlite())
        take_back(link);
    else
        kill_session(link);
}

/* The driver finds the connection lost, and has told nobody. */
static void lose_and_notice(struct tpi_link *link) {
    lose(link);
    if (!pool_on_sqlite()) (void)sql_raw(link->dbc, "SELECT 1");
}

static void meet(struct tpi_link *link, void *arg) {
    (void)arg;
    switch (strike.way) {
    case WAY_KILLED:
    case WAY_COMMIT_UNDONE:
        kill_session(link);
        break;
    case WAY_DEADLOCK:
        take_back(link);
        break;
    case WAY_LOCKED:
    case WAY_SERIALIZATION:
        if (pool_on_postgres()) take_back(link);
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
    if (way == WAY_FALSE_COMMIT || (way == WAY_KILLED && !pool_on_sqlite())) aim.fault = TPI_FAULT_NONE;
    if (way == WAY_KILLED) aim.kind = FAULTS_IO;
    if (way == WAY_COMMIT_DONE || way == WAY_COMMIT_UNDONE) aim.kind = FAULTS_DEAD_AT_COMMIT;
    if (way == WAY_DEADLOCK) aim.kind = FAULTS_CONFLICT;
    if (way == WAY_LOCKED) aim.kind = FAULTS_LOCKED;
    if (way == WAY_SERIALIZATION) aim.kind = FAULTS_SERIALIZATION;
    return aim;
}

/* ---- The application's own calls ----------------------------------------------------------------------- */

static bool own_suffers(enum way way, bool commit) {
    if (way == WAY_COMMIT_DONE || way == WAY_COMMIT_UNDONE) return commit;
    return way != WAY_FALSE_COMMIT; /* nobody but the application could know */
}

bool strike_own_call(bool commit) {
    if (!strike.armed || strike.hit || !own_suffers(strike.way, commit) || ++strike.seen != strike.k)
        return false;
    strike.hit = true;
    strike.in_transaction = false;
    snprintf(strike.where, sizeof strike.where, "the application's %s", commit ? "commit" : "statement");
    return true;
}

tp_status strike_own_failure(tp_conn *conn, bool (*call)(void *arg), void *arg) {
    struct tpi_link *link = &conn->store.link;
    struct faults_aim aim = aim_of(strike.way);
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
    if (!strike.in_transaction || strike.ended || !strike.link || link != strike.link) return;
    if (strike.way == WAY_KILLED || strike.way == WAY_FALSE_COMMIT) return;
    if (is(function, "SQLDriverConnect") || is(link->statement, "rollback")) strike.ended = true;
    if (!strike.ended && faults_executes(link->statement, function))
        wrong("went on with %s of %s after an error in a transaction", function, link->statement);
}

static bool is_the_one(const struct tpi_link *link, const char *function) {
    if (!strike.armed || (strike.link && link != strike.link)) return false;
    if (strike.hit) {
        watch(link, function);
        return false;
    }
    if (!suffers(strike.way, link, function) || ++strike.seen != strike.k) return false;
    strike.hit = true;
    strike.in_transaction = link->tx != TPI_TX_NONE;
    snprintf(strike.where, sizeof strike.where, "%s of %s", function, link->statement ? link->statement : "");
    return true;
}

/* The sessions that look and prepare need not wait for the disk. */
static void hurry(tp_conn *conn) {
    if (pool_on_postgres()) sql_run(conn, "SET synchronous_commit = off");
    if (pool_on_sqlite()) sql_run(conn, "PRAGMA synchronous = OFF");
}

void strike_open(void) {
    static bool spared;
    faults_open();
    faults_clear();
    if (!spared) {
        faults_spare(&pool.b->store.link);
        faults_spare(&pool.eye->store.link);
        hurry(pool.b);
        hurry(pool.eye);
    }
    spared = true;
    strike_know_session(pool.a->store.link.dbc);
}

void strike_arm(enum way way, int k, const struct tpi_link *link) {
    struct faults_aim aim = aim_of(way);
    aim.fits = is_the_one;
    faults_clear();
    (void)faults_add(aim);
    strike.way = way;
    strike.k = k;
    strike.seen = 0;
    strike.armed = true;
    strike.hit = strike.ended = strike.killed = false;
    strike.link = link;
}

void strike_end_call(void) {
    if (!strike.hit || !strike.link || strike.killed || strike.way != WAY_COMMIT_DONE) return;
    strike.killed = true;
    session_kill(strike.session);
}

bool strike_disarm(void) {
    faults_clear();
    strike.armed = false;
    return strike.hit;
}
