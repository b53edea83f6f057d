/* Build tool: makes of sql/common and sql/DIALECT one C file of constant data (struct tpi_sql, struct
 * tpi_script), and writes each statement whole into a file of the folder WHOLE, for people to read.
 *
 *   embed_sql SQLDIR DIALECT OUT.c WHOLE
 *
 * A statement's text is its file in sql/DIALECT, or else in sql/common. Statements that differ by the pool
 * alone have one file: list_pending, list_finished and list_failed are made from list_pool.sql. Words in
 * braces get the dialect's text (embed_words.h). Then comments are taken out and blanks folded outside
 * quotes; :name becomes a parameter; an identifier that begins with tp_ gets the mark of the prefix. The
 * marks are those of src/dialect/dialect.h. A script holds statements that end with ; at the end of a line;
 * in one with lines that hold only /, program units (CREATE FUNCTION ..., BEGIN ...) end with such a line. */
#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dialect/dialect.h"
#include "embed_text.h"
#include "embed_words.h"

enum { FILES_MAX = 512, NAME_SIZE = 128, PATH_SIZE = 1024 };

struct list {
    char names[FILES_MAX][NAME_SIZE];
    int count;
};

static char input[EMBED_TEXT_MAX];
static struct embed_text made; /* of input, or of a part of it */

_Noreturn void embed_die(const char *what, const char *name) {
    fprintf(stderr, "embed_sql: %s: %s\n", what, name);
    exit(1);
}

static int by_name(const void *a, const void *b) {
    return strcmp(a, b);
}

static void list_sql(const char *folder, struct list *list) {
    DIR *dir = opendir(folder);
    list->count = 0;
    if (!dir) return;
    for (struct dirent *entry; (entry = readdir(dir));) {
        size_t length = strlen(entry->d_name);
        if (length < 5 || strcmp(entry->d_name + length - 4, ".sql") != 0) continue;
        if (length >= NAME_SIZE || list->count == FILES_MAX) embed_die("too many or too long names", folder);
        memcpy(list->names[list->count++], entry->d_name, length + 1);
    }
    closedir(dir);
    qsort(list->names, (size_t)list->count, NAME_SIZE, by_name);
}

/* The marks are control characters, so a file must not have any. */
static void refuse_controls(const char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 && !isspace((unsigned char)*text))
            embed_die("a control character", text);
}

static void read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) embed_die("cannot read", path);
    size_t length = fread(input, 1, sizeof input - 1, file);
    if (length == sizeof input - 1) embed_die("file too long", path);
    input[length] = '\0';
    fclose(file);
    refuse_controls(input);
}

static void print_string(FILE *c, const char *text) {
    fputc('"', c);
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte == '"' || byte == '\\')
            fprintf(c, "\\%c", byte);
        else if (byte < 0x20)
            fprintf(c, "\\%03o", byte);
        else
            fputc(byte, c);
    }
    fputc('"', c);
}

/* One line of a statement, its marks as comments. */
static void write_line(FILE *file, const char *line, size_t length) {
    static const char *const marks[] = {
        [TPI_SQL_ROWS] = "/*rows*/",  [TPI_SQL_ROWS_END] = "/*end*/", [TPI_SQL_IF] = "/*shards*/",
        [TPI_SQL_IF_END] = "/*end*/", [TPI_SQL_BUT_0] = "/*but 0*/",  [EMBED_GROUPED] = "/*grouped*/",
    };
    for (const char *end = line + length; line < end; line++)
        if (embed_is_mark(*line))
            fputs(marks[(int)*line], file);
        else
            fputc(*line, file);
    fputc('\n', file);
}

/* The statement in input, with its comments; lines that only had words without a text are left out. */
static void write_whole(const char *folder, const char *name) {
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s.sql", folder, name);
    FILE *file = fopen(path, "w");
    if (!file) embed_die("cannot write", path);
    for (const char *line = input; *line;) {
        size_t length = strcspn(line, "\n"), used = length;
        while (used && line[used - 1] == ' ')
            used--;
        if (used) write_line(file, line, used);
        line += length + (line[length] == '\n');
    }
    if (fclose(file) != 0) embed_die("cannot write", path);
}

static void emit_statement(FILE *c, const char *path, const char *name, const char *whole) {
    read_file(path);
    if (!embed_words_expand(input, sizeof input)) return;
    write_whole(whole, name);
    embed_text_make(input, input + strlen(input), false, &made);
    if (!*made.text) embed_die("no statement", path);
    fprintf(c, "    [TPI_S_%s] = {.text = ", name);
    print_string(c, made.text);
    if (made.param_count) {
        fprintf(c, ",\n        .params = (const unsigned char[]){");
        for (int i = 0; i < made.param_count; i++)
            fprintf(c, "%sTPI_P_%s", i ? ", " : "", made.params[i]);
        fprintf(c, "}, .param_count = %d", made.param_count);
    }
    /* A change that begins so returns the rows that it changed. */
    bool returns = strncmp(made.text, "WITH ", 5) == 0;
    fprintf(c, "%s%s},\n", made.grouped ? ", .grouped = true" : "", returns ? ", .returns = true" : "");
}

/* The pool in a statement's name, or NULL; file gets the name with the word pool in its place. */
static const char *pool_in(const char *name, char *file) {
    static const char *const pools[] = {"pending", "finished", "failed"};
    for (size_t i = 0; i < sizeof pools / sizeof pools[0]; i++) {
        const char *at = strstr(name, pools[i]);
        if (!at) continue;
        snprintf(file, NAME_SIZE, "%.*spool%s.sql", (int)(at - name), name, at + strlen(pools[i]));
        return pools[i];
    }
    return NULL;
}

static void emit_statement_of(FILE *c, const char *sql, const char *dialect, const char *name,
                              const char *whole) {
    char path[PATH_SIZE], files[2][NAME_SIZE] = {""};
    const char *const folders[] = {dialect, "common"};
    const char *pool = pool_in(name, files[1]);
    snprintf(files[0], sizeof files[0], "%s.sql", name);
    for (int i = 0; i < 4; i++) {
        if (i % 2 && !pool) continue;
        snprintf(path, sizeof path, "%s/%s/%s", sql, folders[i / 2], files[i % 2]);
        if (access(path, F_OK) != 0) continue;
        embed_words_pool(i % 2 ? pool : NULL);
        emit_statement(c, path, name, whole);
        return;
    }
}

static const char *const statement_names[] = {
#define NAME(name, caps) #name,
    TPI_STATEMENT_LIST(NAME)
#undef NAME
};

/* A file whose name is that of no statement was misspelt, or forgotten. */
static void check_files(const char *sql, const char *folder) {
    static struct list list;
    char path[PATH_SIZE], own[NAME_SIZE], pooled[NAME_SIZE];
    snprintf(path, sizeof path, "%s/%s", sql, folder);
    list_sql(path, &list);
    for (int i = 0; i < list.count; i++) {
        bool read = false;
        for (int s = 0; s < TPI_STATEMENT_COUNT && !read; s++) {
            snprintf(own, sizeof own, "%s.sql", statement_names[s]);
            read = strcmp(list.names[i], own) == 0 ||
                   (pool_in(statement_names[s], pooled) && strcmp(list.names[i], pooled) == 0);
        }
        if (!read) embed_die("a file of no statement in src/dialect/statements.h", list.names[i]);
    }
}

static void emit_statements(FILE *c, const char *sql, const char *dialect, const char *whole) {
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/common/words", sql);
    embed_words_common(path);
    snprintf(path, sizeof path, "%s/%s/words", sql, dialect);
    embed_words_own(path);
    check_files(sql, "common");
    check_files(sql, dialect);
    fprintf(c, "const struct tpi_sql tpi_sql_%s[TPI_STATEMENT_COUNT] = {\n", dialect);
    for (int i = 0; i < TPI_STATEMENT_COUNT; i++)
        emit_statement_of(c, sql, dialect, statement_names[i], whole);
    fprintf(c, "};\n");
}

/* The line's own text, without blanks at both ends. */
static bool line_is(const char *line, const char *end, const char *text) {
    while (line < end && isspace((unsigned char)*line))
        line++;
    while (end > line && isspace((unsigned char)end[-1]))
        end--;
    return (size_t)(end - line) == strlen(text) && strncmp(line, text, strlen(text)) == 0;
}

static bool has_units; /* the script in input */

static bool is_unit(void) {
    static const char *const words[] = {"CREATE FUNCTION", "CREATE OR REPLACE FUNCTION",
                                        "CREATE TRIGGER",  "CREATE OR REPLACE TRIGGER",
                                        "BEGIN ",          "DECLARE "};
    for (size_t i = 0; has_units && i < sizeof words / sizeof words[0]; i++)
        if (strncmp(made.text, words[i], strlen(words[i])) == 0) return true;
    return false;
}

/* The end of the statement or unit that begins at from, which may be all comment; *next gets where the
 * following one begins. */
static const char *statement_end(const char *from, const char **next) {
    const char *line = from;
    while (*line) {
        const char *end = line + strcspn(line, "\n");
        *next = *end ? end + 1 : end;
        if (line_is(line, end, "/")) return line;
        embed_text_make(from, end, true, &made);
        const char *last = end;
        const char *dashes = strstr(line, "--");
        if (dashes && dashes < end) last = dashes;
        while (last > line && isspace((unsigned char)last[-1]))
            last--;
        if (!is_unit() && last > line && last[-1] == ';') return end;
        line = *next;
    }
    *next = line;
    return line;
}

static int emit_script_statements(FILE *c) {
    int count = 0;
    has_units = strstr(input, "\n/\n") != NULL;
    for (const char *from = input, *next = from; *from; from = next) {
        const char *end = statement_end(from, &next);
        embed_text_make(from, end, true, &made);
        if (!*made.text) continue;
        size_t length = strlen(made.text);
        if (is_unit() && length + 1 < sizeof made.text)
            memcpy(made.text + length, ";", 2); /* that of its END */
        fprintf(c, "    ");
        print_string(c, made.text);
        fprintf(c, ",\n");
        count++;
    }
    return count;
}

static int emit_lines(FILE *c) {
    int count = 0;
    for (const char *line = input; *line;) {
        const char *end = line + strcspn(line, "\n");
        embed_text_line(line, end, &made);
        fprintf(c, "    ");
        print_string(c, made.text);
        fprintf(c, ",\n");
        count++;
        line = *end ? end + 1 : end;
    }
    return count;
}

/* Scripts of a folder, in arrays of their own; where the dialect lacks a word the rest is left out. */
static int emit_folder(FILE *c, const char *folder, const char *array, const char *dialect) {
    static struct list files;
    static int statements[FILES_MAX], lines[FILES_MAX];
    const bool adopts = strcmp(array, "adopt") == 0;
    const char *own = adopts ? "adopt_" : "";
    char path[PATH_SIZE];
    int made_count = 0;
    list_sql(folder, &files);
    for (int i = 0; i < files.count; i++, made_count++) {
        snprintf(path, sizeof path, "%s/%s", folder, files.names[i]);
        read_file(path);
        if (adopts && !embed_words_expand(input, sizeof input)) break;
        fprintf(c, "static const char *const %sstatements_%d[] = {\n", own, i);
        statements[i] = emit_script_statements(c);
        fprintf(c, "};\nstatic const char *const %slines_%d[] = {\n", own, i);
        lines[i] = emit_lines(c);
        fprintf(c, "};\n");
    }
    fprintf(c, "const struct tpi_script tpi_%s_%s[] = {\n", array, dialect);
    for (int i = 0; i < made_count; i++)
        fprintf(c, "    {%d, \"%s\", %slines_%d, %d, %sstatements_%d, %d},\n",
                (int)strtol(files.names[i], NULL, 10), files.names[i], own, i, lines[i], own, i,
                statements[i]);
    fprintf(c, "    {0},\n};\n");
    return made_count;
}

static void emit_scripts(FILE *c, const char *sql, const char *dialect) {
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s/schema", sql, dialect);
    if (!emit_folder(c, path, "script", dialect)) embed_die("no schema scripts", path);
    snprintf(path, sizeof path, "%s/common/adopt", sql);
    (void)emit_folder(c, path, "adopt", dialect);
}

int main(int argc, char **argv) {
    if (argc != 5) embed_die("usage", "embed_sql SQLDIR DIALECT OUT.c WHOLE");
    FILE *c = fopen(argv[3], "w");
    if (!c) embed_die("cannot write", argv[3]);
    fprintf(c, "/* Made from sql/common and sql/%s by tools/embed_sql.c; do not edit. */\n", argv[2]);
    fprintf(c, "#include \"dialect/dialect.h\"\n#include \"dialect/embedded.h\"\n\nTPI_EMBEDDED(%s)\n\n",
            argv[2]);
    emit_statements(c, argv[1], argv[2], argv[4]);
    emit_scripts(c, argv[1], argv[2]);
    return fclose(c) == 0 ? 0 : 1;
}
