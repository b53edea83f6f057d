/* The tokens of a gate that are held: tasks that ended within the last period, each of which holds its token
 * until the period after its end is over. Ends are rounded up to one of TPI_TOKEN_SLOTS parts of the period,
 * so a token may come back that much late, never early. Pure. Must not know the database. */
#ifndef TPI_CORE_TOKENS_H
#define TPI_CORE_TOKENS_H

#include <stddef.h>
#include <stdint.h>

/* Of a text: TIME:COUNT for each part of the period in which tasks ended, with blanks between. */
enum { TPI_TOKEN_SLOTS = 64, TPI_TOKENS_MAX = TPI_TOKEN_SLOTS + 2, TPI_TOKENS_TEXT = 1501 };

struct tpi_tokens {
    size_t count;
    struct {
        int64_t ended_at, tokens;
    } held[TPI_TOKENS_MAX]; /* by time */
};

/* What is no such text ends it. */
void tpi_tokens_read(const char *text, struct tpi_tokens *tokens);
void tpi_tokens_write(const struct tpi_tokens *tokens, char text[TPI_TOKENS_TEXT]);
/* Takes those out that came back. A clock that was set back says that all ended by now, or by so much later
 * where others' clocks may be ahead of this one. */
void tpi_tokens_return(struct tpi_tokens *tokens, int64_t period_ms, int64_t now, int64_t ahead_ms);
/* So many tasks have ended just now; those that came back are out. */
void tpi_tokens_hold(struct tpi_tokens *tokens, int64_t period_ms, int64_t now, int64_t count);
/* How many are held. */
int64_t tpi_tokens_held(const struct tpi_tokens *tokens);
/* When the first comes back, and the last; 0: none is held. */
int64_t tpi_tokens_first(const struct tpi_tokens *tokens, int64_t period_ms);
int64_t tpi_tokens_last(const struct tpi_tokens *tokens, int64_t period_ms);

#endif
