/* All that the tables hold, read by plain SQL over sessions that never fail, and what it must be. */
#ifndef TESTS_FAULTS_SNAPSHOT_H
#define TESTS_FAULTS_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "taskpool.h"

struct work;

enum { SNAPSHOT_ROWS = 80, SNAPSHOT_TEXT = 16384 };

/* A task; or an event of the history (pool "history"), an effect ("effect"), a key ("once"), a schedule,
 * pause, worker or setting ("schedule", "pause", "worker", "meta"), or a row of the audit ("audit"), whose
 * event, note, key, name, handler, state, name or action stands in state. */
struct snapshot_row {
    char pool[12], id[TP_ID_SIZE], state[48], owner[TP_ID_SIZE];
    int number; /* failures, the attempt, whether the schedule is paused, or how many were changed */
    int64_t due_at;
};

struct snapshot {
    struct snapshot_row rows[SNAPSHOT_ROWS];
    size_t count; /* may be more than are kept */
    char text[SNAPSHOT_TEXT];
};

/* After pool_open; before pool_close. */
void snapshot_open(void);
void snapshot_close(void);

void snapshot_read(struct snapshot *snapshot);
/* Empties all tables of the pool. */
void snapshot_wipe(void);
bool snapshot_same(const struct snapshot *a, const struct snapshot *b);
/* How many there are; NULL and "" fit any. */
int snapshot_count(const struct snapshot *snapshot, const char *in, const char *id, const char *state);
/* The task's row; NULL: it is in no pool. */
const struct snapshot_row *snapshot_task(const struct snapshot *snapshot, const char *id);

/* ---- Checks of work->now; what is not so is noted by wrong() ------------------------------------------- */

/* What holds after every run: each task in one pool, nothing else there, every token known. */
void snapshot_judge(const struct work *work);
/* The i-th task is there, settled under its token if it is settled; all are. */
void want_task(const struct work *work, size_t i, const char *in, const char *state, int failures);
void want_all(const struct work *work, const char *in, const char *state, int failures);
/* The i-th task is settled by one of our tokens. */
void want_settled_by_us(const struct work *work, size_t i);
/* So many events of this kind about the i-th task, about any, and of any kind. */
void want_events(const struct work *work, size_t i, const char *event, int count);
void want_events_of_all(const struct work *work, const char *event, int count);
void want_events_in_all(const struct work *work, int count);
/* The first so many tasks have lapsed once each. */
void want_lapses(const struct work *work, size_t count);
/* Rows of the audit say that so many were changed in this way. */
void want_acts(const struct work *work, const char *action, int count);
void want_effects(const struct work *work, size_t i, int count);
void want_key(const struct work *work, int count);
void nothing_changed(struct work *work);

#endif
