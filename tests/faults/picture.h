/* All that the tables hold, read by plain SQL over the eye, and what it must
 * be. */
#ifndef TESTS_FAULTS_PICTURE_H
#define TESTS_FAULTS_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "taskpool.h"

struct work;

enum { PICTURE_ROWS = 24, PICTURE_TEXT = 8192 };

/* A task; or an event of the history (pool "history"), an effect ("effect") or
 * a key ("once"), whose word stands in state. */
struct picture_row {
    char pool[12], id[TP_ID_SIZE], state[48], owner[TP_ID_SIZE];
    int number; /* failures, or the attempt */
    int64_t due_at;
};

struct picture {
    struct picture_row rows[PICTURE_ROWS];
    size_t count; /* may be more than are kept */
    char text[PICTURE_TEXT];
};

void picture_read(struct picture *picture);
/* Empties all tables of the pool. */
void picture_wipe(void);
bool picture_same(const struct picture *a, const struct picture *b);
/* How many there are; NULL and "" fit any. */
int picture_count(const struct picture *picture, const char *in, const char *id, const char *state);
/* The task's row; NULL: it is in no pool. */
const struct picture_row *picture_task(const struct picture *picture, const char *id);

/* ---- Checks of work->now; what is not so is told by wrong() -------------------------------------------- */

/* What holds after every run: each task in one pool, nothing else there, every
 * token known. lapses: rows may be left to lapse. */
void picture_judge(const struct work *work, bool lapses);
/* The i-th task is there, settled under its token if it is settled. */
void want_task(const struct work *work, size_t i, const char *in, const char *state, int failures);
/* The i-th task is settled by one of our tokens. */
void want_settled_by_us(const struct work *work, size_t i);
/* So many events of this kind about the i-th task, and of any kind. */
void want_told(const struct work *work, size_t i, const char *event, int count);
void want_told_in_all(const struct work *work, int count);
void want_effects(const struct work *work, size_t i, int count);
void want_key(const struct work *work, int count);

#endif
