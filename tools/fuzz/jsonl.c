/* JSON lines: fed in pieces of any size it is the same; every value is text that a database can hold; written
 * as JSON strings the values are read the same; and params written back once are written back the same
 * again. */
#include "cli/jsonl.h"

#include <unistr.h>

#include "base/buf.h"
#include "fuzz.h"

enum { LIMIT = 1 << 16 };

static void check_value(const char *text) {
    require(!u8_check((const uint8_t *)text, strlen(text)));
}

/* The values of the object at hand as an object of strings. */
static void write_strings(struct tpi_buf *out, const struct jsonl *jsonl) {
    const char *comma = "{";
    for (int i = 0; i < FIELD_COUNT; i++) {
        const char *value = jsonl_value(jsonl, (enum field)i);
        if (!value) continue;
        check_value(value);
        tpi_buf_text(out, comma);
        tpi_buf_json(out, field_names[i]);
        tpi_buf_char(out, ':');
        tpi_buf_json(out, value);
        comma = ",";
    }
    tpi_buf_text(out, *comma == '{' ? "{}" : "}");
    require(!out->failed);
}

/* Reads one line. True: out got its values as strings. */
static bool read_line(const char *line, struct tpi_buf *out) {
    struct jsonl *jsonl = jsonl_open(8 * LIMIT);
    size_t used = 0;
    require(jsonl != NULL);
    enum read_status status = jsonl_feed(jsonl, line, strlen(line), &used);
    if (status == READ_MORE) status = jsonl_end(jsonl);
    if (status == READ_RECORD) write_strings(out, jsonl);
    jsonl_close(jsonl);
    return status == READ_RECORD;
}

static void check_strings(const char *line) {
    struct tpi_buf again = {0};
    require(read_line(line, &again));
    require(strcmp(again.data, line) == 0);
    tpi_buf_free(&again);
}

/* What text is written back as, when it is JSON; NULL: it is not. To be freed. */
static char *written_back(const char *text) {
    struct tpi_buf line = {0};
    char *value = NULL;
    size_t used = 0;
    struct jsonl *jsonl = jsonl_open(8 * LIMIT);
    tpi_buf_text(&line, "{\"params\":");
    tpi_buf_text(&line, text);
    tpi_buf_text(&line, "}\n");
    require(jsonl != NULL && !line.failed);
    if (jsonl_feed(jsonl, line.data, line.length, &used) == READ_RECORD && used == line.length &&
        jsonl_value(jsonl, FIELD_PARAMS))
        value = strdup(jsonl_value(jsonl, FIELD_PARAMS));
    jsonl_close(jsonl);
    tpi_buf_free(&line);
    return value;
}

static void check_params(const char *text) {
    if (!text || (*text != '{' && *text != '[')) return;
    char *first = written_back(text);
    if (!first) return;
    char *second = written_back(first);
    require(second && strcmp(first, second) == 0);
    free(first);
    free(second);
}

static void see(struct tpi_buf *seen, const struct jsonl *jsonl, enum read_status status, bool look) {
    require(status != READ_NOMEM);
    if (status == READ_MORE) return;
    tpi_buf_int(seen, jsonl_line(jsonl));
    if (status == READ_BAD) {
        require(*jsonl_error(jsonl) != '\0');
        tpi_buf_text(seen, jsonl_error(jsonl));
        return;
    }
    size_t from = seen->length;
    write_strings(seen, jsonl);
    if (!look) return;
    check_strings(seen->data + from);
    check_params(jsonl_value(jsonl, FIELD_PARAMS));
}

static void read_all(struct tpi_buf *seen, const char *data, size_t length, size_t step, size_t limit) {
    struct jsonl *jsonl = jsonl_open(limit);
    enum read_status status = READ_MORE;
    require(jsonl != NULL);
    for (size_t at = 0; at < length && status != READ_BAD;) {
        size_t used = 0, piece = 0;
        char *copy = fuzz_piece(data + at, length - at, step, &piece);
        status = jsonl_feed(jsonl, copy, piece, &used);
        free(copy);
        require(used <= piece && used > 0 && (used == piece || status != READ_MORE));
        see(seen, jsonl, status, step > length);
        at += used;
    }
    if (status != READ_BAD) see(seen, jsonl, jsonl_end(jsonl), step > length);
    jsonl_close(jsonl);
    require(!seen->failed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const size_t steps[] = {1, 0, 7};
    struct fuzz fuzz = {data, size};
    uint8_t tight = fuzz_byte(&fuzz);
    size_t limit = tight & 1 ? (size_t)tight / 2 + 1 : LIMIT;
    struct tpi_buf first = {0};
    const char *text = (const char *)fuzz.at;
    read_all(&first, text, fuzz.left, fuzz.left + 1, limit);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct tpi_buf other = {0};
        read_all(&other, text, fuzz.left, steps[i], limit);
        require(strcmp(tpi_buf_str(&other), tpi_buf_str(&first)) == 0);
        tpi_buf_free(&other);
    }
    tpi_buf_free(&first);
    return 0;
}
