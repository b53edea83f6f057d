/* Keeps the notes of a walk and compares the tables with them. See notebook.h. */
#include "walk/notebook.h"

#include <stdio.h>
#include <string.h>

#include "support/tasks.h"

struct notebook notebook;

void notebook_open(void) {
    static int round;
    notebook = (struct notebook){0};
    snprintf(pool.handler, sizeof pool.handler, "walk%d", ++round);
    sql_run(pool.eye, "DELETE FROM tp_once");
    sql_run(pool.eye, "DELETE FROM tp_fx");
}

struct note *notebook_add(const char *key) {
    if (notebook.count == NOTES) return NULL;
    struct note *note = &notebook.notes[notebook.count];
    snprintf(note->params, sizeof note->params, "%zu", notebook.count++);
    snprintf(note->key, sizeof note->key, "%s", key);
    note->task = (tp_new_task)TP_NEW_TASK_INIT;
    note->task.handler = pool.handler;
    note->task.params = note->params;
    note->task.dedup_key = note->key;
    return note;
}

struct note *notebook_find(const char *id) {
    for (size_t i = 0; i < notebook.count; i++)
        if (strcmp(notebook.notes[i].task.id, id) == 0) return &notebook.notes[i];
    sure(false, "task %s was never asked for", id);
    return NULL;
}

void notebook_end(struct note *note, const char *state) {
    sure(!note->ended, "task %s was ended as %s, and now as %s", note->task.id, note->ended, state);
    note->ended = state;
    note->there = true;
}

void notebook_name_key(char name[16], size_t key) {
    snprintf(name, 16, "once.%zu", key);
}

/* ---- The judge ----------------------------------------------------------------------------------------- */

/* Gives how often it is there. */
static int judge_task(const struct note *note) {
    const char *id = note->task.id;
    if (!id[0]) return 0;
    struct row row = row_of(id);
    bool done = row.copies && strcmp(row.state, "done") == 0;
    sure(row.copies <= 1, "task %s is there %d times", id, row.copies);
    sure(row.copies || !note->there, "task %s was confirmed, and is not there", id);
    sure(!row.copies || !note->refused, "task %s was refused, and is there", id);
    sure(!note->ended || strcmp(row.state, note->ended) == 0, "task %s ended as %s, and is %s", id,
         note->ended ? note->ended : "", row.state);
    sure(effects_of(id) == done, "task %s is %s, with %d effects", id, row.state, (int)effects_of(id));
    return row.copies;
}

static void judge_key(size_t key) {
    char name[16];
    notebook_name_key(name, key);
    int64_t there = sql_number(pool.eye, "SELECT count(*) FROM tp_once WHERE once_key = '%s'", name);
    sure(effects_of(name) == there, "key %s is there %d times, with %d effects", name, (int)there,
         (int)effects_of(name));
    sure(there || !notebook.keys[key], "key %s was confirmed, and is not there", name);
}

void notebook_judge(void) {
    int64_t copies = 0;
    for (size_t i = 0; i < notebook.count; i++)
        copies += judge_task(&notebook.notes[i]);
    expect_number(rows_in("pending", pool.handler) + rows_in("finished", pool.handler) +
                      rows_in("failed", pool.handler),
                  copies);
    for (size_t key = 0; key < KEYS; key++)
        judge_key(key);
    expect_number(
        sql_number(
            pool.eye,
            "SELECT count(*) FROM (SELECT dedup_key FROM tp_pending WHERE handler = '%s' AND dedup_key "
            "IS NOT NULL GROUP BY dedup_key HAVING count(*) > 1) twice",
            pool.handler),
        0);
    expect_sound_pools();
}
