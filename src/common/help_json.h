/* The help of a command for programs: what makes manual pages and completions reads it. */
#ifndef COMMON_HELP_JSON_H
#define COMMON_HELP_JSON_H

struct usage;

/* Prints one object: what the command takes, and its options. */
void help_json(const char *command, const struct usage *usage);

#endif
