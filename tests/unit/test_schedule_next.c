/* Planned times in zones whose clocks are changed. Two kinds of proof: nights worked out by hand, and whole
 * years against the C library's own localtime, asked in a child process for every minute. */
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ops/schedule_times.h"
#include "unit/utc.h"

/* The rule's instants (UTC) after the first of the list are the rest of it. */
static void check_series(const char *rule, const char *zone, const char *const *times) {
    int64_t now = at(times[0]);
    for (size_t i = 1; times[i]; i++) {
        if (tp_schedule_next(rule, zone, now, &now) != TP_OK) fail_msg("%s: %s", rule, tp_last_error()->text);
        if (now != at(times[i])) fail_msg("%s in %s: %s, not %s", rule, zone, text_of(now), times[i]);
    }
}
#define series(rule, zone, ...) check_series(rule, zone, SERIES(__VA_ARGS__))

TEST(test_gap__a_time_left_out_fires_at_its_end_once) {
    /* Berlin, 29 March 2026: 02:00 becomes 03:00 at 01:00 UTC */
    series("30 2 * * *", "Europe/Berlin", "2026-03-27 12:00", "2026-03-28 01:30", "2026-03-29 01:00",
           "2026-03-30 00:30");
    series("*/10 2 * * *", "Europe/Berlin", "2026-03-28 01:50", "2026-03-29 01:00", "2026-03-30");
    series("0 2,3 * * *", "Europe/Berlin", "2026-03-28 02:00", "2026-03-29 01:00", "2026-03-30",
           "2026-03-30 01:00");
    series("15 30 2 ? * *", "Europe/Berlin", "2026-03-28 12:00", "2026-03-29 01:00", "2026-03-30 00:30:15");
    /* Lord Howe, 4 October 2026: 02:00 becomes 02:30 at 15:30 UTC */
    series("15 2 * * *", "Australia/Lord_Howe", "2026-10-03", "2026-10-03 15:30", "2026-10-04 15:15");
}

TEST(test_gap__rules_over_all_hours_follow_elapsed_time) {
    series("*/5 * * * *", "Europe/Berlin", "2026-03-29 00:50", "2026-03-29 00:55", "2026-03-29 01:00",
           "2026-03-29 01:05");
    series("30 * * * *", "Europe/Berlin", "2026-03-28 23:30", "2026-03-29 00:30", "2026-03-29 01:30",
           "2026-03-29 02:30");
    series("0 */2 * * *", "Europe/Berlin", "2026-03-28 22:00", "2026-03-28 23:00", "2026-03-29 01:00",
           "2026-03-29 02:00");
    series("15 * * * *", "Australia/Lord_Howe", "2026-10-03 14:00", "2026-10-03 14:45", "2026-10-03 15:45",
           "2026-10-03 16:15");
}

TEST(test_overlap__a_time_that_comes_twice_fires_the_first_time) {
    /* Berlin, 25 October 2026: 03:00 becomes 02:00 at 01:00 UTC */
    series("30 2 * * *", "Europe/Berlin", "2026-10-24 12:00", "2026-10-25 00:30", "2026-10-26 01:30");
    series("30 2,3 * * *", "Europe/Berlin", "2026-10-25", "2026-10-25 00:30", "2026-10-25 02:30");
    series("30 2 * * *", "Europe/Berlin", "2026-10-25 01:10", "2026-10-26 01:30");
    /* New York, 1 November 2026: 02:00 becomes 01:00 at 06:00 UTC */
    series("0 30 1 * * ?", "America/New_York", "2026-10-31 12:00", "2026-11-01 05:30", "2026-11-02 06:30");
    /* Lord Howe, 5 April 2026: 02:00 becomes 01:30 at 15:00 UTC */
    series("45 1 * * *", "Australia/Lord_Howe", "2026-04-04", "2026-04-04 14:45", "2026-04-05 15:15");
}

TEST(test_overlap__rules_over_all_hours_follow_elapsed_time) {
    series("*/30 * * * *", "Europe/Berlin", "2026-10-24 23:30", "2026-10-25", "2026-10-25 00:30",
           "2026-10-25 01:00", "2026-10-25 01:30", "2026-10-25 02:00");
    series("0 30 0/1 * * ?", "America/New_York", "2026-11-01 05:00", "2026-11-01 05:30", "2026-11-01 06:30",
           "2026-11-01 07:30");
}

TEST(test_date_line__a_day_left_out_fires_at_its_end) {
    /* Apia had no 30 December 2011: the 29th ends at 2011-12-30 10:00 UTC, the 31st begins then */
    series("0 8 30 12 *", "Pacific/Apia", "2011-06-01", "2011-12-30 10:00", "2012-12-29 18:00");
    series("0 8 * * *", "Pacific/Apia", "2011-12-29", "2011-12-29 18:00", "2011-12-30 10:00",
           "2011-12-30 18:00");
    series("0 * * * *", "Pacific/Apia", "2011-12-30 08:30", "2011-12-30 09:00", "2011-12-30 10:00",
           "2011-12-30 11:00");
}

TEST(test_far_future__keeps_the_last_rules_of_the_zone) {
    series("30 2 26 3 *", "Europe/Berlin", "2090-01-01", "2090-03-26 01:00");
    series("0 12 1 7 *", "Europe/Berlin", "2090-01-01", "2090-07-01 10:00");
    series("0 12 29 2 *", "America/New_York", "2089-01-01", "2092-02-29 17:00", "2096-02-29 17:00",
           "2104-02-29 17:00");
}

TEST(test_zone__none_is_utc_and_unknown_ones_are_refused) {
    static const char *const bad[] =
        LIST("Mars/Olympus", "../etc/passwd", "/etc/localtime", ":Europe/Berlin", "+02:00", "Europe/Berlin ",
             "CET-1CEST,M3.5.0,M10.5.0", "UTC+3", "FOO3", "abc1", "leapseconds", "right/Europe/Berlin",
             "localtime", "posixrules", "Europe", "Z");
    int64_t next = 5;
    series("0 8 * * *", NULL, "2026-07-01", "2026-07-01 08:00");
    series("0 8 * * *", "", "2026-07-01", "2026-07-01 08:00");
    series("0 8 * * *", "UTC", "2026-07-01", "2026-07-01 08:00");
    series("0 8 * * *", "Etc/GMT-3", "2026-07-01", "2026-07-01 05:00");
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(tp_schedule_next("0 8 * * *", bad[i], 0, &next), TP_MISUSE);
        assert_non_null(strstr(tp_last_error()->text, "there is no time zone"));
    }
    assert_int_equal(next, 5);
}

TEST(test_next__arguments_are_checked) {
    int64_t next = 5;
    assert_int_equal(tp_schedule_next(NULL, NULL, 0, &next), TP_MISUSE);
    assert_int_equal(tp_schedule_next("0 8 * * *", NULL, 0, NULL), TP_MISUSE);
    assert_int_equal(tp_schedule_next("0 8 * *", NULL, 0, &next), TP_MISUSE);
    assert_non_null(strstr(tp_last_error()->text, "4 fields"));
    assert_int_equal(tp_schedule_next("0 8 * * *", NULL, TP_TIME_MAX + 1, &next), TP_MISUSE);
    assert_int_equal(tp_schedule_next("0 8 * * *", NULL, TP_TIME_MAX, &next), TP_NONE);
    assert_int_equal(tp_schedule_next("0 0 30 2 *", "Europe/Berlin", 0, &next), TP_NONE);
    assert_int_equal(next, 5);
}

TEST(test_next__leaves_the_process_as_it_is) {
    int64_t next = 0;
    setenv("TZ", "Asia/Tokyo", 1);
    tzset();
    assert_int_equal(tp_schedule_next("0 8 * * *", "America/New_York", 0, &next), TP_OK);
    assert_string_equal(getenv("TZ"), "Asia/Tokyo");
    assert_int_equal(timezone, -9 * 3600);
    unsetenv("TZ");
    tzset();
}

static void *ask_many(void *arg) {
    static const char *const zones[] = {"Europe/Berlin", "America/New_York", "Australia/Lord_Howe"};
    int64_t *sum = arg, next = 0;
    for (int i = 0; i < 60; i++)
        if (tp_schedule_next("30 2 * * *", zones[i % 3], INT64_C(1760000000000) + INT64_C(86400000) * i,
                             &next) == TP_OK)
            *sum += next;
    return NULL;
}

TEST(test_next__threads_at_once_get_the_same_answers) {
    enum { THREADS = 4 };
    int64_t sums[THREADS] = {0};
    test_in_threads(THREADS, ask_many, sums, sizeof sums[0]);
    assert_true(sums[0] > INT64_C(60) * 1760000000000);
    for (int i = 1; i < THREADS; i++)
        assert_int_equal(sums[i], sums[0]);
}

enum { MINUTES = 366 * 1440 + 2880, FIRED_MAX = MINUTES };

struct civil_minutes {
    int64_t start;            /* UTC seconds of the first */
    struct tm shown[MINUTES]; /* what clocks show */
    int64_t civil[MINUTES];   /* the same as if it were UTC */
};

static struct civil_minutes *shared_minutes;

/* In the child: TZ is its own. */
static void ask_localtime(const char *zone) {
    setenv("TZ", zone, 1);
    tzset();
    for (int i = 0; i < MINUTES; i++) {
        time_t instant = (time_t)(shared_minutes->start + (int64_t)i * 60);
        localtime_r(&instant, &shared_minutes->shown[i]);
        struct tm tm = shared_minutes->shown[i];
        shared_minutes->civil[i] = (int64_t)timegm(&tm);
    }
}

static void fill_minutes(const char *zone, int64_t start) {
    int status = 1;
    if (!shared_minutes)
        shared_minutes =
            mmap(NULL, sizeof *shared_minutes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(shared_minutes, MAP_FAILED);
    shared_minutes->start = start;
    pid_t pid = fork();
    if (pid == 0) {
        ask_localtime(zone);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* Rules said twice: as text, and as what it means; and whether it is a rule over all hours. */
#define RULES(X)                                                                                             \
    X(every_minute, "* * * * *", true, true)                                                                 \
    X(every_five, "*/5 * * * *", true, tm->tm_min % 5 == 0)                                                  \
    X(half_past, "30 * * * *", true, tm->tm_min == 30)                                                       \
    X(odd_minutes, "0 7/10 * * * ?", true, tm->tm_min % 10 == 7)                                             \
    X(even_hours, "0 */2 * * *", true, tm->tm_min == 0 && tm->tm_hour % 2 == 0)                              \
    X(night, "30 2 * * *", false, tm->tm_hour == 2 && tm->tm_min == 30)                                      \
    X(nights, "0 0/15 0-4 * * ?", false, tm->tm_hour <= 4 && tm->tm_min % 15 == 0)                           \
    X(midnight, "0 0 * * *", false, tm->tm_hour == 0 && tm->tm_min == 0)                                     \
    X(office, "0-59/5 8-17 * * 1-5", false,                                                                  \
      tm->tm_min % 5 == 0 && tm->tm_hour >= 8 && tm->tm_hour <= 17 && tm->tm_wday >= 1 && tm->tm_wday <= 5)  \
    X(thirteenth_or_friday, "45 1 13 * FRI", false,                                                          \
      tm->tm_hour == 1 && tm->tm_min == 45 && (tm->tm_mday == 13 || tm->tm_wday == 5))                       \
    X(sunday_nights, "0 0,20,40 1-3 ? * SUN", false,                                                         \
      tm->tm_wday == 0 && tm->tm_hour >= 1 && tm->tm_hour <= 3 && tm->tm_min % 20 == 0)                      \
    X(leap_day, "0 2 29 2 *", false,                                                                         \
      tm->tm_mon == 1 && tm->tm_mday == 29 && tm->tm_hour == 2 && tm->tm_min == 0)                           \
    X(last_sunday, "0 0/10 2 ? MAR,OCT SUNL", false,                                                         \
      tm->tm_wday == 0 && tm->tm_mday >= 25 && (tm->tm_mon == 2 || tm->tm_mon == 9) && tm->tm_hour == 2 &&   \
          tm->tm_min % 10 == 0)                                                                              \
    X(thirtieth, "0 * 30 * *", true, tm->tm_mday == 30 && tm->tm_min == 0)
#define MATCHES(name, text, all_hours, meaning)                                                              \
    static bool name(MAY_BE_UNUSED const struct tm *tm) {                                                    \
        return meaning;                                                                                      \
    }
RULES(MATCHES)
#undef MATCHES

static const struct said {
    const char *text;
    bool all_hours;
    bool (*matches)(const struct tm *tm);
} said[] = {
#define SAID(name, text, all_hours, meaning) {text, all_hours, name},
    RULES(SAID)
#undef SAID
};

static bool matches_civil(const struct said *rule, int64_t civil) {
    time_t seconds = (time_t)civil;
    struct tm tm;
    gmtime_r(&seconds, &tm);
    return rule->matches(&tm);
}

/* Does the rule fire in minute i? The documented table, written down for a list of minutes. highest: the
 * latest civil time before; gap_end, gap: the minute in which the last gap ended, and its length. */
static bool fires(const struct said *rule, int i, int64_t highest, int gap_end, int64_t gap) {
    const int64_t *civil = shared_minutes->civil;
    if ((rule->all_hours || civil[i] > highest) && rule->matches(&shared_minutes->shown[i])) return true;
    if (rule->all_hours) return (i - gap_end) * 60 < gap && matches_civil(rule, civil[i] - gap);
    for (int64_t lost = highest + 60; i == gap_end && lost < civil[i]; lost += 60)
        if (matches_civil(rule, lost)) return true;
    return false;
}

static size_t expected_minutes(const struct said *rule, int *fired) {
    const int64_t *civil = shared_minutes->civil;
    int64_t highest = civil[0], gap = 0;
    size_t count = 0;
    int gap_end = -MINUTES;
    for (int i = 1; i < MINUTES; i++) {
        if (civil[i] > civil[i - 1] + 60) {
            gap_end = i;
            gap = civil[i] - civil[i - 1] - 60;
        }
        if (fires(rule, i, highest, gap_end, gap)) fired[count++] = i;
        if (civil[i] > highest) highest = civil[i];
    }
    return count;
}

static void compare(const struct said *rule, const char *zone, const int *fired, size_t count) {
    struct tpi_times times = {0};
    int64_t now = shared_minutes->start * 1000;
    assert_int_equal(tpi_times_open(rule->text, zone, &times), TP_OK);
    for (size_t i = 0; i < count; i++) {
        int64_t wanted = (shared_minutes->start + (int64_t)fired[i] * 60) * 1000;
        assert_int_equal(tpi_times_next(&times, now, &now), TP_OK);
        if (now != wanted) {
            print_error("%s in %s: fires %s, ", rule->text, zone, text_of(now));
            fail_msg("must fire %s", text_of(wanted));
        }
    }
    if (tpi_times_next(&times, now, &now) == TP_OK)
        assert_true(now >= (shared_minutes->start + (int64_t)MINUTES * 60) * 1000);
    tpi_times_close(&times);
}

static void check_year(const char *zone, const char *start) {
    int *fired = calloc(FIRED_MAX, sizeof *fired);
    assert_non_null(fired);
    fill_minutes(zone, at(start) / 1000);
    for (size_t i = 0; i < COUNT(said); i++)
        compare(&said[i], zone, fired, expected_minutes(&said[i], fired));
    free(fired);
}

TEST(test_years__agree_with_localtime_minute_by_minute) {
    check_year("Europe/Berlin", "2025-12-31");
    check_year("America/New_York", "2027-12-31"); /* a leap year */
    check_year("Australia/Lord_Howe", "2025-12-31");
    check_year("Pacific/Apia", "2011-01-01"); /* without 30 December */
    check_year("Africa/Casablanca", "2025-12-31");
    check_year("Europe/Dublin", "2025-12-31");
    check_year("Asia/Kathmandu", "1985-06-01"); /* a quarter of an hour, on 1 January 1986 */
    check_year("America/Caracas", "2016-01-01");
    check_year("Europe/Berlin", "2090-01-01");
    check_year("America/New_York", "2096-01-01");
}

#define expect_times(got, ...) check_times((got), SERIES(__VA_ARGS__), __LINE__)
static void check_times(const int64_t *got, const char *const *wanted, int line) {
    for (size_t i = 0; wanted[i]; i++)
        check_number(got[i], at(wanted[i]), wanted[i], __FILE__, line);
}

TEST(test_passed__are_the_latest_in_rising_order) {
    struct tpi_times times = {0};
    int64_t passed[5] = {0}, first = at("2026-01-01"), now = at("2026-11-21 10:02:30");
    assert_int_equal(tpi_times_open("* * * * *", NULL, &times), TP_OK);
    assert_int_equal(tpi_times_passed(&times, first, now, 3, passed), 3);
    expect_times(passed, "2026-11-21 10:00", "2026-11-21 10:01", "2026-11-21 10:02");
    assert_int_equal(tpi_times_passed(&times, now - 100000, now, 5, passed), 3); /* the first as it is */
    expect_times(passed, "2026-11-21 10:00:50", "2026-11-21 10:01", "2026-11-21 10:02");
    assert_int_equal(tpi_times_passed(&times, now, now, 1, passed), 1);
    assert_int_equal(passed[0], now);
    tpi_times_close(&times);
}

TEST(test_passed__sparse_and_dense_rules_agree_with_counting) {
    static const char *const rules[] = {"* * * * * ?", "*/7 * * * *", "0 3 * * *", "0 0 1 * *", "0 0 29 2 *"};
    int64_t now = at("2026-11-21 10:02:30"), first = at("2026-11-20 23:59:59");
    for (size_t r = 0; r < COUNT(rules); r++) {
        struct tpi_times times = {0};
        static int64_t all[200000], passed[200];
        size_t count = 1;
        assert_int_equal(tpi_times_open(rules[r], "Europe/Berlin", &times), TP_OK);
        all[0] = first;
        while (tpi_times_next(&times, all[count - 1], &all[count]) == TP_OK && all[count] <= now)
            count++;
        for (size_t max = 1; max <= 200; max += 33) {
            size_t got = tpi_times_passed(&times, first, now, max, passed);
            assert_int_equal(got, count < max ? count : max);
            for (size_t i = 0; i < got; i++)
                assert_int_equal(passed[i], all[count - got + i]);
        }
        tpi_times_close(&times);
    }
}

TEST(test_passed__periods_are_counted_from_the_first) {
    struct tpi_times times = {0};
    int64_t passed[4] = {0};
    assert_int_equal(tpi_times_open("every 5m", NULL, &times), TP_OK);
    assert_int_equal(tpi_times_passed(&times, 1000, 1000 + 16 * 60000, 4, passed), 4);
    assert_int_equal(passed[0], 1000);
    assert_int_equal(passed[3], 1000 + 15 * 60000);
    assert_int_equal(tpi_times_passed(&times, 1000, 1000 + 16 * 60000, 2, passed), 2);
    assert_int_equal(passed[0], 1000 + 10 * 60000);
    assert_int_equal(tpi_times_passed(&times, 1000, 1000, 4, passed), 1);
    assert_int_equal(passed[0], 1000);
    tpi_times_close(&times);
}
