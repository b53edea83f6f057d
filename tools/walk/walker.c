/* See walker.h. What is not answered by a commit that was confirmed is not known, and is asked again: an
 * enqueue by its struct, or by its id and content in a new one, as if the process were another; a settle by
 * tp_settled. */
#include "walk/walker.h"

#include <stdio.h>
#include <string.h>

#include "support/tasks.h"
#include "walk/actor.h"
#include "walk/chance.h"

enum { ACTORS = 3, MANY = 4, LEASE_MS = 60000 };

static struct actor actors[ACTORS];

const char *walker_last(void) {
    return actor_last;
}

/* ---- Putting tasks in ---------------------------------------------------------------------------------- */

/* An old one that is not known to be there, or any; else a new one, some with keys. */
static struct note *choose_note(void) {
    static const char *const keys[] = {"", "", "", "", "key.a", "key.b"};
    struct note *note = NULL;
    if (chance(3) && notebook.count) {
        note = &notebook.notes[chance((unsigned)notebook.count)];
        for (size_t i = notebook.count; i-- && chance(2) && note->there;)
            note = &notebook.notes[i];
        return note;
    }
    note = notebook_add(keys[chance(6)]);
    if (note && chance(4) == 0)
        (void)snprintf(note->task.id, TP_ID_SIZE, "%08x-1111-4111-8111-%08x%04x", chance(UINT32_MAX),
                       chance(UINT32_MAX), chance(65536));
    return note ? note : &notebook.notes[chance(NOTES)];
}

/* A process that knows the id and the content only, or the struct as it is. */
static void refresh(tp_new_task *task) {
    if (chance(2)) return;
    tp_new_task fresh = TP_NEW_TASK_INIT;
    fresh.handler = task->handler;
    fresh.params = task->params;
    fresh.dedup_key = task->dedup_key;
    memcpy(fresh.id, task->id, sizeof fresh.id);
    *task = fresh;
}

static void was_put(struct actor *actor, struct note *note, const tp_new_task *task) {
    bool other = task->existing_id[0] && strcmp(task->existing_id, task->id) != 0;
    struct done done = {.put = other ? NULL : note, .refused = other ? note : NULL, .key = -1};
    sure(!other || !note->there, "task %s is there, and %s was named instead", task->id, task->existing_id);
    if (actor->inside)
        *actor_did(actor) = done;
    else
        actor_confirm(&done);
}

static void put(struct actor *actor) {
    struct note *note = choose_note();
    refresh(&note->task);
    bool there = note->there;
    tp_status status = actor_heard(actor, "tp_enqueue", tp_enqueue(actor->conn, &note->task));
    if (status < TP_OK) return;
    sure(status == TP_EXISTS || !there, "task %s was there, and was put in again", note->task.id);
    was_put(actor, note, &note->task);
}

static void put_many(struct actor *actor) {
    struct note *notes[MANY];
    tp_new_task tasks[MANY];
    size_t count = 0;
    for (int i = 0; i < MANY; i++) {
        struct note *note = choose_note();
        bool again = false;
        for (size_t n = 0; n < count; n++)
            again |= notes[n] == note;
        if (!again) notes[count++] = note;
    }
    for (size_t i = 0; i < count; i++) {
        refresh(&notes[i]->task);
        tasks[i] = notes[i]->task;
    }
    tp_status status =
        actor_heard(actor, "tp_enqueue_many", tp_enqueue_many(actor->conn, tasks, count, NULL));
    for (size_t i = 0; i < count; i++) {
        notes[i]->task = tasks[i];
        if (status == TP_OK) was_put(actor, notes[i], &tasks[i]);
    }
}

/* A struct that was changed, or an id that stands for something else. */
static void misuse(struct actor *actor) {
    struct note *note = &notebook.notes[chance((unsigned)notebook.count + 1) % NOTES];
    if (!note->there) return;
    tp_new_task task = note->task;
    if (chance(2)) refresh(&task);
    if (chance(2))
        task.params = "changed";
    else
        task.priority = 7;
    tp_status status = tp_enqueue(actor->conn, &task);
    snprintf(actor_last, sizeof actor_last, "a wrong tp_enqueue by %d", actor->number);
    sure(status < TP_OK, "task %s was asked for with other content: %s", task.id, tp_status_name(status));
    if (status == TP_MISUSE)
        actor->failed = actor->inside;
    else
        (void)actor_heard(actor, "a wrong tp_enqueue", status);
}

/* ---- The ledger ---------------------------------------------------------------------------------------- */

/* After a failure of its own statement the application rolls back. */
static bool own_effect(struct actor *actor, const char *of) {
    bool done = sql_try(actor->conn, "INSERT INTO tp_fx (task_id, note) VALUES ('%s', 'x')", of);
    if (!done) actor_roll_back(actor);
    return done;
}

static void once(struct actor *actor) {
    char name[16];
    unsigned key = chance(KEYS);
    notebook_name_key(name, key);
    tp_status status = actor_heard(actor, "tp_once", tp_once(actor->conn, name, NULL));
    sure(status != TP_OK || !notebook.keys[key], "key %s was there, and is the first", name);
    if (status == TP_OK && own_effect(actor, name)) actor_did(actor)->key = (int)key;
}

/* ---- Claims -------------------------------------------------------------------------------------------- */

static size_t free_places(const struct actor *actor) {
    size_t count = 0;
    for (size_t i = 0; i < HELD; i++)
        count += !actor->held[i];
    return count;
}

static void hold(struct actor *actor, const tp_task *task) {
    sure(!notebook_find(task->id)->ended, "task %s has ended, and was claimed", task->id);
    notebook_find(task->id)->there = true;
    for (size_t i = 0; i < HELD; i++) {
        if (actor->held[i]) continue;
        actor->held[i] = task;
        actor->unsure[i] = actor->settled_inside[i] = false;
        return;
    }
}

/* After a failure with the token that it left, or without, as a process would that forgot. */
static void claim_some(struct actor *actor) {
    tp_batch *batch = NULL;
    size_t limit = 1 + chance(3);
    if (actor->batch_count == BATCHES || free_places(actor) < 3) return;
    if (!actor->request.token[0] || chance(3) == 0) actor->request = claim_request(limit);
    tp_status status = actor_heard(actor, "tp_claim", tp_claim(actor->conn, &actor->request, &batch));
    if (status != TP_OK) return;
    actor->batches[actor->batch_count++] = batch;
    for (size_t i = 0; i < tp_batch_count(batch); i++)
        hold(actor, tp_batch_task(batch, i));
}

static void let_go(struct actor *actor, const tp_task *task) {
    for (size_t i = 0; i < HELD; i++)
        if (actor->held[i] == task) actor->held[i] = NULL;
}

/* HELD: there is none. */
static size_t choose_held(const struct actor *actor) {
    size_t at = chance(HELD);
    for (size_t i = 0; i < HELD; i++, at = (at + 1) % HELD)
        if (actor->held[at] && !actor->settled_inside[at]) return at;
    return HELD;
}

/* No session is left that could still be at an earlier commit. */
static void judge_settled(const tp_task *task, tp_status status) {
    struct row row = row_of(task->id);
    bool ours = strcmp(row.owner, task->owner) == 0, pending = strcmp(row.pool, "pending") == 0;
    if (status == TP_OK) sure(ours && !pending, "tp_settled: task %s is not settled by us", task->id);
    if (status == TP_NONE) sure(ours && pending, "tp_settled: task %s is not held by us", task->id);
    if (status == TP_LOST) sure(!ours || pending, "tp_settled: task %s is settled by us", task->id);
}

/* An application that does not know asks before it does the work again. True: still to be done. */
static bool is_still_to_be_done(struct actor *actor, size_t at) {
    const tp_task *task = actor->held[at];
    if (!actor->unsure[at]) return true;
    tp_status status = tp_settled(actor->conn, task);
    judge_settled(task, status);
    if (status == TP_LOST) {
        actor->held[at] = NULL;
        actor->failed = actor->inside;
        return false;
    }
    (void)actor_heard(actor, "tp_settled", status);
    if (status >= TP_OK) actor->unsure[at] = false;
    if (status == TP_OK) notebook_end(notebook_find(task->id), "done");
    if (status == TP_OK) let_go(actor, task);
    return status == TP_NONE;
}

static void complete_inside(struct actor *actor) {
    size_t at = choose_held(actor);
    if (at == HELD || !is_still_to_be_done(actor, at)) return;
    const tp_task *task = actor->held[at];
    bool many = chance(3) == 0;
    if (!own_effect(actor, task->id)) return;
    tp_status status = many ? tp_complete_many(actor->conn, &task, 1, NULL) : tp_complete(actor->conn, task);
    (void)actor_heard(actor, "tp_complete", status);
    if (status == TP_LOST) actor->held[at] = NULL;
    if (status != TP_OK) return;
    actor->settled_inside[at] = true;
    actor_did(actor)->completed = notebook_find(task->id);
}

/* By plan hold: claimed, done and completed in the transaction. What was not committed is nobody's. */
static void hold_and_complete(struct actor *actor) {
    tp_claim_request request = claim_request(2);
    tp_batch *batch = NULL;
    if (!pool_plan_possible("hold") || actor->batch_count == BATCHES) return;
    request.plan = "hold";
    tp_status status = actor_heard(actor, "tp_claim, hold", tp_claim(actor->conn, &request, &batch));
    if (status != TP_OK) return;
    actor->batches[actor->batch_count++] = batch;
    for (size_t i = 0; i < tp_batch_count(batch) && status == TP_OK; i++) {
        const tp_task *task = tp_batch_task(batch, i);
        sure(!notebook_find(task->id)->ended, "task %s has ended, and was claimed", task->id);
        if (!own_effect(actor, task->id)) return;
        status = actor_heard(actor, "tp_complete, hold", tp_complete(actor->conn, task));
        if (status == TP_OK) actor_did(actor)->completed = notebook_find(task->id);
    }
}

static tp_status settle_somehow(tp_conn *conn, const tp_task *task, const char **ended) {
    tp_status status = TP_OK;
    switch (chance(5)) {
    case 0:
        status = tp_skip(conn, task, "not wanted");
        if (status == TP_OK) *ended = "skipped";
        return status;
    case 1:
        status = tp_fail(conn, task, "no money", NULL);
        break;
    case 2:
        status = tp_give_up(conn, task, "no money");
        break;
    case 3:
        return tp_release(conn, task, 0);
    default:
        return tp_extend(conn, task, LEASE_MS);
    }
    if (status == TP_EXHAUSTED) *ended = "failed";
    return status;
}

/* Outside a transaction. After a failure it is left: another may claim it, or it has ended unheard. */
static void settle_alone(struct actor *actor) {
    size_t at = choose_held(actor);
    const char *ended = NULL;
    if (at == HELD || !is_still_to_be_done(actor, at)) return;
    const tp_task *task = actor->held[at];
    tp_status status = actor_heard(actor, "a settle", settle_somehow(actor->conn, task, &ended));
    if (ended) notebook_end(notebook_find(task->id), ended);
    if (status != TP_OK || ended || chance(2)) actor->held[at] = NULL;
}

/* ---- Steps --------------------------------------------------------------------------------------------- */

/* What is done inside a transaction and outside of one. */
static void step_anywhere(struct actor *actor, unsigned number) {
    switch (number) {
    case 0:
    case 1:
        put(actor);
        break;
    case 2:
        put_many(actor);
        break;
    case 3:
        misuse(actor);
        break;
    default:
        if (chance(4) == 0) actor_kill(actor);
    }
}

static void step_inside(struct actor *actor) {
    unsigned number = actor->failed ? 9 + chance(4) : chance(14);
    switch (number) {
    case 5:
    case 6:
        complete_inside(actor);
        break;
    case 7:
        once(actor);
        break;
    case 8:
        hold_and_complete(actor);
        break;
    case 9:
        actor_roll_back(actor);
        break;
    case 10:
        chance(4) ? actor_commit(actor, false) : actor_close(actor);
        break;
    case 11:
    case 12:
    case 13:
        actor_commit(actor, chance(3) == 0);
        break;
    default:
        step_anywhere(actor, number);
    }
}

static void step_outside(struct actor *actor) {
    unsigned number = chance(14);
    switch (number) {
    case 5:
    case 6:
        claim_some(actor);
        break;
    case 7:
        settle_alone(actor);
        break;
    case 8:
        chance(6) ? actor_begin(actor) : actor_close(actor);
        break;
    case 9:
        if (chance(10) == 0) must(tp_test_advance(pool.eye, LEASE_MS + 1));
        break;
    case 10:
    case 11:
    case 12:
    case 13:
        actor_begin(actor);
        break;
    default:
        step_anywhere(actor, number);
    }
}

static void step(struct actor *actor) {
    if (!actor->conn)
        actor_open(actor);
    else if (actor->lost)
        chance(3) ? actor_reopen(actor) : actor_close(actor);
    else if (actor->inside)
        step_inside(actor);
    else
        step_outside(actor);
}

/* One transaction is open at a time, so that nobody waits for somebody who cannot go on meanwhile. */
static struct actor *whose_turn(void) {
    for (size_t i = 0; i < ACTORS; i++)
        if (actors[i].inside) return &actors[i];
    return &actors[chance(ACTORS)];
}

/* ---- A round ------------------------------------------------------------------------------------------- */

/* Each again until it is known; some that were asked for in vain nobody ever asks for again. */
static void ask_for_the_rest(void) {
    for (size_t i = 0; i < notebook.count; i++) {
        struct note *note = &notebook.notes[i];
        bool was_there = note->there;
        if (!was_there && chance(5) == 0) continue;
        refresh(&note->task);
        tp_status status = tp_enqueue(pool.b, &note->task);
        snprintf(actor_last, sizeof actor_last, "the last tp_enqueue of %s", note->task.id);
        sure(status >= TP_OK, "%s: %s", actor_last, tp_last_error()->text);
        sure(status == TP_EXISTS || !was_there, "task %s was there, and was put in again", note->task.id);
        was_put(&(struct actor){0}, note, &note->task);
    }
}

static void end_actor(struct actor *actor) {
    if (actor->conn) actor_close(actor);
    for (size_t i = 0; i < actor->batch_count; i++)
        tp_batch_free(actor->batches[i]);
    *actor = (struct actor){0};
}

void walker_close(void) {
    chance_faults(false);
    for (size_t i = 0; i < ACTORS; i++)
        end_actor(&actors[i]);
}

int walker_round(int steps) {
    notebook_open();
    for (size_t i = 0; i < ACTORS; i++)
        actors[i] = (struct actor){.number = (int)i, .request = claim_request(1)};
    chance_faults(true);
    for (int i = 0; i < steps; i++)
        step(whose_turn());
    int faults = chance_fault_count();
    walker_close();
    ask_for_the_rest();
    notebook_judge();
    return faults;
}
