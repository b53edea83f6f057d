/* The commands of taskpool(1). The program knows taskpool.h, and src/common, which it shares with others. */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/json.h"
#include "common/messages.h"
#include "common/out.h"
#include "taskpool.h"

/* X(name, function, "one line for the list of commands"). argv[0] is the command's name. */
#define COMMAND_LIST(X)                                                                                      \
    X("schema", schema_command, "create, check or print the pool's tables")                                  \
    X("enqueue", enqueue_command, "put in one task, or many from a CSV or JSON-lines file")                  \
    X("work", work_command, "claim tasks and run programs on them")                                          \
    X("stats", stats_command, "count tasks by pool, handler and state")                                      \
    X("list", list_command, "list the tasks of a pool")                                                      \
    X("show", show_command, "show one task with its parameters")                                             \
    X("retry", operate_command, "let failed tasks run again")                                                \
    X("skip", operate_command, "give up tasks that wait or failed")                                          \
    X("release", operate_command, "take tasks away from whoever handles them")                               \
    X("purge", operate_command, "delete settled tasks, ledger keys or history")                              \
    X("pause", pause_command, "let a handler's tasks wait, or show what is paused")                          \
    X("resume", resume_command, "let a paused handler's tasks be claimed again")                             \
    X("history", history_command, "show what happened to a task, or in the pool")                            \
    X("retention", retention_command, "say how long settled tasks are kept")                                 \
    X("schedule", schedule_command, "make tasks at planned times: cron, periods")                            \
    X("check", check_command, "look whether every row is where and how it may be")                           \
    X("fsm", fsm_command, "print the table by which states are decided")                                     \
    X("bench", external_command, "measure how fast tasks go through this database")                          \
    X("doctor", doctor_command, "try out whether database and driver do what tasks rely on")                 \
    X("help", help_command, "this text, or the help of a command")

#define COMMAND_DECLARE(name, function, text) enum cli_exit function(int argc, const char **argv);
COMMAND_LIST(COMMAND_DECLARE)
#undef COMMAND_DECLARE

#endif
