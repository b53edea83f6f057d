/* For several themes: makes a chosen call lose its connection, or lets another session act in the middle of
 * it; see suite.h. */
#include "suite.h"
#include "support/faults.h"

void lose_call(const char *statement, const char *after, bool made) {
    faults_open(); /* other themes have hooks of their own */
    faults_clear();
    (void)faults_add((struct faults_aim){.statement = statement,
                                         .after = after,
                                         .times = 1,
                                         .fault = made ? TPI_FAULT_ANSWER_LOST : TPI_FAULT_NOT_SENT,
                                         .kind = FAULTS_DEAD});
}

void meet_call(const char *statement, void (*meet)(struct tpi_link *link, void *arg), void *arg) {
    faults_open();
    faults_clear();
    (void)faults_add((struct faults_aim){.statement = statement, .times = 1, .meet = meet, .arg = arg});
}

static size_t nth;

void lose_nth_call(int at, bool made) {
    faults_open();
    faults_clear();
    nth = faults_add((struct faults_aim){.skip = at,
                                         .times = 1,
                                         .fault = made ? TPI_FAULT_ANSWER_LOST : TPI_FAULT_NOT_SENT,
                                         .kind = FAULTS_DEAD});
}

bool lost_nth_call(void) {
    bool hit = faults_hits(nth) > 0;
    faults_clear();
    return hit;
}
