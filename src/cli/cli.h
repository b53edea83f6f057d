/* What all commands of taskpool(1) share: exit codes, messages, output. The program knows taskpool.h only. */
#ifndef CLI_H
#define CLI_H

/* Before every system header: POSIX and a little more. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE 1
#endif

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "taskpool.h"

/* X(enumerator, number, "meaning") */
#define EXIT_LIST(X)                                                                                         \
    X(EXIT_DONE, 0, "done")                                                                                  \
    X(EXIT_NOTHING, 1, "nothing found")                                                                      \
    X(EXIT_USAGE, 2, "wrong command line or connection string")                                              \
    X(EXIT_INPUT, 3, "bad input: a line of a file, params too long")                                         \
    X(EXIT_UNREACHABLE, 4, "the database cannot be reached")                                                 \
    X(EXIT_SCHEMA, 5, "the pool's tables are missing or of another version")                                 \
    X(EXIT_DATABASE, 6, "the database or its driver refused, failed, or cannot do it")                       \
    X(EXIT_PROGRAM, 7, "a handler program cannot be run")                                                    \
    X(EXIT_GAVE_UP, 8, "work --drain: tasks went to the failed pool")                                        \
    X(EXIT_BAD, 9, "check, doctor: something is not as it must be")                                          \
    X(EXIT_INTERNAL, 70, "out of memory, or an error in taskpool")                                           \
    X(EXIT_IO, 74, "a file cannot be read, or the output cannot be written")                                 \
    X(EXIT_INTERRUPTED, 130, "enqueue: interrupted between two batches; bench: interrupted")

enum cli_exit {
#define EXIT_ENUM(id, number, text) id = number,
    EXIT_LIST(EXIT_ENUM)
#undef EXIT_ENUM
};

#if defined(__GNUC__)
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))
#else
#define PRINTF_LIKE(text, first)
#endif

/* ---- messages.c: one line each on stderr ------------------------------------------------------------- */

/* "taskpool: ..."; control characters are shown escaped. Gives code back, so that a function can end with it.
 */
enum cli_exit cli_fail(enum cli_exit code, const char *format, ...) PRINTF_LIKE(2, 3);
void cli_warn(const char *format, ...) PRINTF_LIKE(1, 2);
/* Says what the library said in this thread. */
enum cli_exit cli_fail_tp(tp_status status);
/* The exit code of an answer. */
enum cli_exit cli_exit_of(tp_status status);
/* Ends the program when ptr is NULL. For everything but handler threads. */
void *cli_must(void *ptr);
/* Flushes the output, and ends a worker's streams. code, or EXIT_IO with a message when something could not
 * be written; a reader that went away (`| head`) is no failure. */
enum cli_exit cli_finish(enum cli_exit code);

/* ---- out.c: standard output and error; of a worker they go through stream.c --------------------------- */

/* Any thread. After the first failure everything is thrown away; out_failed() tells. */
void out_bytes(const char *text, size_t length);
void out_text(const char *format, ...) PRINTF_LIKE(1, 2);
bool out_failed(void);
/* 0, or errno of the first failure. */
int out_flush(void);

/* Any thread. */
void err_bytes(const char *text, size_t length);
void err_text(const char *format, ...) PRINTF_LIKE(1, 2);

/* ---- json.c ------------------------------------------------------------------------------------------ */

struct json_object;
/* Prints object on a line of its own and frees it. */
void out_json(struct json_object *object);
/* Adds a member; text that is "" or NULL becomes null. */
void json_put_text(struct json_object *object, const char *name, const char *text);
void json_put_number(struct json_object *object, const char *name, int64_t value);
/* 0 becomes null. */
void json_put_time(struct json_object *object, const char *name, int64_t ms);

/* ---- The commands ------------------------------------------------------------------------------------ */

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
    X("keep", keep_command, "say how long settled tasks are kept")                                           \
    X("schedule", schedule_command, "make tasks at planned times: cron, periods")                            \
    X("check", check_command, "look whether every row is where and how it may be")                           \
    X("fsm", fsm_command, "print the table by which states are decided")                                     \
    X("bench", bench_command, "measure how fast tasks go through this database")                             \
    X("doctor", doctor_command, "try out whether database and driver do what tasks rely on")                 \
    X("help", help_command, "this text, or the help of a command")

#define COMMAND_DECLARE(name, function, text) enum cli_exit function(int argc, const char **argv);
COMMAND_LIST(COMMAND_DECLARE)
#undef COMMAND_DECLARE

#endif
