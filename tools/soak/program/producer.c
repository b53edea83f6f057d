/* Puts tasks in, one by one, in many, under keys, and with an order in its own transaction; asks again after
 * every failure until it has an answer; and writes down, durably, what was confirmed: see producer.h. Groups
 * are put_group.c's, cancels ask_cancel.c's. */
#include "producer.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MANY = 20, KEYS = 12, GATES = 5, LINE = 80, BACKLOG = 300, BACKLOG_EVERY = 16 };

static void on_signal(int number) {
    (void)number;
    soak_stopping = 1;
}

/* ---- What to put in ---------------------------------------------------------------------------------- */

static const char *pick_params(uint64_t dice, bool quick) {
    if (dice < 8) return SOAK_FLAKY;
    if (dice < 9) return SOAK_DOOMED;
    if (dice < 10) return SOAK_GIVEUP;
    if (dice < 12) return SOAK_SKIP;
    if (dice < 14 && !quick) return SOAK_SLOW;
    return "ok";
}

/* One in four of those that are due at once: an order key, or a gate that a pattern makes. */
static void put_behind(struct producer *producer, struct draft *draft) {
    uint64_t dice = soak_random(&producer->random, 8), which = soak_random(&producer->random, GATES);

    if (dice > 1 || draft->task.delay_ms) return;
    snprintf(draft->gate, sizeof draft->gate, "soak-%llu", (unsigned long long)which);
    if (dice)
        draft->task.order_key = draft->gate;
    else
        draft->task.gate = draft->gate;
}

/* Some are of no use any more soon after they are due. */
static void put_deadline(struct producer *producer, struct draft *draft) {
    if (soak_random(&producer->random, 12) != 0) return;
    draft->task.deadline_ms = 1 + (int64_t)soak_random(&producer->random, 1500);
    snprintf(draft->params, sizeof draft->params, "%s",
             soak_random(&producer->random, 8) || producer->soak->quick ? SOAK_HASTY : SOAK_HASTY_ASKS);
}

void soak_draw(struct producer *producer, struct draft *draft) {
    static const char *const handlers[] = {"pay", "pay", "once", "note", "prompt"};
    static const tp_new_task init = TP_NEW_TASK_INIT;
    uint64_t number = ++producer->count;

    memset(draft, 0, sizeof *draft);
    draft->task = init;
    draft->task.handler = handlers[soak_random(&producer->random, 5)];
    /* Two tasks in a row share a business key, so that the ledger has something to refuse. */
    snprintf(draft->biz, sizeof draft->biz, "%s-%llu", producer->soak->name,
             (unsigned long long)(number / 2));
    snprintf(draft->params, sizeof draft->params, "%s",
             pick_params(soak_random(&producer->random, 100), producer->soak->quick));
    draft->task.biz_key = draft->biz;
    draft->task.params = draft->params;
    draft->task.priority = (int32_t)soak_random(&producer->random, 3);
    if (soak_random(&producer->random, 10) == 0)
        draft->task.delay_ms = (int64_t)soak_random(&producer->random, 2000);
    put_deadline(producer, draft);
    put_behind(producer, draft);
}

/* ---- Until there is an answer ------------------------------------------------------------------------ */

static void complain(struct producer *producer, tp_status status) {
    const tp_error *error = tp_last_error();

    producer->failures++;
    fprintf(stderr, "producer %s: %s %s %s: %s\n", producer->soak->name, tp_status_name(status),
            error->sqlstate, error->statement, error->text);
}

/* The connection as good as new: rolled back, or opened again. */
static void mend(struct producer *producer) {
    tp_status status = tp_rollback(producer->conn);

    while (status == TP_DISCONNECTED && !soak_stopping) {
        soak_sleep_ms(100);
        status = tp_conn_reopen(producer->conn);
    }
    soak_sleep_ms(20 + (int64_t)soak_random(&producer->random, 60));
}

tp_status soak_until_answered(struct producer *producer, act_fn act, struct draft *drafts, size_t count,
                              int *asked) {
    for (*asked = 1; !soak_stopping; ++*asked) {
        tp_status status = act(producer, drafts, count);
        if (status >= TP_OK) return status;
        complain(producer, status);
        if (status == TP_MISUSE && strstr(tp_last_error()->text, "there is no group"))
            return soak_miss_group(producer) ? TP_LOST : status;
        if (status == TP_MISUSE) return status;
        if (status == TP_DISCONNECTED || status == TP_UNWRITABLE) { /* another server may write by now */
            do {
                soak_sleep_ms(100);
                status = tp_conn_reopen(producer->conn);
            } while (status != TP_OK && !soak_stopping);
        } else {
            mend(producer);
        }
    }
    return TP_LOST;
}

/* ---- Acts -------------------------------------------------------------------------------------------- */

static tp_status put_one(struct producer *producer, struct draft *drafts, size_t count) {
    (void)count;
    return tp_enqueue(producer->conn, &drafts[0].task);
}

/* The library takes an array of tasks; what it notes in them is kept for the next try. */
static tp_status put_many(struct producer *producer, struct draft *drafts, size_t count) {
    tp_new_task tasks[MANY];
    tp_status status;

    for (size_t i = 0; i < count; i++)
        tasks[i] = drafts[i].task;
    status = tp_enqueue_many(producer->conn, tasks, count, NULL);
    for (size_t i = 0; i < count; i++)
        drafts[i].task = tasks[i];
    return status;
}

static tp_status insert_order(struct producer *producer, const struct draft *draft) {
    const char *texts[] = {draft->task.id, draft->biz};
    char error[DB_TEXT] = "";

    if (db_insert(producer->conn, "INSERT INTO soak_order (task_id, biz) VALUES (?, ?)", texts, 2, error))
        return TP_OK;
    fprintf(stderr, "producer %s: order: %s\n", producer->soak->name, error);
    return TP_DB;
}

/* The task first: when it is there already, so is the order, because both were committed together. */
static tp_status put_order(struct producer *producer, struct draft *drafts, size_t count) {
    tp_status status = tp_begin(producer->conn);

    (void)count;
    if (status != TP_OK) return status;
    status = tp_enqueue(producer->conn, &drafts[0].task);
    if (status == TP_EXISTS) return tp_rollback(producer->conn) < TP_OK ? TP_DISCONNECTED : TP_EXISTS;
    if (status == TP_OK) status = insert_order(producer, &drafts[0]);
    if (status == TP_OK) return tp_commit(producer->conn);
    return status;
}

/* ---- Records ----------------------------------------------------------------------------------------- */

static bool keep(struct producer *producer, const char *lines, size_t length) {
    return write(producer->records, lines, length) == (ssize_t)length && fdatasync(producer->records) == 0;
}

bool soak_note(struct producer *producer, const char *word, const char *name) {
    char line[LINE];

    return keep(producer, line, (size_t)snprintf(line, sizeof line, "%s %s\n", word, name));
}

bool soak_note_tasks(struct producer *producer, const char *word, const struct draft *drafts, size_t count) {
    char lines[2 * MANY * LINE];
    size_t length = 0;

    for (size_t i = 0; i < count; i++) {
        const tp_new_task *task = &drafts[i].task;
        length += (size_t)snprintf(lines + length, sizeof lines - length, "%s %s\n", word, task->id);
        if (task->group)
            length +=
                (size_t)snprintf(lines + length, sizeof lines - length, "in-%s %s\n", task->group, task->id);
    }
    return keep(producer, lines, length);
}

static bool put_some(struct producer *producer, uint64_t dice) {
    struct draft drafts[MANY];
    size_t count = dice < 15 ? 2 + (size_t)soak_random(&producer->random, MANY - 1) : 1;
    act_fn act = dice < 15 ? put_many : dice < 40 ? put_order : put_one;
    tp_status status;
    int asked;

    for (size_t i = 0; i < count; i++)
        soak_draw(producer, &drafts[i]);
    for (size_t i = 0; i < count; i++)
        soak_join_group(producer, &drafts[i]);
    if (act == put_order) drafts[0].task.shard = SOAK_ORDERED;
    if (dice >= 80) {
        snprintf(drafts[0].dedup, sizeof drafts[0].dedup, "key-%d",
                 (int)soak_random(&producer->random, KEYS));
        drafts[0].task.dedup_key = drafts[0].dedup;
    }
    status = soak_until_answered(producer, act, drafts, count, &asked);
    if (status < TP_OK) return status == TP_LOST;
    if (status == TP_EXISTS && dice >= 80) return asked == 1 || soak_note_tasks(producer, "maybe", drafts, 1);
    memcpy(producer->latest, drafts[0].task.id, sizeof producer->latest);
    return soak_note_tasks(producer, act == put_order ? "order" : "ok", drafts, count);
}

static bool act_once(struct producer *producer) {
    uint64_t dice = soak_random(&producer->random, 130);

    if (*producer->unwanted) return soak_cancel(producer);
    if (soak_group_is_due(producer)) return soak_close_group(producer);
    if (*producer->held && dice % 10 == 0) return soak_let_go(producer);
    if (dice >= 118) return soak_put_unwanted(producer);
    if (dice >= 100 && (*producer->group || producer->soak->groupless)) return soak_cancel_latest(producer);
    if (dice >= 100) return soak_put_group(producer);
    return put_some(producer, dice);
}

/* Workers that cannot keep up, on a busy machine or after a long outage, get time. An answer that does not
 * come is the next act's trouble. */
static void hold_back(struct producer *producer) {
    char error[DB_TEXT];
    int64_t open = 0;

    while (!soak_stopping && tp_conn_dbc(producer->conn) &&
           db_number(producer->conn, "SELECT COUNT(*) FROM tp_pending", &open, error) && open > BACKLOG)
        soak_sleep_ms(500);
}

bool soak_produce(tp_env *env, const struct soak *soak) {
    struct producer producer = {.soak = soak, .random = soak->seed, .records = -1};
    bool ok = true;

    (void)signal(SIGTERM, on_signal);
    producer.records = open(soak->records, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (producer.records < 0) {
        perror(soak->records);
        return false;
    }
    while (!soak_stopping && tp_conn_open(env, &producer.conn) != TP_OK)
        soak_sleep_ms(100);
    for (int acts = 1; ok && !soak_stopping; acts++) {
        ok = act_once(&producer);
        if (acts % BACKLOG_EVERY == 0) hold_back(&producer);
        soak_sleep_ms((int64_t)soak_random(&producer.random, (uint64_t)(2 * soak->pause_ms + 1)));
    }
    tp_conn_close(producer.conn);
    (void)close(producer.records);
    return ok;
}
