/* What the tests of steps share: a handler with two steps, each with an effect of its own, and what became of
 * them. */
#ifndef TESTS_WORKER_STEPS_H
#define TESTS_WORKER_STEPS_H

#include "worker/rig.h"

struct steps {
    atomic_int calls; /* of steps' functions */
    tp_status answers[4];
    char results[4][40];
};
extern struct steps steps;

#define STEP_FN(name)                                                                                        \
    static tp_status name(MAY_BE_UNUSED tp_run *run, MAY_BE_UNUSED tp_conn *conn, MAY_BE_UNUSED void *arg)

/* A step's function: writes its effect; its result says how often a step's function was called before. */
tp_status steps_pay(tp_run *run, tp_conn *conn, void *arg);
/* Another: does nothing. */
tp_status steps_answer_nothing(tp_run *run, tp_conn *conn, void *arg);
/* The commit of a step. */
struct faults_aim steps_commit(void);
/* Step number i, by its name; what it answered is kept. False: it is not done. */
bool steps_do(tp_run *run, int i, const char *name, tp_step_fn fn);
/* Both steps by steps_pay. */
tp_verdict steps_charge_and_mail(tp_run *run, void *arg);

/* Steps are for plans that lease. */
#define STEPS_OPTIONS(...) RIG_OPTIONS(.threads = 1, .plan = tp_conn_about(pool.a)->leased_plan, __VA_ARGS__)
/* A worker from start to end, which tries again. */
void steps_run(int tasks, tp_handler_fn fn);
/* The same for one task more, which is not tried again. */
void steps_run_once(tp_handler_fn fn);

/* Effects of a step; rows of all tests' steps, and of this test's tasks. */
int steps_effects(const char *step);
int steps_all_stored(void);
int steps_stored(void);
/* So many calls of steps' functions, and one effect of each of the two steps. */
#define expect_steps(count)                                                                                  \
    do {                                                                                                     \
        expect_number(atomic_load(&steps.calls), (count));                                                   \
        expect_number(steps_effects("charge"), 1);                                                           \
        expect_number(steps_effects("mail"), 1);                                                             \
    } while (0)

#endif
