/* One answer for all who ask the same of a pool at about the same time and may see the same: the database is
 * asked once, however many look. Read next: polling_interval.h. */
#ifndef CONSOLE_SHARED_ANSWER_H
#define CONSOLE_SHARED_ANSWER_H

#include <stdint.h>

#include "answer.h"
#include "request.h"

struct shared_answers;

/* An answer is good for least_ms, and longer where it took long to get (polling_interval.h). */
struct shared_answers *shared_answers_open(int64_t least_ms);
/* Nobody must be asking. */
void shared_answers_close(struct shared_answers *all);

/* Answers what was asked for lately, or is being asked for, with the same parameters by somebody with the
 * same rights; else has ask answer. Whoever changed something gets no answer from before that. what: which
 * question it is. */
typedef void (*shared_ask_fn)(void *arg, struct answer *answer);
void shared_answer(struct shared_answers *all, const char *what, const struct request *request,
                   shared_ask_fn ask, void *arg, struct answer *answer);
/* This person may have changed something until now. */
void shared_answers_changed(struct shared_answers *all, const char *who);

/* How many are kept, their bytes, and who waits for the answer to another. */
struct shared_answers_state {
    size_t kept, bytes, waiting;
};
struct shared_answers_state shared_answers_state(struct shared_answers *all);

#endif
