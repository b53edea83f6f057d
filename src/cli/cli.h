/* The list of the commands of taskpool(1). Commands know taskpool.h and src/common alone, and nothing of each
 * other. Read next: main.c, then the file of a command. */
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

/* X(name, word, "one line for the list of commands"): by word_usage its command line is read, word_command
 * runs it with the arguments that are no options, then NULL. */
#define COMMAND_LIST(X)                                                                                      \
    X("schema", schema, "create, check or print the pool's tables")                                          \
    X("enqueue", enqueue, "put in one task, or many from a CSV or JSON-lines file")                          \
    X("work", work, "claim tasks and run programs on them")                                                  \
    X("stats", stats, "count tasks by pool, handler and state")                                              \
    X("list", list, "list the tasks of a pool")                                                              \
    X("show", show, "show whole lives of tasks, with their parameters")                                      \
    X("failures", failures, "say what fails, why and since when")                                            \
    X("retry", retry, "let failed tasks run again")                                                          \
    X("cancel", cancel, "end tasks that are not wanted any more, also those in hand")                        \
    X("skip", skip, "give up tasks that wait or failed")                                                     \
    X("release", release, "take tasks away from whoever handles them")                                       \
    X("purge", purge, "delete settled tasks, ledger keys or history")                                        \
    X("edit", edit, "move a task that waits or failed, or give it new content")                              \
    X("erase", erase, "delete a person's traces")                                                            \
    X("pause", pause, "let a handler's tasks wait, or show what is paused")                                  \
    X("resume", resume, "let a paused handler's tasks be claimed again")                                     \
    X("requests", requests, "show what waits for a second person")                                           \
    X("approve", approve, "carry out what another person asked for")                                         \
    X("refuse", refuse, "end a request, or take back your own")                                              \
    X("four-eyes", four_eyes, "say whether acts need a second person")                                       \
    X("adopt", adopt, "make an old task table of the application the producer")                              \
    X("history", history, "show what happened to a task, or in the pool")                                    \
    X("audit", audit, "show what people did, or the anchor of that record")                                  \
    X("retention", retention, "say how long settled tasks are kept")                                         \
    X("schedule", schedule, "make tasks at planned times: cron, periods")                                    \
    X("gate", gate, "say how many tasks may run at a time")                                                  \
    X("group", group, "open, close and show groups of tasks")                                                \
    X("calendar", calendar, "say which days are business days, and until when")                              \
    X("top", top, "show live what goes on: backlog, rates, failures, workers")                               \
    X("workers", workers, "show who works")                                                                  \
    X("metrics", metrics, "print the figures of the pool for Prometheus")                                    \
    X("check", check, "alarm when due tasks have no worker; check that every row is legal")                  \
    X("control-totals", control_totals, "add up what came in on a day, and what became of it")               \
    X("fsm", fsm, "print the table by which states are decided")                                             \
    X("bench", external, "measure how fast tasks go through this database")                                  \
    X("doctor", doctor, "try out whether database and driver do what tasks rely on")                         \
    X("help", help, "this text, or the help of a command")

struct usage;
#define COMMAND_DECLARE(name, word, text)                                                                    \
    extern const struct usage word##_usage;                                                                  \
    enum cli_exit word##_command(const char **args);
COMMAND_LIST(COMMAND_DECLARE)
#undef COMMAND_DECLARE

#endif
