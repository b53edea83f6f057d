/* See openmetrics.h. */
#include "openmetrics.h"

#include <stdlib.h>
#include <string.h>
#include <unistr.h>

#include "escape.h"
#include "messages.h"

void metric_family(FILE *to, const char *name, const char *type, const char *unit, const char *help) {
    fprintf(to, "# TYPE %s %s\n", name, type);
    if (*unit) fprintf(to, "# UNIT %s %s\n", name, unit);
    fprintf(to, "# HELP %s %s\n", name, help);
}

/* Text that is no UTF-8 is shown as people see it elsewhere. */
static void put_escaped(FILE *to, const char *text) {
    char *shown = NULL;

    if (u8_check((const uint8_t *)text, strlen(text))) text = shown = cli_must(escape_text(text));
    for (; *text; text++) {
        if (*text == '\n')
            fputs("\\n", to);
        else if (*text == '"' || *text == '\\')
            fprintf(to, "\\%c", *text);
        else
            fputc(*text, to);
    }
    free(shown);
}

static void put_name(FILE *to, const char *name, const struct metric_label *labels) {
    char before = '{';

    fputs(name, to);
    for (; labels->name; labels++) {
        if (!labels->value) continue;
        fprintf(to, "%c%s=\"", before, labels->name);
        put_escaped(to, labels->value);
        fputc('"', to);
        before = ',';
    }
    fputs(before == ',' ? "} " : " ", to);
}

void metric_put(FILE *to, const char *name, const struct metric_label *labels, int64_t value) {
    put_name(to, name, labels);
    fprintf(to, "%lld\n", (long long)value);
}

void metric_put_seconds(FILE *to, const char *name, const struct metric_label *labels, int64_t ms) {
    put_name(to, name, labels);
    fprintf(to, "%s%lld.%03lld\n", ms < 0 ? "-" : "", llabs((long long)ms) / 1000,
            llabs((long long)ms) % 1000);
}

#define BUCKET_END(number, ms) ms,
static const int64_t bucket_ends[] = {TP_HISTOGRAM_LIST(BUCKET_END)};
#undef BUCKET_END

void metric_put_histogram(FILE *to, const char *name, const char *pool, const char *handler,
                          const tp_histogram *times) {
    char sample[64], end[32];
    int64_t count = 0;

    snprintf(sample, sizeof sample, "%s_bucket", name);
    for (size_t i = 0; i < TP_HISTOGRAM_BUCKETS; i++) {
        count += times->counts[i];
        if (bucket_ends[i] == INT64_MAX)
            snprintf(end, sizeof end, "+Inf");
        else
            snprintf(end, sizeof end, bucket_ends[i] % 1000 ? "%.3g" : "%.1f", (double)bucket_ends[i] / 1000);
        metric_put(to, sample, LABELS({"pool", pool}, {"handler", handler}, {"le", end}), count);
    }
    snprintf(sample, sizeof sample, "%s_sum", name);
    metric_put_seconds(to, sample, LABELS({"pool", pool}, {"handler", handler}), times->sum_ms);
    snprintf(sample, sizeof sample, "%s_count", name);
    metric_put(to, sample, LABELS({"pool", pool}, {"handler", handler}), count);
}

void metric_end(FILE *to) {
    fputs("# EOF\n", to);
}
