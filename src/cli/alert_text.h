/* What an alert program gets of many tasks at once: variables that sum them up, and lines of JSON. Must not
 * know how it is run. Read next: handle.c. */
#ifndef CLI_ALERT_TEXT_H
#define CLI_ALERT_TEXT_H

#include "cli.h"

#define ALERT_SUMMARY_SIZE 1024

struct alert_text {
    char *lines; /* the first counts by handler and reason, then one for each task */
    size_t length;
    char count[24];
    char summary[ALERT_SUMMARY_SIZE]; /* "4,900 pay: no such account #; 100 mail: timed out after #s" */
    const char *variables[5];         /* for child_order */
};

/* To be freed, whatever tasks there are. */
void alert_text_make(struct alert_text *text, const tp_batch *tasks);
void alert_text_free(struct alert_text *text);

#endif
