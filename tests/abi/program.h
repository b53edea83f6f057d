/* A program as somebody built it against the first header that is kept: program.c sees 0.2.0/taskpool.h and
 * no other. This header names no type of the library. */
#ifndef TESTS_ABI_PROGRAM_H
#define TESTS_ABI_PROGRAM_H

/* Each does its part on an installed pool, with tasks of this handler; 0: all went as it must, else what did
 * not is printed. */
int program_tasks(const char *connection_string, const char *handler);
int program_operates(const char *connection_string, const char *handler);
int program_schedules(const char *connection_string, const char *handler);
int program_works(const char *connection_string, const char *handler);

#endif
