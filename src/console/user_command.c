/* taskpool-console user: makes and changes the file of users. The password comes from the terminal or from
 * standard input, never from the command line. See users.h. */
#include "users.h"

#include <crypt.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "common/args.h"
#include "common/json.h"
#include "place.h"

enum { PASSWORD_SIZE = 257, PASSWORD_LEAST = 10 };
enum { LOCK_TRIES = 100, LOCK_PAUSE_NS = 100000000 };

/* ---- The password -------------------------------------------------------------------------------------- */

static bool read_secret(const char *prompt, char password[PASSWORD_SIZE]) {
    bool terminal = isatty(STDIN_FILENO), good;
    struct termios before, silent;

    if (terminal && tcgetattr(STDIN_FILENO, &before) == 0) {
        silent = before;
        silent.c_lflag &= ~(tcflag_t)ECHO;
        err_text("%s", prompt);
        (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
    }
    good = fgets(password, PASSWORD_SIZE, stdin) != NULL;
    if (terminal) {
        (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
        err_text("\n");
    }
    if (good) password[strcspn(password, "\r\n")] = '\0';
    return good;
}

static enum cli_exit read_password(char password[PASSWORD_SIZE]) {
    char again[PASSWORD_SIZE];

    if (!read_secret("Password: ", password)) return cli_fail(EXIT_INPUT, "no password was given");
    if (strlen(password) < PASSWORD_LEAST)
        return cli_fail(EXIT_INPUT, "the password has fewer than %d bytes; take a longer one",
                        PASSWORD_LEAST);
    if (strlen(password) == PASSWORD_SIZE - 1)
        return cli_fail(EXIT_INPUT, "the password has more than %d bytes", PASSWORD_SIZE - 2);
    if (isatty(STDIN_FILENO) && (!read_secret("Again: ", again) || strcmp(password, again) != 0))
        return cli_fail(EXIT_INPUT, "the two passwords differ");
    return EXIT_DONE;
}

/* yescrypt; NULL: libcrypt cannot. The caller frees it. */
static char *hash_of(const char *password) {
    struct crypt_data *room = cli_must(calloc(1, sizeof *room));
    char setting[CRYPT_GENSALT_OUTPUT_SIZE];
    const char *made = NULL;
    char *hash = NULL;

    if (crypt_gensalt_rn("$y$", 0, NULL, 0, setting, sizeof setting)) made = crypt_r(password, setting, room);
    if (made && *made != '*') hash = cli_must(strdup(made));
    explicit_bzero(room, sizeof *room);
    free(room);
    return hash;
}

/* ---- The file ------------------------------------------------------------------------------------------ */

static bool is_of(const char *line, const char *name) {
    size_t length = strlen(name);

    return strncmp(line, name, length) == 0 && line[length] == ':';
}

/* All but the line of name; true: it was there. */
static bool copy_others(const char *text, const char *name, FILE *to) {
    bool found = false;

    for (size_t length; *text; text += length) {
        length = strcspn(text, "\n");
        length += text[length] == '\n';
        if (is_of(text, name)) {
            found = true;
            continue;
        }
        (void)fwrite(text, 1, length, to);
        if (text[length - 1] != '\n') (void)fputc('\n', to); /* an editor left it out */
    }
    return found;
}

/* There whole, or as it was. The owner stays: the console can read it afterwards as before. */
static enum cli_exit replace_file(const struct place *place, uid_t owner, const char *text, size_t length) {
    char other[NAME_MAX + 24];
    enum cli_exit code = EXIT_DONE;
    uint32_t number = 0;
    int fd;

    (void)!getrandom(&number, sizeof number, 0);
    snprintf(other, sizeof other, "%s.%08" PRIx32, place->name, number);
    fd = openat(place->folder, other, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd < 0 || write(fd, text, length) != (ssize_t)length ||
        (owner != geteuid() && fchown(fd, owner, (gid_t)-1) != 0) || fsync(fd) != 0 ||
        renameat(place->folder, other, place->folder, place->name) != 0)
        code = cli_fail(EXIT_IO, "cannot write %s: %s", place->path, strerror(errno));
    if (fd >= 0) (void)close(fd);
    if (fd >= 0 && code != EXIT_DONE) (void)unlinkat(place->folder, other, 0);
    return code;
}

/* To be freed by the caller. missing: a file that is not there is an empty one, and ours. */
static char *read_place(const struct place *place, bool missing, uid_t *owner, enum cli_exit *code) {
    int fd = openat(place->folder, place->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat about = {.st_uid = geteuid()};
    char *text = NULL;

    missing = missing && fd < 0 && errno == ENOENT;
    if (!missing && (fd < 0 || fstat(fd, &about) != 0))
        *code = cli_fail(EXIT_IO, "cannot read %s: %s", place->path, strerror(errno));
    else if (!place_is_meant(place, about.st_uid))
        *code = cli_fail(EXIT_IO, "a link of somebody else leads to %s, so it is not changed", place->path);
    else
        text = missing ? cli_must(strdup("")) : users_read_open(fd, place->path, code);
    if (fd >= 0) (void)close(fd);
    *owner = about.st_uid;
    return text;
}

/* line NULL: it is taken out. */
static enum cli_exit change_locked(const struct place *place, const char *name, const char *line) {
    enum cli_exit code = EXIT_IO;
    uid_t owner;
    char *before = read_place(place, line != NULL, &owner, &code), *text = NULL;
    size_t length = 0;
    FILE *to;
    bool found;

    if (!before) return code;
    to = cli_must(open_memstream(&text, &length));
    found = copy_others(before, name, to);
    if (line) fprintf(to, "%s\n", line);
    cli_must(fclose(to) == 0 ? text : NULL);
    if (!line && !found)
        code = cli_fail(EXIT_NOTHING, "%s has no user %s", place->path, name);
    else
        code = replace_file(place, owner, text, length);
    free(text);
    free(before);
    return code;
}

/* Whoever can read the folder can hold its lock: nobody is waited for without end. */
static bool take_lock(int folder) {
    const struct timespec pause = {0, LOCK_PAUSE_NS};
    int tries = 0;

    while (flock(folder, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK || ++tries == LOCK_TRIES) return false;
        (void)nanosleep(&pause, NULL);
    }
    return true;
}

/* The file itself is replaced at each change, so its folder is locked. */
static enum cli_exit lock_and_change(const struct place *place, const char *name, const char *line) {
    int lock = openat(place->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum cli_exit code;

    if (lock < 0)
        return cli_fail(EXIT_IO, "cannot read the folder of %s, which is locked meanwhile: %s", place->path,
                        strerror(errno));
    if (take_lock(lock))
        code = change_locked(place, name, line);
    else if (errno == EWOULDBLOCK)
        code = cli_fail(EXIT_IO, "another command changes users in the folder of %s", place->path);
    else
        code = cli_fail(EXIT_IO, "cannot lock the folder of %s: %s", place->path, strerror(errno));
    (void)close(lock);
    return code;
}

/* A link stays one: what it leads to is changed. */
static enum cli_exit change(const char *path, const char *name, const char *line) {
    struct place place;
    enum cli_exit code = place_find(path, &place)
                             ? lock_and_change(&place, name, line)
                             : cli_fail(EXIT_IO, "cannot find %s: %s", path, strerror(errno));

    place_close(&place);
    return code;
}

/* ---- The commands -------------------------------------------------------------------------------------- */

static enum cli_exit add(const char *name, const struct user_options *options) {
    const char *role = options->role ? options->role : "viewer";
    char password[PASSWORD_SIZE], line[1024];
    enum cli_exit code;
    char *hash;

    if (role_find(role) == ROLES) args_fail("--role must be viewer, operator, approver or administrator");
    code = read_password(password);
    if (code != EXIT_DONE) return code;
    hash = hash_of(password);
    explicit_bzero(password, sizeof password);
    if (!hash) return cli_fail(EXIT_INTERNAL, "this system's libcrypt has no yescrypt");
    snprintf(line, sizeof line, "%s:%s:%s:%s", name, role, options->params ? "params" : "-", hash);
    free(hash);
    return change(options->file, name, line);
}

static enum cli_exit list(const char *path) {
    enum cli_exit code;
    char *text = users_read(path, &code);

    if (!text) return code;
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n"), last = length;

        while (last && line[last - 1] != ':')
            last--;
        if (last) out_text("%.*s\n", (int)last - 1, line); /* without the hash */
        line += length + (line[length] == '\n');
    }
    free(text);
    return EXIT_DONE;
}

enum cli_exit user_command(const char **args, const struct user_options *options) {
    bool lists = args[0] && strcmp(args[0], "list") == 0;

    if (!options->file) args_fail("say which file with --users");
    if (!args[0] || (!lists && !args[1]) || (lists && args[1]))
        args_fail("user takes add NAME, remove NAME or list");
    if (lists) return list(options->file);
    if (!user_name_is_good(args[1])) args_fail("a name has letters, digits and . _ @ -, 64 at most");
    if (strcmp(args[0], "add") == 0) return add(args[1], options);
    if (strcmp(args[0], "remove") == 0) return change(options->file, args[1], NULL);
    args_fail("user takes add NAME, remove NAME or list");
}
