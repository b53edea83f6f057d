/* See statement.h. tools/embed_sql.c and src/store/render.c do the same for the library. */
#include "statement.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "raw.h"

enum { FILE_MAX = 16384, PLACE = 3 };

int statement_is_list(const char *name) {
    return strcmp(name, "ids") == 0 || strcmp(name, "handlers") == 0;
}

static FILE *open_statement(const char *dialect, const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/sql/%s/%s.sql", TASKPOOL_BUILD_DIR, dialect, name);
    FILE *file = fopen(path, "r");
    if (!file) raw_die("%s: %s", path, strerror(errno));
    return file;
}

/* Without the comment lines. */
static void read_lines(FILE *file, char *text) {
    char line[4096];
    size_t length = 0;
    text[0] = '\0';
    while (fgets(line, sizeof line, file)) {
        size_t size = strlen(line);
        if (strncmp(line, "--", 2) == 0) continue;
        if (length + size >= FILE_MAX) raw_die("a statement is longer than %d bytes", FILE_MAX);
        memcpy(text + length, line, size + 1);
        length += size;
    }
}

/* The optional parts about shards. A part that may be repeated stands once, and its marks are comments. */
static void cut_shards(char *text) {
    for (char *begin = strstr(text, "/*shards*/"); begin; begin = strstr(begin, "/*shards*/")) {
        const char *end = strstr(begin, "/*end*/");
        if (!end) raw_die("a part about shards has no end");
        memmove(begin, end + 7, strlen(end + 7) + 1);
    }
}

static size_t word_length(const char *text) {
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) || text[length] == '_')
        length++;
    return length;
}

static void write_places(struct statement *statement, FILE *out, const char *name, size_t length,
                         size_t list) {
    if (statement->count == STATEMENT_NAMES || length >= STATEMENT_NAME_SIZE)
        raw_die("too many parameters, or the name of one is too long");
    char *kept = statement->names[statement->count++];
    memcpy(kept, name, length);
    kept[length] = '\0';
    fputc('?', out);
    for (size_t i = 1; i < (statement_is_list(kept) ? list : 1); i++)
        fputs(", ?", out);
}

static void write_text(struct statement *statement, FILE *out, const char *text, const char *prefix,
                       size_t list) {
    for (const char *at = text; *at; at++) {
        size_t length = word_length(at + 1);
        int begins_word = at == text || word_length(at - 1) == 0;
        if (*at == ':' && length && at[-1] != ':') {
            write_places(statement, out, at + 1, length, list);
            at += length;
        } else if (begins_word && strncmp(at, "tp_", PLACE) == 0) {
            fputs(prefix, out);
            at += PLACE - 1;
        } else {
            fputc(*at, out);
        }
    }
}

void statement_read(struct statement *statement, const char *dialect, const char *name, const char *prefix,
                    size_t list) {
    char text[FILE_MAX];
    size_t size = 0;
    memset(statement, 0, sizeof *statement);
    FILE *file = open_statement(dialect, name);
    read_lines(file, text);
    fclose(file);
    cut_shards(text);
    FILE *out = open_memstream(&statement->text, &size);
    if (!out) raw_die("out of memory");
    write_text(statement, out, text, prefix, list);
    if (fclose(out) != 0) raw_die("out of memory");
}

void statement_free(struct statement *statement) {
    free(statement->text);
    memset(statement, 0, sizeof *statement);
}
