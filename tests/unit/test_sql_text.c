/* The text of every embedded statement and script: nothing in it that a driver counts or splits by mistake,
 * and no name that Oracle would refuse. */
#include <ctype.h>
#include <strings.h>

#include "store/render.h"
#include "support/test.h"

enum { NAME_MAX_BYTES = 30 };
#define LONGEST_PREFIX "a23456789012345_"

typedef void see_fn(const char *where, const char *text);

static void for_statements(see_fn *see) {
    const struct tpi_dialect *dialect;
    char where[100];
    for (size_t i = 0; (dialect = tpi_dialect_at(i)); i++)
        for (int s = 0; s < TPI_STATEMENT_COUNT; s++) {
            snprintf(where, sizeof where, "%s, %s", dialect->name, tpi_statement_name((enum tpi_statement)s));
            if (dialect->sql[s].text) see(where, dialect->sql[s].text);
        }
}

static void for_scripts(see_fn *see) {
    const struct tpi_dialect *dialect;
    char where[100];
    for (size_t i = 0; (dialect = tpi_dialect_at(i)); i++)
        for (const struct tpi_script *script = dialect->scripts; script->file; script++)
            for (size_t k = 0; k < script->statement_count; k++) {
                snprintf(where, sizeof where, "%s, %s, statement %zu", dialect->name, script->file, k + 1);
                see(where, script->statements[k]);
            }
}

/* A function in the list of a query is called for each row, a query of its own once; and its number has no
 * size by which the driver would know that it is whole. */
static void asks_once(const char *where, const char *text) {
    static const char clock[] = "\002now()", once[] = "(SELECT ",
                      cast[] = "CAST((SELECT \002now() FROM DUAL) AS DECIMAL(19))";
    bool of_one_row = strstr(text, "VALUES (") != NULL || strstr(where, "enqueue_many") ||
                      strstr(where, "functions_answer");
    for (const char *at = text; !of_one_row && (at = strstr(at, clock)); at += strlen(clock)) {
        size_t before = (size_t)(at - text);
        bool asked = before >= strlen(once) && strncmp(at - strlen(once), once, strlen(once)) == 0;
        if (!asked) fail_msg("%s: the clock is read for each row", where);
    }
    if (!of_one_row && strstr(text, clock) && strstr(text, " AS now_ms") && !strstr(text, cast))
        fail_msg("%s: the clock has no size", where);
}

static void only_oracle(const char *where, const char *text) {
    if (strncmp(where, "oracle, ", 8) == 0) asks_once(where, text);
}

TEST(test_statements__read_oracles_clock_once) {
    for_statements(only_oracle);
}

static void is_clean(const char *where, const char *text) {
    bool quoted = false;
    for (const char *at = text; *at; at++) {
        if (*at == '?') fail_msg("%s: a ? that drivers count as a parameter", where);
        if (*at == '"' || *at == '`') fail_msg("%s: a quoted name", where);
        if (*at == '\'') quoted = !quoted;
        if (quoted && *at == '\\')
            fail_msg("%s: a backslash in a text, which databases read differently", where);
        if (quoted && (unsigned char)*at < 0x20) fail_msg("%s: a mark inside a text", where);
        if (!quoted && (strncmp(at, "--", 2) == 0 || strncmp(at, "/*", 2) == 0))
            fail_msg("%s: a comment was left in", where);
    }
    if (quoted) fail_msg("%s: a text that does not end", where);
    if (isspace((unsigned char)text[0])) fail_msg("%s: begins with a blank", where);
}

TEST(test_statements__have_no_character_that_misleads_a_driver) {
    for_statements(is_clean);
}

static void holds_one(const char *where, const char *text) {
    if (strchr(text, ';')) fail_msg("%s: a ; by which drivers split", where);
    if (strchr(text, '\n')) fail_msg("%s: more than one line", where);
}

TEST(test_statements__hold_one_statement_without_semicolon) {
    for_statements(holds_one);
}

static void has_no_braces(const char *where, const char *text) {
    if (strpbrk(text, "{}")) fail_msg("%s: a brace, which ODBC takes for an escape clause", where);
}

TEST(test_statements__hold_no_odbc_escape) {
    for_statements(has_no_braces);
}

static bool word_char(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static void names_fit(const char *where, const char *text) {
    struct tpi_buf out = {0};
    tpi_render_script(text, LONGEST_PREFIX, NULL, NULL, &out);
    for (const char *at = tpi_buf_str(&out); *at;) {
        if (*at == '\'') {
            at = strchr(at + 1, '\'');
            assert_non_null(at);
            at++;
            continue;
        }
        size_t length = 0;
        while (word_char(at[length]))
            length++;
        if (length > NAME_MAX_BYTES) fail_msg("%s: %.*s has %zu bytes", where, (int)length, at, length);
        at += length ? length : 1;
    }
    tpi_buf_free(&out);
}

TEST(test_names__have_at_most_30_bytes_with_the_longest_prefix) {
    assert_int_equal(strlen(LONGEST_PREFIX), TP_PREFIX_MAX);
    for_statements(names_fit);
    for_scripts(names_fit);
}

static void takes_any_prefix(const char *where, const char *text) {
    for (const char *at = text; (at = strstr(at, "tp_")); at++)
        if (at == text || !word_char(at[-1])) fail_msg("%s: the prefix is written out: %.20s", where, at);
}

TEST(test_names__leave_the_prefix_to_the_pool) {
    for_statements(takes_any_prefix);
    for_scripts(takes_any_prefix);
}

/* The words of SQL that the generic dialect uses; all else is a name, which some database reserves. */
static const char sql_words[] =
    " ADD ALTER AND AS BETWEEN BIGINT BY CASE CAST CHAR CHECK CLOB COALESCE CONSTRAINT COUNT CREATE "
    "CURRENT_TIMESTAMP DECIMAL DEFAULT DELETE DESC DISTINCT DROP ELSE END ESCAPE EXISTS FOR FROM GROUP IN "
    "INDEX INSERT INTEGER INTO IS JOIN KEY LEFT LENGTH LIKE LOCK LOCKED LOWER MAX MIN MOD MODE NOT NULL "
    "NULLIF ON OR "
    "ORDER "
    "PRIMARY ROUND SELECT SET SHARE SKIP SMALLINT SUBSTRING SUM TABLE THEN TRIM UNION ALL UNIQUE UPDATE "
    "VALUES "
    "VARCHAR VIEW WHEN WHERE ";

static bool is_sql_word(const char *word, size_t length) {
    char spaced[64];
    snprintf(spaced, sizeof spaced, " %.*s ", (int)length, word);
    return strstr(sql_words, spaced) != NULL;
}

static void quotes_names(const char *where, const char *text) {
    struct tpi_names names = {.quote = "\"", .stored = SQL_IC_UPPER};
    struct tpi_buf out = {0};
    if (strncmp(where, "generic, ", 9) != 0) return;
    tpi_render_script(text, LONGEST_PREFIX, NULL, NULL, &out);
    tpi_render_names(&names, &out);
    for (const char *at = tpi_buf_str(&out), *end = at; *at; at = end) {
        for (end = at; word_char(*end);)
            end++;
        size_t length = (size_t)(end - at);
        if (length && !isdigit((unsigned char)*at) && !is_sql_word(at, length))
            fail_msg("%s: %.*s is neither quoted nor a word of SQL", where, (int)length, at);
        if (!length) end = *at == '\'' || *at == '"' ? strchr(at + 1, *at) + 1 : at + 1;
        if (*at == '"' && is_sql_word(at + 1, (size_t)(end - at) - 2))
            fail_msg("%s: %.*s is quoted like a name", where, (int)(end - at), at);
    }
    tpi_buf_free(&out);
}

TEST(test_names__of_the_generic_dialect_are_quoted_and_nothing_else) {
    for_statements(quotes_names);
    for_scripts(quotes_names);
}

TEST(test_scripts__rise_in_version_up_to_the_library_s) {
    const struct tpi_dialect *dialect;
    for (size_t i = 0; (dialect = tpi_dialect_at(i)); i++) {
        int version = 0;
        for (const struct tpi_script *script = dialect->scripts; script->file; script++) {
            assert_true(script->version >= version);
            assert_true(script->version <= version + 1);
            assert_true(script->line_count > 0 && script->statement_count > 0);
            version = script->version;
        }
        if (version != tp_schema_version()) fail_msg("%s ends at version %d", dialect->name, version);
    }
}

static bool begins(const char *text, const char *word) {
    return strncasecmp(text, word, strlen(word)) == 0;
}

/* An UPDATE writes the version, and which gates are those of order keys, alone. An index may go that another
 * has replaced: no data is in it. Columns are added, on MySQL by a statement that is put together when it is
 * missing. */
static void statement_drops_no_data(const char *where, const char *text) {
    bool update = begins(text, "UPDATE ") &&
                  (strstr(text, "meta SET value = ") || strstr(text, "gate SET pattern = '='"));
    bool index = begins(text, "DROP INDEX IF EXISTS ");
    bool column = (begins(text, "ALTER TABLE ") && strstr(text, " ADD ")) || begins(text, "SET ") ||
                  begins(text, "PREPARE ") || begins(text, "EXECUTE ") || begins(text, "DEALLOCATE ") ||
                  begins(text, "/*");
    if (column && !strstr(text, "DROP ") && !strstr(text, "DELETE ") && !strstr(text, "TRUNCATE ")) return;
    if (!begins(text, "CREATE ") && !begins(text, "INSERT ") && !update && !index)
        fail_msg("%s: %.30s", where, text);
}

/* The statement after this one; the text of a function, in quotes, has some of its own. NULL: there is none.
 */
static const char *next_statement(const char *at) {
    bool quoted = false;
    for (; *at; at++) {
        if (*at == '\'') quoted = !quoted;
        if (!quoted && begins(at, "; ")) return at + 2;
    }
    return NULL;
}

/* Of a block each statement, up to what it does when one is refused, or is there already: nothing. */
static void drops_no_data(const char *where, const char *text) {
    static const char block[] = "DO $$ BEGIN ";
    static const char *const ends[] = {
        "EXCEPTION WHEN feature_not_supported THEN NULL; END $$",
        "EXCEPTION WHEN duplicate_object THEN NULL; END $$",
        "EXCEPTION WHEN duplicate_function OR unique_violation THEN NULL; END $$"};
    if (!begins(text, block)) {
        statement_drops_no_data(where, text);
        return;
    }
    const char *at = text + strlen(block);
    for (const char *next; (next = next_statement(at)) && !begins(at, "EXCEPTION "); at = next)
        statement_drops_no_data(where, at);
    bool ended = false;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        ended |= strcmp(at, ends[i]) == 0;
    if (!ended) fail_msg("%s: a block ends with %s", where, at);
}

TEST(test_scripts__create_and_write_the_version_and_drop_no_data) {
    for_scripts(drops_no_data);
}

static bool ends(const char *text, const char *end) {
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static void has_no_places(const char *where, const char *text) {
    if (strchr(text, '?') || strchr(text, TPI_SQL_PARAM)) fail_msg("%s: a parameter", where);
    bool trigger = begins(text, "CREATE TRIGGER") || begins(text, "CREATE OR REPLACE TRIGGER");
    bool unit = begins(text, "CREATE FUNCTION") || begins(text, "CREATE OR REPLACE FUNCTION") ||
                (trigger && strstr(text, "BEGIN"));
    if (begins(text, "DO $$ ")) return; /* its end: drops_no_data */
    if (!unit && strchr(text, ';')) fail_msg("%s: holds a ;", where);
    if (unit && !ends(text, "END;") && !ends(text, "END") && !ends(text, "END $$"))
        fail_msg("%s: a unit cut short", where);
}

TEST(test_scripts__are_split_where_statements_end) {
    for_scripts(has_no_places);
}

/* What a DBA reads and what the library runs must be the same statements. */
TEST(test_scripts__show_every_table_that_they_make) {
    const struct tpi_dialect *dialect;
    static const char *const tables[] = {"\002meta", "\002pending", "\002finished", "\002failed",
                                         "\002tasks"};
    for (size_t i = 0; (dialect = tpi_dialect_at(i)); i++)
        for (size_t t = 0; t < COUNT(tables); t++) {
            bool shown = false, run = false;
            for (const struct tpi_script *script = dialect->scripts; script->file; script++) {
                for (size_t k = 0; k < script->line_count; k++)
                    shown =
                        shown || (begins(script->lines[k], "CREATE ") && strstr(script->lines[k], tables[t]));
                for (size_t k = 0; k < script->statement_count; k++)
                    run = run || (begins(script->statements[k], "CREATE ") &&
                                  strstr(script->statements[k], tables[t]));
            }
            if (!shown || !run) fail_msg("%s: %s", dialect->name, tables[t] + 1);
        }
}
