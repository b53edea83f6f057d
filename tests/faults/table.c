/* See table.h. */
#include "faults/table.h"

#include <stdio.h>
#include <string.h>

enum { LINES_MAX = 240, NAME_WIDTH = 46 };

const char *const way_names[WAYS] = {
#define WAY_NAME(id, name) name,
    WAY_LIST(WAY_NAME)
#undef WAY_NAME
};

struct line {
    char name[64];
    int points[WAYS];
};
static struct line lines[LINES_MAX];
static size_t line_count;

int *table_line(const char *operation, const char *plan) {
    char name[sizeof lines[0].name];
    size_t i = 0;
    snprintf(name, sizeof name, "%s%s%s", operation, plan ? ", " : "", plan ? plan : "");
    while (i < line_count && strcmp(lines[i].name, name) != 0)
        i++;
    sure(i < LINES_MAX, "too many operations");
    if (i == line_count) memcpy(lines[line_count++].name, name, sizeof name);
    return lines[i].points;
}

static void print_line(const char *name, const int *numbers) {
    int total = 0;
    printf("%-*s", NAME_WIDTH, name);
    for (int way = 0; way < WAYS; way++) {
        if (!points_options.ways[way]) continue;
        printf(" %*d", (int)strlen(way_names[way]), numbers[way]);
        total += numbers[way];
    }
    printf(" %6d\n", total);
}

void table_print(void) {
    int totals[WAYS] = {0};
    printf("\n%s tried on %s, one in %d\n%-*s", points_options.pairs ? "pairs" : "points", pool.entry,
           points_options.every, NAME_WIDTH, "operation, plan");
    for (int way = 0; way < WAYS; way++)
        if (points_options.ways[way]) printf(" %s", way_names[way]);
    printf(" %6s\n", "all");
    for (size_t i = 0; i < line_count; i++) {
        print_line(lines[i].name, lines[i].points);
        for (int way = 0; way < WAYS; way++)
            totals[way] += lines[i].points[way];
    }
    print_line("all", totals);
}
