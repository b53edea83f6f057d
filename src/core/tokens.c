/* See tokens.h. */
#include "core/tokens.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "taskpool.h"

/* Of too many the two oldest become one, of the later time. */
static void make_room(struct tpi_tokens *tokens) {
    if (tokens->count < TPI_TOKENS_MAX) return;
    tokens->held[1].tokens += tokens->held[0].tokens;
    memmove(&tokens->held[0], &tokens->held[1], --tokens->count * sizeof tokens->held[0]);
}

/* Adds to the entry of this time, or puts one in. */
static void add(struct tpi_tokens *tokens, int64_t ended_at, int64_t count) {
    make_room(tokens);
    size_t at = tokens->count;
    while (at > 0 && tokens->held[at - 1].ended_at >= ended_at)
        at--;
    if (at < tokens->count && tokens->held[at].ended_at == ended_at) {
        tokens->held[at].tokens += count;
        return;
    }
    memmove(&tokens->held[at + 1], &tokens->held[at], (tokens->count - at) * sizeof tokens->held[0]);
    tokens->held[at].ended_at = ended_at;
    tokens->held[at].tokens = count;
    tokens->count++;
}

void tpi_tokens_read(const char *text, struct tpi_tokens *tokens) {
    char *end = NULL;
    tokens->count = 0;
    while (*text) {
        int64_t ended_at = strtoll(text, &end, 10), count = 0;
        if (end == text || *end != ':') return;
        text = end + 1;
        count = strtoll(text, &end, 10);
        if (end == text || count <= 0 || ended_at <= 0) return;
        add(tokens, ended_at, count < TP_GATE_WIDTH_MAX ? count : TP_GATE_WIDTH_MAX);
        text = end;
    }
}

void tpi_tokens_write(const struct tpi_tokens *tokens, char text[TPI_TOKENS_TEXT]) {
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < tokens->count; i++)
        used += (size_t)snprintf(text + used, TPI_TOKENS_TEXT - used, "%s%" PRId64 ":%" PRId64, i ? " " : "",
                                 tokens->held[i].ended_at, tokens->held[i].tokens);
}

static int64_t slot_end(int64_t period_ms, int64_t now) {
    int64_t slot = period_ms > TPI_TOKEN_SLOTS ? period_ms / TPI_TOKEN_SLOTS : 1;
    return (now + slot - 1) / slot * slot;
}

void tpi_tokens_return(struct tpi_tokens *tokens, int64_t period_ms, int64_t now, int64_t ahead_ms) {
    struct tpi_tokens old = *tokens;
    int64_t latest = slot_end(period_ms, now + ahead_ms);
    tokens->count = 0;
    for (size_t i = 0; i < old.count; i++) {
        int64_t ended_at = old.held[i].ended_at < latest ? old.held[i].ended_at : latest;
        if (ended_at + period_ms > now) add(tokens, ended_at, old.held[i].tokens);
    }
}

void tpi_tokens_hold(struct tpi_tokens *tokens, int64_t period_ms, int64_t now, int64_t count) {
    if (count > 0) add(tokens, slot_end(period_ms, now), count);
}

int64_t tpi_tokens_held(const struct tpi_tokens *tokens) {
    int64_t held = 0;
    for (size_t i = 0; i < tokens->count; i++)
        held += tokens->held[i].tokens;
    return held;
}

int64_t tpi_tokens_first(const struct tpi_tokens *tokens, int64_t period_ms) {
    return tokens->count ? tokens->held[0].ended_at + period_ms : 0;
}

int64_t tpi_tokens_last(const struct tpi_tokens *tokens, int64_t period_ms) {
    return tokens->count ? tokens->held[tokens->count - 1].ended_at + period_ms : 0;
}
