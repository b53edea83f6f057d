/* Every settle on a row in every legal place, by its holder and by a stranger: as the state table decides. */
#include "base/uuid.h"
#include "conformance/places.h"
#include "suite.h"

THEME(settle_states, ONCE);

enum { MAX = 2 };

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

static void try_case(int place, int event, bool holds, int failures) {
    char id[ID];
    tpi_uuid_ordered(id);
    put_row(pool.eye, .in = tpi_pool_name(places[place].pool), .id = id,
            .state = tpi_state_name(places[place].state), .failures = failures, .max_failures = MAX,
            .reason = "before", .owner = holder, .due_at = LONG_AGO * 9);
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

TEST(test_settle_states__a_person_who_puts_a_task_back_makes_it_due_anew) {
    tp_selection selection = selection_with(.limit = 0);
    const char *id = put_one();
    expect_number(claim_this(pool.a, id)->wanted_at > 0, true);
    must(tp_operate(pool.b, TP_ACTION_RELEASE, &selection, NULL));
    expect_row(id, "pending", "pending", 0);
    expect_number(sql_number(pool.eye, "SELECT COALESCE(wanted_at, 0) FROM tp_pending WHERE id = '%s'", id),
                  0);
}
