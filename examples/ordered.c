/* Tasks that are not just due: one at a time for an account, so many at a time for a bank, after all of a
 * group, by the next cut-off of a calendar, moved to another time, cancelled. It puts them in and shows what
 * became of them; what is due it does itself, in the order in which it comes.
 *
 *   export TASKPOOL_DSN='Driver=SQLite3;Database=/tmp/shop.db'
 *   taskpool schema install
 *   ./ordered
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <taskpool.h>

static int failed(tp_status status) {
    if (status < TP_OK) fprintf(stderr, "ordered: %s\n", tp_last_error()->text);
    return status < TP_OK;
}

static tp_new_task task_of(const char *handler, const char *params) {
    tp_new_task task = TP_NEW_TASK_INIT;
    task.handler = handler;
    task.params = params;
    return task;
}

/* Claims all that is due, once, and does it. How much that was. */
static int do_due(tp_conn *conn, const char *handler) {
    tp_batch *batch = NULL;
    tp_claim_request request = TP_CLAIM_INIT;
    request.handlers = &handler;
    request.handler_count = 1;
    request.plan = tp_conn_about(conn)->leased_plan;
    if (failed(tp_claim(conn, &request, &batch))) return 0;
    int count = (int)tp_batch_count(batch);
    printf("%s:", handler);
    for (int i = 0; i < count; i++) {
        const tp_task *task = tp_batch_task(batch, (size_t)i);
        printf(" %s", failed(tp_complete(conn, task)) ? "failed" : task->params);
    }
    printf("%s\n", count ? "" : " nothing is due");
    tp_batch_free(batch);
    return count;
}

/* ---- Gates --------------------------------------------------------------------------------------------- */

static int put_entry(tp_conn *conn, const char *account, const char *entry) {
    tp_new_task task = TP_NEW_TASK_INIT;
    task.handler = "post";
    task.params = entry;
    task.order_key = account; /* one at a time, in the order of the commits */
    return !failed(tp_enqueue(conn, &task));
}

static int at_gates(tp_conn *conn) {
    tp_gate_options bank = TP_GATE_INIT;
    bank.width = 2;    /* at a time, over all processes */
    bank.tokens = 100; /* and in any minute */
    bank.period_ms = 60000;
    if (failed(tp_gate_set_with(conn, "example-bank", &bank, "ann"))) return 0;
    if (!put_entry(conn, "account-7", "first") || !put_entry(conn, "account-7", "second")) return 0;
    for (int i = 1; i <= 3; i++) {
        char number[8];
        snprintf(number, sizeof number, "%d", i);
        tp_new_task transfer = task_of("transfer", number);
        transfer.gate = "example-bank";
        if (failed(tp_enqueue(conn, &transfer))) return 0;
    }
    return do_due(conn, "post") == 1 && do_due(conn, "post") == 1 && do_due(conn, "transfer") == 2 &&
           do_due(conn, "transfer") == 1;
}

/* ---- Groups -------------------------------------------------------------------------------------------- */

/* All of it is one transaction: nobody sees half a group. */
static tp_status put_group(tp_conn *conn, const char *group) {
    tp_new_task report = task_of("report", "all are paid"),
                pay[2] = {task_of("pay", "1"), task_of("pay", "2")};
    report.after = pay[0].group = pay[1].group = group;
    tp_status status = tp_begin(conn);
    if (status == TP_OK) status = tp_group_open(conn, group, TP_GROUP_ALL_DONE, NULL);
    if (status == TP_OK) status = tp_enqueue(conn, &report);
    if (status == TP_OK) status = tp_enqueue_many(conn, pay, 2, NULL);
    if (status == TP_OK) status = tp_group_close(conn, group);
    return status == TP_OK ? tp_commit(conn) : status;
}

static int in_groups(tp_conn *conn) {
    if (failed(put_group(conn, "example-payroll"))) return 0;
    if (do_due(conn, "report") != 0 || do_due(conn, "pay") != 2) return 0;
    if (failed(tp_groups_end(conn, NULL))) return 0; /* a worker does this by itself */
    int done = do_due(conn, "report");
    return !failed(tp_group_remove(conn, "example-payroll", "ann")) && done == 1;
}

/* ---- Cut-offs ------------------------------------------------------------------------------------------ */

static int by_cut_off(tp_conn *conn) {
    tp_calendar_day christmas = TP_CALENDAR_DAY_INIT;
    tp_calendar calendar = TP_CALENDAR_INIT;
    tp_business_day_info day = TP_BUSINESS_DAY_INIT;
    tp_new_task payment = task_of("payment", "by the next cut-off");
    christmas.date = "2030-12-25";
    calendar.name = "example-bank";
    calendar.time_zone = "Europe/Berlin";
    calendar.cut_off = "16:00";
    calendar.first_date = "2020-01-01";
    calendar.last_date = "2099-12-31";
    calendar.days = &christmas;
    calendar.day_count = 1;
    if (failed(tp_calendar_set(conn, &calendar, "ann"))) return 0;
    if (failed(tp_business_day(conn, "example-bank", "2030-12-24", 1, &day))) return 0;
    printf("the business day after Christmas Eve is %s\n", day.date);
    payment.cut_off_calendar = "example-bank";
    return !failed(tp_enqueue(conn, &payment)) && !failed(tp_calendar_remove(conn, "example-bank"));
}

/* ---- Another time, and never --------------------------------------------------------------------------- */

static int moved(tp_conn *conn) {
    tp_new_task letter = task_of("letter", "now after all");
    tp_edit_request edit = TP_EDIT_INIT;
    letter.delay_ms = 86400000;
    if (failed(tp_enqueue(conn, &letter)) || do_due(conn, "letter") != 0) return 0;
    edit.fields = TP_EDIT_DUE_AT | TP_EDIT_PRIORITY;
    edit.due_at = 1; /* long ago */
    edit.priority = -1;
    return !failed(tp_edit(conn, letter.id, &edit, "ann", "the customer waits")) &&
           do_due(conn, "letter") == 1;
}

static int cancelled(tp_conn *conn) {
    tp_cancelled became = TP_CANCELLED_INIT;
    tp_new_task task = task_of("refund", "not wanted");
    if (failed(tp_enqueue(conn, &task))) return 0;
    if (failed(tp_cancel(conn, task.id, "ann", "the customer has paid", &became))) return 0;
    printf("the refund is %s\n", became.answer == TP_CANCEL_SKIPPED ? became.state : "in hand, or has ended");
    return do_due(conn, "refund") == 0;
}

int main(void) {
    tp_env *env = NULL;
    tp_conn *conn = NULL;
    tp_status status = tp_env_open(getenv("TASKPOOL_DSN"), &env);
    if (status == TP_OK) status = tp_conn_open(env, &conn);
    int good = !failed(status) && at_gates(conn) && in_groups(conn) && by_cut_off(conn) && moved(conn) &&
               cancelled(conn);
    tp_conn_close(conn);
    tp_env_close(env);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
