/* The people who may sign in, of a file with a line NAME:ROLE:PARAMS:HASH each. Must not know HTTP. */
#ifndef CONSOLE_USERS_H
#define CONSOLE_USERS_H

#include <stdbool.h>

#include "common/messages.h"
#include "person.h"

struct users;

/* NULL: the reason was reported, with *code. */
struct users *users_open(const char *path, enum cli_exit *code);
void users_close(struct users *users);
/* Fills person but for csrf. A file that was changed is read again; one that cannot be read has nobody. */
bool users_find(struct users *users, const char *name, struct person *person);
/* The same for whom a session is; false also when the password is another since he signed in. Fills csrf,
 * too. */
bool users_find_again(struct users *users, const struct person *signed_in, struct person *person);
/* As users_find when the password is right. Takes as long for a name that is not there. */
bool users_check(struct users *users, const char *name, const char *password, struct person *person);

/* taskpool-console user ...: args are add NAME, remove NAME, list. */
struct user_options {
    char *file, *role;
    int params;
};
enum cli_exit user_command(const char **args, const struct user_options *options);

/* For both: letters, digits and . _ @ - */
bool user_name_is_good(const char *name);
/* Reads all lines; to be freed by the caller. NULL: reported, with *code. path is for people. */
char *users_read_open(int fd, const char *path, enum cli_exit *code);
char *users_read(const char *path, enum cli_exit *code);

#endif
