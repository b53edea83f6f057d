/* Statements: whatever an SQL file holds, the build refuses it or makes a statement of it that renders to as
 * many ? as values are bound, with the prefix where it belongs and no mark left; the library's own statements
 * too; only a legal prefix gets there. */
#include <ctype.h>
#include <setjmp.h>

#include "base/buf.h"
#include "fuzz.h"
#include "ops/conn.h"
#include "store/render.h"

/* The build tool, which ends with exit() when it refuses a file. */
static jmp_buf refused;
static _Noreturn void leave(int code) {
    (void)code;
    longjmp(refused, 1);
}
static int say_nothing(FILE *file, const char *format, ...) {
    return file && *format ? 0 : -1;
}
#define main       embed_main
#define exit(code) leave(code)
#define fprintf    say_nothing
int main(int argc, char **argv);
#include "../embed_sql.c"
#include "../embed_text.c"
#include "../embed_words.c"
#undef main
#undef exit
#undef fprintf

static unsigned char numbers[EMBED_PARAMS_MAX];

/* The parameter of that name, or any. */
static unsigned char param_of(const char *name) {
    static const char *const names[] = {
#define NAME(name, kind) #name,
        TPI_PARAM_LIST(NAME)
#undef NAME
    };
    unsigned sum = 0;
    for (size_t i = 0; i < TPI_PARAM_COUNT; i++)
        if (strcmp(name, names[i]) == 0) return (unsigned char)i;
    while (*name)
        sum = sum * 31 + (unsigned char)*name++;
    return (unsigned char)(sum % TPI_PARAM_COUNT);
}

/* False: the build refuses the text. */
static bool embed(const char *text, struct tpi_sql *sql) {
    if (strlen(text) >= sizeof input) return false;
    memcpy(input, text, strlen(text) + 1);
    if (setjmp(refused)) return false;
    refuse_controls(input);
    if (!embed_words_expand(input, sizeof input)) return false;
    embed_text_make(input, input + strlen(input), false, &made);
    if (!*made.text) return false;
    for (int i = 0; i < made.param_count; i++)
        numbers[i] = param_of(made.params[i]);
    *sql = (struct tpi_sql){.text = made.text, .params = numbers, .param_count = (size_t)made.param_count};
    return true;
}

static size_t places_of(const struct tpi_sql *sql, size_t param, struct tpi_places places) {
    enum tpi_param_kind kind = tpi_param_kind((enum tpi_param)sql->params[param]);
    return kind == TPI_TEXT_LIST ? places.list : kind == TPI_NUMBER_LIST ? places.numbers : 1;
}

/* The statement written out in the plainest way: from one mark to the next. Gives the values it takes. */
static size_t expand(const struct tpi_sql *sql, const char *prefix, struct tpi_places places,
                     struct tpi_buf *out) {
    size_t param = 0, values = 0, row = 0, row_param = 0;
    const char *row_start = NULL;
    bool silent = false;
    for (const char *at = sql->text; *at; at++) {
        switch (*at) {
        case TPI_SQL_PREFIX:
            if (!silent) tpi_buf_text(out, prefix);
            break;
        case TPI_SQL_PARAM:
            for (size_t i = 0; !silent && i < places_of(sql, param, places); i++, values++)
                tpi_buf_text(out, i ? ", ?" : "?");
            param++;
            break;
        case TPI_SQL_IF:
            silent = places.numbers == 0;
            break;
        case TPI_SQL_BUT_0:
            silent = silent || places.zero;
            break;
        case TPI_SQL_IF_END:
            silent = false;
            break;
        case TPI_SQL_ROWS:
            row_start = at;
            row_param = param;
            break;
        case TPI_SQL_ROWS_END:
            if (++row == places.rows) break;
            tpi_buf_text(out, "UNION ALL");
            at = row_start;
            param = row_param;
            break;
        default:
            if (!silent) tpi_buf_char(out, *at);
        }
    }
    require(param == sql->param_count);
    return values;
}

/* ? outside quotes. */
static size_t marks_in(const char *text) {
    size_t count = 0;
    for (; *text; text++) {
        if (*text == '\'' || *text == '"') {
            const char *end = strchr(text + 1, *text);
            require(end != NULL);
            text = end;
        }
        count += *text == '?';
    }
    return count;
}

static void check_statement(const struct tpi_sql *sql, const char *prefix, struct tpi_places places) {
    struct tpi_buf rendered = {0}, expected = {0};
    size_t values = expand(sql, prefix, places, &expected);
    tpi_render(sql, prefix, places, &rendered);
    require(strcmp(tpi_buf_str(&rendered), tpi_buf_str(&expected)) == 0);
    require(marks_in(tpi_buf_str(&rendered)) == values);
    for (const char *at = tpi_buf_str(&rendered); *at; at++)
        require(*at < '\001' || *at > '\007');
    tpi_buf_free(&rendered);
    tpi_buf_free(&expected);
}

static void check_own(size_t number, const char *prefix, struct tpi_places places) {
    const struct tpi_dialect *dialect = tpi_dialect_at(number / TPI_STATEMENT_COUNT % 5);
    const struct tpi_sql *sql = &dialect->sql[number % TPI_STATEMENT_COUNT];
    if (sql->text) check_statement(sql, prefix, places);
}

static bool is_legal(const char *prefix) {
    size_t length = strlen(prefix);
    if (length < 1 || length > TP_PREFIX_MAX || !isalpha((unsigned char)*prefix)) return false;
    for (const char *at = prefix; *at; at++)
        if (!isalnum((unsigned char)*at) && *at != '_') return false;
    return true;
}

/* The prefix as the connection string lets it through; "tp_" where it does not. */
static void take_prefix(const char *given, char prefix[TP_PREFIX_MAX + 1]) {
    struct tpi_buf text = {0};
    struct tpi_pair pairs[] = {{(char *)"Driver", (char *)"x", false},
                               {(char *)"Prefix", (char *)given, false}};
    tp_env *env = NULL;
    tpi_connstr_write(&(struct tpi_connstr){pairs, 2}, &text);
    tp_status status = tp_env_open(text.data, &env);
    require(status == (is_legal(given) ? TP_OK : TP_MISUSE));
    snprintf(prefix, TP_PREFIX_MAX + 1, "%s", status == TP_OK ? env->prefix : "tp_");
    require(status != TP_OK || strcmp(prefix, given) == 0);
    tp_env_close(env);
    tpi_buf_free(&text);
}

/* As a script: every prefix mark and every LONGTEXT that stands alone is replaced, nothing else. */
static void check_script(const char *text, const char *prefix) {
    struct tpi_buf out = {0}, back = {0};
    tpi_render_script(text, "", NULL, NULL, &out);
    size_t removed = 0;
    for (const char *at = text; *at; at++)
        removed += *at == TPI_SQL_PREFIX;
    require(out.length == strlen(text) - removed);
    tpi_buf_clear(&out);
    tpi_render_script(text, prefix, "LONGTEXT", "LONGTEXT", &out);
    tpi_render_script(text, prefix, NULL, NULL, &back);
    require(strcmp(tpi_buf_str(&out), tpi_buf_str(&back)) == 0);
    tpi_buf_clear(&out);
    tpi_render_script("a LONGTEXT b", prefix, "LONGTEXT", text, &out);
    require(out.length == strlen("a  b") + strlen(text));
    tpi_buf_free(&out);
    tpi_buf_free(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz fuzz = {data, size};
    struct tpi_places places = {.list = fuzz_byte(&fuzz), .numbers = fuzz_byte(&fuzz)};
    size_t number = fuzz_byte(&fuzz) * 256u;
    number += fuzz_byte(&fuzz);
    places.rows = 1 + number % TPI_ROWS_MAX;
    places.zero = number & 1;
    char *given = fuzz_text(&fuzz, '\n'), *text = fuzz_rest(&fuzz), prefix[TP_PREFIX_MAX + 1];
    struct tpi_sql sql = {0};
    take_prefix(given, prefix);
    if (embed(text, &sql)) check_statement(&sql, prefix, places);
    check_own(number, prefix, places);
    check_script(text, prefix);
    free(given);
    free(text);
    return 0;
}
