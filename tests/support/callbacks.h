/* Signatures of the functions that the library, or the faults of tests/worker, call back: names of their
 * arguments, marked as possibly unused. */
#ifndef TESTS_SUPPORT_CALLBACKS_H
#define TESTS_SUPPORT_CALLBACKS_H

#define MAY_BE_UNUSED __attribute__((unused))
/* Does a task's work: run, arg. */
#define HANDLER(name) static tp_verdict name(MAY_BE_UNUSED tp_run *run, MAY_BE_UNUSED void *arg)
/* An on_alert: task, text, arg. */
#define ALERT(name)                                                                                          \
    static int name(MAY_BE_UNUSED const tp_task *task, MAY_BE_UNUSED const char *text,                       \
                    MAY_BE_UNUSED void *arg)
/* A retry policy's delay: task, failures, reason, arg. */
#define DELAY(name)                                                                                          \
    static int64_t name(MAY_BE_UNUSED const tp_task *task, MAY_BE_UNUSED int32_t failures,                   \
                        MAY_BE_UNUSED const char *reason, MAY_BE_UNUSED void *arg)
/* Meets a call to the driver, before it is made: link, arg. */
#define MEET(name) static void name(MAY_BE_UNUSED struct tpi_link *link, MAY_BE_UNUSED void *arg)
/* Is the call meant? link, function. */
#define MEANS(name)                                                                                          \
    static bool name(MAY_BE_UNUSED const struct tpi_link *link, MAY_BE_UNUSED const char *function)

#endif
