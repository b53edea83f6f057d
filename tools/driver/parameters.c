/* Habits of parameters: where long text may stand, and '' as NULL. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "driver.h"

enum { SHORT_MAX = 4000 }; /* bytes of a VARCHAR2 */

SQLLEN *parameter_binds(struct stmt *stmt, size_t i, SQLSMALLINT type, SQLLEN *indicator) {
    const struct habits *habits = &stmt->object.dbc->habits;
    if (!habits->long_in_values && !habits->empty_null) return indicator;
    if (i > stmt->param_count) {
        /* The real driver has addresses of what is there: so there is room for all from the start. */
        enum { ROOM = 4096 };
        if (!stmt->params) stmt->params = calloc(ROOM, sizeof *stmt->params);
        if (!stmt->params || i > ROOM) return indicator;
        stmt->param_count = i;
    }
    struct param *param = &stmt->params[i - 1];
    *param = (struct param){.type = type, .theirs = indicator};
    return habits->empty_null && indicator ? &param->ours : indicator;
}

/* ---- Where the markers are ----------------------------------------------------------------------------- */

/* A walk over a statement's words and marks, past what is quoted. */
struct walk {
    const char *at;
    int depth;
    bool values, set, select; /* seen: VALUES; SET with no WHERE behind it; SELECT on any level */
};

static bool is_word(const char *at, const char *word) {
    size_t length = strlen(word);
    return strncasecmp(at, word, length) == 0 && !isalnum((unsigned char)at[length]) && at[length] != '_';
}

static void see_word(struct walk *walk) {
    if (is_word(walk->at, "VALUES")) walk->values = true;
    if (is_word(walk->at, "SELECT")) walk->select = true;
    if (is_word(walk->at, "SET") && walk->depth == 0) walk->set = true;
    if (is_word(walk->at, "WHERE") && walk->depth == 0) walk->set = false;
    while (isalnum((unsigned char)*walk->at) || *walk->at == '_')
        walk->at++;
}

static void skip_quoted(struct walk *walk) {
    const char *end = strchr(walk->at + 1, *walk->at);
    walk->at = end ? end + 1 : walk->at + strlen(walk->at);
}

/* To the next marker. False: there is none. */
static bool next_marker(struct walk *walk) {
    while (*walk->at) {
        char c = *walk->at;
        if (c == '?') {
            walk->at++;
            return true;
        }
        if (c == '(') walk->depth++;
        if (c == ')') walk->depth--;
        if (c == '\'' || c == '"')
            skip_quoted(walk);
        else if (isalpha((unsigned char)c))
            see_word(walk);
        else
            walk->at++;
    }
    return false;
}

static bool too_long(struct stmt *stmt, int code, const char *why) {
    fail(&stmt->object, "HY000", code, "ORA-%05d: %s", code, why);
    return false;
}

/* Long text may stand in the values of an INSERT or be set by an UPDATE, as Oracle's server has it, and what
 * is as long but bound as short may not stand at all; behind long text neither. */
static bool long_text_fits(struct stmt *stmt) {
    struct walk walk = {.at = stmt->text};
    bool behind_long = false;
    for (size_t i = 0; next_marker(&walk) && i < stmt->param_count; i++) {
        const struct param *param = &stmt->params[i];
        bool is_long = param->type == SQL_LONGVARCHAR;
        bool much = param->theirs && *param->theirs > SHORT_MAX;
        if (much && !is_long) {
            if (behind_long) return too_long(stmt, 24816, "Expanded non LONG bind data supplied after LONG");
            return too_long(stmt, 1461, "can bind a LONG value only for insert into a LONG column");
        }
        if (is_long && (walk.select || !(walk.values || walk.set)))
            return too_long(stmt, 1461, "can bind a LONG value only for insert into a LONG column");
        behind_long = behind_long || is_long;
    }
    return true;
}

bool parameters_fit(struct stmt *stmt) {
    const struct habits *habits = &stmt->object.dbc->habits;
    for (size_t i = 0; habits->empty_null && i < stmt->param_count; i++) {
        struct param *param = &stmt->params[i];
        if (param->theirs) param->ours = *param->theirs == 0 ? SQL_NULL_DATA : *param->theirs;
    }
    return !habits->long_in_values || long_text_fits(stmt);
}
