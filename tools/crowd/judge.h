/* Judges a crowd when it has ended: the board by itself, the tables by plain SQL, and both together. */
#ifndef TOOLS_CROWD_JUDGE_H
#define TOOLS_CROWD_JUDGE_H

#include "crowd/crowd.h"

/* How the tasks put are to end. */
struct judge_sums {
    size_t tasks, fates[CROWD_FATES], effects;
};

void judge_expect(struct judge_sums *sums, const char *id, bool worker);
/* Fails the test when anything is not as it must be. Sorts the board. */
void judge(struct board *board, const struct judge_sums *sums, bool worker);
/* One line of figures, and one for each kind of failure. */
void judge_report(const struct board *board, const char *form, double seconds);

#endif
