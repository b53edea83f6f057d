/* See fsm.h. The table below is the whole life of a task; read it with the picture in docs/lifecycle.md. */
#include "core/fsm.h"

#include <stdio.h>
#include <string.h>

/* Conditions of a rule; all named ones must hold. */
enum {
    IF_DUE = 1,
    IF_HOLDER = 2,
    IF_MORE = 4, /* failures + 1 < max_failures */
    IF_LAST = 8, /* failures + 1 >= max_failures */
    /* What a lapsed lease means. */
    IF_LAPSE_RETRY = 16,
    IF_LAPSE_FAIL = 32,
    IF_LAPSE_SKIP = 64,
    IF_UNWANTED = 128, /* cancelled, or past its deadline */
};

/* What a rule does to the failure count. */
enum count { SAME, PLUS_ONE, ZERO };

struct rule {
    enum tpi_pool pool;
    enum tpi_state state;
    enum tpi_event event;
    unsigned conditions;
    tp_status verdict;
    bool written;
    enum tpi_pool to_pool;
    enum tpi_state to_state;
    enum count count;
    enum tpi_due due;
    bool lapsed;
};

/* Short names for the table only. */
#define P        TPI_POOL_PENDING
#define D        TPI_POOL_FINISHED
#define F        TPI_POOL_FAILED
#define PENDING  TPI_STATE_PENDING
#define HANDLING TPI_STATE_HANDLING
#define FAILED   TPI_STATE_FAILED
#define DONE     TPI_STATE_DONE
#define SKIPPED  TPI_STATE_SKIPPED
#define KEEP     TPI_DUE_KEEP

/* clang-format off */
static const struct rule rules[] = {
    /* from          event               when                  verdict   writes  to            failures  due            lapsed */
    {P, PENDING,  TPI_EVENT_CLAIM,    IF_DUE | IF_UNWANTED, TP_OK,    true,   D, SKIPPED,   SAME,     KEEP,          false},
    {P, FAILED,   TPI_EVENT_CLAIM,    IF_DUE | IF_UNWANTED, TP_OK,    true,   D, SKIPPED,   SAME,     KEEP,          false},
    {P, HANDLING, TPI_EVENT_CLAIM,    IF_DUE | IF_UNWANTED, TP_OK,    true,   D, SKIPPED,   PLUS_ONE, KEEP,          true},
    {P, PENDING,  TPI_EVENT_CLAIM,    IF_DUE,               TP_OK,    true,   P, HANDLING,  SAME,     TPI_DUE_LEASE, false},
    {P, FAILED,   TPI_EVENT_CLAIM,    IF_DUE,               TP_OK,    true,   P, HANDLING,  SAME,     TPI_DUE_LEASE, false},
    {P, HANDLING, TPI_EVENT_CLAIM,    IF_DUE | IF_LAPSE_FAIL, TP_EXHAUSTED, true, F, FAILED,    PLUS_ONE, KEEP,          true},
    {P, HANDLING, TPI_EVENT_CLAIM,    IF_DUE | IF_LAPSE_SKIP, TP_OK,  true,   D, SKIPPED,   PLUS_ONE, KEEP,          true},
    {P, HANDLING, TPI_EVENT_CLAIM,    IF_DUE | IF_LAPSE_RETRY | IF_MORE, TP_OK, true, P, HANDLING, PLUS_ONE, TPI_DUE_LEASE, true},
    {P, HANDLING, TPI_EVENT_CLAIM,    IF_DUE | IF_LAPSE_RETRY | IF_LAST, TP_EXHAUSTED, true, F, FAILED, PLUS_ONE, KEEP,  true},

    /* Claimed by a lock alone: only a lapse is written, and what is not wanted any more. */
    {P, PENDING,  TPI_EVENT_HOLD,     IF_DUE | IF_UNWANTED, TP_OK,    true,   D, SKIPPED,   SAME,     KEEP,          false},
    {P, FAILED,   TPI_EVENT_HOLD,     IF_DUE | IF_UNWANTED, TP_OK,    true,   D, SKIPPED,   SAME,     KEEP,          false},
    {P, HANDLING, TPI_EVENT_HOLD,     IF_DUE | IF_UNWANTED, TP_OK,    true,   D, SKIPPED,   PLUS_ONE, KEEP,          true},
    {P, PENDING,  TPI_EVENT_HOLD,     IF_DUE,               TP_OK,    false,  P, PENDING,   SAME,     KEEP,          false},
    {P, FAILED,   TPI_EVENT_HOLD,     IF_DUE,               TP_OK,    false,  P, FAILED,    SAME,     KEEP,          false},
    {P, HANDLING, TPI_EVENT_HOLD,     IF_DUE | IF_LAPSE_FAIL, TP_EXHAUSTED, true, F, FAILED,    PLUS_ONE, KEEP,          true},
    {P, HANDLING, TPI_EVENT_HOLD,     IF_DUE | IF_LAPSE_SKIP, TP_OK,  true,   D, SKIPPED,   PLUS_ONE, KEEP,          true},
    {P, HANDLING, TPI_EVENT_HOLD,     IF_DUE | IF_LAPSE_RETRY | IF_MORE, TP_OK, true, P, FAILED, PLUS_ONE, KEEP,     true},
    {P, HANDLING, TPI_EVENT_HOLD,     IF_DUE | IF_LAPSE_RETRY | IF_LAST, TP_EXHAUSTED, true, F, FAILED, PLUS_ONE, KEEP,  true},

    {P, HANDLING, TPI_EVENT_COMPLETE, IF_HOLDER,            TP_OK,    true,   D, DONE,      SAME,     KEEP,          false},
    {P, HANDLING, TPI_EVENT_SKIP,     IF_HOLDER,            TP_OK,    true,   D, SKIPPED,   SAME,     KEEP,          false},
    /* What was done counts; what was not is not tried again. */
    {P, HANDLING, TPI_EVENT_FAIL,     IF_HOLDER | IF_UNWANTED, TP_OK, true,   D, SKIPPED,   SAME,     KEEP,          false},
    {P, HANDLING, TPI_EVENT_GIVE_UP,  IF_HOLDER | IF_UNWANTED, TP_OK, true,   D, SKIPPED,   SAME,     KEEP,          false},
    {P, HANDLING, TPI_EVENT_RELEASE,  IF_HOLDER | IF_UNWANTED, TP_OK, true,   D, SKIPPED,   SAME,     KEEP,          false},
    {P, HANDLING, TPI_EVENT_FAIL,     IF_HOLDER | IF_MORE,  TP_OK,    true,   P, FAILED,    PLUS_ONE, TPI_DUE_DELAY, false},
    {P, HANDLING, TPI_EVENT_FAIL,     IF_HOLDER | IF_LAST,  TP_EXHAUSTED, true,   F, FAILED,    PLUS_ONE, KEEP,          false},
    {P, HANDLING, TPI_EVENT_GIVE_UP,  IF_HOLDER,            TP_EXHAUSTED, true,   F, FAILED,    PLUS_ONE, KEEP,          false},
    {P, HANDLING, TPI_EVENT_RELEASE,  IF_HOLDER,            TP_OK,    true,   P, PENDING,   SAME,     TPI_DUE_DELAY, false},
    {P, HANDLING, TPI_EVENT_EXTEND,   IF_HOLDER,            TP_OK,    true,   P, HANDLING,  SAME,     TPI_DUE_LEASE, false},

    /* Asked again: the row stands where the first try put it, under the same token. */
    {D, DONE,     TPI_EVENT_COMPLETE, IF_HOLDER,            TP_OK,    false,  D, DONE,      SAME,     KEEP,          false},
    {D, SKIPPED,  TPI_EVENT_SKIP,     IF_HOLDER,            TP_OK,    false,  D, SKIPPED,   SAME,     KEEP,          false},
    {D, SKIPPED,  TPI_EVENT_FAIL,     IF_HOLDER | IF_UNWANTED, TP_OK, false,  D, SKIPPED,   SAME,     KEEP,          false},
    {D, SKIPPED,  TPI_EVENT_GIVE_UP,  IF_HOLDER | IF_UNWANTED, TP_OK, false,  D, SKIPPED,   SAME,     KEEP,          false},
    {D, SKIPPED,  TPI_EVENT_RELEASE,  IF_HOLDER | IF_UNWANTED, TP_OK, false,  D, SKIPPED,   SAME,     KEEP,          false},
    {P, FAILED,   TPI_EVENT_FAIL,     IF_HOLDER,            TP_OK,    false,  P, FAILED,    SAME,     KEEP,          false},
    {F, FAILED,   TPI_EVENT_FAIL,     IF_HOLDER,            TP_EXHAUSTED, false,  F, FAILED,    SAME,     KEEP,          false},
    {F, FAILED,   TPI_EVENT_GIVE_UP,  IF_HOLDER,            TP_EXHAUSTED, false,  F, FAILED,    SAME,     KEEP,          false},
    {P, PENDING,  TPI_EVENT_RELEASE,  IF_HOLDER,            TP_OK,    false,  P, PENDING,   SAME,     KEEP,          false},

    /* A person steps in. */
    {F, FAILED,   TPI_EVENT_RETRY,    0,                    TP_OK,    true,   P, PENDING,   ZERO,     TPI_DUE_NOW,   false},
    {P, FAILED,   TPI_EVENT_RETRY,    0,                    TP_OK,    true,   P, PENDING,   ZERO,     TPI_DUE_NOW,   false},
    {P, PENDING,  TPI_EVENT_DROP,     0,                    TP_OK,    true,   D, SKIPPED,   SAME,     KEEP,          false},
    {P, FAILED,   TPI_EVENT_DROP,     0,                    TP_OK,    true,   D, SKIPPED,   SAME,     KEEP,          false},
    {F, FAILED,   TPI_EVENT_DROP,     0,                    TP_OK,    true,   D, SKIPPED,   SAME,     KEEP,          false},
    /* Whoever has it in hand is told, and decides. */
    {P, PENDING,  TPI_EVENT_CANCEL,   0,                    TP_OK,    true,   D, SKIPPED,   SAME,     KEEP,          false},
    {P, FAILED,   TPI_EVENT_CANCEL,   0,                    TP_OK,    true,   D, SKIPPED,   SAME,     KEEP,          false},
    {P, HANDLING, TPI_EVENT_CANCEL,   0,                    TP_OK,    false,  P, HANDLING,  SAME,     KEEP,          false},
    {P, HANDLING, TPI_EVENT_FREE,     0,                    TP_OK,    true,   P, PENDING,   SAME,     TPI_DUE_NOW,   false},

    /* New content, by a person or by a producer who brings the same dedup_key. */
    {P, PENDING,  TPI_EVENT_EDIT,     0,                    TP_OK,    true,   P, PENDING,   SAME,     KEEP,          false},
    {P, FAILED,   TPI_EVENT_EDIT,     0,                    TP_OK,    true,   P, FAILED,    SAME,     KEEP,          false},
    {F, FAILED,   TPI_EVENT_EDIT,     0,                    TP_OK,    true,   F, FAILED,    SAME,     KEEP,          false},
};
/* clang-format on */

static const struct {
    const char *name;
    bool holder;
} events[] = {
#define EVENT(id, name, holder) {name, holder},
    TPI_EVENT_LIST(EVENT)
#undef EVENT
};

#define NAME(id, name) name,
static const char *const pool_names[] = {TPI_POOL_LIST(NAME)};
static const char *const state_names[] = {TPI_STATE_LIST(NAME)};
#undef NAME

static unsigned conditions_met(const struct tpi_facts *facts) {
    unsigned met = 0;
    if (facts->due) met |= IF_DUE;
    if (facts->holder) met |= IF_HOLDER;
    met |= facts->failures < facts->max_failures - 1 ? IF_MORE : IF_LAST;
    if (facts->on_lapse == TP_LAPSE_RETRY) met |= IF_LAPSE_RETRY;
    if (facts->on_lapse == TP_LAPSE_FAIL) met |= IF_LAPSE_FAIL;
    if (facts->on_lapse == TP_LAPSE_SKIP) met |= IF_LAPSE_SKIP;
    if (facts->unwanted) met |= IF_UNWANTED;
    return met;
}

static struct tpi_change apply(const struct rule *rule, int32_t failures) {
    if (rule->count == PLUS_ONE && failures < INT32_MAX) failures++;
    if (rule->count == ZERO) failures = 0;
    return (struct tpi_change){.verdict = rule->verdict,
                               .written = rule->written,
                               .pool = rule->to_pool,
                               .state = rule->to_state,
                               .failures = failures,
                               .due = rule->due,
                               .lapsed = rule->lapsed};
}

struct tpi_change tpi_fsm_decide(enum tpi_pool pool, enum tpi_state state, enum tpi_event event,
                                 const struct tpi_facts *facts) {
    unsigned met = conditions_met(facts);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        const struct rule *rule = &rules[i];
        if (rule->pool != pool || rule->state != state || rule->event != event) continue;
        if ((rule->conditions & met) == rule->conditions) return apply(rule, facts->failures);
    }
    return (struct tpi_change){.verdict = events[event].holder ? TP_LOST : TP_NONE,
                               .pool = pool,
                               .state = state,
                               .failures = facts->failures};
}

const char *tpi_pool_name(enum tpi_pool pool) {
    return pool_names[pool];
}

const char *tpi_state_name(enum tpi_state state) {
    return state_names[state];
}

const char *tpi_event_word(enum tpi_event event) {
    return events[event].name;
}

static bool find(const char *const *names, int count, const char *name, int *found) {
    for (int i = 0; i < count; i++) {
        if (strcmp(names[i], name) != 0) continue;
        *found = i;
        return true;
    }
    return false;
}

bool tpi_pool_parse(const char *name, enum tpi_pool *pool) {
    int found = 0;
    if (!find(pool_names, TPI_POOL_COUNT, name, &found)) return false;
    *pool = (enum tpi_pool)found;
    return true;
}

bool tpi_state_parse(const char *name, enum tpi_state *state) {
    int found = 0;
    if (!find(state_names, TPI_STATE_COUNT, name, &found)) return false;
    *state = (enum tpi_state)found;
    return true;
}

/* ---- For people ---------------------------------------------------------------------------------------- */

static void print_place(char *out, size_t size, enum tpi_pool pool, enum tpi_state state) {
    snprintf(out, size, "%s %s", pool_names[pool], state_names[state]);
}

static void print_conditions(char *out, size_t size, unsigned conditions) {
    static const struct {
        unsigned bit;
        const char *text;
    } names[] = {{IF_DUE, "due"},
                 {IF_HOLDER, "holder"},
                 {IF_MORE, "not the last failure"},
                 {IF_LAST, "the last failure"},
                 {IF_LAPSE_RETRY, "a lapse is retried"},
                 {IF_LAPSE_FAIL, "a lapse fails"},
                 {IF_LAPSE_SKIP, "a lapse skips"},
                 {IF_UNWANTED, "not wanted any more"}};
    size_t length = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if ((conditions & names[i].bit) && length < size)
            length +=
                (size_t)snprintf(out + length, size - length, "%s%s", length ? ", " : "", names[i].text);
}

static void print_rule(const struct rule *rule, tp_text_fn write, void *arg) {
    static const char *const counts[] = {[SAME] = "", [PLUS_ONE] = "+1", [ZERO] = "0"};
    static const char *const dues[] = {
        [TPI_DUE_KEEP] = "", [TPI_DUE_NOW] = "now", [TPI_DUE_LEASE] = "lease", [TPI_DUE_DELAY] = "delay"};
    char from[32], to[32], when[80], line[240];
    print_place(from, sizeof from, rule->pool, rule->state);
    print_place(to, sizeof to, rule->to_pool, rule->to_state);
    print_conditions(when, sizeof when, rule->conditions);
    int length = snprintf(line, sizeof line, "| %-16s | %-8s | %-45s | %-16s | %-8s | %-5s | %-6s |\n", from,
                          events[rule->event].name, when, rule->written ? to : "stays", counts[rule->count],
                          dues[rule->due], tp_status_name(rule->verdict));
    write(line, (size_t)length, arg);
}

void tp_fsm_print(tp_text_fn write, void *arg) {
    static const char head[] =
        "| from             | event    | if                                            | to            "
        "   | failures | due   | answer |\n"
        "|------------------|----------|-----------------------------------------------|---------------"
        "---|----------|-------|--------|\n";
    if (!write) return;
    write(head, sizeof head - 1, arg);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        print_rule(&rules[i], write, arg);
}
