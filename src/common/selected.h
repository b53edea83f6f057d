/* Selections of tasks, however they were read. */
#ifndef COMMON_SELECTED_H
#define COMMON_SELECTED_H

#include "taskpool.h"

/* What a list would show is what the action is for. */
void selected_for_action(const tp_list_request *request, tp_selection *action);

#endif
