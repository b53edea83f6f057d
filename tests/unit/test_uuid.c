/* Ids and tokens: unique, well-formed, and time-ordered across threads and inside one millisecond. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/uuid.h"
#include "support/test.h"

enum { MANY = 100000, THREADS = 4 };

typedef char uuid_text[TPI_UUID_SIZE];

static bool well_formed(const char *text, char version) {
    if (strlen(text) != 36) return false;
    for (int i = 0; i < 36; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash != (text[i] == '-')) return false;
        if (!dash && !strchr("0123456789abcdef", text[i])) return false;
    }
    return text[14] == version && strchr("89ab", text[19]);
}

static int64_t milliseconds(const char *text) {
    char hex[13];
    memcpy(hex, text, 8);
    memcpy(hex + 8, text + 9, 4);
    hex[12] = '\0';
    return (int64_t)strtoull(hex, NULL, 16);
}

static int compare(const void *a, const void *b) {
    return strcmp(a, b);
}

/* Room for them; the caller frees it. */
static uuid_text *make_many(void) {
    uuid_text *uuids = malloc(MANY * sizeof *uuids);
    assert_non_null(uuids);
    return uuids;
}

static void assert_unique(uuid_text *uuids, size_t count) {
    qsort(uuids, count, sizeof *uuids, compare);
    for (size_t i = 1; i < count; i++)
        assert_string_not_equal(uuids[i - 1], uuids[i]);
}

TEST(test_uuid__ordered_ones_are_version_7_and_random_ones_version_4) {
    uuid_text uuid;
    for (int i = 0; i < 10000; i++) {
        tpi_uuid_ordered(uuid);
        assert_true(well_formed(uuid, '7'));
        tpi_uuid_random(uuid);
        assert_true(well_formed(uuid, '4'));
    }
}

TEST(test_uuid__ordered_ones_carry_the_time) {
    uuid_text uuid;
    int64_t before = tpi_clock_wall_ms();
    tpi_uuid_ordered(uuid);
    int64_t after = tpi_clock_wall_ms();
    /* The counter may have run ahead of the clock in an earlier test, by far less than this. */
    assert_in_range(milliseconds(uuid), before, after + 1000);
}

TEST(test_uuid__ordered_ones_rise_inside_one_millisecond) {
    uuid_text last, next;
    int same_millisecond = 0;
    tpi_uuid_ordered(last);
    for (int i = 0; i < MANY; i++) {
        tpi_uuid_ordered(next);
        assert_true(strcmp(last, next) < 0);
        if (milliseconds(last) == milliseconds(next)) same_millisecond++;
        memcpy(last, next, sizeof last);
    }
    assert_true(same_millisecond > 0);
}

TEST(test_uuid__100000_are_all_different) {
    uuid_text *uuids = make_many();
    for (int i = 0; i < MANY; i++)
        tpi_uuid_random(uuids[i]);
    assert_unique(uuids, MANY);
    for (int i = 0; i < MANY; i++)
        tpi_uuid_ordered(uuids[i]);
    assert_unique(uuids, MANY);
    free(uuids);
}

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static uuid_text newest; /* under turn */
static int out_of_order; /* under turn */

/* Whoever has the turn makes an id after the one before it was made, so it must be greater. */
static void *make_in_turn(void *arg) {
    (void)arg;
    for (int i = 0; i < 5000; i++) {
        uuid_text uuid;
        pthread_mutex_lock(&turn);
        tpi_uuid_ordered(uuid);
        if (strcmp(newest, uuid) >= 0) out_of_order++;
        memcpy(newest, uuid, sizeof newest);
        pthread_mutex_unlock(&turn);
    }
    return NULL;
}

static void *make_at_once(void *arg) {
    uuid_text *uuids = arg;
    for (int i = 0; i < MANY / THREADS; i++)
        tpi_uuid_ordered(uuids[i]);
    return NULL;
}

TEST(test_uuid__ordered_ones_rise_across_threads) {
    test_in_threads(THREADS, make_in_turn, NULL, 0);
    assert_int_equal(out_of_order, 0);
}

TEST(test_uuid__threads_at_once_make_different_ones_each_rising) {
    uuid_text *uuids = make_many();
    test_in_threads(THREADS, make_at_once, uuids, MANY / THREADS * sizeof *uuids);
    for (int i = 1; i < MANY; i++)
        if (i % (MANY / THREADS)) assert_true(strcmp(uuids[i - 1], uuids[i]) < 0);
    assert_unique(uuids, MANY);
    free(uuids);
}

/* Both halves start from the same counter. */
TEST(test_uuid__a_forked_process_makes_others) {
    enum { EACH = 1000 };
    uuid_text *uuids = make_many();
    int pipe_ends[2], exit_status = 0;
    assert_int_equal(pipe(pipe_ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    for (int i = 0; i < EACH; i++)
        tpi_uuid_ordered(uuids[i]);
    if (child == 0)
        _exit(write(pipe_ends[1], uuids, EACH * sizeof *uuids) == (ssize_t)(EACH * sizeof *uuids) ? 0 : 1);
    close(pipe_ends[1]);
    for (size_t got = 0; got < EACH * sizeof *uuids;) {
        ssize_t more = read(pipe_ends[0], (char *)(uuids + EACH) + got, EACH * sizeof *uuids - got);
        assert_true(more > 0);
        got += (size_t)more;
    }
    close(pipe_ends[0]);
    assert_int_equal(waitpid(child, &exit_status, 0), child);
    assert_int_equal(exit_status, 0);
    assert_unique(uuids, 2 * EACH);
    free(uuids);
}

static const char *last_digits(const char *uuid) {
    return uuid + TPI_UUID_SIZE - 1 - 12;
}

TEST(test_token__is_a_version_7_that_ends_in_the_digits_of_its_process) {
    uuid_text token, other;
    assert_int_equal(strlen(tpi_uuid_process()), 12);
    int64_t before = tpi_clock_wall_ms();
    for (int i = 0; i < 1000; i++) {
        tpi_uuid_token(token);
        assert_true(well_formed(token, '7'));
        assert_string_equal(last_digits(token), tpi_uuid_process());
        assert_in_range(milliseconds(token), before, before + 10000);
    }
    tpi_uuid_ordered(other); /* task ids say nothing of their process */
    assert_string_not_equal(last_digits(other), tpi_uuid_process());
}

static void *make_tokens(void *arg) {
    uuid_text *tokens = arg;
    for (int i = 0; i < MANY / THREADS; i++)
        tpi_uuid_token(tokens[i]);
    return NULL;
}

TEST(test_token__threads_at_once_make_different_ones_of_one_process) {
    uuid_text *tokens = make_many();
    test_in_threads(THREADS, make_tokens, tokens, MANY / THREADS * sizeof *tokens);
    for (int i = 0; i < MANY; i++)
        assert_string_equal(last_digits(tokens[i]), tpi_uuid_process());
    assert_unique(tokens, MANY);
    free(tokens);
}

static bool say_process(int to) {
    return write(to, tpi_uuid_process(), 13) == 13;
}

/* A child says who it is, then its child. */
static _Noreturn void be_child(int to) {
    if (!say_process(to)) _exit(1);
    pid_t child = fork();
    if (child == 0) _exit(!say_process(to));
    waitpid(child, NULL, 0);
    _exit(0);
}

TEST(test_token__a_forked_process_has_other_digits) {
    char digits[3][13] = {""};
    int pipe_ends[2], exit_status = 0;
    memcpy(digits[0], tpi_uuid_process(), sizeof digits[0]);
    assert_int_equal(pipe(pipe_ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) be_child(pipe_ends[1]);
    assert_int_equal(waitpid(child, &exit_status, 0), child);
    assert_int_equal(exit_status, 0);
    assert_int_equal(read(pipe_ends[0], digits[1], sizeof digits[1]), sizeof digits[1]);
    assert_int_equal(read(pipe_ends[0], digits[2], sizeof digits[2]), sizeof digits[2]);
    assert_string_not_equal(digits[0], digits[1]);
    assert_string_not_equal(digits[0], digits[2]);
    assert_string_not_equal(digits[1], digits[2]);
    assert_string_equal(digits[0], tpi_uuid_process());
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

TEST(test_uuid__reading_gives_the_lower_case_form) {
    uuid_text out;
    assert_true(tpi_uuid_normal("01936F5E-8A4C-7B1D-9C3E-5F6A7B8C9D0E", out));
    assert_string_equal(out, "01936f5e-8a4c-7b1d-9c3e-5f6a7b8c9d0e");
    assert_true(tpi_uuid_normal(out, out));
    assert_string_equal(out, "01936f5e-8a4c-7b1d-9c3e-5f6a7b8c9d0e");
}

TEST(test_uuid__what_is_no_uuid_is_refused_and_out_untouched) {
    static const char *const wrong[] =
        LIST("", "x", "01936f5e-8a4c-7b1d-9c3e-5f6a7b8c9d0", "01936f5e-8a4c-7b1d-9c3e-5f6a7b8c9d0ef",
             "01936f5e-8a4c-7b1d-9c3e-5f6a7b8c9d0g", "01936f5e08a4c-7b1d-9c3e-5f6a7b8c9d0e",
             "01936f5e8a4c7b1d9c3e5f6a7b8c9d0e", "01936f5e-8a4c-7b1d-9c3e-5f6a7b8c9d0'",
             " 1936f5e-8a4c-7b1d-9c3e-5f6a7b8c9d0e", "01936f5e-8a4c-7b1d-9c3e-5f6a7b8c9d0e ");
    for (size_t i = 0; i < COUNT(wrong); i++) {
        uuid_text out = "as it was";
        if (tpi_uuid_normal(wrong[i], out)) fail_msg("taken for a UUID: '%s'", wrong[i]);
        assert_string_equal(out, "as it was");
    }
}

TEST(test_uuid__every_made_one_reads_back_as_itself) {
    uuid_text uuid, out;
    assert_int_equal(TPI_UUID_SIZE, TP_ID_SIZE);
    for (int i = 0; i < 1000; i++) {
        tpi_uuid_ordered(uuid);
        assert_true(tpi_uuid_normal(uuid, out));
        assert_string_equal(uuid, out);
    }
}

/* The value is Python's: uuid.uuid5(uuid.UUID(SPACE), NAME). */
TEST(test_uuid__named_ones_are_version_5_of_their_name) {
    char uuid[TPI_UUID_SIZE], other[TPI_UUID_SIZE];
    tpi_uuid_named("tp_ nightly 1 2", uuid);
    assert_string_equal(uuid, "8ae5efff-13d8-59bd-b67a-679e0f2f43ec");
    tpi_uuid_named("tp_ nightly 1 3", other);
    assert_string_not_equal(uuid, other);
}
