/* For a test of a reader of files: READER is csv or jsonl, with LIMIT bytes a record, and show_record writes
 * one as text. What is read, all at once and in small pieces, as text: LINE:record for each, then what ended
 * it. */
struct seen {
    char text[4096];
    size_t used;
};

static void see(struct seen *seen, const char *format, ...) {
    va_list args;
    va_start(args, format);
    seen->used += (size_t)vsnprintf(seen->text + seen->used, sizeof seen->text - seen->used, format, args);
    va_end(args);
    assert_true(seen->used < sizeof seen->text);
}

static void show_record(struct seen *seen, const struct READER *reader);

#define GLUED(a, b)     a##b
#define GLUE(a, b)      GLUED(a, b)
#define READER_(action) GLUE(READER, _##action)

static enum read_status see_answer(struct seen *seen, const struct READER *reader, enum read_status status) {
    if (status == READ_BAD) see(seen, "%lld:%s", READER_(line)(reader), READER_(error)(reader));
    if (status != READ_RECORD) return status;
    see(seen, "%lld:", READER_(line)(reader));
    show_record(seen, reader);
    see(seen, " ");
    return status;
}

static void read_in_steps(struct seen *seen, const char *data, size_t length, size_t step) {
    struct READER *reader = READER_(open)(LIMIT);
    enum read_status status = READ_MORE;
    assert_non_null(reader);
    *seen = (struct seen){.used = 0};
    for (size_t at = 0; at < length && status != READ_BAD;) {
        size_t used = 0, chunk = length - at < step ? length - at : step;
        status = see_answer(seen, reader, READER_(feed)(reader, data + at, chunk, &used));
        assert_true(used <= chunk);
        assert_true(used == chunk || status != READ_MORE);
        at += used;
    }
    if (status != READ_BAD) (void)see_answer(seen, reader, READER_(end)(reader));
    READER_(close)(reader);
}

static void bytes_read_as(const char *data, size_t length, const char *wanted) {
    static const size_t steps[] = {1, 2, 3, 7, 4096};
    struct seen seen;
    for (size_t i = 0; i < COUNT(steps); i++) {
        read_in_steps(&seen, data, length, steps[i]);
        assert_string_equal(seen.text, wanted);
    }
}

static void reads_as(const char *data, const char *wanted) {
    bytes_read_as(data, strlen(data), wanted);
}
