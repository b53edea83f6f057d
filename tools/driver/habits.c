/* Reads from the connection string which habits and faults the test driver is to have, and makes calls fail
 * that a fault is due for. */
#include "habits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

static const struct {
    const char *word;
    size_t offset;
} words[] = {
#define HABIT(name) {#name, offsetof(struct habits, name)},
    HABIT_LIST(HABIT)
#undef HABIT
        {NULL, 0}};

static bool read_word(struct habits *habits, char *word) {
    char *number = strchr(word, ':');
    if (number) *number++ = '\0';
    for (size_t i = 0; words[i].word; i++) {
        if (strcmp(words[i].word, word) != 0) continue;
        long value = number ? strtol(number, NULL, 10) : 1;
        memcpy((char *)habits + words[i].offset, &value, sizeof value);
        return true;
    }
    return false;
}

bool habits_read(struct habits *habits, char *list, const char **wrong) {
    char *rest = NULL;
    for (char *word = strtok_r(list, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        *wrong = word;
        if (!read_word(habits, word)) return false;
    }
    return true;
}

static bool read_fault(struct fault *fault, const char *text) {
    char done[8] = "";
    int count = sscanf(text, "%31[^:]:%ld:%5[^:]:%ld:%7s", fault->function, &fault->n, fault->state,
                       &fault->native, done);
    fault->done = strcmp(done, "done") == 0;
    return count == 4 || (count == 5 && fault->done);
}

bool habits_read_faults(struct habits *habits, char *list, const char **wrong) {
    char *rest = NULL;
    for (char *word = strtok_r(list, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        *wrong = word;
        if (habits->fault_count == FAULTS_MAX || !read_fault(&habits->faults[habits->fault_count++], word))
            return false;
    }
    return true;
}

/* The fault that is due at this call, NULL: none. */
static struct fault *due(struct object *object, const char *function, bool done) {
    struct habits *habits = object->dbc ? &object->dbc->habits : NULL;
    for (size_t i = 0; habits && i < habits->fault_count; i++) {
        struct fault *fault = &habits->faults[i];
        if (fault->done != done || strcmp(fault->function, function) != 0) continue;
        if (++fault->seen == fault->n) return fault;
    }
    return NULL;
}

static SQLRETURN fail_by(struct object *object, const struct fault *fault, const char *function) {
    return fail(object, fault->state, (SQLINTEGER)fault->native, "%s was made to fail", function);
}

bool call_begin(struct object *object, const char *function) {
    object->diag.is_set = false;
    struct fault *fault = due(object, function, false);
    if (fault) fail_by(object, fault, function);
    return !fault;
}

SQLRETURN call_end(struct object *object, const char *function, SQLRETURN answer) {
    struct fault *fault = due(object, function, true);
    if (fault) return fail_by(object, fault, function);
    bool said = answer == SQL_ERROR || answer == SQL_SUCCESS_WITH_INFO;
    if (said && !object->diag.is_set) keep_diag(object);
    if (said) code_translate(object);
    return answer;
}
