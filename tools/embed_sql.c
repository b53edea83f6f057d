/* Build tool: turns sql/common and sql/DIALECT into one C file of constant data (struct tpi_sql, struct
 * tpi_script; see src/dialect/dialect.h for the marks that replace parameters, prefix and repeated rows), and
 * writes each statement whole into a file of the folder WHOLE, as people read it.
 *
 *   embed_sql SQLDIR DIALECT OUT.c WHOLE
 *
 * The dialect's text is put in place of each {word} (embed_words.h). Comments are stripped and blanks folded
 * outside quotes, the marks of repeated and optional parts apart; :name becomes a parameter; an identifier
 * that begins with tp_ gets the prefix mark; a statement with the mark grouped or returns is marked so. A
 * statement file holds one statement. A script holds statements that end with ; at the end of a line, and
 * program units (CREATE FUNCTION ..., BEGIN ...) that end with a line holding only /. */
#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "embed_words.h"

enum { FILES_MAX = 200, TEXT_MAX = 64 * 1024, NAME_SIZE = 128, PATH_SIZE = 1024, PARAMS_MAX = 200 };

struct list {
    char names[FILES_MAX][NAME_SIZE];
    int count;
};

static char input[TEXT_MAX], output[TEXT_MAX];
static char params[PARAMS_MAX][NAME_SIZE];
static int param_count;
static bool in_rows, in_shards; /* parts we are in; the optional one may stand in the repeated one */
static bool rows_seen;          /* a statement has one repeated part */
static bool grouped, returns;
static bool in_script; /* scripts have no parameters: :NEW is a trigger's */

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

static bool listed(const struct list *list, const char *name) {
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->names[i], name) == 0) return true;
    return false;
}

static void read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) embed_die("cannot read", path);
    size_t length = fread(input, 1, sizeof input - 1, file);
    if (length == sizeof input - 1) embed_die("file too long", path);
    input[length] = '\0';
    fclose(file);
}

static bool word_char(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* Copies a quoted part, from its opening to its closing quote. */
static const char *copy_quoted(const char *at, char **out) {
    const char *end = strchr(at + 1, *at);
    if (!end) embed_die("a quote is not closed", at);
    while (at <= end)
        *(*out)++ = *at++;
    return at;
}

/* The end of a comment that begins at at, or NULL. Part marks are no comments. */
static const char *comment_end(const char *at) {
    if (at[0] == '-' && at[1] == '-') return at + strcspn(at, "\n");
    if (at[0] != '/' || at[1] != '*') return NULL;
    const char *end = strstr(at, "*/");
    if (!end) embed_die("a comment is not closed", at);
    return end + 2;
}

/* Where a script begins or ends what MySQL's client is to leave out. What is in between is a part of the
 * statement. */
static const char *not_for_mysql(const char *at) {
    if (in_script && strncmp(at, "/*M! ", 5) == 0) return at + 5;
    return in_script && strncmp(at, "*/", 2) == 0 ? at + 2 : NULL;
}

static void begin_rows(char **out) {
    if (in_shards) embed_die("a part to be repeated begins inside an optional one", "/*rows*/");
    if (rows_seen) embed_die("two parts are to be repeated", "/*rows*/");
    rows_seen = in_rows = true;
    *(*out)++ = '\003';
}

static void begin_shards(char **out) {
    if (in_shards) embed_die("a part begins inside another", "/*shards*/");
    in_shards = true;
    *(*out)++ = '\005';
}

static void begin_but_0(char **out) {
    if (!in_shards) embed_die("what is not for shard 0 stands in a part about shards", "/*but 0*/");
    *(*out)++ = '\007';
}

/* The inner part ends first. */
static void end_part(const char *at, char **out) {
    if (!in_rows && !in_shards) embed_die("no part is open", at);
    *(*out)++ = in_shards ? '\006' : '\004';
    if (in_shards)
        in_shards = false;
    else
        in_rows = false;
}

/* Where a part begins or ends that is repeated, or written only when its list is given; or a mark of the
 * whole statement. */
static const char *part_mark(const char *at, char **out) {
    if (strncmp(at, "/*rows*/", 8) == 0) {
        begin_rows(out);
        return at + 8;
    }
    if (strncmp(at, "/*shards*/", 10) == 0) {
        begin_shards(out);
        return at + 10;
    }
    if (strncmp(at, "/*but 0*/", 9) == 0) {
        begin_but_0(out);
        return at + 9;
    }
    if (strncmp(at, "/*grouped*/", 11) == 0) {
        grouped = true;
        return at + 11;
    }
    if (strncmp(at, "/*returns*/", 11) == 0) {
        returns = true;
        return at + 11;
    }
    if (strncmp(at, "/*end*/", 7) != 0) return NULL;
    end_part(at, out);
    return at + 7;
}

static const char *take_param(const char *at, char **out) {
    size_t length = 0;
    while (word_char(at[1 + length]))
        length++;
    if (length >= NAME_SIZE || param_count == PARAMS_MAX) embed_die("too many parameters", at);
    memcpy(params[param_count], at + 1, length);
    params[param_count++][length] = '\0';
    *(*out)++ = '\001';
    return at + 1 + length;
}

static void blank(char **out, const char *start) {
    if (*out > start && (*out)[-1] != ' ') *(*out)++ = ' ';
}

/* One token or character from at to out; the part of render() that knows the marks. */
static const char *render_step(const char *at, char **out, const char *start) {
    const char *end = part_mark(at, out);
    if (end) return end;
    if ((end = not_for_mysql(at))) return end;
    if ((end = comment_end(at))) return end;
    if (*at == '\'' || *at == '"') return copy_quoted(at, out);
    if (isspace((unsigned char)*at)) {
        blank(out, start);
        return at + 1;
    }
    if (!in_script && *at == ':' && isalpha((unsigned char)at[1])) return take_param(at, out);
    bool starts_word = *out == start || !word_char((*out)[-1]);
    if (starts_word && strncmp(at, "tp_", 3) == 0) {
        *(*out)++ = '\002';
        return at + 3;
    }
    if (!in_script && *at == '?') embed_die("a ? outside quotes would take a parameter's value", at);
    *(*out)++ = *at;
    return at + 1;
}

/* The marks are control characters, so a file must not have any. */
static void refuse_controls(const char *from, const char *to) {
    for (; from < to; from++)
        if ((unsigned char)*from < 0x20 && !isspace((unsigned char)*from))
            embed_die("a control character", from);
}

/* from..to without comments, blanks folded, marks set. */
static void render(const char *from, const char *to) {
    char *out = output;
    param_count = 0;
    in_rows = in_shards = rows_seen = grouped = returns = false;
    refuse_controls(from, to);
    while (from < to)
        from = render_step(from, &out, output);
    if (in_rows || in_shards) embed_die("a part is not closed by /*end*/", output);
    while (out > output && (out[-1] == ' ' || out[-1] == ';'))
        out--;
    *out = '\0';
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
        if (used) fprintf(file, "%.*s\n", (int)used, line);
        line += length + (line[length] == '\n');
    }
    if (fclose(file) != 0) embed_die("cannot write", path);
}

static void emit_statement(FILE *c, const char *path, const char *name, const char *whole) {
    read_file(path);
    if (!embed_words_expand(input, sizeof input)) return;
    write_whole(whole, name);
    render(input, input + strlen(input));
    if (!*output) embed_die("no statement", path);
    fprintf(c, "    [TPI_S_%s] = {.text = ", name);
    print_string(c, output);
    if (param_count) {
        fprintf(c, ",\n        .params = (const unsigned char[]){");
        for (int i = 0; i < param_count; i++)
            fprintf(c, "%sTPI_P_%s", i ? ", " : "", params[i]);
        fprintf(c, "}, .param_count = %d", param_count);
    }
    fprintf(c, "%s%s},\n", grouped ? ", .grouped = true" : "", returns ? ", .returns = true" : "");
}

static void emit_statements(FILE *c, const char *sql, const char *dialect, const char *whole) {
    static struct list common, own;
    char path[PATH_SIZE], name[NAME_SIZE];
    snprintf(path, sizeof path, "%s/common/words", sql);
    embed_words_common(path);
    snprintf(path, sizeof path, "%s/%s/words", sql, dialect);
    embed_words_own(path);
    snprintf(path, sizeof path, "%s/common", sql);
    list_sql(path, &common);
    snprintf(path, sizeof path, "%s/%s", sql, dialect);
    list_sql(path, &own);
    fprintf(c, "const struct tpi_sql tpi_sql_%s[TPI_STATEMENT_COUNT] = {\n", dialect);
    for (int pass = 0; pass < 2; pass++) {
        const struct list *list = pass ? &own : &common;
        for (int i = 0; i < list->count; i++) {
            if (!pass && listed(&own, list->names[i])) continue;
            snprintf(path, sizeof path, "%s/%s/%s", sql, pass ? dialect : "common", list->names[i]);
            snprintf(name, sizeof name, "%.*s", (int)strlen(list->names[i]) - 4, list->names[i]);
            emit_statement(c, path, name, whole);
        }
    }
    fprintf(c, "};\n");
    in_script = true;
}

/* The line's own text, without blanks at both ends. */
static bool line_is(const char *line, const char *end, const char *text) {
    while (line < end && isspace((unsigned char)*line))
        line++;
    while (end > line && isspace((unsigned char)end[-1]))
        end--;
    return (size_t)(end - line) == strlen(text) && strncmp(line, text, strlen(text)) == 0;
}

static bool is_unit(void) {
    static const char *const words[] = {"CREATE FUNCTION", "CREATE OR REPLACE FUNCTION", "CREATE TRIGGER",
                                        "BEGIN ", "DECLARE "};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strncmp(output, words[i], strlen(words[i])) == 0) return true;
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
        render(from, end);
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
    for (const char *from = input, *next = from; *from; from = next) {
        const char *end = statement_end(from, &next);
        render(from, end);
        if (!*output) continue;
        size_t length = strlen(output);
        if (is_unit() && length + 1 < sizeof output) memcpy(output + length, ";", 2); /* that of its END */
        fprintf(c, "    ");
        print_string(c, output);
        fprintf(c, ",\n");
        count++;
    }
    return count;
}

static int emit_lines(FILE *c) {
    int count = 0;
    for (const char *line = input; *line;) {
        const char *end = line + strcspn(line, "\n");
        char *out = output;
        for (const char *at = line; at < end;) {
            bool starts_word = at == line || !word_char(at[-1]);
            bool prefix = starts_word && strncmp(at, "tp_", 3) == 0;
            *out++ = prefix ? '\002' : *at;
            at += prefix ? 3 : 1;
        }
        *out = '\0';
        fprintf(c, "    ");
        print_string(c, output);
        fprintf(c, ",\n");
        count++;
        line = *end ? end + 1 : end;
    }
    return count;
}

static void emit_scripts(FILE *c, const char *sql, const char *dialect) {
    static struct list files;
    static int statements[FILES_MAX], lines[FILES_MAX];
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s/schema", sql, dialect);
    list_sql(path, &files);
    for (int i = 0; i < files.count; i++) {
        snprintf(path, sizeof path, "%s/%s/schema/%s", sql, dialect, files.names[i]);
        read_file(path);
        fprintf(c, "static const char *const statements_%d[] = {\n", i);
        statements[i] = emit_script_statements(c);
        fprintf(c, "};\nstatic const char *const lines_%d[] = {\n", i);
        lines[i] = emit_lines(c);
        fprintf(c, "};\n");
    }
    fprintf(c, "const struct tpi_script tpi_script_%s[] = {\n", dialect);
    for (int i = 0; i < files.count; i++)
        fprintf(c, "    {%d, \"%s\", lines_%d, %d, statements_%d, %d},\n",
                (int)strtol(files.names[i], NULL, 10), files.names[i], i, lines[i], i, statements[i]);
    fprintf(c, "    {0},\n};\n");
    if (!files.count) embed_die("no schema scripts", path);
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
