/* The claim statements do for many rows what the state table says for one. */
#include "base/uuid.h"
#include "core/fsm.h"
#include "core/retry.h"
#include "suite.h"

THEME(claim_states, EACH_PLAN);

/* The failure that is the last, said by the task itself or by the claim's policy. */
enum { LAST = 3 };

struct case_of {
    enum tpi_state state;
    bool due, own_max, reason;
    int failures;
    char id[ID], handler[TP_HANDLER_MAX];
};

static void put_case(struct case_of *row) {
    static int number;
    tpi_uuid_ordered(row->id);
    snprintf(row->handler, sizeof row->handler, "%s.%d", pool.handler, ++number);
    put_row(pool.eye, .id = row->id, .handler = row->handler, .state = tpi_state_name(row->state),
            .failures = row->failures, .max_failures = row->own_max ? LAST : 0,
            .reason = row->reason ? "lease lapsed, held by somebody" : NULL,
            .owner = row->state == TPI_STATE_PENDING ? NULL : "01936f5e-8a4c-7b1d-9c3e-5f6a7b8c9d0e",
            .due_at = row->due ? LONG_AGO : LONG_AGO * 9 /* the year 2255 */);
}

static tp_status claim_row(const struct case_of *row, tp_batch **batch) {
    static const int64_t delays[LAST - 1] = {1000, 1000};
    static const tp_retry policy = {.size = sizeof policy, .delays_ms = delays, .count = LAST - 1};
    const char *handlers[] = {row->handler};
    tp_claim_request request =
        request_with(.limit = 5, .handlers = handlers, .retry = row->own_max ? NULL : &policy);
    return claim_into(pool.a, &request, batch);
}

static void describe(const struct case_of *row, const struct tpi_change *change, tp_status status) {
    struct row now = row_of(row->id);
    print_error("state %s, %s, %d of %d failures (said by the %s), reason %s:\n", tpi_state_name(row->state),
                row->due ? "due" : "not due", row->failures, LAST, row->own_max ? "task" : "policy",
                row->reason ? "'lease lapsed, held by somebody'" : "none");
    print_error(
        "  the table says %s, %s in %s with %d; the claim answered %s, the row is %s in %s with %d, '%s'\n",
        tp_status_name(change->verdict), tpi_state_name(change->state), tpi_pool_name(change->pool),
        change->failures, tp_status_name(status), now.state, now.pool, now.failures, now.reason);
}

/* The change that the table wants must be in the row and in the task handed out. */
static bool as_decided(const struct case_of *row, const struct row *before, const struct tpi_change *change,
                       const tp_batch *batch) {
    struct row now = row_of(row->id);
    const tp_task *task = tp_batch_task(batch, 0);
    char reason[SQL_CELL + 40];
    snprintf(reason, sizeof reason, "%s%s", *before->reason ? TPI_REASON_EARLIER : "", before->reason);
    if (change->lapsed) snprintf(reason, sizeof reason, "%s%s", TPI_REASON_LAPSED, before->owner);
    if (!change->written) return !task && memcmp(&now, before, sizeof now) == 0;
    if (now.copies != 1 || strcmp(now.pool, tpi_pool_name(change->pool)) != 0 ||
        strcmp(now.state, tpi_state_name(change->state)) != 0 || now.failures != change->failures ||
        strcmp(now.reason, reason) != 0)
        return false;
    if (change->pool != TPI_POOL_PENDING) return !task;
    return task && task->failures == now.failures && strcmp(task->reason, now.reason) == 0 &&
           strcmp(task->owner, now.owner) == 0 && strcmp(task->state, now.state) == 0;
}

/* False: the database did something else, which is printed. */
static bool try_case(struct case_of row) {
    tp_batch *batch = NULL;
    put_case(&row);
    struct row before = row_of(row.id);
    struct tpi_facts facts = {.failures = row.failures, .max_failures = LAST, .due = row.due};
    struct tpi_change change = tpi_fsm_decide(TPI_POOL_PENDING, row.state, TPI_EVENT_CLAIM, &facts);
    tp_status status = claim_row(&row, &batch);
    tp_status wanted = change.verdict == TP_OK ? TP_OK : TP_NONE;
    bool good = status == wanted && as_decided(&row, &before, &change, batch);
    if (!good) describe(&row, &change, status);
    return good;
}

TEST(test_claim_states__claims_do_what_the_state_table_says) {
    static const enum tpi_state states[] = {TPI_STATE_PENDING, TPI_STATE_HANDLING, TPI_STATE_FAILED};
    static const int failures[] = {0, 1, LAST - 1, LAST, LAST + 1};
    int wrong = 0;
    for (unsigned s = 0; s < 3; s++)
        for (unsigned f = 0; f < 5; f++)
            for (unsigned bits = 0; bits < 8; bits++)
                wrong += !try_case((struct case_of){.state = states[s],
                                                    .failures = failures[f],
                                                    .due = bits & 1,
                                                    .own_max = bits & 2,
                                                    .reason = bits & 4});
    expect_number(wrong, 0);
}
