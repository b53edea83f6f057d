/* See decimal.h. */
#include "common/decimal.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { WHOLE_DIGITS = 18, FRACTION_DIGITS = 9, BILLION = 1000000000 };
static const int64_t too_large = INT64_C(1000000000000000000);

/* Up to most digits, as a number, which they are moved behind. How many; 0: none, or too many. */
static int read_digits(const char **text, int most, int64_t *number) {
    int count = 0;
    for (*number = 0; isdigit((unsigned char)**text); ++*text, count++) {
        if (count == most) return 0;
        *number = *number * 10 + (**text - '0');
    }
    return count;
}

bool decimal_read(const char *text, struct decimal *value) {
    int sign = *text == '-' ? -1 : 1, digits = 0;
    struct decimal read = {0};
    if (sign < 0) text++;
    if (!read_digits(&text, WHOLE_DIGITS, &read.whole)) return false;
    if (*text == '.') {
        text++;
        digits = read_digits(&text, FRACTION_DIGITS, &read.billionths);
        if (!digits) return false;
    }
    if (*text) return false;
    read.digits = digits;
    for (; digits < FRACTION_DIGITS; digits++)
        read.billionths *= 10;
    read.whole *= sign;
    read.billionths *= sign;
    *value = read;
    return true;
}

bool decimal_add(struct decimal *sum, const struct decimal *value) {
    int64_t whole = sum->whole + value->whole, billionths = sum->billionths + value->billionths;
    whole += billionths / BILLION;
    billionths %= BILLION;
    /* Both parts get the sign of the sum. */
    if (whole > 0 && billionths < 0) {
        whole--;
        billionths += BILLION;
    } else if (whole < 0 && billionths > 0) {
        whole++;
        billionths -= BILLION;
    }
    if (whole >= too_large || whole <= -too_large) return false;
    sum->whole = whole;
    sum->billionths = billionths;
    if (value->digits > sum->digits) sum->digits = value->digits;
    return true;
}

bool decimal_equal(const struct decimal *a, const struct decimal *b) {
    return a->whole == b->whole && a->billionths == b->billionths;
}

const char *decimal_text(const struct decimal *value, char text[DECIMAL_TEXT_SIZE]) {
    const char *sign = value->whole < 0 || value->billionths < 0 ? "-" : "";
    int64_t fraction = llabs(value->billionths);
    for (int i = value->digits; i < FRACTION_DIGITS; i++)
        fraction /= 10;
    if (value->digits)
        snprintf(text, DECIMAL_TEXT_SIZE, "%s%" PRId64 ".%0*" PRId64, sign, (int64_t)llabs(value->whole),
                 value->digits, fraction);
    else
        snprintf(text, DECIMAL_TEXT_SIZE, "%s%" PRId64, sign, (int64_t)llabs(value->whole));
    return text;
}
