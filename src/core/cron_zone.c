/* From civil times to instants, where clocks are changed. Where they go forward, civil times are left out (a
 * gap); where they go back, civil times come twice (an overlap).
 *   a rule that names hours    a time in a gap: the first instant after it, once; in an overlap: the first
 *                              time only
 *   a rule over all hours      a time in a gap: as if the clock had not been changed; in an overlap: both
 * One change is dealt with at a time: no zone has changed its clock twice within the hours that it moved by.
 */
#include "core/cron.h"

/* No zone is, or was, further than a day from UTC; a change moves clocks by a day at most. */
enum { FAR_S = 3 * 86400 };

static int64_t later(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static bool is_gap(const struct tpi_span *span) {
    return span->start != INT64_MIN && span->offset > span->before;
}

static bool is_overlap(const struct tpi_span *span) {
    return span->start != INT64_MIN && span->offset < span->before;
}

/* An instant that stands for civil times in the gap at the span's start. */
static bool next_in_gap(const struct tpi_cron_rule *rule, const struct tpi_span *span, int64_t after,
                        int64_t *instant) {
    int64_t width = span->offset - span->before, civil = 0;
    if (!is_gap(span)) return false;
    if (!rule->all_hours && after >= span->start) return false;
    int64_t low = later(after, span->start - 1);
    if (!tpi_cron_next(rule, low + span->before, &civil)) return false;
    if (civil - span->before >= span->start + width) return false;
    *instant = rule->all_hours ? civil - span->before : span->start;
    return true;
}

/* The first instant in the span after this one. False: none; *skip then gets an instant up to which there is
 * none either, INT64_MAX: never again. */
static bool next_in_span(const struct tpi_cron_rule *rule, const struct tpi_span *span, int64_t after,
                         int64_t *instant, int64_t *skip) {
    int64_t low = later(after, span->start == INT64_MIN ? INT64_MIN : span->start - 1);
    int64_t civil = 0, in_gap = INT64_MAX;
    bool found = next_in_gap(rule, span, after, &in_gap) && in_gap < span->end;
    if (is_overlap(span) && !rule->all_hours) low = later(low, span->start + span->before - span->offset - 1);
    *skip = INT64_MAX;
    if (tpi_cron_next(rule, low + span->offset, &civil)) {
        *skip = later(span->end - 1, civil - FAR_S);
        bool inside = civil - span->offset < span->end;
        if (inside && (!found || civil - span->offset < in_gap)) {
            *instant = civil - span->offset;
            return true;
        }
    }
    if (found) *instant = in_gap;
    return found;
}

static tp_status next_cron(const struct tpi_cron_rule *rule, tpi_span_fn span_of, void *zone, int64_t after,
                           int64_t *instant) {
    while (after < TP_TIME_MAX / 1000) {
        struct tpi_span span = {INT64_MIN, INT64_MAX, 0, 0};
        int64_t skip = 0;
        if (span_of) span_of(zone, after + 1, &span);
        if (next_in_span(rule, &span, after, instant, &skip)) return TP_OK;
        after = skip;
    }
    return TP_NONE;
}

tp_status tpi_rule_next(const struct tpi_cron_rule *rule, tpi_span_fn span, void *zone, int64_t after_ms,
                        int64_t *next_ms) {
    int64_t instant = 0;
    if (rule->kind != TPI_RULE_CRON) {
        if (after_ms > TP_TIME_MAX - rule->period_ms) return TP_NONE;
        *next_ms = after_ms + rule->period_ms;
        return TP_OK;
    }
    int64_t after = after_ms / 1000 - (after_ms % 1000 < 0);
    tp_status status = next_cron(rule, span, zone, after, &instant);
    if (status == TP_OK && instant > TP_TIME_MAX / 1000) status = TP_NONE;
    if (status == TP_OK) *next_ms = instant * 1000;
    return status;
}
