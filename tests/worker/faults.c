/* See faults.h. */
#include "faults.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "dialect/dialect.h"
#include "support/locked.h"

enum { AIMS = 8, SESSIONS = 256, SPARED = 4, LIMIT_S = 300 };

/* What is known of one connection. An address may serve several in turn. */
struct session {
    const struct tpi_link *link;
    const char *last; /* the statement that ran last */
    int hit_at, calls;
    bool hit;
};

struct aim {
    struct faults_aim as;
    int seen, hits;
};

/* What becomes of one call. */
struct strike {
    enum tpi_fault fault;
    enum faults_kind kind;
    void (*meet)(struct tpi_link *link, void *arg);
    void *arg;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    const struct tpi_link *spared[SPARED];
    size_t spared_count;
    struct session sessions[SESSIONS];
    size_t session_count;
    struct aim aims[AIMS];
    size_t aim_count;
    bool down;
    unsigned noise;
    uint64_t random;
    const char *sweep;
    int sweep_next, sweep_end, sweep_hits;
} faults = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .random = 88172645463325252};

/* ---- As the drivers say it ---------------------------------------------------------------------------- */

struct saying {
    const char *state;
    int32_t native;
    const char *text;
};

static const struct saying of_psqlodbc[FAULTS_KIND_COUNT] = {
    [FAULTS_DEAD] = {"08S01", 26, "Could not send query to backend"},
    [FAULTS_CONFLICT] = {"40P01", 1, "ERROR: deadlock detected"},
    [FAULTS_LOCKED] = {"55P03", 1, "ERROR: canceling statement due to lock timeout"},
    [FAULTS_NO_TABLE] = {"42P01", 1, "ERROR: relation does not exist"},
    [FAULTS_PERMANENT] = {"XX001", 1, "ERROR: invalid page in block 7"},
    [FAULTS_REFUSED] = {"08001", 101, "could not connect to server: Connection refused"},
    [FAULTS_FULL] = {"53100", 1, "ERROR: could not extend file: No space left on device"},
    [FAULTS_DEAD_AT_COMMIT] = {"57P01", 108, "FATAL: terminating connection due to administrator command"},
    [FAULTS_SERIALIZATION] = {"40001", 110, "ERROR: could not serialize access"},
    [FAULTS_IO] = {"58030", 1, "ERROR: could not read block 7"},
    [FAULTS_FORGOTTEN] = {"26000", 1, "ERROR: prepared statement \"_PLAN1\" does not exist"},
};

static const struct saying of_maodbc[FAULTS_KIND_COUNT] = {
    [FAULTS_DEAD] = {"08S01", 2013, "Lost connection to server during query"},
    [FAULTS_CONFLICT] = {"40001", 1213, "Deadlock found when trying to get lock; try restarting transaction"},
    [FAULTS_LOCKED] = {"HY000", 1205, "Lock wait timeout exceeded; try restarting transaction"},
    [FAULTS_NO_TABLE] = {"42S02", 1146, "Table doesn't exist"},
    [FAULTS_PERMANENT] = {"HY000", 1034, "Index for table is corrupt; try to repair it"},
    [FAULTS_REFUSED] = {"HY000", 2002, "Can't connect to server"},
    [FAULTS_FULL] = {"HY000", 1114, "The table is full"},
    [FAULTS_DEAD_AT_COMMIT] = {"08S01", 2006, "Server has gone away"},
    [FAULTS_SERIALIZATION] = {"HY000", 1020, "Record has changed since last read"},
    [FAULTS_IO] = {"HY000", 1026, "Error writing file"},
    [FAULTS_FORGOTTEN] = {"HY000", 1243,
                          "Unknown prepared statement handler (1) given to mysqld_stmt_execute"},
};

static const struct saying of_sqora[FAULTS_KIND_COUNT] = {
    [FAULTS_DEAD] = {"HY000", 3113, "ORA-03113: end-of-file on communication channel"},
    [FAULTS_CONFLICT] = {"HY000", 60, "ORA-00060: deadlock detected while waiting for resource"},
    [FAULTS_LOCKED] = {"HY000", 54, "ORA-00054: resource busy and acquire with NOWAIT specified"},
    [FAULTS_NO_TABLE] = {"42S02", 942, "ORA-00942: table or view does not exist"},
    [FAULTS_PERMANENT] = {"HY000", 1578, "ORA-01578: ORACLE data block corrupted"},
    [FAULTS_REFUSED] = {"HY000", 12541, "ORA-12541: TNS:no listener"},
    [FAULTS_FULL] = {"HY000", 1653, "ORA-01653: unable to extend table"},
    [FAULTS_DEAD_AT_COMMIT] = {"HY000", 3114, "ORA-03114: not connected to ORACLE"},
    [FAULTS_SERIALIZATION] = {"HY000", 8177, "ORA-08177: can't serialize access for this transaction"},
    [FAULTS_IO] = {"HY000", 1115, "ORA-01115: IO error reading block from file"},
    [FAULTS_FORGOTTEN] = {"26000", 0, "invalid SQL statement identifier"},
};

/* SQLite has neither connections that are lost nor deadlocks; the names are those of other drivers. */
static const struct saying of_others[FAULTS_KIND_COUNT] = {
    [FAULTS_DEAD] = {"08S01", 0, "communication link failure"},
    [FAULTS_CONFLICT] = {"40001", 0, "serialization failure"},
    [FAULTS_LOCKED] = {"HY000", 5, "database is locked"},
    [FAULTS_NO_TABLE] = {"42S02", 1, "no such table"},
    [FAULTS_PERMANENT] = {"HY000", 11, "database disk image is malformed"},
    [FAULTS_REFUSED] = {"08001", 14, "unable to open database file"},
    [FAULTS_FULL] = {"HY000", 13, "database or disk is full"},
    [FAULTS_DEAD_AT_COMMIT] = {"08S01", 0, "communication link failure"},
    [FAULTS_SERIALIZATION] = {"HY000", 5, "database is locked"},
    [FAULTS_IO] = {"HY000", 10, "disk I/O error"},
    [FAULTS_FORGOTTEN] = {"26000", 0, "invalid SQL statement identifier"},
};

static const struct saying of_any[FAULTS_KIND_COUNT] = {
    [FAULTS_DEAD] = {"08S01", 0, "communication link failure"},
    [FAULTS_CONFLICT] = {"40001", 0, "deadlock"},
    [FAULTS_LOCKED] = {"HYT00", 0, "timeout expired"},
    [FAULTS_NO_TABLE] = {"42S02", 0, "table not found"},
    [FAULTS_PERMANENT] = {"HY000", 0, "general error"},
    [FAULTS_REFUSED] = {"08001", 0, "unable to connect"},
    [FAULTS_FULL] = {"HY000", 0, "the disk is full"},
    [FAULTS_DEAD_AT_COMMIT] = {"08S01", 0, "communication link failure"},
    [FAULTS_SERIALIZATION] = {"40001", 0, "serialization failure"},
    [FAULTS_IO] = {"HY000", 0, "disk I/O error"},
    [FAULTS_FORGOTTEN] = {"26000", 0, "invalid SQL statement identifier"},
};

static const struct saying *of_profile(const char *profile) {
    if (strcmp(profile, "psqlodbc") == 0) return of_psqlodbc;
    if (strcmp(profile, "maodbc") == 0 || strcmp(profile, "myodbc") == 0) return of_maodbc;
    if (strcmp(profile, "sqora") == 0) return of_sqora;
    return strcmp(profile, "any") == 0 ? of_any : of_others;
}

static void report(struct tpi_link *link, enum faults_kind kind) {
    const char *profile = link->driver ? link->driver->name : "any";
    const struct saying *saying = &of_profile(profile)[kind];
    snprintf(link->diag.state, sizeof link->diag.state, "%s", saying->state);
    snprintf(link->diag.text, sizeof link->diag.text, "%s", saying->text);
    link->diag.native = saying->native;
}

/* ---- Which call this is ------------------------------------------------------------------------------- */

static bool is(const char *name, const char *wanted) {
    return name && strcmp(name, wanted) == 0;
}

bool faults_executes(const char *statement, const char *function) {
    return is(function, "SQLExecute") || is(function, "SQLExecDirect") || is(function, "SQLEndTran") ||
           (is(function, "SQLSetConnectAttr") && is(statement, "begin"));
}

/* Does the call go over the wire? Fetching may, but mostly reads what is here already. */
static bool travels(const char *statement, const char *function) {
    return faults_executes(statement, function) || is(function, "SQLDriverConnect");
}

static bool is_meant(const struct faults_aim *aim, const struct session *session, const char *statement,
                     const char *function) {
    if (aim->fits) return aim->fits(session->link, function);
    if (aim->function ? !is(function, aim->function) : !faults_executes(statement, function)) return false;
    if (aim->statement && !is(statement, aim->statement)) return false;
    return !aim->after || is(session->last, aim->after);
}

/* ---- Under the lock ----------------------------------------------------------------------------------- */

static struct session *session_of(const struct tpi_link *link) {
    size_t i = 0;
    while (i < faults.session_count && faults.sessions[i].link != link)
        i++;
    if (i == faults.session_count && i < SESSIONS - 1) faults.session_count++;
    struct session *session = &faults.sessions[i];
    if (session->link != link) *session = (struct session){.link = link, .hit_at = -1};
    return session;
}

/* Session settings, probes, begin and commit come in between without telling what the caller is about. */
static void remember(struct session *session, const char *statement) {
    for (int i = 0; i < TPI_STATEMENT_COUNT; i++)
        /* meta_version asks, before a commit of an unknown driver, whether the transaction stands. */
        if (i != TPI_S_meta_version && is(statement, tpi_statement_name((enum tpi_statement)i)))
            session->last = statement;
}

static struct strike by_aim(const struct session *session, const char *statement, const char *function) {
    struct strike strike = {.fault = TPI_FAULT_NONE};
    for (size_t i = 0; i < faults.aim_count; i++) {
        struct aim *aim = &faults.aims[i];
        if (!is_meant(&aim->as, session, statement, function)) continue;
        aim->seen++;
        pthread_cond_broadcast(&faults.changed);
        if (aim->seen <= aim->as.skip || aim->hits >= aim->as.times) continue;
        aim->hits++;
        strike = (struct strike){aim->as.fault, aim->as.kind, aim->as.meet, aim->as.arg};
    }
    return strike;
}

/* xorshift64 */
static unsigned dice(unsigned sides) {
    faults.random ^= faults.random << 13;
    faults.random ^= faults.random >> 7;
    faults.random ^= faults.random << 17;
    return (unsigned)(faults.random % sides);
}

static enum tpi_fault by_noise(const char *statement, const char *function) {
    if (!faults.noise || !travels(statement, function) || dice(1000) >= faults.noise) return TPI_FAULT_NONE;
    return dice(2) ? TPI_FAULT_NOT_SENT : TPI_FAULT_ANSWER_LOST;
}

/* This thread's last pass: what is tried again comes over another link, and is spared. */
static _Thread_local bool was_hit;

static void begin_pass(struct session *session) {
    bool spared = was_hit || faults.sweep_next >= faults.sweep_end;
    session->hit_at = spared ? -1 : faults.sweep_next++;
    session->calls = 0;
    session->hit = was_hit = false;
}

static enum tpi_fault by_sweep(struct session *session, const char *statement, const char *function) {
    if (!faults.sweep || is(function, "SQLFreeStmt")) return TPI_FAULT_NONE;
    if (is(statement, faults.sweep) && faults_executes(statement, function)) begin_pass(session);
    if (session->hit_at < 0 || session->hit || session->calls++ != session->hit_at / 2) return TPI_FAULT_NONE;
    session->hit = was_hit = true;
    faults.sweep_hits++;
    return session->hit_at % 2 ? TPI_FAULT_ANSWER_LOST : TPI_FAULT_NOT_SENT;
}

static bool is_spared(const struct tpi_link *link) {
    for (size_t i = 0; i < faults.spared_count; i++)
        if (faults.spared[i] == link) return true;
    return false;
}

static struct strike decide(struct tpi_link *link, const char *function) {
    const char *statement = link->statement;
    struct session *session = session_of(link);
    struct strike strike = by_aim(session, statement, function);
    if (faults_executes(statement, function)) remember(session, statement);
    if (strike.fault != TPI_FAULT_NONE || strike.meet) return strike;
    strike.kind = is(function, "SQLDriverConnect") ? FAULTS_REFUSED : FAULTS_DEAD;
    if (faults.down && travels(statement, function)) strike.fault = TPI_FAULT_NOT_SENT;
    if (strike.fault == TPI_FAULT_NONE) strike.fault = by_noise(statement, function);
    if (strike.fault == TPI_FAULT_NONE) strike.fault = by_sweep(session, statement, function);
    return strike;
}

static enum tpi_fault ask(struct tpi_link *link, const char *function) {
    struct strike strike = {.fault = TPI_FAULT_NONE};
    pthread_mutex_lock(&faults.lock);
    if (!is_spared(link)) strike = decide(link, function);
    pthread_mutex_unlock(&faults.lock);
    if (strike.meet) strike.meet(link, strike.arg);
    if (strike.fault != TPI_FAULT_NONE) report(link, strike.kind);
    return strike.fault;
}

/* ---- For the tests ------------------------------------------------------------------------------------ */

void faults_open(void) {
    tpi_link_fault = ask;
}

void faults_spare(const struct tpi_link *link) {
    LOCKED(&faults.lock);
    if (faults.spared_count < SPARED) faults.spared[faults.spared_count++] = link;
}

void faults_clear(void) {
    LOCKED(&faults.lock);
    faults.session_count = 0;
    faults.aim_count = 0;
    faults.down = false;
    faults.noise = 0;
    faults.sweep = NULL;
    faults.sweep_hits = 0;
}

size_t faults_add(struct faults_aim aim) {
    LOCKED(&faults.lock);
    size_t number = faults.aim_count;
    if (number < AIMS) faults.aims[faults.aim_count++] = (struct aim){.as = aim};
    return number;
}

size_t faults_refuse_at(struct faults_aim aim, enum faults_kind kind, int skip, int times) {
    aim.kind = kind;
    aim.fault = TPI_FAULT_NOT_SENT;
    aim.skip = skip;
    aim.times = times;
    return faults_add(aim);
}

size_t faults_refuse(const char *statement, enum faults_kind kind, int skip, int times) {
    return faults_refuse_at((struct faults_aim){.statement = statement}, kind, skip, times);
}

size_t faults_lose(struct faults_aim aim, enum tpi_fault fault, int skip, int times) {
    aim.kind = FAULTS_DEAD;
    aim.fault = fault;
    aim.skip = skip;
    aim.times = times;
    return faults_add(aim);
}

size_t faults_count(const char *statement) {
    return faults_at(.statement = statement);
}

int faults_seen(size_t number) {
    LOCKED(&faults.lock);
    return faults.aims[number].seen;
}

int faults_hits(size_t number) {
    LOCKED(&faults.lock);
    return faults.aims[number].hits;
}

int faults_all_hits(void) {
    int hits = 0;
    LOCKED(&faults.lock);
    for (size_t i = 0; i < faults.aim_count; i++)
        hits += faults.aims[i].hits;
    return hits;
}

bool faults_wait_seen(size_t number, int count) {
    struct timespec until;
    int code = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += LIMIT_S;
    LOCKED(&faults.lock);
    while (faults.aims[number].seen < count && code == 0)
        code = pthread_cond_timedwait(&faults.changed, &faults.lock, &until);
    return faults.aims[number].seen >= count;
}

void faults_down(bool down) {
    LOCKED(&faults.lock);
    faults.down = down;
}

void faults_noise(unsigned per_mille) {
    LOCKED(&faults.lock);
    faults.noise = per_mille;
}

void faults_sweep(const char *statement, int calls) {
    LOCKED(&faults.lock);
    faults.sweep = statement;
    faults.sweep_next = 0;
    faults.sweep_end = calls * 2;
    faults.sweep_hits = 0;
}

int faults_sweep_hits(void) {
    LOCKED(&faults.lock);
    return faults.sweep_hits;
}
