/* Processes of a test: this same program started anew in a role, so that nothing of the parent's connections
 * is shared. Parent and child talk in lines: the child says, the parent listens and says go. A child ends
 * when its input does, so none outlives a test that failed. */
#ifndef TESTS_SUPPORT_CHILD_H
#define TESTS_SUPPORT_CHILD_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

enum { CHILD_LINE = 256 };

struct child {
    pid_t pid;
    FILE *to, *from;
};

/* Starts a role; the arguments end with NULL. Fails the test when it cannot. */
struct child child_start(const char *role, ...);
/* Reads a line without its end; false: the child has ended. */
bool child_listen(struct child *child, char line[CHILD_LINE]);
/* Fails the test unless the next line is this one. */
void child_expect(struct child *child, const char *line);
void child_go(struct child *child);
/* SIGKILL, and waits until it is gone. */
void child_kill(struct child *child);
/* Closes its input and waits; fails the test unless it ended with 0. */
void child_end(struct child *child);
/* Closes its input and waits; its exit code, -1 when it was killed. */
int child_status(struct child *child);

/* In the child. */
void child_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Waits for the parent's go; ends the process when the parent is gone. */
void child_wait_for_go(void);

#endif
