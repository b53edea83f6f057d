/* Groups: opened with their first tasks and those that wait for their end in one transaction, left open for
 * others to come in, and closed. Where a task that fails for good holds up the end, somebody skips it. One
 * whose producer is killed meanwhile is closed, and its failed tasks are skipped, at the end of the run
 * (soak_close_groups). */
#include "producer.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { AFTER = 3, MEMBERS = 4, OVERDUE_MS = 500, LONG_MS = 2500, NEVER_FAILED = 10000 };

static int64_t now_ms(void) {
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- What is put in ---------------------------------------------------------------------------------- */

/* The one task that the group's end makes due. Its handler looks whether the group had ended. */
static void draft_end(struct producer *producer, struct draft *draft, const char *group) {
    soak_draw(producer, draft);
    draft->task.handler = "end";
    draft->task.order_key = draft->task.gate = NULL;
    draft->task.delay_ms = draft->task.deadline_ms = 0;
    draft->task.after = group;
    draft->task.max_failures = NEVER_FAILED;
    snprintf(draft->biz, sizeof draft->biz, "%s", group);
    snprintf(draft->params, sizeof draft->params, "ok");
}

/* One that waits for longer than it is of use. */
static void draft_overdue(struct producer *producer, struct draft *draft) {
    draft_end(producer, draft, producer->group);
    draft->task.handler = "pay";
    draft->task.deadline_ms = OVERDUE_MS;
    snprintf(draft->params, sizeof draft->params, "%s", SOAK_OVERDUE);
}

/* One group at a time is held up. */
static void draft_member(struct producer *producer, struct draft *draft, const char *group) {
    bool fails = strcmp(draft->params, SOAK_DOOMED) == 0 || strcmp(draft->params, SOAK_GIVEUP) == 0;

    draft->task.group = group;
    if (!producer->all_done) return;
    if (fails && !*producer->held) {
        snprintf(producer->held, sizeof producer->held, "%s", group);
        return;
    }
    draft->task.max_failures = NEVER_FAILED;
    if (fails) snprintf(draft->params, sizeof draft->params, "%s", SOAK_FLAKY);
}

static void draft_doomed(struct draft *draft) {
    draft->task.deadline_ms = 0; /* its params would say so */
    snprintf(draft->params, sizeof draft->params, "%s", SOAK_DOOMED);
}

/* Those after it, then those in it. */
static size_t draft_group(struct producer *producer, struct draft *drafts, bool stays_long) {
    size_t count = 0, members = (size_t)soak_random(&producer->random, MEMBERS + 1);

    if (producer->groups == 1 && !members) members = 1;
    draft_end(producer, &drafts[count++], producer->group);
    if (stays_long) draft_overdue(producer, &drafts[count++]);
    if (*producer->inner) {
        draft_end(producer, &drafts[count], producer->inner);
        draft_member(producer, &drafts[count++], producer->group);
    }
    for (size_t i = 0; i < members; i++, count++) {
        soak_draw(producer, &drafts[count]);
        if (i == 0 && producer->all_done && !*producer->held) draft_doomed(&drafts[count]);
        draft_member(producer, &drafts[count], *producer->inner ? producer->inner : producer->group);
    }
    return count;
}

void soak_join_group(struct producer *producer, struct draft *draft) {
    if (*producer->group && soak_random(&producer->random, 3) == 0)
        draft_member(producer, draft, producer->group);
}

/* ---- Acts -------------------------------------------------------------------------------------------- */

/* When the first task is there already, so is all, because it was committed together. */
static tp_status put_group(struct producer *producer, struct draft *drafts, size_t count) {
    tp_group_rule rule = producer->all_done ? TP_GROUP_ALL_DONE : TP_GROUP_ALL_ENDED;
    tp_status status = tp_begin(producer->conn);

    if (status == TP_OK) status = tp_group_open(producer->conn, producer->group, rule, NULL);
    if (status >= TP_OK && *producer->inner)
        status = tp_group_open(producer->conn, producer->inner, rule, producer->group);
    for (size_t i = 0; status >= TP_OK && i < count; i++) {
        status = tp_enqueue(producer->conn, &drafts[i].task);
        if (status == TP_EXISTS) return tp_rollback(producer->conn) < TP_OK ? TP_DISCONNECTED : TP_EXISTS;
    }
    return status >= TP_OK ? tp_commit(producer->conn) : status;
}

bool soak_put_group(struct producer *producer) {
    struct draft drafts[AFTER + MEMBERS];
    uint64_t number = ++producer->groups;
    bool stays_long;
    size_t count;
    tp_status status;
    int asked;

    snprintf(producer->group, sizeof producer->group, "%s-g%llu", producer->soak->name,
             (unsigned long long)number);
    if (soak_random(&producer->random, 3) == 0)
        snprintf(producer->inner, sizeof producer->inner, "%s-i%llu", producer->soak->name,
                 (unsigned long long)number);
    producer->all_done = number == 1 || soak_random(&producer->random, 2); /* one at least is held up */
    stays_long = soak_random(&producer->random, 3) == 0;
    count = draft_group(producer, drafts, stays_long);
    status = soak_until_answered(producer, put_group, drafts, count, &asked);
    producer->close_at = now_ms() + (stays_long ? LONG_MS : 200); /* by now it is committed */
    if (status < TP_OK) return status == TP_LOST;
    return soak_note_tasks(producer, "ok", drafts, count);
}

bool soak_group_is_due(const struct producer *producer) {
    return *producer->group && now_ms() >= producer->close_at;
}

/* The outer one first, now and then: it must not end before the inner one. */
static tp_status close_group(struct producer *producer, struct draft *drafts, size_t count) {
    const char *first = producer->inner, *second = producer->group;
    tp_status status = TP_OK;

    (void)drafts, (void)count;
    if (producer->groups % 2) first = producer->group, second = producer->inner;
    if (*first) status = tp_group_close(producer->conn, first);
    if (status >= TP_OK && *second) status = tp_group_close(producer->conn, second);
    return status;
}

bool soak_miss_group(struct producer *producer) {
    bool ok = *producer->group && soak_note(producer, "missed", producer->group);

    *producer->group = *producer->inner = '\0';
    return ok;
}

bool soak_close_group(struct producer *producer) {
    int asked;
    tp_status status = soak_until_answered(producer, close_group, NULL, 0, &asked);
    bool ok = status == TP_OK || status == TP_EXISTS
                  ? soak_note(producer, "closed", producer->group) &&
                        (!*producer->inner || soak_note(producer, "closed", producer->inner))
                  : status == TP_LOST || (status == TP_NONE && soak_miss_group(producer));

    *producer->group = *producer->inner = '\0';
    return ok;
}

/* ---- What holds up an end ---------------------------------------------------------------------------- */

static tp_status skip_failed(tp_conn *conn, const char *group) {
    tp_selection failed = TP_SELECTION_INIT;

    failed.pool = "failed";
    failed.group = group;
    failed.who = "soak";
    failed.why = "held up";
    return tp_operate(conn, TP_ACTION_SKIP, &failed, NULL);
}

static void see_end(const tp_group *group, void *arg) {
    struct producer *producer = arg;

    if (strcmp(group->state, "ended") == 0) *producer->held = '\0';
}

/* Until it has ended: what fails for good may not have done so yet. */
static tp_status let_go(struct producer *producer, struct draft *drafts, size_t count) {
    tp_status status = skip_failed(producer->conn, producer->held);

    (void)drafts, (void)count;
    return status < TP_OK ? status : tp_group_each(producer->conn, producer->held, see_end, producer);
}

bool soak_let_go(struct producer *producer) {
    int asked;
    tp_status status = soak_until_answered(producer, let_go, NULL, 0, &asked);

    if (status == TP_NONE) *producer->held = '\0';
    return status >= TP_OK || status == TP_LOST;
}

/* ---- At the end of the run --------------------------------------------------------------------------- */

enum { LEFT_MAX = 64 };

/* Groups that are to be dealt with. */
struct left {
    const char *state;
    bool any_rule; /* else those that a failed task holds up */
    size_t count;
    char names[LEFT_MAX][48];
};

static void see(const tp_group *group, void *arg) {
    struct left *left = arg;

    if (strcmp(group->state, left->state) != 0) return;
    if ((left->any_rule || group->rule == TP_GROUP_ALL_DONE) && left->count < LEFT_MAX)
        snprintf(left->names[left->count++], sizeof left->names[0], "%s", group->name);
}

/* At most LEFT_MAX of them. */
static tp_status act_on_left(tp_conn *conn, struct left *left, tp_status (*act)(tp_conn *, const char *)) {
    tp_status status;

    left->count = 0;
    status = tp_group_each(conn, NULL, see, left);
    for (size_t i = 0; status >= TP_OK && i < left->count; i++)
        status = act(conn, left->names[i]);
    return status;
}

bool soak_close_groups(tp_env *env) {
    struct left open = {.state = "open", .any_rule = true, .count = LEFT_MAX}, closed = {.state = "closed"};
    tp_conn *conn = NULL;
    tp_status status = tp_conn_open(env, &conn);

    while (status >= TP_OK && open.count == LEFT_MAX)
        status = act_on_left(conn, &open, tp_group_close);
    if (status >= TP_OK) status = act_on_left(conn, &closed, skip_failed);
    if (status < TP_OK) fprintf(stderr, "soak: %s\n", tp_last_error()->text);
    tp_conn_close(conn);
    return status >= TP_OK;
}
