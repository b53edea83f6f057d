/* Writes out the scripts of sql/common/adopt: [word] becomes the mapping's text for it; [keys SEP~TEXT] TEXT
 * once for each key column, @ its name and # its number; [if word~TEXT] and [unless word~TEXT] TEXT where the
 * mapping gives the word, or where it does not. See adopt.h. */
#include <string.h>

#include "ops/adopt.h"

static const char *const names[] = {
#define NAME(id, word) word,
    TPI_ADOPT_LIST(NAME)
#undef NAME
};

struct writer {
    const struct tpi_adoption *adoption;
    size_t key; /* of a repeated text; key_count: none */
    struct tpi_buf *out;
};

static void write_text(const struct writer *writer, const char *from, const char *to);

static const struct tpi_buf *find_word(const struct writer *writer, const char *name, size_t length) {
    for (size_t i = 0; i < TPI_ADOPT_COUNT; i++)
        if (strlen(names[i]) == length && strncmp(names[i], name, length) == 0)
            return &writer->adoption->words[i];
    return NULL;
}

static void write_keys(const struct writer *writer, const char *from, const char *to) {
    const char *tilde = memchr(from, '~', (size_t)(to - from));
    for (size_t i = 0; tilde && i < writer->adoption->key_count; i++) {
        struct writer each = {writer->adoption, i, writer->out};
        if (i && *from != ',') tpi_buf_char(writer->out, ' ');
        if (i) {
            write_text(writer, from, tilde);
            tpi_buf_char(writer->out, ' ');
        }
        write_text(&each, tilde + 1, to);
    }
}

/* What stands between [ and ]. */
static void write_word(const struct writer *writer, const char *from, const char *to) {
    const char *tilde = memchr(from, '~', (size_t)(to - from));
    bool given = strncmp(from, "if ", 3) == 0, missing = strncmp(from, "unless ", 7) == 0;
    if (strncmp(from, "keys ", 5) == 0) {
        write_keys(writer, from + 5, to);
    } else if ((given || missing) && tilde) {
        const char *name = from + (given ? 3 : 7);
        const struct tpi_buf *word = find_word(writer, name, (size_t)(tilde - name));
        if (word && (word->length != 0) == given) write_text(writer, tilde + 1, to);
    } else {
        const struct tpi_buf *word = find_word(writer, from, (size_t)(to - from));
        if (word && word->length) tpi_buf_add(writer->out, word->data, word->length);
    }
}

static const char *closing(const char *open, const char *to) {
    int depth = 0;
    for (const char *at = open; at < to; at++) {
        depth += (*at == '[') - (*at == ']');
        if (depth == 0) return at;
    }
    return to;
}

static void write_text(const struct writer *writer, const char *from, const char *to) {
    const struct tpi_adoption *adoption = writer->adoption;
    bool repeated = writer->key < adoption->key_count;
    for (; from < to; from++) {
        if (*from == '[') {
            const char *end = closing(from, to);
            write_word(writer, from + 1, end);
            from = end;
        } else if (*from == '@' && repeated) {
            tpi_buf_text(writer->out, adoption->keys[writer->key].data);
        } else if (*from == '#' && repeated) {
            tpi_buf_int(writer->out, (int64_t)writer->key + 1);
        } else {
            tpi_buf_char(writer->out, *from);
        }
    }
}

void tpi_adopt_render(const struct tpi_adoption *adoption, const char *prefix, const char *text,
                      struct tpi_buf *out) {
    struct tpi_buf with_prefix = {0};
    struct writer writer = {adoption, adoption->key_count, out};
    tpi_render_script(text, prefix, NULL, NULL, &with_prefix);
    if (with_prefix.failed)
        out->failed = true;
    else if (with_prefix.length)
        write_text(&writer, with_prefix.data, with_prefix.data + with_prefix.length);
    tpi_buf_free(&with_prefix);
}
