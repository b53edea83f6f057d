/* taskpool edit and erase: new content for one task that waits or failed, and the end of one business row's
 * traces. Both are asked again when the answer was lost. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

#include "common/args.h"
#include "common/operator_name.h"
#include "common/pool_columns.h"
#include "params.h"
#include "requested.h"

static struct {
    char *params, *biz_key, *dedup_key, *shard, *priority, *due_at, *deadline, *max_failures, *edit_id, *who,
        *why;
    int no_biz_key, no_dedup_key, no_deadline, retry;
} options;

static struct poptOption edit_table[] = {
    OPTION_TEXT("params", '\0', &options.params, "TEXT", "new parameters; - reads them from standard input"),
    OPTION_TEXT("biz-key", '\0', &options.biz_key, "KEY", "new biz_key"),
    OPTION_FLAG("no-biz-key", '\0', &options.no_biz_key, "take the biz_key out"),
    OPTION_TEXT("dedup-key", '\0', &options.dedup_key, "KEY", "new dedup_key"),
    OPTION_FLAG("no-dedup-key", '\0', &options.no_dedup_key, "take the dedup_key out"),
    OPTION_TEXT("shard", '\0', &options.shard, "N", "new load-balance number"),
    OPTION_TEXT("priority", '\0', &options.priority, "N", "new priority; smaller is sooner"),
    OPTION_TEXT("due-at", '\0', &options.due_at, "TIME",
                "when it, or its retry, is due; not of the failed pool"),
    OPTION_TEXT("deadline", '\0', &options.deadline, "TIME",
                "of no use any more from then on: it is skipped"),
    OPTION_FLAG("no-deadline", '\0', &options.no_deadline, "take the deadline away"),
    OPTION_TEXT("max-failures", '\0', &options.max_failures, "N",
                "how many failures it may have; 0: the worker's policy"),
    OPTION_FLAG("retry", '\0', &options.retry, "retry it at once, in the same transaction"),
    OPTION_TEXT("edit-id", '\0', &options.edit_id, "ID",
                "of an edit whose answer was lost: finds out whether it was done"),
    OPTION_WHY(&options.why),
    OPTION_WHO(&options.who),
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

const struct usage edit_usage = {
    "ID",
    "Moves a task that waits, or one of the failed pool, to another time, deadline, priority or shard, or\n"
    "gives it new parameters or keys. A task in hand, or one that changes meanwhile, is left alone. "
    "Recorded\n"
    "in the history with who and why, and the lengths of what was and is there.\n"
    "Exit code 1: no such task, or an open task has the dedup_key.\n",
    "  taskpool edit 0190c3a2-7b1e-7f3a-9c55-2f6f0c1d2e3f --params '{\"iban\":\"DE02...\"}' --retry --why "
    "'typing error'\n"
    "  taskpool edit 0190c3a2-7b1e-7f3a-9c55-2f6f0c1d2e3f --due-at 2026-12-01T06:00:00Z --priority -5\n"
    "  taskpool edit 0190c3a2-7b1e-7f3a-9c55-2f6f0c1d2e3f --params - --who ann@desk <new.json\n",
    edit_table,
    1,
    1,
};

static struct {
    char *biz_key, *who, *why;
    int dry_run;
} erase_options;

static struct poptOption erase_table[] = {
    OPTION_TEXT("biz-key", '\0', &erase_options.biz_key, "KEY", "whose traces; required"),
    OPTION_FLAG("dry-run", 'n', &erase_options.dry_run, "only count"),
    OPTION_TEXT("why", '\0', &erase_options.why, "TEXT", "recorded; do not name the key or the person"),
    OPTION_WHO(&erase_options.who),
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

const struct usage erase_usage = {
    "--biz-key KEY",
    "Deletes the finished and failed tasks with this key, what the history and the ledger say of them, and "
    "the\n"
    "ledger's key that is the same. Recorded as erased, without the key. While tasks with the key are open\n"
    "nothing is deleted: skip them first if they are not to be done. Run again it goes on.\n"
    "Exit code 1: nothing was found. 9: open tasks or schedules with the key are left.\n",
    "  taskpool erase --biz-key customer-4711 --dry-run\n"
    "  taskpool erase --biz-key customer-4711 --why 'request 17'\n",
    erase_table,
    0,
    0,
};

/* ---- Edit ---------------------------------------------------------------------------------------------- */

static void take_text(const char *name, const char *value, int none, int32_t field, const char **slot,
                      tp_edit_request *edit) {
    if (value && none) args_fail("--%s and --no-%s exclude each other", name, name);
    if (value || none) edit->fields |= field;
    if (value) *slot = value;
}

static void fill(tp_edit_request *edit) {
    int64_t number = 0;

    if (options.params) edit->fields |= TP_EDIT_PARAMS;
    take_text("biz-key", options.biz_key, options.no_biz_key, TP_EDIT_BIZ_KEY, &edit->biz_key, edit);
    take_text("dedup-key", options.dedup_key, options.no_dedup_key, TP_EDIT_DEDUP_KEY, &edit->dedup_key,
              edit);
    if (options.shard) edit->fields |= TP_EDIT_SHARD;
    args_integer("--shard", options.shard, INT32_MIN, INT32_MAX, &number);
    edit->shard = (int32_t)number;
    number = 0;
    if (options.priority) edit->fields |= TP_EDIT_PRIORITY;
    args_integer("--priority", options.priority, INT16_MIN, INT16_MAX, &number);
    edit->priority = (int32_t)number;
    number = 0;
    if (options.max_failures) edit->fields |= TP_EDIT_MAX_FAILURES;
    args_integer("--max-failures", options.max_failures, 0, INT32_MAX, &number);
    edit->max_failures = (int32_t)number;
    if (options.due_at) edit->fields |= TP_EDIT_DUE_AT;
    args_time("--due-at", options.due_at, &edit->due_at);
    if (options.deadline && options.no_deadline) args_fail("--deadline and --no-deadline exclude each other");
    if (options.deadline || options.no_deadline) edit->fields |= TP_EDIT_DEADLINE_AT;
    args_time("--deadline", options.deadline, &edit->deadline_at);
    edit->retry = options.retry;
    if (options.edit_id && strlen(options.edit_id) != TP_ID_SIZE - 1) args_fail("--edit-id is no UUID");
    snprintf(edit->edit_id, sizeof edit->edit_id, "%s", options.edit_id ? options.edit_id : "");
    if (!edit->fields && !edit->retry) args_fail("nothing would be changed; give --params or another option");
}

/* It does the task again, whatever is known of it. */
static void warn_of_retry(tp_conn *conn, const char *id) {
    tp_batch *batch = NULL;
    bool found = tp_show(conn, id, &batch) == TP_OK;
    const char *warning = found ? task_warning(tp_batch_task(batch, 0)) : NULL;

    if (warning && !common.quiet) cli_warn("%s: %s", id, warning);
    tp_batch_free(batch);
}

static enum cli_exit answer_edit(tp_status status, const char *id, const tp_edit_request *edit) {
    if (status == TP_NONE) return cli_fail(EXIT_NOTHING, "no task has the id %s; see taskpool list", id);
    if (status == TP_EXISTS)
        return cli_fail(EXIT_NOTHING, "an open task has the dedup_key; nothing was changed");
    if (status == TP_DISCONNECTED)
        cli_warn("perhaps it was done; the same command with --edit-id %s finds out", edit->edit_id);
    if (status == TP_REQUESTED || status == TP_STALE) return requested(status, edit->edit_id, 1);
    if (status != TP_OK) return cli_fail_tp(status);
    if (common.json)
        out_members(MEMBERS(MEMBER_TEXT("id", id), MEMBER_TEXT("edit_id", edit->edit_id),
                            MEMBER_YES_NO("edited", 1), MEMBER_YES_NO("retried", options.retry)));
    else if (!common.quiet)
        out_text("edited%s %s\n", options.retry ? " and retried" : "", id);
    return EXIT_DONE;
}

enum cli_exit edit_command(const char **args) {
    tp_edit_request edit = TP_EDIT_INIT;
    enum cli_exit code = EXIT_DONE;
    char *params;
    tp_conn *conn;
    tp_status status;

    fill(&edit);
    params = params_get(options.params, &code);
    if (options.params && !params) return code;
    edit.params = params;
    conn = args_connect();
    if (options.retry) warn_of_retry(conn, args[0]);
    status = tp_edit(conn, args[0], &edit, operator_name(options.who), options.why);
    if (status == TP_DISCONNECTED && tp_conn_reopen(conn) == TP_OK) {
        if (options.retry) warn_of_retry(conn, args[0]);
        status = tp_edit(conn, args[0], &edit, operator_name(options.who), options.why);
    }
    free(params);
    return answer_edit(status, args[0], &edit);
}

/* ---- Erase --------------------------------------------------------------------------------------------- */

static void show_erased(const tp_erased *erased) {
    if (common.json) {
        out_members(MEMBERS(MEMBER_NUMBER("finished", (int64_t)erased->finished),
                            MEMBER_NUMBER("failed", (int64_t)erased->failed),
                            MEMBER_NUMBER("events", (int64_t)erased->events),
                            MEMBER_NUMBER("keys", (int64_t)erased->keys),
                            MEMBER_NUMBER("open", (int64_t)erased->open),
                            MEMBER_NUMBER("schedules", (int64_t)erased->schedules),
                            MEMBER_YES_NO("dry_run", erase_options.dry_run)));
        return;
    }
    if (common.quiet) return;
    out_text("%s %zu finished and %zu failed tasks", erase_options.dry_run ? "would erase" : "erased",
             erased->finished, erased->failed);
    if (!erase_options.dry_run)
        out_text(", %zu events, %zu keys of the ledger", erased->events, erased->keys);
    out_text("\n");
}

static tp_status erase(tp_conn *conn, tp_erased *erased) {
    return tp_erase(conn, erase_options.biz_key, operator_name(erase_options.who), erase_options.why,
                    erase_options.dry_run, erased);
}

enum cli_exit erase_command(const char **args) {
    tp_erased erased = TP_ERASED_INIT;
    tp_conn *conn;
    tp_status status;

    (void)args;
    if (!erase_options.biz_key) args_fail("give --biz-key");
    conn = args_connect();
    status = erase(conn, &erased);
    if (status == TP_DISCONNECTED && *erased.request_id && tp_conn_reopen(conn) == TP_OK)
        status = erase(conn, &erased);
    if (status == TP_REQUESTED || status == TP_STALE)
        return requested(status, erased.request_id, erased.finished + erased.failed);
    if (status < 0) return cli_fail_tp(status);
    show_erased(&erased);
    if (erased.open)
        cli_warn("nothing is deleted while %zu tasks with the key are open; let them end, or skip them, and "
                 "run it again",
                 erased.open);
    if (erased.schedules) cli_warn("%zu schedules make tasks with the key; remove them", erased.schedules);
    if (erased.open || erased.schedules) return EXIT_BAD;
    return cli_exit_of(status);
}
