/* CSV: fed in one piece, byte by byte or in pieces of any size it is the same records and the same mistake;
 * what was read, written with every field in quotes, is read the same; and the rows make tasks whose params
 * say what the columns said. */
#include "cli/csv.h"

#include <json-c/json.h>
#include <unistr.h>

#include "base/buf.h"
#include "cli/rows.h"
#include "fuzz.h"

/* What came out, as text, and the records as CSV with all fields in quotes. */
struct seen {
    struct tpi_buf text, quoted;
    struct columns *columns;
    bool look; /* at tasks, too */
    size_t records;
};

static void quote(struct tpi_buf *out, const char *field) {
    tpi_buf_char(out, '"');
    for (; *field; field++) {
        if (*field == '"') tpi_buf_char(out, '"');
        tpi_buf_char(out, *field);
    }
    tpi_buf_char(out, '"');
}

static void check_params(const struct csv *csv, const char *const *names, const char *params) {
    json_object *object = json_tokener_parse(params), *value = NULL;
    require(json_object_is_type(object, json_type_object));
    for (size_t i = 0; i < csv_count(csv); i++) {
        if (field_find(names[i]) != FIELD_NONE) continue;
        require(json_object_object_get_ex(object, names[i], &value));
        require(strcmp(json_object_get_string(value), csv_field(csv, i)) == 0);
    }
    json_object_put(object);
}

static void check_task(const tp_new_task *task) {
    const char *texts[] = {task->id, task->handler, task->params, task->biz_key, task->dedup_key};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        require(!texts[i] || !u8_check((const uint8_t *)texts[i], strlen(texts[i])));
    require(task->handler && *task->handler && strlen(task->handler) <= TP_HANDLER_MAX);
    require(task->delay_ms >= 0 && task->delay_ms <= TP_DURATION_MAX);
    require(task->due_at >= 0 && task->due_at <= TP_TIME_MAX);
    require(!task->due_at || !task->delay_ms);
    require(task->max_failures >= -1 && task->priority >= -32768 && task->priority <= 32767);
}

/* The names of the header, which csv forgets. */
static char **header;
static size_t header_count;

static void forget_header(void) {
    for (size_t i = 0; i < header_count; i++)
        free(header[i]);
    free(header);
    header = NULL;
    header_count = 0;
}

static void keep_header(const struct csv *csv) {
    forget_header();
    header = calloc(csv_count(csv), sizeof *header);
    require(header != NULL);
    for (; header_count < csv_count(csv); header_count++)
        header[header_count] = strdup(csv_field(csv, header_count));
}

static void look_at_task(struct seen *seen, const struct csv *csv) {
    char error[ROW_ERROR_SIZE] = "";
    struct row row;
    tp_new_task task;
    if (seen->records == 0) {
        keep_header(csv);
        seen->columns = columns_open(csv, error);
        require((seen->columns == NULL) == (*error != '\0'));
        return;
    }
    if (!seen->columns) return;
    columns_row(seen->columns, csv, &row);
    bool others = false;
    for (size_t i = 0; i < header_count; i++)
        others = others || field_find(header[i]) == FIELD_NONE;
    if (others) check_params(csv, (const char *const *)header, row.text[FIELD_PARAMS]);
    if (row_to_task(&row, &task, error))
        check_task(&task);
    else
        require(*error != '\0' && strlen(error) < ROW_ERROR_SIZE);
}

static void see(struct seen *seen, const struct csv *csv, enum read_status status) {
    require(status != READ_NOMEM);
    if (status == READ_MORE) return;
    tpi_buf_int(&seen->text, csv_line(csv));
    if (status == READ_BAD) {
        require(*csv_error(csv) != '\0');
        tpi_buf_text(&seen->text, csv_error(csv));
        return;
    }
    for (size_t i = 0; i < csv_count(csv); i++) {
        const char *field = csv_field(csv, i);
        require(!u8_check((const uint8_t *)field, strlen(field)));
        quote(&seen->text, field);
        if (i) tpi_buf_char(&seen->quoted, ',');
        quote(&seen->quoted, field);
    }
    tpi_buf_text(&seen->quoted, "\r\n");
    if (seen->look) look_at_task(seen, csv);
    seen->records++;
}

static void read_all(struct seen *seen, const char *data, size_t length, size_t step, size_t limit) {
    struct csv *csv = csv_open(limit);
    enum read_status status = READ_MORE;
    require(csv != NULL);
    for (size_t at = 0; at < length && status != READ_BAD;) {
        size_t used = 0, piece = 0;
        char *copy = fuzz_piece(data + at, length - at, step, &piece);
        status = csv_feed(csv, copy, piece, &used);
        free(copy);
        require(used <= piece && used > 0 && (used == piece || status != READ_MORE));
        see(seen, csv, status);
        at += used;
    }
    if (status != READ_BAD) see(seen, csv, csv_end(csv));
    csv_close(csv);
    require(!seen->text.failed && !seen->quoted.failed);
}

static void forget(struct seen *seen) {
    tpi_buf_free(&seen->text);
    tpi_buf_free(&seen->quoted);
    columns_close(seen->columns);
    forget_header();
}

static void check_again(const struct seen *first, size_t limit) {
    struct seen again = {0};
    if (!first->quoted.length) return;
    read_all(&again, first->quoted.data, first->quoted.length, 4096, limit);
    require(strcmp(again.quoted.data, first->quoted.data) == 0);
    require(again.records == first->records);
    forget(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const size_t steps[] = {1, 0, 7};
    struct fuzz fuzz = {data, size};
    uint8_t tight = fuzz_byte(&fuzz);
    size_t limit = tight & 1 ? (size_t)tight / 2 + 1 : 1 << 20;
    struct seen first = {.look = true};
    const char *text = (const char *)fuzz.at;
    read_all(&first, text, fuzz.left, fuzz.left + 1, limit);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct seen other = {0};
        read_all(&other, text, fuzz.left, steps[i], limit);
        require(strcmp(tpi_buf_str(&other.text), tpi_buf_str(&first.text)) == 0);
        tpi_buf_free(&other.text);
        tpi_buf_free(&other.quoted);
    }
    check_again(&first, limit);
    forget(&first);
    return 0;
}
