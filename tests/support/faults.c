/* The hook that makes calls to the driver, or allocations, fail. See faults.h. */
#include "support/faults.h"

#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "dialect/dialect.h"
#include "support/check.h"

enum { AIMS = 64, SEATS = 256, SPARED = 4, LIMIT_S = 300 };

/* What is known of one connection. An address may serve several in turn. */
struct seat {
    const struct tpi_link *link;
    const char *last; /* the statement that ran last */
    int hit_at, calls;
    bool hit;
};

struct aim {
    struct faults_aim as;
    int seen, hits, pass;
    char where[100];
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    const struct tpi_link *spared[SPARED];
    size_t spared_count;
    struct seat seats[SEATS];
    size_t seat_count;
    struct aim aims[AIMS];
    size_t aim_count;
    size_t down; /* the number of its aim */
    uint64_t random;
} faults = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .random = 88172645463325252};

/* ---- As the drivers say it ---------------------------------------------------------------------------- */

static const struct faults_saying of_psqlodbc[FAULTS_KIND_COUNT] = {
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

static const struct faults_saying of_maodbc[FAULTS_KIND_COUNT] = {
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

static const struct faults_saying of_sqora[FAULTS_KIND_COUNT] = {
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
static const struct faults_saying of_others[FAULTS_KIND_COUNT] = {
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

static const struct faults_saying of_any[FAULTS_KIND_COUNT] = {
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

static const struct faults_saying *of_profile(const char *profile) {
    if (strcmp(profile, "psqlodbc") == 0) return of_psqlodbc;
    if (strcmp(profile, "maodbc") == 0 || strcmp(profile, "myodbc") == 0) return of_maodbc;
    if (strcmp(profile, "sqora") == 0) return of_sqora;
    return strcmp(profile, "any") == 0 ? of_any : of_others;
}

static void report(struct tpi_link *link, const char *function, const struct faults_aim *aim) {
    const char *profile = link->driver ? link->driver->name : "any";
    bool refused = aim->kind == FAULTS_DEAD && strcmp(function, "SQLDriverConnect") == 0;
    const struct faults_saying *saying = &of_profile(profile)[refused ? FAULTS_REFUSED : aim->kind];
    if (aim->says) saying = aim->says;
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
static bool travels(const struct tpi_link *link, const char *function) {
    return faults_executes(link->statement, function) || is(function, "SQLDriverConnect");
}

static bool is_meant(const struct faults_aim *aim, const struct seat *seat, const char *statement,
                     const char *function) {
    if (aim->fits) return aim->fits(seat->link, function);
    if (aim->function ? !is(function, aim->function) : !faults_executes(statement, function)) return false;
    if (aim->statement && !is(statement, aim->statement)) return false;
    return !aim->after || is(seat->last, aim->after);
}

/* ---- Under the lock ----------------------------------------------------------------------------------- */

static struct seat *seat_of(const struct tpi_link *link) {
    size_t i = 0;
    while (i < faults.seat_count && faults.seats[i].link != link)
        i++;
    if (i == faults.seat_count && i < SEATS - 1) faults.seat_count++;
    struct seat *seat = &faults.seats[i];
    if (seat->link != link) *seat = (struct seat){.link = link, .hit_at = -1};
    return seat;
}

/* Session settings, probes, begin and commit come in between without telling what the caller is about. */
static void remember(struct seat *seat, const char *statement) {
    for (int i = 0; i < TPI_STATEMENT_COUNT; i++)
        /* meta_version asks, before a commit of an unknown driver, whether the transaction stands. */
        if (i != TPI_S_meta_version && is(statement, tpi_statement_name((enum tpi_statement)i)))
            seat->last = statement;
}

/* xorshift64 */
static unsigned dice(unsigned sides) {
    faults.random ^= faults.random << 13;
    faults.random ^= faults.random >> 7;
    faults.random ^= faults.random << 17;
    return (unsigned)((faults.random >> 11) % sides);
}

static void note_hit(struct aim *aim, const char *statement, const char *function) {
    aim->hits++;
    snprintf(aim->where, sizeof aim->where, "%s%s%s", function, statement ? " of " : "",
             statement ? statement : "");
}

/* A call that is meant has come. */
static bool hits(struct aim *aim) {
    aim->seen++;
    pthread_cond_broadcast(&faults.changed);
    if (aim->seen <= aim->as.skip || aim->hits >= aim->as.times) return false;
    return !aim->as.one_in || dice(aim->as.one_in) == 0;
}

/* This thread's last pass: what is tried again comes over another link, and is spared. */
static _Thread_local bool was_hit;

static void begin_pass(struct aim *aim, struct seat *seat) {
    bool spared = was_hit || aim->pass >= 2 * aim->as.passes;
    seat->hit_at = spared ? -1 : aim->pass++;
    seat->calls = 0;
    seat->hit = was_hit = false;
}

static bool hits_in_pass(struct aim *aim, struct seat *seat, bool meant, const char *function) {
    if (is(function, "SQLFreeStmt")) return false;
    if (meant) begin_pass(aim, seat);
    if (seat->hit_at < 0 || seat->hit || seat->calls++ != seat->hit_at / 2) return false;
    seat->hit = was_hit = true;
    aim->as.fault = seat->hit_at % 2 ? TPI_FAULT_ANSWER_LOST : TPI_FAULT_NOT_SENT;
    return true;
}

static bool is_spared(const struct tpi_link *link) {
    for (size_t i = 0; i < faults.spared_count; i++)
        if (faults.spared[i] == link) return true;
    return false;
}

static struct faults_aim decide(const struct tpi_link *link, const char *function) {
    const char *statement = link->statement;
    struct faults_aim result = {.fault = TPI_FAULT_NONE};
    struct seat *seat = seat_of(link);
    for (size_t i = 0; i < faults.aim_count; i++) {
        struct aim *aim = &faults.aims[i];
        bool meant = is_meant(&aim->as, seat, statement, function);
        if (aim->as.passes ? !hits_in_pass(aim, seat, meant, function) : !meant || !hits(aim)) continue;
        note_hit(aim, statement, function);
        result = aim->as;
    }
    if (faults_executes(statement, function)) remember(seat, statement);
    return result;
}

enum tpi_fault faults_ask(struct tpi_link *link, const char *function) {
    struct faults_aim aim = {.fault = TPI_FAULT_NONE};
    pthread_mutex_lock(&faults.lock);
    if (!is_spared(link)) aim = decide(link, function);
    pthread_mutex_unlock(&faults.lock);
    if (aim.meet) aim.meet(link, aim.arg);
    if (aim.fault != TPI_FAULT_NONE) report(link, function, &aim);
    return aim.fault;
}

bool faults_ask_allocation(void) {
    bool fails = false;
    pthread_mutex_lock(&faults.lock);
    for (size_t i = 0; i < faults.aim_count; i++) {
        struct aim *aim = &faults.aims[i];
        if (!is(aim->as.function, FAULTS_ALLOCATION) || !hits(aim)) continue;
        note_hit(aim, NULL, FAULTS_ALLOCATION);
        fails = true;
    }
    pthread_mutex_unlock(&faults.lock);
    return fails;
}

/* ---- For the tests ------------------------------------------------------------------------------------ */

void faults_open(void) {
    tpi_link_fault = faults_ask;
}

void faults_spare(const struct tpi_link *link) {
    pthread_mutex_lock(&faults.lock);
    if (faults.spared_count < SPARED) faults.spared[faults.spared_count++] = link;
    pthread_mutex_unlock(&faults.lock);
}

void faults_clear(void) {
    pthread_mutex_lock(&faults.lock);
    faults.seat_count = 0;
    faults.aim_count = 0;
    pthread_mutex_unlock(&faults.lock);
}

size_t faults_add(struct faults_aim aim) {
    pthread_mutex_lock(&faults.lock);
    size_t number = faults.aim_count;
    if (number < AIMS) faults.aims[faults.aim_count++] = (struct aim){.as = aim, .where = "no call"};
    pthread_mutex_unlock(&faults.lock);
    sure(number < AIMS, "no more than %d aims", AIMS);
    return number;
}

void faults_seed(uint64_t seed) {
    pthread_mutex_lock(&faults.lock);
    faults.random = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
    for (int i = 0; i < 8; i++)
        (void)dice(2);
    pthread_mutex_unlock(&faults.lock);
}

int faults_seen(size_t number) {
    pthread_mutex_lock(&faults.lock);
    int seen = faults.aims[number].seen;
    pthread_mutex_unlock(&faults.lock);
    return seen;
}

int faults_hits(size_t number) {
    pthread_mutex_lock(&faults.lock);
    int hits = faults.aims[number].hits;
    pthread_mutex_unlock(&faults.lock);
    return hits;
}

const char *faults_where(size_t number) {
    return faults.aims[number].where;
}

bool faults_wait_seen(size_t number, int count) {
    struct timespec until;
    int code = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += LIMIT_S;
    pthread_mutex_lock(&faults.lock);
    while (faults.aims[number].seen < count && code == 0)
        code = pthread_cond_timedwait(&faults.changed, &faults.lock, &until);
    bool seen = faults.aims[number].seen >= count;
    pthread_mutex_unlock(&faults.lock);
    return seen;
}

void faults_down(bool down) {
    struct faults_aim all = {
        .fits = travels, .times = INT_MAX, .fault = TPI_FAULT_NOT_SENT, .kind = FAULTS_DEAD};
    if (down) {
        faults.down = faults_add(all);
        return;
    }
    pthread_mutex_lock(&faults.lock);
    faults.aims[faults.down].as.times = 0;
    pthread_mutex_unlock(&faults.lock);
}

void faults_noise(unsigned per_mille) {
    struct faults_aim some = {
        .fits = travels, .times = INT_MAX, .one_in = 2000 / per_mille, .kind = FAULTS_DEAD};
    some.fault = TPI_FAULT_NOT_SENT;
    (void)faults_add(some);
    some.fault = TPI_FAULT_ANSWER_LOST;
    (void)faults_add(some);
}

static size_t add(struct faults_aim aim, enum tpi_fault fault, enum faults_kind kind, int skip, int times) {
    aim.fault = fault;
    aim.kind = kind;
    aim.skip = skip;
    aim.times = times;
    return faults_add(aim);
}

size_t faults_refuse_at(struct faults_aim aim, enum faults_kind kind, int skip, int times) {
    return add(aim, TPI_FAULT_NOT_SENT, kind, skip, times);
}

size_t faults_refuse(const char *statement, enum faults_kind kind, int skip, int times) {
    return faults_refuse_at((struct faults_aim){.statement = statement}, kind, skip, times);
}

size_t faults_lose(struct faults_aim aim, enum tpi_fault fault, int skip, int times) {
    return add(aim, fault, FAULTS_DEAD, skip, times);
}

size_t faults_count(const char *statement) {
    return faults_at(.statement = statement);
}

int faults_all_hits(void) {
    int hits = 0;
    pthread_mutex_lock(&faults.lock);
    for (size_t i = 0; i < faults.aim_count; i++)
        hits += faults.aims[i].hits;
    pthread_mutex_unlock(&faults.lock);
    return hits;
}
