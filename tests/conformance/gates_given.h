/* Tasks behind gates, as the tests of gates put, take and see them. */
#ifndef TESTS_CONFORMANCE_GATES_GIVEN_H
#define TESTS_CONFORMANCE_GATES_GIVEN_H

#include "ops/gate.h"
#include "suite.h"

enum { FEW = 4 };

tp_new_task behind(const char *gate);
/* count tasks behind the gate, or in the order of the key. */
void put_behind(const char *gate, const char *key, size_t count, char (*ids)[ID]);
int64_t through(const char *gate);
/* So many are let through, by the gate's own tasks and by theirs. */
void expect_through(const char *gate, int64_t count);
void expect_waits(const char *id);
tp_gate gate_now(const char *name);
/* So many gates and patterns are listed. */
void expect_gates(int count);
/* Where the clock is carried on, what is due now may be so a second later only. */
void make_due(void);
const tp_task *take_this(tp_conn *conn, const char *id);
void fail_for_good(const char *id);
void operate(tp_action action, const char *poolname);

#endif
