/* Days, business days and cut-offs, without a database: each against a plain way of finding the same. */
#include "core/calendar.h"
#include "core/date.h"
#include "unit/utc.h"

static int64_t day(const char *text) {
    int64_t number = -1;
    if (!tpi_date_parse(text, &number)) fail_msg("no date: %s", text);
    return number;
}

TEST(test_date__every_day_until_2199_and_around_each_later_century_is_as_the_c_library_says) {
    int64_t until = day("2199-12-31"), end = day("9999-12-31");
    for (int64_t number = 0; number <= end; number++) {
        if (number > until && (number - until) % 36524 > 200) continue;
        char text[TPI_DATE_SIZE], wanted[40];
        time_t seconds = (time_t)number * TPI_DAY_S;
        int64_t back = -1;
        struct tm tm;
        struct tpi_date date = tpi_date_of(number);
        gmtime_r(&seconds, &tm);
        bool same = date.year == tm.tm_year + 1900 && date.month == tm.tm_mon + 1 && date.day == tm.tm_mday &&
                    date.weekday == tm.tm_wday;
        tpi_date_text(number, text);
        snprintf(wanted, sizeof wanted, "%04d-%02d-%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
        if (!same || strcmp(text, wanted) != 0 || !tpi_date_parse(text, &back) || back != number)
            fail_msg("%s: %s, weekday %d, %lld", wanted, text, date.weekday, (long long)back);
    }
}

TEST(test_date__what_is_none_is_refused) {
    static const char *const none[] = {"",           "2026-1-01",  "2026-13-01", "2026-00-01", "2026-02-29",
                                       "2026-04-31", "1969-12-31", "2026-01-00", "2026/01/01", "2026-01-01 ",
                                       "+026-01-01", "20260101",   "2100-02-29", "x026-01-01", "2026-01-0a"};
    int64_t number = 77;
    for (size_t i = 0; i < COUNT(none); i++)
        if (tpi_date_parse(none[i], &number)) fail_msg("'%s' was taken", none[i]);
    assert_false(tpi_date_parse(NULL, &number));
    assert_int_equal(number, 77);
    assert_int_equal(day("2000-02-29") + 1, day("2000-03-01"));
}

TEST(test_weekdays__lists_and_ranges) {
    static const struct {
        const char *text;
        unsigned days;
    } good[] = {{"MON-FRI", 0x3e}, {"SUN-THU", 0x1f},     {"sat", 0x40}, {"Mon,wed-FRI", 0x3a},
                {"SAT-WED", 0x4f}, {"SUN,MON-SAT", 0x7f}, {"NONE", 0},   {"FRI-FRI", 0x20}};
    static const char *const bad[] = {"",       "MON-",    "MON,",     ",MON", "MO",
                                      "MONDAY", "MON FRI", "MON--FRI", "1-5"};
    unsigned days = 77;
    for (size_t i = 0; i < COUNT(bad); i++)
        if (tpi_weekdays_parse(bad[i], &days)) fail_msg("'%s' was taken", bad[i]);
    assert_int_equal(days, 77);
    for (size_t i = 0; i < COUNT(good); i++)
        if (!tpi_weekdays_parse(good[i].text, &days) || days != good[i].days)
            fail_msg("%s: %x", good[i].text, days);
}

TEST(test_cut_off__every_minute_and_nothing_else) {
    static const char *const bad[] = {"",     "00:00", "24:01", "25:00", "12:60",
                                      "9:00", "09.00", "09:0",  "09:000"};
    int minutes = 77;
    for (size_t i = 0; i < COUNT(bad); i++)
        if (tpi_cut_off_parse(bad[i], &minutes)) fail_msg("'%s' was taken", bad[i]);
    assert_false(tpi_cut_off_parse(NULL, &minutes));
    assert_int_equal(minutes, 77);
    for (int wanted = 1; wanted <= TPI_DAY_MINUTES; wanted++) {
        char text[6];
        snprintf(text, sizeof text, "%02u:%02u", (unsigned)wanted / 60U % 100U, (unsigned)wanted % 60U);
        assert_true(tpi_cut_off_parse(text, &minutes));
        assert_int_equal(minutes, wanted);
    }
}

/* ---- Calendars ----------------------------------------------------------------------------------------- */

/* A day in five is special, by a fixed sequence. */
enum { DAYS = 400, SPECIAL = DAYS / 5 };
static struct tpi_special_day special[SPECIAL];

static struct tpi_calendar some_calendar(unsigned weekdays) {
    struct tpi_calendar calendar = {weekdays, 16 * 60, day("2027-01-01"), day("2027-01-01") + DAYS - 1,
                                    special,  0};
    unsigned seed = weekdays + 1;
    for (int i = 0; i < DAYS && calendar.count < SPECIAL; i++) {
        seed = seed * 1103515245U + 12345U;
        if (seed >> 16 & 3) continue;
        tp_day_kind kind = (tp_day_kind)(seed >> 20 & 3) % 3;
        special[calendar.count++] =
            (struct tpi_special_day){calendar.first + i, kind, kind == TP_DAY_HALF ? 12 * 60 : 0};
    }
    return calendar;
}

/* By looking through all. */
static struct tpi_special_day plain_day(const struct tpi_calendar *calendar, int64_t date) {
    int weekday = (int)((date + 4) % 7);
    for (size_t i = 0; i < calendar->count; i++)
        if (special[i].date == date && (special[i].kind != TP_DAY_HALF || calendar->weekdays >> weekday & 1))
            return (struct tpi_special_day){date, special[i].kind,
                                            special[i].kind == TP_DAY_CLOSED ? 0
                                            : special[i].cut_off             ? special[i].cut_off
                                                                             : 16 * 60};
    if (calendar->weekdays >> weekday & 1) return (struct tpi_special_day){date, TP_DAY_OPEN, 16 * 60};
    return (struct tpi_special_day){date, TP_DAY_CLOSED, 0};
}

TEST(test_calendar__kind_and_cut_off_of_each_day_for_all_weeks) {
    for (unsigned weekdays = 0; weekdays < 128; weekdays++) {
        struct tpi_calendar calendar = some_calendar(weekdays);
        for (int64_t date = calendar.first - 10; date <= calendar.last + 10; date++) {
            struct tpi_special_day is = tpi_calendar_day(&calendar, date),
                                   wanted = plain_day(&calendar, date);
            assert_int_equal(is.kind, wanted.kind);
            assert_int_equal(is.cut_off, wanted.cut_off);
            assert_int_equal(is.date, date);
            assert_int_equal(tpi_calendar_knows(&calendar, date),
                             date >= calendar.first && date < calendar.first + DAYS);
        }
    }
}

/* The list of all business days, and where in it a day is. */
TEST(test_calendar__the_nth_business_day_is_that_of_the_list) {
    for (unsigned weekdays = 0; weekdays < 128; weekdays += 9) {
        struct tpi_calendar calendar = some_calendar(weekdays);
        int64_t open[DAYS];
        int count = 0, before = 0;
        for (int64_t date = calendar.first; date <= calendar.last; date++)
            if (plain_day(&calendar, date).kind != TP_DAY_CLOSED) open[count++] = date;
        for (int64_t date = calendar.first; date <= calendar.last; date++) {
            bool itself = before < count && open[before] == date;
            for (int n = -60; n <= 60; n++) {
                int at = n > 0 ? before + itself + n - 1 : before + n;
                int64_t found = 77;
                bool known = at >= 0 && at < count;
                if (!n) continue;
                assert_int_equal(tpi_calendar_nth(&calendar, date, n, &found), known);
                assert_int_equal(found, known ? open[at] : 77);
            }
            before += itself;
        }
    }
}

TEST(test_calendar__days_that_it_does_not_know_have_no_nth_day) {
    struct tpi_calendar calendar = {0x3e, 960, day("2027-01-01"), day("2027-12-31"), NULL, 0};
    int64_t found = 77;
    assert_false(tpi_calendar_nth(&calendar, day("2026-12-31"), 1, &found));
    assert_false(tpi_calendar_nth(&calendar, day("2028-01-01"), -1, &found));
    assert_false(tpi_calendar_nth(&calendar, day("2027-06-01"), INT32_MIN, &found));
    assert_false(tpi_calendar_nth(&calendar, day("2027-06-01"), INT32_MAX, &found));
    assert_int_equal(found, 77);
    assert_true(tpi_calendar_nth(&calendar, day("2027-12-30"), 1, &found));
    assert_int_equal(found, day("2027-12-31"));
}
