/* See users.h. Who can read the file can try passwords, and who can write it can sign in: it is used only
 * when it is its owner's alone. */
#include "users.h"

#include <crypt.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/messages.h"

enum { FILE_MAX = 1024 * 1024 };

struct users {
    const char *path;
    pthread_mutex_t lock;
    /* Under the lock. */
    char *text;
    struct timespec changed;
    off_t size;
};

/* ---- Roles and names ----------------------------------------------------------------------------------- */

static const char *const role_names[ROLES] = {
#define ROLE_NAME(id, name) name,
    ROLE_LIST(ROLE_NAME)
#undef ROLE_NAME
};

const char *role_name(enum role role) {
    return role_names[role];
}

enum role role_find(const char *name) {
    int role = ROLE_VIEWER;

    while (role < ROLES && strcmp(role_names[role], name) != 0)
        role++;
    return (enum role)role;
}

bool user_name_is_good(const char *name) {
    size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._@-");

    return length > 0 && length < PERSON_NAME_SIZE && !name[length];
}

/* ---- The file ------------------------------------------------------------------------------------------ */

char *users_read_open(int fd, const char *path, enum cli_exit *code) {
    struct stat about;
    char *text;
    size_t used = 0;
    ssize_t got = 1;

    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size > FILE_MAX) {
        *code = cli_fail(EXIT_IO, "%s is no file of users", path);
        return NULL;
    }
    if (about.st_mode & (S_IRWXG | S_IRWXO)) {
        *code = cli_fail(EXIT_IO, "others can read or write %s, so it is not used; chmod 600 it", path);
        return NULL;
    }
    text = cli_must(malloc((size_t)about.st_size + 1));
    while (used < (size_t)about.st_size && got > 0) {
        got = read(fd, text + used, (size_t)about.st_size - used);
        if (got > 0) used += (size_t)got;
    }
    text[used] = '\0';
    if (used == (size_t)about.st_size) return text;
    *code = cli_fail(EXIT_IO, "cannot read the whole of %s: %s", path,
                     got < 0 ? strerror(errno) : "it became shorter meanwhile");
    free(text);
    return NULL;
}

char *users_read(const char *path, enum cli_exit *code) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *text;

    *code = EXIT_IO;
    if (fd < 0) {
        *code = cli_fail(EXIT_IO, "cannot read %s: %s", path, strerror(errno));
        return NULL;
    }
    text = users_read_open(fd, path, code);
    (void)close(fd);
    return text;
}

/* Called with the lock held. */
static bool has_changed(struct users *users) {
    struct stat about;

    if (stat(users->path, &about) != 0) return users->text != NULL;
    if (users->text && about.st_size == users->size && about.st_mtim.tv_sec == users->changed.tv_sec &&
        about.st_mtim.tv_nsec == users->changed.tv_nsec)
        return false;
    users->size = about.st_size;
    users->changed = about.st_mtim;
    return true;
}

/* Called with the lock held. */
static void refresh(struct users *users) {
    enum cli_exit code;

    if (!has_changed(users)) return;
    free(users->text);
    users->text = users_read(users->path, &code);
}

struct users *users_open(const char *path, enum cli_exit *code) {
    struct users *users = cli_must(calloc(1, sizeof *users));

    users->path = path;
    pthread_mutex_init(&users->lock, NULL);
    (void)has_changed(users);
    users->text = users_read(path, code);
    if (users->text) return users;
    users_close(users);
    return NULL;
}

void users_close(struct users *users) {
    if (!users) return;
    free(users->text);
    pthread_mutex_destroy(&users->lock);
    free(users);
}

/* ---- One of them --------------------------------------------------------------------------------------- */

enum { HASH_SIZE = 256 };

/* NAME:ROLE:PARAMS:HASH; a line that is not like this is nobody's. */
static bool read_line(const char *line, const char *name, struct person *person, char hash[HASH_SIZE]) {
    char role[20], params[10], one[PERSON_NAME_SIZE], rest[HASH_SIZE];

    if (sscanf(line, "%64[^:\n]:%19[^:\n]:%9[^:\n]:%255[^:\n]", one, role, params, rest) != 4) return false;
    if (strcmp(one, name) != 0 || role_find(role) == ROLES) return false;
    *person = (struct person){.role = role_find(role), .params = strcmp(params, "params") == 0};
    snprintf(person->name, sizeof person->name, "%s", one);
    snprintf(hash, HASH_SIZE, "%s", rest);
    return true;
}

/* FNV-1a of the hash, which has a salt of its own: it differs whenever a password is set. */
static uint64_t number_of(const char *hash) {
    uint64_t number = 14695981039346656037U;

    for (; *hash; hash++)
        number = (number ^ (unsigned char)*hash) * 1099511628211U;
    return number;
}

static bool find(struct users *users, const char *name, struct person *person, char hash[HASH_SIZE]) {
    bool found = false;

    pthread_mutex_lock(&users->lock);
    refresh(users);
    for (const char *line = users->text; line && *line && !found;) {
        found = read_line(line, name, person, hash);
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    pthread_mutex_unlock(&users->lock);
    if (found) person->password = number_of(hash);
    return found;
}

bool users_find(struct users *users, const char *name, struct person *person) {
    char hash[HASH_SIZE];

    return find(users, name, person, hash);
}

bool users_find_again(struct users *users, const struct person *signed_in, struct person *person) {
    struct person now;

    if (!users_find(users, signed_in->name, &now) || now.password != signed_in->password) return false;
    *person = now;
    memcpy(person->csrf, signed_in->csrf, sizeof person->csrf);
    return true;
}

static bool is_equal(const char *one, const char *other) {
    size_t length = strlen(one);
    unsigned char differ = length != strlen(other);

    for (size_t i = 0; i < length && !differ; i++)
        differ |= (unsigned char)(one[i] ^ other[i]);
    return !differ;
}

static pthread_mutex_t hashing = PTHREAD_MUTEX_INITIALIZER; /* it takes megabytes: one at a time */

/* Nobody's password has the second hash; it costs what the others do. */
bool users_check(struct users *users, const char *name, const char *password, struct person *person) {
    char hash[HASH_SIZE] = "$y$j9T$GickNsSvQLsiRkFDJwkZz.$wQDsJuSRkrMV3rgZz.QZR.psfYpb83EuS0v8Ft29gl3";
    struct person found;
    bool there = find(users, name, &found, hash);
    struct crypt_data *room = cli_must(calloc(1, sizeof *room));
    const char *made;
    bool right;

    pthread_mutex_lock(&hashing);
    made = crypt_r(password, hash, room);
    pthread_mutex_unlock(&hashing);
    right = made && *made != '*' && is_equal(made, hash) && there;

    explicit_bzero(room, sizeof *room);
    free(room);
    if (right) *person = found;
    return right;
}
