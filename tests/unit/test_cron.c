/* Rules of schedules against the calendar, in UTC: what matches, what never does, what is refused and how. */

#include "core/cron.h"
#include "unit/utc.h"

static struct tpi_cron_rule parsed(const char *text) {
    struct tpi_cron_rule rule;
    char error[TPI_RULE_ERROR] = "";
    if (!tpi_rule_parse(text, &rule, error)) fail_msg("%s: %s", text, error);
    return rule;
}

/* The rule's times after the first of the list are the rest of it. */
static void check_series(const char *text, const char *const *times) {
    struct tpi_cron_rule rule = parsed(text);
    int64_t now = at(times[0]);
    for (size_t i = 1; times[i]; i++) {
        if (tpi_rule_next(&rule, NULL, NULL, now, &now) != TP_OK) fail_msg("%s: never again", text);
        if (now != at(times[i])) fail_msg("%s: %s, not %s", text, text_of(now), times[i]);
    }
}
#define series(text, ...) check_series(text, SERIES(__VA_ARGS__))

static void never(const char *text) {
    struct tpi_cron_rule rule = parsed(text);
    int64_t next = 77;
    assert_int_equal(tpi_rule_next(&rule, NULL, NULL, at("2026-01-01"), &next), TP_NONE);
    assert_int_equal(next, 77);
}

/* It is refused, and the text has these words. */
static void refused(const char *text, const char *words) {
    struct tpi_cron_rule rule;
    char error[TPI_RULE_ERROR] = "";
    if (tpi_rule_parse(text, &rule, error)) fail_msg("'%s' was taken", text);
    if (!strstr(error, words)) fail_msg("'%s' is refused with '%s'", text, error);
}

TEST(test_unix__lists_ranges_and_steps) {
    series("0-59/5 8-17 * * 1-5", "2026-11-20 17:50", "2026-11-20 17:55", "2026-11-23 08:00");
    series("1,3-5,50-59/4 0 1 1 *", "2026-01-01", "2026-01-01 00:01", "2026-01-01 00:03", "2026-01-01 00:04",
           "2026-01-01 00:05", "2026-01-01 00:50", "2026-01-01 00:54", "2026-01-01 00:58",
           "2027-01-01 00:01");
    series("*/25 * * * *", "2026-01-01 00:50", "2026-01-01 01:00", "2026-01-01 01:25");
    series("* * * * *", "2026-12-31 23:59", "2027-01-01");
    series("\t30  4\t* * *  ", "2026-01-01 04:29:59", "2026-01-01 04:30");
}

TEST(test_unix__names_in_any_case_and_both_sundays) {
    series("0 0 * jan,DEC *", "2026-01-31", "2026-12-01");
    series("0 0 * * 0", "2026-11-20", "2026-11-22", "2026-11-29");
    series("0 0 * * 7", "2026-11-20", "2026-11-22", "2026-11-29");
    series("0 0 * * Sun", "2026-11-20", "2026-11-22");
    series("0 0 * * 0-0", "2026-11-20", "2026-11-22", "2026-11-29");
    series("0 0 * * SUN-SUN", "2026-11-20", "2026-11-22", "2026-11-29");
    series("0 0 * * 0-7/7", "2026-11-20", "2026-11-22", "2026-11-29");
    series("0 0 * * 5-7", "2026-11-18", "2026-11-20", "2026-11-21", "2026-11-22", "2026-11-27");
    series("0 0 * * sat-sun", "2026-11-18", "2026-11-21", "2026-11-22", "2026-11-28");
    series("0 0 * * */2", "2026-11-21", "2026-11-22", "2026-11-24", "2026-11-26", "2026-11-28");
}

TEST(test_unix__day_of_month_or_weekday_when_both_are_named) {
    series("0 0 13 * FRI", "2026-11-11", "2026-11-13", "2026-11-20", "2026-11-27", "2026-12-04", "2026-12-11",
           "2026-12-13");
    series("0 0 */2 * FRI", "2026-11-01", "2026-11-13", "2026-11-27");
    series("0 0 13 * */2", "2026-11-01", "2026-12-13");
}

TEST(test_unix__nicknames) {
    series("@hourly", "2026-11-21 10:00", "2026-11-21 11:00");
    series("@daily", "2026-11-21 10:00", "2026-11-22");
    series("@midnight", "2026-11-21 10:00", "2026-11-22");
    series("@weekly", "2026-11-23 10:00", "2026-11-29");
    series("@monthly", "2026-11-21 10:00", "2026-12-01");
    series("@yearly", "2026-11-21 10:00", "2027-01-01");
    series("@annually", "2026-11-21 10:00", "2027-01-01");
}

TEST(test_quartz__seconds_and_years) {
    series("0 0/5 * * * ?", "2026-11-21 10:56", "2026-11-21 11:00", "2026-11-21 11:05");
    series("10/20 59 23 ? * *", "2026-11-21 23:59:10", "2026-11-21 23:59:30", "2026-11-21 23:59:50",
           "2026-11-22 23:59:10");
    series("59 59 23 31 12 ? 2026-2099/50", "2026-01-01", "2026-12-31 23:59:59", "2076-12-31 23:59:59");
    series("0 0 0 1 1 ? 2099", "2026-01-01", "2099-01-01");
    never("0 0 0 1 1 ? 1970-2025");
}

TEST(test_quartz__weekdays_count_from_sunday_as_one) {
    series("0 0 0 ? * 1", "2026-11-20", "2026-11-22");
    series("0 0 0 ? * 2-6", "2026-11-20", "2026-11-23");
    series("0 0 0 ? * SUN,sat", "2026-11-20", "2026-11-21", "2026-11-22", "2026-11-28");
    series("0 0 0 ? * L", "2026-11-20", "2026-11-21", "2026-11-28");
}

TEST(test_quartz__last_days) {
    series("0 0 0 L * ?", "2028-01-31", "2028-02-29", "2028-03-31", "2028-04-30");
    series("0 0 0 L-3 * ?", "2026-01-31", "2026-02-25", "2026-03-28");
    series("0 0 0 L-30 * ?", "2026-01-31", "2026-03-01", "2026-05-01");
    series("0 0 0 15,L 11 ?", "2026-11-01", "2026-11-15", "2026-11-30");
    series("0 0 0 LW * ?", "2026-01-01", "2026-01-30", "2026-02-27", "2026-03-31", "2026-04-30",
           "2026-05-29");
}

TEST(test_quartz__the_nearest_weekday_stays_in_its_month) {
    /* 1 August 2026 is a Saturday, 1 November a Sunday, 31 May a Sunday, 15 August a Saturday */
    series("0 0 0 1W 8,11 ?", "2026-01-01", "2026-08-03", "2026-11-02");
    series("0 0 0 31W 5 ?", "2026-01-01", "2026-05-29");
    series("0 0 0 15W 8,11 ?", "2026-01-01", "2026-08-14", "2026-11-16");
    series("0 0 0 31W * ?", "2026-03-31", "2026-05-29");
    series("0 0 0 L-1W 5 ?", "2026-01-01", "2026-05-29");
    never("0 0 0 31W 2,4,6 ?");
}

TEST(test_quartz__the_nth_and_the_last_weekday) {
    series("0 0 0 ? * 6#3", "2026-11-01", "2026-11-20", "2026-12-18");
    series("0 0 0 ? * MON#5", "2026-11-01", "2026-11-30", "2027-03-29");
    series("0 0 0 ? * 6L", "2026-11-01", "2026-11-27", "2026-12-25");
    series("0 0 0 ? 2 SUNL", "2026-11-01", "2027-02-28", "2028-02-27");
    series("0 0 0 ? 11 MON#1,FRIL", "2026-11-01", "2026-11-02", "2026-11-27");
}

TEST(test_calendar__leap_days_and_ends_of_months) {
    series("0 0 29 2 *", "2026-01-01", "2028-02-29", "2032-02-29");
    series("0 0 29 2 *", "2096-03-01", "2104-02-29");
    series("0 0 31 * *", "2026-01-31", "2026-03-31", "2026-05-31");
    series("0 0 0 29 2 ? 2027-2090", "2026-01-01", "2028-02-29");
    series("0 0 0 ? 2 5#5", "2026-01-01", "2052-02-29");
    series("0 0 1 1 *", "1969-06-01", "1970-01-01");
}

TEST(test_calendar__a_rule_that_never_fires_says_so_quickly) {
    clock_t begin = clock();
    for (int i = 0; i < 20; i++)
        never("0 0 30 2 *");
    never("0 0 31 2,4,6,9,11 *");
    never("0 0 0 L-30 2 ?");
    never("0 0 0 ? 2 MON#5 2029");
    assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 1.0);
}

TEST(test_calendar__milliseconds_are_left_behind) {
    struct tpi_cron_rule rule = parsed("* * * * * ?");
    int64_t next = 0;
    assert_int_equal(tpi_rule_next(&rule, NULL, NULL, 1999, &next), TP_OK);
    assert_int_equal(next, 2000);
    assert_int_equal(tpi_rule_next(&rule, NULL, NULL, 2000, &next), TP_OK);
    assert_int_equal(next, 3000);
    assert_int_equal(tpi_rule_next(&rule, NULL, NULL, TP_TIME_MAX, &next), TP_NONE);
}

TEST(test_period__is_added) {
    static const struct {
        const char *text;
        int64_t ms;
        enum tpi_rule_kind kind;
    } cases[] = {{"every 5m", 300000, TPI_RULE_EVERY},
                 {"every 250ms", 250, TPI_RULE_EVERY},
                 {" every  2h ", 7200000, TPI_RULE_EVERY},
                 {"after 90s", 90000, TPI_RULE_AFTER},
                 {"after 36525d", TP_DURATION_MAX, TPI_RULE_AFTER}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct tpi_cron_rule rule = parsed(cases[i].text);
        int64_t next = 0;
        assert_int_equal(rule.kind, cases[i].kind);
        assert_int_equal(tpi_rule_next(&rule, NULL, NULL, 1234, &next), TP_OK);
        assert_int_equal(next, 1234 + cases[i].ms);
    }
}

TEST(test_refused__the_text_names_the_field_and_what_is_allowed) {
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"60 * * * *", "the minute \"60\" cannot be read at \"60\": 0 to 59 is allowed"},
        {"* 24 * * *", "the hour \"24\" cannot be read at \"24\": 0 to 23"},
        {"* * 0 * *", "the day of month \"0\""},
        {"* * 32 * *", "1 to 31"},
        {"* * * 13 *", "the month \"13\" cannot be read at \"13\": 1 to 12 or JAN to DEC"},
        {"* * * JANUARY *", "the month"},
        {"* * * * 8", "the weekday \"8\" cannot be read at \"8\": 0 to 7 or SUN to SAT"},
        {"* * * * MO", "the weekday"},
        {"*/0 * * * *", "a step is a number from 1 to 59"},
        {"*/60 * * * *", "a step is a number from 1 to 59"},
        {"*/ * * * *", "a step"},
        {"*/5x * * * *", "a step"},
        {"5/10 * * * *", "a step stands behind * or a range"},
        {"* 22-2 * * *", "a range does not run over its end"},
        {"1,,2 * * * *", "a part of the list is missing"},
        {"1, * * * *", "a part of the list is missing"},
        {"1- * * * *", "the minute \"1-\""},
        {"-1 * * * *", "the minute \"-1\""},
        {"*x * * * *", "the minute \"*x\""},
        {"1.5 * * * *", "the minute"},
        {"99999999999 * * * *", "the minute"},
        {"0 0 ? * 1", "? belongs to the form with seconds"},
        {"0 0 L * *", "the day of month \"L\""},
        {"0 0 * * 5L", "the weekday \"5L\""},
        {"0 0 0 * * *", "exactly one of day of month (\"*\") and weekday (\"*\") must be ?"},
        {"0 0 0 ? * ?", "exactly one of"},
        {"0 0 0 1 1 1", "exactly one of"},
        {"0 0 0 ?,1 * ?", "a ? stands alone"},
        {"0 ? 0 * * ?", "a ? stands alone"},
        {"60 0 0 * * ?", "the second \"60\""},
        {"0 0 0 ? * 0", "the weekday \"0\" cannot be read at \"0\": 1 to 7"},
        {"0 0 0 ? * 8", "the weekday"},
        {"0 0 0 ? * 2#6", "the weekday"},
        {"0 0 0 ? * 2#0", "the weekday"},
        {"0 0 0 L-31 * ?", "the day of month \"L-31\""},
        {"0 0 0 32W * ?", "the day of month"},
        {"0 0 0 1 1 ? 1969", "the year \"1969\" cannot be read at \"1969\": 1970 to 2099"},
        {"0 0 0 1 1 ? 2100", "the year"},
        {"* * * *", "has 4 fields; it takes 5"},
        {"* * * * * ? * *", "has more than 7 fields"},
        {"5m", "has 1 field;"},
        {"", "the rule is empty"},
        {"   ", "the rule is empty"},
        {"@reboot", "\"@reboot\" is not known"},
        {"every 0s", "\"0s\" is no period"},
        {"every 5", "is no period"},
        {"every -5m", "is no period"},
        {"every 5m x", "is no period"},
        {"after 36526d", "is no period"},
        {"after 9999999999999999s", "is no period"},
        {"every", "has 1 field"},
    };
    char longest[400];
    for (size_t i = 0; i < COUNT(cases); i++)
        refused(cases[i].text, cases[i].words);
    memset(longest, '1', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    refused(longest, "at most 200");
}

TEST(test_refused__any_bytes_without_harm) {
    static const char bytes[] = "0123456789*/,-?LW# @eyrvaftm\x80\xff";
    unsigned seed = 12345;
    for (int i = 0; i < 200000; i++) {
        char text[40], error[TPI_RULE_ERROR] = "";
        struct tpi_cron_rule rule;
        size_t length = 0;
        do {
            seed = seed * 1103515245u + 12345u;
            text[length] = bytes[(seed >> 16) % (sizeof bytes - 1)];
        } while (++length < sizeof text - 1 && (seed >> 24) % 24);
        text[length] = '\0';
        if (!tpi_rule_parse(text, &rule, error)) assert_true(error[0] != '\0');
    }
}
