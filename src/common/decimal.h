/* Sums of money: exact decimal numbers with up to 18 digits before the point and 9 behind it. Pure functions.
 */
#ifndef COMMON_DECIMAL_H
#define COMMON_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

struct decimal {
    int64_t whole;
    int64_t billionths; /* of the same sign as whole */
    int digits;         /* behind the point: the most that were read */
};

/* -12.50: the whole text is such a number. No exponent and no sign but -. */
bool decimal_read(const char *text, struct decimal *value);
/* False: the sum has more than 18 digits, and stays. */
bool decimal_add(struct decimal *sum, const struct decimal *value);
bool decimal_equal(const struct decimal *a, const struct decimal *b);

#define DECIMAL_TEXT_SIZE 40
/* With as many digits behind the point as were read. Gives text back. */
const char *decimal_text(const struct decimal *value, char text[DECIMAL_TEXT_SIZE]);

#endif
