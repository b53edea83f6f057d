/* Selections of tasks, however they were read, and the words for what a cancel answered. */
#ifndef COMMON_SELECTED_H
#define COMMON_SELECTED_H

#include <stdbool.h>

#include "taskpool.h"

/* What a list would show is what the action is for. */
void selected_for_action(const tp_list_request *request, tp_selection *action);

/* Is it one task by its id, and nothing else was asked of it? Then tp_cancel says what became of it. */
bool selected_is_one_id(const tp_selection *action);
/* What programs read: unknown, skipped, asked or late. */
const char *cancel_word(tp_cancel_answer answer);

#endif
