/* See import.h. A batch is all or nothing in the database, so whatever goes wrong, the number of rows that
 * are done says exactly where to go on; the messages name it. */
#include "cli.h"

#include "import.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch.h"
#include "common/progress.h"
#include "common/signals.h"
#include "csv.h"
#include "jsonl.h"
#include "rows.h"

#define CHUNK          65536
#define BATCH_BYTES    (1024 * 1024) /* a batch is sent when its texts are longer */
#define SLACK          65536         /* everything in a row that is not params */
#define SKIP_TEXT_SIZE 128
/* In JSON one byte may be written as six, a backslash-u escape. */
#define CSV_RECORD_MAX (TP_PARAMS_MAX + SLACK)
#define JSON_LINE_MAX  (6 * TP_PARAMS_MAX + SLACK)

struct import {
    const struct import_options *options;
    struct import_result *result;
    tp_conn *conn;
    const char *name; /* of the input, for messages */
    int fd;
    int64_t bytes_read;
    int64_t rows_read;
    struct csv *csv; /* one of these two */
    struct jsonl *jsonl;
    struct columns *columns; /* after the header */
    struct batch batch;
    size_t witness;  /* of the batch: a row that only this very batch can have put in; SIZE_MAX: none */
    size_t inserted; /* of the batch just sent */
    bool lost;       /* the connection, while it was sent */
};

static volatile sig_atomic_t interrupted;
static int wake[2] = {-1, -1}; /* so that a signal just before the wait for input ends it */

static void on_interrupt(int number) {
    int error = errno;
    ssize_t ignored = write(wake[1], "s", 1);

    (void)ignored;
    (void)number;
    interrupted = 1;
    errno = error;
}

/* "; the first 2000 rows are dealt with: go on with --skip 2000", or nothing when there are none. */
static const char *skip_text(const struct import *import, char text[SKIP_TEXT_SIZE]) {
    long long rows = import->result->rows;

    text[0] = '\0';
    if (rows)
        snprintf(text, SKIP_TEXT_SIZE, "; the first %lld rows are dealt with: go on with --skip %lld", rows,
                 rows);
    return text;
}

/* Rows that an earlier run dealt with do not count. */
static bool nothing_enqueued(const struct import *import) {
    return import->result->rows == import->options->skip;
}

static enum cli_exit report_line(const struct import *import, const char *why) {
    long long line = import->csv ? csv_line(import->csv) : jsonl_line(import->jsonl);
    long long rows = import->result->rows;

    if (nothing_enqueued(import)) {
        char as_before[SKIP_TEXT_SIZE] = "";

        if (rows) snprintf(as_before, sizeof as_before, ", with --skip %lld as before", rows);
        return cli_fail(EXIT_INPUT,
                        "%s line %lld: %s; nothing was enqueued, correct the line and run it again%s",
                        import->name, line, why, as_before);
    }
    return cli_fail(
        EXIT_INPUT,
        "%s line %lld: %s; nothing of its batch was enqueued, the %lld rows before are dealt with: "
        "correct the line and go on with --skip %lld",
        import->name, line, why, rows, rows);
}

/* Without an answer to the commit the batch is there as a whole or not at all; the id of its witness shows
 * which. Rows that all have ids or dedup keys can be sent again. */
static enum cli_exit report_unanswered(const struct import *import, tp_status status) {
    long long rows = import->result->rows;
    long long end = rows + (long long)import->batch.count;
    char otherwise[SKIP_TEXT_SIZE] = "run it again";

    if (rows) snprintf(otherwise, sizeof otherwise, "with --skip %lld", rows);
    return cli_fail(
        cli_exit_of(status),
        "%s; rows %lld to %lld got no answer: if \"taskpool show %s\" finds a task, go on with --skip "
        "%lld, otherwise %s",
        tp_last_error()->text, rows + 1, end, import->batch.tasks[import->witness].id, end, otherwise);
}

static enum cli_exit report_send(const struct import *import, tp_status status) {
    char text[SKIP_TEXT_SIZE];

    if (import->lost && import->witness < import->batch.count && import->batch.tasks[import->witness].id[0])
        return report_unanswered(import, status);
    if (import->result->rows == 0) return cli_fail_tp(status);
    return cli_fail(cli_exit_of(status), "%s%s", tp_last_error()->text, skip_text(import, text));
}

static tp_status ask_batch(tp_conn *conn, void *arg) {
    struct import *import = arg;

    return tp_enqueue_many(conn, import->batch.tasks, import->batch.count, &import->inserted);
}

static enum cli_exit send_batch(struct import *import) {
    struct import_result *result = import->result;
    tp_status status;

    if (import->batch.count == 0) return EXIT_DONE;
    import->inserted = 0;
    status =
        ask_until(import->conn, import->options->retry_ms, ask_batch, import, &import->lost, &interrupted);
    if (status < 0) return report_send(import, status);
    result->rows += (int64_t)import->batch.count;
    result->inserted += (int64_t)import->inserted;
    result->there += (int64_t)(import->batch.count - import->inserted);
    batch_clear(&import->batch);
    import->witness = SIZE_MAX;
    return EXIT_DONE;
}

static void fill_in(struct row *row, enum field field, const char *otherwise) {
    if (!row->text[field] || !*row->text[field]) row->text[field] = otherwise;
}

static void fill_row(struct import *import, struct row *row) {
    if (import->csv) {
        columns_row(import->columns, import->csv, row);
    } else {
        for (int i = 0; i < FIELD_COUNT; i++)
            row->text[i] = jsonl_value(import->jsonl, (enum field)i);
    }
    fill_in(row, FIELD_HANDLER, import->options->handler);
    fill_in(row, FIELD_GROUP, import->options->group);
    fill_in(row, FIELD_AFTER, import->options->after);
}

static enum cli_exit take_row(struct import *import) {
    char error[ROW_ERROR_SIZE];
    struct row row;
    tp_new_task task;

    import->rows_read++;
    if (import->rows_read <= import->options->skip) return EXIT_DONE;
    fill_row(import, &row);
    if (!row_to_task(&row, &task, error)) return report_line(import, error);
    if (import->witness == SIZE_MAX && !task.id[0] && !task.dedup_key) import->witness = import->batch.count;
    batch_add(&import->batch, &task);
    progress_show(import->rows_read, import->bytes_read);
    if (import->batch.count < (size_t)import->options->batch && import->batch.bytes < BATCH_BYTES)
        return EXIT_DONE;
    return send_batch(import);
}

static enum cli_exit take_record(struct import *import) {
    char error[ROW_ERROR_SIZE];

    if (!import->csv || import->columns) return take_row(import);
    import->columns = columns_open(import->csv, error);
    return import->columns ? EXIT_DONE : report_line(import, error);
}

/* What a reader answered. */
static enum cli_exit take_answer(struct import *import, enum read_status status) {
    switch (status) {
    case READ_RECORD:
        return take_record(import);
    case READ_BAD:
        return report_line(import, import->csv ? csv_error(import->csv) : jsonl_error(import->jsonl));
    case READ_NOMEM:
        return cli_fail(EXIT_INTERNAL, "out of memory");
    case READ_MORE:
        break;
    }
    return EXIT_DONE;
}

static enum cli_exit take_chunk(struct import *import, const char *data, size_t length) {
    enum cli_exit code = EXIT_DONE;

    while (length && code == EXIT_DONE) {
        size_t used = 0;
        enum read_status status = import->csv ? csv_feed(import->csv, data, length, &used)
                                              : jsonl_feed(import->jsonl, data, length, &used);

        code = take_answer(import, status);
        data += used;
        length -= used;
        if (interrupted) break;
    }
    return code;
}

/* Bytes read, 0 at the end, -1 with errno. A signal ends the wait, whenever it comes. */
static ssize_t read_chunk(int fd, char *data) {
    struct pollfd ends[] = {{fd, POLLIN, 0}, {wake[0], POLLIN, 0}};

    if (poll(ends, 2, -1) < 0) return -1;
    if (ends[0].revents) return read(fd, data, CHUNK);
    errno = EINTR;
    return -1;
}

static enum cli_exit take_end(struct import *import) {
    enum cli_exit code = take_answer(import, import->csv ? csv_end(import->csv) : jsonl_end(import->jsonl));

    if (code == EXIT_DONE && import->csv && !import->columns)
        return cli_fail(EXIT_INPUT, "%s is empty; its first line must name the columns", import->name);
    if (code == EXIT_DONE && import->rows_read < import->options->skip)
        return cli_fail(EXIT_INPUT, "%s has only %lld rows, --skip says %lld; is it the right file?",
                        import->name, (long long)import->rows_read, (long long)import->options->skip);
    return code == EXIT_DONE ? send_batch(import) : code;
}

static enum cli_exit report_interrupted(const struct import *import) {
    char text[SKIP_TEXT_SIZE];

    return cli_fail(EXIT_INTERRUPTED, "interrupted%s%s",
                    nothing_enqueued(import) ? "; nothing was enqueued" : "", skip_text(import, text));
}

static enum cli_exit take_all(struct import *import) {
    static char data[CHUNK];
    char text[SKIP_TEXT_SIZE];
    enum cli_exit code = EXIT_DONE;

    while (code == EXIT_DONE && !interrupted) {
        ssize_t got = read_chunk(import->fd, data);

        if (got == 0) return take_end(import);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got < 0)
            return cli_fail(EXIT_IO, "cannot read %s: %s%s", import->name, strerror(errno),
                            skip_text(import, text));
        import->bytes_read += got;
        code = take_chunk(import, data, (size_t)got);
    }
    return code == EXIT_DONE ? report_interrupted(import) : code;
}

/* The size of a regular file; 0 when it is not known. */
static int64_t size_of(int fd) {
    struct stat about;

    return fstat(fd, &about) == 0 && S_ISREG(about.st_mode) ? (int64_t)about.st_size : 0;
}

static enum cli_exit open_input(struct import *import) {
    const struct import_options *options = import->options;
    bool is_stdin = strcmp(options->path, "-") == 0;
    char text[SKIP_TEXT_SIZE];

    import->name = is_stdin ? "standard input" : options->path;
    import->fd = is_stdin ? STDIN_FILENO : open(options->path, O_RDONLY | O_CLOEXEC);
    if (import->fd < 0)
        return cli_fail(EXIT_IO, "cannot open %s: %s%s", import->name, strerror(errno),
                        skip_text(import, text));
    if (options->format == IMPORT_CSV)
        import->csv = cli_must(csv_open(CSV_RECORD_MAX));
    else
        import->jsonl = cli_must(jsonl_open(JSON_LINE_MAX));
    return EXIT_DONE;
}

static void close_input(struct import *import) {
    if (import->fd > STDERR_FILENO) (void)close(import->fd);
    columns_close(import->columns);
    csv_close(import->csv);
    jsonl_close(import->jsonl);
    batch_free(&import->batch);
}

enum cli_exit import_file(tp_conn *conn, const struct import_options *options, struct import_result *result) {
    struct import import;
    enum cli_exit code;

    memset(&import, 0, sizeof import);
    memset(result, 0, sizeof *result);
    /* From the beginning: who reads the number after a failure must not be told to put them in again. */
    result->rows = options->skip;
    import.options = options;
    import.result = result;
    import.conn = conn;
    import.witness = SIZE_MAX;
    code = open_input(&import);
    if (code == EXIT_DONE && pipe2(wake, O_CLOEXEC | O_NONBLOCK) != 0)
        code = cli_fail(EXIT_IO, "cannot make a pipe: %s", strerror(errno));
    if (code == EXIT_DONE) {
        /* The first Ctrl-C, or the end of its terminal, ends the import between two batches, and the wait for
         * a database that is lost; the second one at once. */
        signals_catch(SIGINT, on_interrupt, (int)SA_RESETHAND);
        signals_catch(SIGTERM, on_interrupt, (int)SA_RESETHAND);
        signals_catch(SIGHUP, on_interrupt, (int)SA_RESETHAND);
        progress_start(options->progress, size_of(import.fd));
        code = take_all(&import);
        progress_end();
    }
    close_input(&import);
    return code;
}
