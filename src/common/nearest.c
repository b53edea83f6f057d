/* See nearest.h. */
#include "nearest.h"

#include <string.h>

static size_t least_of(size_t a, size_t b) {
    return a < b ? a : b;
}

/* rows[i][j]: the distance of the first i letters from the first j of the other. */
size_t nearest_distance(const char *one, const char *other) {
    size_t rows[NEAREST_MAX + 1][NEAREST_MAX + 1];
    size_t height = strnlen(one, NEAREST_MAX), width = strnlen(other, NEAREST_MAX);

    for (size_t i = 0; i <= height; i++)
        rows[i][0] = i;
    for (size_t j = 0; j <= width; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= height; i++) {
        for (size_t j = 1; j <= width; j++) {
            size_t best = least_of(rows[i - 1][j], rows[i][j - 1]) + 1;

            best = least_of(best, rows[i - 1][j - 1] + (one[i - 1] != other[j - 1]));
            if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1])
                best = least_of(best, rows[i - 2][j - 2] + 1);
            rows[i][j] = best;
        }
    }
    return rows[height][width];
}

void nearest_try(struct nearest *nearest, const char *candidate) {
    size_t distance = nearest_distance(nearest->word, candidate);

    if (distance > (strnlen(candidate, NEAREST_MAX) + 1) / 3) return;
    if (nearest->found && distance >= nearest->distance) return;
    nearest->found = candidate;
    nearest->distance = distance;
}
