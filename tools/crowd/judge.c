/* Compares what the crowd noted on its board with the tables, and reports what does not agree. See crowd.h.
 * */
#include "crowd/crowd.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "odbc/driver.h"
#include "support/check.h"
#include "support/sql.h"
#include "support/tasks.h"

void judge_expect(struct judge_sums *sums, const char *id, bool worker) {
    enum crowd_fate fate = crowd_fate(id);
    bool done = fate == CROWD_DO || fate == CROWD_FAIL_FIRST;
    sums->tasks++;
    sums->fates[fate]++;
    if (done && (!worker || crowd_pays(id))) sums->effects++;
}

/* ---- The board ----------------------------------------------------------------------------------------- */

static int by_id_and_time(const void *a, const void *b) {
    const struct board_entry *one = a, *two = b;
    int order = strcmp(one->id, two->id);
    return order ? order : (one->from_us > two->from_us) - (one->from_us < two->from_us);
}

static bool is_last(enum board_end end) {
    return end == BOARD_DONE || end == BOARD_SKIPPED || end == BOARD_GAVE_UP;
}

static void print_entry(const struct board_entry *entry) {
    print_error("  process %d thread %d, token %s, %d failures, from %" PRId64 " to %" PRId64 " us, %s\n",
                entry->process, entry->thread, entry->token, (int)entry->failures, entry->from_us,
                entry->to_us, board_end_name(entry->end));
}

static bool is_notice(const struct board_entry *entry) {
    return entry->end == BOARD_LOST || entry->end == BOARD_SETTLED;
}

/* Each stands for one claim of the process. */
static struct board_entry *take_notice(struct board_entry *notices, size_t count, int process,
                                       enum board_end what) {
    for (size_t i = 0; i < count; i++)
        if (notices[i].process == process && notices[i].end == what) {
            notices[i].process = -1;
            return &notices[i];
        }
    return NULL;
}

/* What claims of a worker left no trace: their transaction was lost, a deadlock's victim say. An effect was
 * undone with it, and is made again; judge_effects counts. What is done without one is done again only where
 * another process has the task before it is written down what became of it, which plan hold alone makes
 * possible; either of them then says that it threw its result away. Gives how many of these had ended it. */
static size_t undo(struct board_entry *entries, size_t count, size_t notices) {
    size_t ends = 0;
    for (size_t i = notices; i < count; i++) {
        struct board_entry *entry = &entries[i];
        bool paid_again = entry->end == BOARD_DONE && crowd_pays(entry->id) && i < count - 1;
        if (entry->end == BOARD_RELEASED) continue;
        if (!take_notice(entries, notices, entry->process, BOARD_LOST) && !paid_again) continue;
        ends += is_last(entry->end);
        entry->end = BOARD_UNDONE;
    }
    return ends;
}

/* One after the other, each with the failures counted before it, and only the last one ends the task. */
static const char *claims_fault(const struct board_entry *claims, size_t count,
                                const struct board_entry **end) {
    int32_t failures = 0;
    for (size_t i = 0; i < count; i++) {
        if (i && claims[i - 1].to_us > claims[i].from_us) return "was held by two at a time";
        if (claims[i].end == BOARD_UNDONE) continue;
        if (claims[i].failures != failures) return "has another number of failures than were counted";
        if (claims[i].end == BOARD_OPEN) return "was lost by its claim";
        if (*end) return "was claimed after it had ended";
        failures += claims[i].end == BOARD_FAILED;
        if (is_last(claims[i].end)) *end = &claims[i];
    }
    return *end ? NULL : "never ended";
}

/* Its worker says that it is settled, once, and under which token: another one than the claim's, if that
 * one's transaction was lost. */
static const char *notices_fault(struct board_entry *notices, size_t count, int process, char *token) {
    const struct board_entry *settled = take_notice(notices, count, process, BOARD_SETTLED);
    if (!settled) return "was not settled by who ended it";
    memcpy(token, settled->token, sizeof settled->token);
    for (size_t i = 0; i < count; i++) {
        if (notices[i].end == BOARD_LOST && !pool_plan_holds(pool.plan)) return "was lost by its claim";
        if (notices[i].end == BOARD_SETTLED && notices[i].process >= 0) return "was settled more than once";
    }
    return NULL;
}

/* All that was noted of one task, in its order. Gives how often an end of it was undone. */
static size_t judge_task(struct board_entry *entries, size_t count, bool worker) {
    const struct board_entry *end = NULL;
    size_t notices = 0, undone;
    while (notices < count && is_notice(&entries[notices]))
        notices++;
    undone = worker ? undo(entries, count, notices) : 0;
    const char *fault = claims_fault(&entries[notices], count - notices, &end);
    if (!fault && worker) fault = notices_fault(entries, notices, end->process, entries[count - 1].token);
    if (!fault) return undone;
    print_error("task %s %s:\n", entries->id, fault);
    for (size_t i = 0; i < count; i++)
        print_entry(&entries[i]);
    fail();
    return 0;
}

static size_t same_id(const struct board_entry *entries, size_t left) {
    size_t count = 1;
    while (count < left && strcmp(entries[count].id, entries->id) == 0)
        count++;
    return count;
}

static void judge_board(struct board *board, bool worker) {
    size_t used = atomic_load(&board->used), tasks = 0, undone = 0;
    qsort(board->entries, used, sizeof board->entries[0], by_id_and_time);
    for (size_t at = 0, count; at < used; at += count, tasks++) {
        count = same_id(&board->entries[at], used - at);
        undone += judge_task(&board->entries[at], count, worker);
    }
    expect_number(tasks, board->tasks);
    expect_number(atomic_load(&board->settled), board->tasks + undone);
}

/* ---- The tables ---------------------------------------------------------------------------------------- */

#define OURS "(handler = '%s' OR handler = '%s.other')"

#define count_rows(from) sql_number(pool.eye, "SELECT COUNT(*) FROM " from, pool.handler, pool.handler)

static void judge_pools(const struct judge_sums *sums) {
    size_t done = sums->fates[CROWD_DO] + sums->fates[CROWD_FAIL_FIRST];
    expect_number(count_rows("tp_pending WHERE " OURS), 0);
    expect_number(count_rows("tp_finished WHERE " OURS " AND state = 'done'"), done);
    expect_number(count_rows("tp_finished WHERE " OURS " AND state = 'skipped'"), sums->fates[CROWD_SKIP]);
    expect_number(count_rows("tp_failed WHERE " OURS), sums->fates[CROWD_GIVE_UP]);
    expect_number(count_rows("tp_history WHERE " OURS " AND event = 'failed'"),
                  sums->fates[CROWD_FAIL_FIRST]);
    expect_number(count_rows("tp_history WHERE " OURS " AND event = 'gave-up'"), sums->fates[CROWD_GIVE_UP]);
    expect_number(count_rows("tp_history WHERE " OURS " AND event = 'lapsed'"), 0);
}

static void judge_effects(const struct judge_sums *sums) {
    expect_number(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_fx WHERE note = '%s'", pool.handler),
                  sums->effects);
    expect_number(
        sql_number(pool.eye, "SELECT COUNT(DISTINCT task_id) FROM tp_fx WHERE note = '%s'", pool.handler),
        sums->effects);
}

/* ---- Both ---------------------------------------------------------------------------------------------- */

/* Of a task in the sorted board; it has the token under which the task was settled. */
static const struct board_entry *last_claim(const struct board *board, const char *id) {
    size_t low = 0, high = atomic_load(&board->used);
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(board->entries[middle].id, id) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low && strcmp(board->entries[low - 1].id, id) == 0 ? &board->entries[low - 1] : NULL;
}

/* A settled row carries the token of the claim that ended it. */
static void judge_tokens(const struct board *board, const char *in) {
    char after[TP_ID_SIZE] = "";
    tp_list_request request = TP_LIST_INIT;
    tp_batch *batch = NULL;
    tp_status status;
    request.pool = in;
    request.limit = 1000;
    while ((status = tp_list(pool.eye, &request, &batch)) == TP_OK) {
        for (size_t i = 0; i < tp_batch_count(batch); i++) {
            const tp_task *task = tp_batch_task(batch, i);
            const struct board_entry *claim = last_claim(board, task->id);
            memcpy(after, task->id, sizeof after);
            if (strncmp(task->handler, pool.handler, strlen(pool.handler)) != 0) continue;
            sure(claim, "task %s was never claimed", task->id);
            sure(strcmp(claim->token, task->owner) == 0, "task %s was ended under token %s, not %s", task->id,
                 task->owner, claim->token);
        }
        tp_batch_free(batch);
        request.after_id = after;
    }
    expect_number(status, TP_NONE);
}

void judge(struct board *board, const struct judge_sums *sums, bool worker) {
    judge_board(board, worker);
    judge_pools(sums);
    judge_effects(sums);
    judge_tokens(board, "finished");
    judge_tokens(board, "failed");
    expect_sound_pools();
}

/* ---- Figures ------------------------------------------------------------------------------------------- */

enum heading { DEADLOCK, REFUSED, WAITED, CONFLICT, OTHER, HEADINGS };

static enum heading heading_of(const struct board_trouble *trouble) {
    if (trouble->native == 1213 || strcmp(trouble->state, "40P01") == 0) return DEADLOCK;
    if (trouble->class == TPI_CLASS_LOCKED && strcmp(trouble->statement, "claim_lock") == 0) return REFUSED;
    if (trouble->class == TPI_CLASS_LOCKED || trouble->class == TPI_CLASS_TIMEOUT) return WAITED;
    return trouble->class == TPI_CLASS_CONFLICT ? CONFLICT : OTHER;
}

void judge_report(const struct board *board, const char *form, double seconds) {
    uint64_t counts[HEADINGS] = {0};
    const struct board_trouble *troubles = board->troubles[0];
    for (int i = 0; i < BOARD_PROCESSES * BOARD_TROUBLES; i++)
        if (troubles[i].count) counts[heading_of(&troubles[i])] += troubles[i].count;
    printf("crowd %s %s %s: %zu tasks, %zu claims, %" PRIu64 " deadlocks, %" PRIu64 " lock timeouts, %" PRIu64
           " refused locks, %" PRIu64 " conflicts, %" PRIu64 " other, %.1f s\n",
           pool.entry, pool.plan, form, board->tasks,
           atomic_load(&board->used) - atomic_load(&board->notices), counts[DEADLOCK], counts[WAITED],
           counts[REFUSED], counts[CONFLICT], counts[OTHER], seconds);
    for (int i = 0; i < BOARD_PROCESSES * BOARD_TROUBLES; i++)
        if (troubles[i].count && heading_of(&troubles[i]) != REFUSED)
            printf("  %" PRIu64 " x %s [%s, %d] %s\n", troubles[i].count, troubles[i].statement,
                   troubles[i].state, (int)troubles[i].native, troubles[i].text);
}
