/* Connection strings: what is read, written and read again is the same; the environment keeps every pair but
 * its own; no driver's keys get in the way of what was given; and a password is in no error text, whatever
 * stands around it. */
#include <strings.h>

#include "base/error.h"
#include "fuzz.h"
#include "ops/conn.h"

#define PASSWORD "Qx7zJw9k"

static bool same(const struct tpi_connstr *a, const struct tpi_connstr *b) {
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->pairs[i].key, b->pairs[i].key) != 0 ||
            strcmp(a->pairs[i].value, b->pairs[i].value) != 0)
            return false;
    return true;
}

static void check_error(tp_status status) {
    const char *text = tp_last_error()->text;
    require(status == TP_MISUSE || status == TP_UNSUPPORTED);
    require(*text != '\0');
    require(!strstr(text, PASSWORD));
}

static void check_round_trip(const struct tpi_connstr *cs) {
    struct tpi_connstr again = {0};
    struct tpi_buf first = {0}, second = {0};
    tpi_connstr_write(cs, &first);
    require(!first.failed && tpi_connstr_parse(first.data, &again) == TP_OK);
    require(same(cs, &again));
    tpi_connstr_write(&again, &second);
    require(strcmp(first.data, second.data) == 0);
    tpi_buf_free(&first);
    tpi_buf_free(&second);
    tpi_connstr_free(&again);
}

/* All that was given is in the complete string, at its place; an appended value ends as it was. */
static void check_complete(const struct tpi_connstr *given, const char *text) {
    struct tpi_connstr complete = {0};
    if (!*text && given->count == 0) return;
    require(tpi_connstr_parse(text, &complete) == TP_OK);
    require(complete.count >= given->count);
    for (size_t i = 0; i < given->count; i++) {
        const char *value = complete.pairs[i].value, *theirs = given->pairs[i].value;
        require(strcmp(complete.pairs[i].key, given->pairs[i].key) == 0);
        require(strlen(value) >= strlen(theirs));
        require(strcmp(value + strlen(value) - strlen(theirs), theirs) == 0);
    }
    tpi_connstr_free(&complete);
}

static void check_drivers(struct tpi_source *source) {
    const struct tpi_driver *driver;
    tp_status status = tpi_source_check_typing(source);
    if (status != TP_OK) check_error(status);
    for (size_t i = 0; (driver = tpi_driver_at(i)); i++) {
        bool is_complete = false;
        status = tpi_source_complete(source, driver);
        char *text = tpi_source_text(source, &is_complete);
        require(text != NULL && is_complete == (status == TP_OK));
        if (status == TP_OK)
            check_complete(&source->given, text);
        else
            check_error(status);
        free(text);
        free(source->complete);
        source->complete = NULL;
    }
}

static bool is_own(const char *key) {
    return strcasecmp(key, "Dialect") == 0 || strcasecmp(key, "Prefix") == 0 || strcasecmp(key, "Plan") == 0;
}

static void check_given(const struct tpi_connstr *all, const struct tpi_connstr *given) {
    size_t kept = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (is_own(all->pairs[i].key)) continue;
        require(kept < given->count);
        require(strcmp(all->pairs[i].key, given->pairs[kept].key) == 0);
        require(strcmp(all->pairs[i].value, given->pairs[kept].value) == 0);
        kept++;
    }
    require(kept == given->count);
}

static void check_text(const char *text) {
    struct tpi_connstr all = {0};
    tp_env *env = NULL;
    tp_status status = tp_env_open(text, &env);
    if (status != TP_OK) check_error(status);
    tp_status read = tpi_connstr_parse(text, &all);
    if (read != TP_OK) {
        require(status != TP_OK);
        check_error(read);
        return;
    }
    check_round_trip(&all);
    if (status == TP_OK) {
        check_given(&all, &env->source.given);
        check_drivers(&env->source);
        tp_env_close(env);
    }
    tpi_connstr_free(&all);
}

/* Each # becomes a part with the password; so it may slide into the value before. */
static char *with_password(const char *text) {
    struct tpi_buf out = {0};
    for (; *text; text++) {
        if (*text == '#')
            tpi_buf_text(&out, ";PWD={" PASSWORD "};");
        else
            tpi_buf_char(&out, *text);
    }
    tpi_buf_text(&out, "");
    require(!out.failed);
    return out.data;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz fuzz = {data, size};
    char *given = fuzz_rest(&fuzz);
    if (!strstr(given, PASSWORD)) {
        char *text = with_password(given);
        check_text(text);
        free(text);
    }
    free(given);
    return 0;
}
