/* Exit codes, messages for people on standard error, one line each, and how a program begins and ends. */
#ifndef COMMON_MESSAGES_H
#define COMMON_MESSAGES_H

#include "out.h"
#include "taskpool.h"

/* X(enumerator, number, "meaning") */
#define EXIT_LIST(X)                                                                                         \
    X(EXIT_DONE, 0, "done")                                                                                  \
    X(EXIT_NOTHING, 1, "nothing found")                                                                      \
    X(EXIT_USAGE, 2, "wrong command line or connection string")                                              \
    X(EXIT_INPUT, 3, "bad input: a line of a file, params too long")                                         \
    X(EXIT_UNREACHABLE, 4, "the database cannot be reached; work: what became of tasks cannot be stored")    \
    X(EXIT_SCHEMA, 5, "the pool's tables are missing or of another version")                                 \
    X(EXIT_DATABASE, 6, "the database or its driver refused, failed, or cannot do it")                       \
    X(EXIT_PROGRAM, 7, "a handler program, or taskpool-bench, cannot be run")                                \
    X(EXIT_GAVE_UP, 8, "work --drain: tasks went to the failed pool")                                        \
    X(EXIT_BAD, 9, "check, doctor: not as it must be; adopt, approve, enqueue, erase: not done as asked")    \
    X(EXIT_TOTALS, 12, "control-totals, adopt: totals differ")                                               \
    X(EXIT_REQUESTED, 13, "written as a request; waits for a second person")                                 \
    X(EXIT_FAILED, 14, "enqueue --wait: the task went to the failed pool")                                   \
    X(EXIT_SKIPPED, 15, "enqueue --wait: the task was skipped")                                              \
    X(EXIT_WAITED, 16, "enqueue --wait: the task has not ended in that time")                                \
    X(EXIT_INTERNAL, 70, "out of memory, or an error in taskpool")                                           \
    X(EXIT_IO, 74, "a file cannot be read, or the output cannot be written")                                 \
    X(EXIT_INTERRUPTED, 130, "enqueue: interrupted between two batches; bench: interrupted")

enum cli_exit {
#define EXIT_ENUM(id, number, text) id = number,
    EXIT_LIST(EXIT_ENUM)
#undef EXIT_ENUM
};

/* What a program does before anything else: protects its memory, has its standard files open, and ignores
 * broken pipes. */
void cli_begin(void);

/* "taskpool: ..."; control characters are shown escaped. Gives code back, so that a function can end with it.
 */
enum cli_exit cli_fail(enum cli_exit code, const char *format, ...) PRINTF_LIKE(2, 3);
void cli_warn(const char *format, ...) PRINTF_LIKE(1, 2);
/* From now on messages are told by write instead, without "taskpool: " in front and a line end behind. */
void cli_tell_by(void (*write)(const char *text));
/* Prints the library's last error of this thread. */
enum cli_exit cli_fail_tp(tp_status status);
/* The exit code of an answer. */
enum cli_exit cli_exit_of(tp_status status);
/* Ends the program when ptr is NULL. For everything but handler threads. */
void *cli_must(void *ptr);
/* A program that reads this one's result may want other exit codes: given gives what cli_end exits with,
 * and may print; text is the last message of cli_fail, or "". NULL: as they are. */
typedef int (*cli_exit_fn)(enum cli_exit code, const char *text);
void cli_exit_by(cli_exit_fn given);
/* Flushes the output, and ends a worker's streams. code, or EXIT_IO with a message when something could not
 * be written; a reader that went away (`| head`) is no failure. */
enum cli_exit cli_finish(enum cli_exit code);
/* The same, and ends the program. */
NO_RETURN void cli_end(enum cli_exit code);

#endif
