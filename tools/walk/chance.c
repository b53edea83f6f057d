/* See chance.h. How a fault looks to the library: support/faults.h. */
#include "walk/chance.h"

#include <limits.h>
#include <string.h>

#include "ops/conn.h"
#include "support/faults.h"
#include "support/pool.h"
#include "support/session.h"
#include "support/sql.h"

static uint64_t state;

void chance_open(uint64_t seed) {
    state = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
    for (int i = 0; i < 8; i++)
        (void)chance(2);
    faults_seed(seed);
}

/* xorshift64 */
unsigned chance(unsigned sides) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)((state >> 11) % sides);
}

/* ---- Faults -------------------------------------------------------------------------------------------- */

static bool executes(const struct tpi_link *link, const char *function) {
    return link->dbc && faults_executes(link->statement, function);
}

static bool is_commit(const struct tpi_link *link, const char *function) {
    return executes(link, function) && link->statement && strcmp(link->statement, "commit") == 0;
}

/* Anywhere, connecting too. */
static bool anywhere(const struct tpi_link *link, const char *function) {
    return link->dbc && strcmp(function, "SQLFreeStmt") != 0;
}

static bool is_statement(const struct tpi_link *link, const char *function) {
    bool rolls_back = link->statement && strcmp(link->statement, "rollback") == 0;
    return !rolls_back && !is_commit(link, function) && executes(link, function);
}

static void roll_back(struct tpi_link *link, void *arg) {
    (void)arg;
    if (link->tx != TPI_TX_NONE) (void)sql_raw(link->dbc, pool_on_postgres() ? "SELECT 1/0" : "ROLLBACK");
}

enum { SELDOM = 150, OFTEN = 12, HARDLY_EVER = 600 };
static const struct faults_aim aims[] = {
    {.fits = executes, .one_in = SELDOM, .fault = TPI_FAULT_NOT_SENT, .kind = FAULTS_DEAD},
    {.fits = executes, .one_in = SELDOM, .fault = TPI_FAULT_ANSWER_LOST, .kind = FAULTS_DEAD},
    {.fits = is_commit, .one_in = OFTEN, .fault = TPI_FAULT_ANSWER_LOST, .kind = FAULTS_DEAD_AT_COMMIT},
    {.fits = is_commit, .one_in = OFTEN, .fault = TPI_FAULT_NOT_SENT, .kind = FAULTS_DEAD_AT_COMMIT},
    {.fits = anywhere, .one_in = HARDLY_EVER, .fault = TPI_FAULT_NOT_SENT, .kind = FAULTS_DEAD},
    {.fits = is_statement,
     .one_in = SELDOM,
     .fault = TPI_FAULT_NOT_SENT,
     .kind = FAULTS_CONFLICT,
     .meet = roll_back},
};
enum { AIMS = sizeof aims / sizeof aims[0] };

void chance_faults(bool on) {
    static bool opened;
    if (!opened) {
        faults_open();
        faults_spare(&pool.eye->store.link);
        faults_spare(&pool.b->store.link);
    }
    opened = true;
    faults_clear();
    for (size_t i = 0; on && i < AIMS; i++) {
        struct faults_aim aim = aims[i];
        aim.times = INT_MAX;
        (void)faults_add(aim);
    }
}

int chance_fault_count(void) {
    int count = 0;
    for (size_t i = 0; i < AIMS; i++)
        count += faults_hits(i);
    return count;
}

void chance_lose(tp_conn *conn, long session) {
    if (!engine_ends_sessions() && conn->store.link.dbc) (void)sql_raw(conn->store.link.dbc, "ROLLBACK");
    session_kill(session);
}
