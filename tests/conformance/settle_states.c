/* Every settle on a row in every legal place, by its holder and by a stranger: as the state table decides. */
#include "base/uuid.h"
#include "core/fsm.h"
#include "suite.h"

THEME(settle_states, ONCE);

static const struct {
    enum tpi_pool pool;
    enum tpi_state state;
} places[] = {{TPI_POOL_PENDING, TPI_STATE_PENDING},  {TPI_POOL_PENDING, TPI_STATE_HANDLING},
              {TPI_POOL_PENDING, TPI_STATE_FAILED},   {TPI_POOL_FINISHED, TPI_STATE_DONE},
              {TPI_POOL_FINISHED, TPI_STATE_SKIPPED}, {TPI_POOL_FAILED, TPI_STATE_FAILED}};
enum { PLACES = LENGTH(places), MAX = 2 };

static tp_status give_up(tp_conn *conn, const tp_task *task) {
    return tp_give_up(conn, task, "no use");
}

enum { EVENTS = SETTLES + 1 };
/* The same order as settles, and giving up. */
static const enum tpi_event events[EVENTS] = {TPI_EVENT_COMPLETE, TPI_EVENT_SKIP,   TPI_EVENT_FAIL,
                                              TPI_EVENT_RELEASE,  TPI_EVENT_EXTEND, TPI_EVENT_GIVE_UP};

static struct settle settle_at(int event) {
    static const struct settle last = {"give up", give_up};
    return event < SETTLES ? settles[event] : last;
}

static const char holder[] = "01936f5e-8a4c-4b1d-9c3e-5f6a7b8c9d01";
static const char stranger[] = "01936f5e-8a4c-4b1d-9c3e-5f6a7b8c9d02";

static void put_row(const char *id, int place, int failures) {
    bool settled = places[place].pool != TPI_POOL_PENDING;
    sql_run(pool.eye,
            "INSERT INTO tp_%s (id, handler, params, shard, priority, state, failures, max_failures, reason, "
            "owner, "
            "due_at, created_at, modified_at%s) VALUES ('%s', '%s', 'x', 0, 0, '%s', %d, %d, 'before', '%s', "
            "%" PRId64 ", %" PRId64 ", %" PRId64 "%s)",
            tpi_pool_name(places[place].pool), settled ? ", settled_at" : "", id, pool.handler,
            tpi_state_name(places[place].state), failures, MAX, holder, LONG_AGO * 9, LONG_AGO, LONG_AGO,
            settled ? ", 1000000000000" : "");
}

static void try_case(int place, int event, bool holds, int failures) {
    char id[ID];
    tpi_uuid_ordered(id);
    put_row(id, place, failures);
    struct row before = row_of(id);
    tp_task task = {.id = id,
                    .handler = pool.handler,
                    .owner = holds ? holder : stranger,
                    .state = "handling",
                    .failures = failures,
                    .max_failures = MAX};
    struct tpi_facts facts = {.failures = failures, .max_failures = MAX, .due = false, .holder = holds};
    struct tpi_change change = tpi_fsm_decide(places[place].pool, places[place].state, events[event], &facts);
    tp_status status = settle_at(event).call(pool.a, &task);
    if (status != change.verdict)
        print_error("%s by the %s on %s in %s, %d failures\n", settle_at(event).name,
                    holds ? "holder" : "stranger", before.state, before.pool, failures);
    expect(change.verdict, status);
    if (change.written)
        expect_row(id, tpi_pool_name(change.pool), tpi_state_name(change.state), change.failures);
    else
        expect_same(id, &before);
    sql_run(pool.eye, "DELETE FROM tp_pending WHERE id = '%s'", id);
}

TEST(test_settle_states__settles_do_what_the_state_table_says) {
    for (int place = 0; place < PLACES; place++)
        for (int event = 0; event < EVENTS; event++)
            for (int failures = 0; failures < MAX; failures++) {
                try_case(place, event, true, failures);
                try_case(place, event, false, failures);
            }
}
