/* See config.h. Decides how a file of options is read: a line is NAME = VALUE, NAME an option of work; #
 * begins a comment. The file becomes options as they would stand on the command line; what they mean is
 * work_options.c's. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "work_options.h"

#define LINES_MAX 1000

static struct {
    const char *path;
    int line;
    const char **options; /* as --NAME=VALUE */
    int count;
} config;

static const struct poptOption *find_option(const struct poptOption *table, const char *name) {
    for (; table->longName || table->arg; table++) {
        const struct poptOption *inner = NULL;

        if ((table->argInfo & POPT_ARG_MASK) == POPT_ARG_INCLUDE_TABLE)
            inner = find_option(table->arg, name);
        else if (table->longName && strcmp(table->longName, name) == 0)
            inner = table;
        if (inner) return inner;
    }
    return NULL;
}

/* The connection string has a file of its own, which only its user can read. */
static void check_name(const char *name) {
    if (strcmp(name, "dsn") == 0)
        args_fail("%s line %d: a connection string does not stand in this file; write dsn-file = FILE",
                  config.path, config.line);
    if (strcmp(name, "config") == 0 || strcmp(name, "help") == 0 || !find_option(work_table, name))
        args_fail("%s line %d: there is no option %.*s", config.path, config.line, args_shown(name), name);
}

static void add_option(const char *name, const char *value) {
    size_t size = strlen(name) + strlen(value) + 4;
    char *text = cli_must(malloc(size));

    if (config.count == LINES_MAX) args_fail("%s has more than %d options", config.path, LINES_MAX);
    snprintf(text, size, *value ? "--%s=%s" : "--%s", name, value);
    config.options[config.count++] = text;
}

static void take_option(const char *name, const char *value) {
    check_name(name);
    if ((find_option(work_table, name)->argInfo & POPT_ARG_MASK) != POPT_ARG_NONE) {
        if (!*value) args_fail("%s line %d: the value of %s is missing", config.path, config.line, name);
        add_option(name, value);
    } else if (strcmp(value, "yes") == 0) {
        add_option(name, "");
    } else if (strcmp(value, "no") != 0) {
        args_fail("%s line %d: %s is yes or no", config.path, config.line, name);
    }
}

/* Cuts blanks at both ends off. */
static char *trim(char *text) {
    size_t length;

    text += strspn(text, " \t\r\n");
    length = strlen(text);
    while (length && strchr(" \t\r\n", text[length - 1]))
        text[--length] = '\0';
    return text;
}

static void take_line(char *line) {
    char *name = trim(line);
    char *mark;

    if (!*name || *name == '#') return;
    mark = strchr(name, '=');
    if (!mark) args_fail("%s line %d: a line is NAME = VALUE", config.path, config.line);
    *mark = '\0';
    take_option(trim(name), trim(mark + 1));
}

/* Who can write it chooses the programs that we run. */
static FILE *open_config(const char *path) {
    struct stat about;
    FILE *file = fopen(path, "re");

    if (!file) cli_end(cli_fail(EXIT_IO, "cannot read %s: %s", path, strerror(errno)));
    if (fstat(fileno(file), &about) == 0 && S_ISREG(about.st_mode) && (about.st_mode & S_IWOTH))
        cli_end(cli_fail(EXIT_IO, "everybody on this machine can write %s, so it is not used; chmod o-w it",
                         path));
    return file;
}

static void read_config(const char *path) {
    FILE *file = open_config(path);
    char *line = NULL;
    size_t size = 0;

    config.path = path;
    config.line = 1;
    for (; getline(&line, &size, file) >= 0; config.line++)
        take_line(line);
    if (ferror(file)) cli_end(cli_fail(EXIT_IO, "cannot read %s: %s", path, strerror(errno)));
    free(line);
    (void)fclose(file);
}

/* The file that argv[i] names, or NULL. */
static const char *named_file(const char **argv, int i) {
    const char *value = NULL;

    if (strncmp(argv[i], "--config=", 9) == 0) value = argv[i] + 9;
    if (strcmp(argv[i], "--config") == 0) value = argv[i + 1];
    return value && *value ? value : NULL;
}

const char **config_expand(int *argc, const char **argv) {
    const char **all;
    int i;

    config.options = cli_must(calloc(LINES_MAX, sizeof *config.options));
    for (i = 1; i < *argc && strcmp(argv[i], "--") != 0; i++)
        if (named_file(argv, i)) read_config(named_file(argv, i));
    all = cli_must(calloc((size_t)*argc + (size_t)config.count + 1, sizeof *all));
    all[0] = argv[0];
    memcpy(all + 1, config.options, (size_t)config.count * sizeof *all);
    memcpy(all + 1 + config.count, argv + 1, (size_t)(*argc - 1) * sizeof *all);
    *argc += config.count;
    return all;
}
