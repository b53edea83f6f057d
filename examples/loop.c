/* A program that claims by itself, because it has a loop of its own and no room for a tp_worker's threads.
 * Each order is charged once, though its label fails in the first try: charging is a step, recorded in the
 * transaction of what it writes. How far an order is is said over a second connection; what came of it is the
 * task's result.
 *
 *   export TASKPOOL_DSN='Driver=SQLite3;Database=/tmp/shop.db'
 *   taskpool schema install
 *   taskpool enqueue order 7
 *   ./loop              # until nothing is due
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <taskpool.h>

enum { TEXT_MAX = 80 };

static void keep(const tp_step_row *step, void *arg) {
    snprintf(arg, TEXT_MAX, "%s", step->result);
}

/* What the step writes: a mail that tells of the charge. */
static tp_status charge(tp_conn *conn, const tp_task *order, const char *receipt) {
    tp_new_task mail = TP_NEW_TASK_INIT;
    mail.handler = "charged";
    mail.biz_key = order->id;
    mail.params = receipt;
    printf("charge order %s\n", order->params);
    return tp_enqueue(conn, &mail);
}

static tp_status charge_once(tp_conn *conn, const tp_task *order, char receipt[TEXT_MAX]) {
    tp_status status = tp_step_find(conn, order, "charge", keep, receipt);
    if (status != TP_NONE) return status;
    status = tp_begin(conn);
    if (status != TP_OK) return status;
    snprintf(receipt, TEXT_MAX, "receipt of order %s", order->params);
    status = charge(conn, order, receipt);
    if (status == TP_OK) status = tp_step_add(conn, order, "charge", receipt, 60000);
    return status == TP_OK ? tp_commit(conn) : status; /* the caller rolls back */
}

/* The printer is out of paper when it is first asked: only for the example, which knows that nobody retries
 * or releases its orders. Where it matters whether something was begun before, failures does not say it. */
static int print_label(const tp_task *order, const char *receipt) {
    if (order->failures == 0) return 0;
    printf("label with %s\n", receipt);
    return 1;
}

static tp_status handle(tp_conn *conn, tp_conn *beside, const tp_task *order) {
    static const int64_t at_once[] = {0};
    char receipt[TEXT_MAX] = "";
    tp_retry retry = TP_RETRY_INIT;
    retry.delays_ms = at_once;
    retry.count = 1;
    tp_status status = tp_progress_set(beside, order, 10, "charging");
    if (status < TP_OK)
        fprintf(stderr, "progress: %s\n", tp_last_error()->text); /* is no fault of the order */
    status = charge_once(conn, order, receipt);
    if (status != TP_OK) return status;
    status = tp_progress_set(beside, order, 50, "printing");
    if (status < TP_OK) fprintf(stderr, "progress: %s\n", tp_last_error()->text);
    status = print_label(order, receipt) ? tp_complete_with(conn, order, receipt)
                                         : tp_fail(conn, order, "no label", &retry);
    if (status >= TP_OK) status = tp_progress_set(beside, order, -1, NULL); /* it is over */
    return status;
}

/* What a failure has left open ends here. An order that is still claimed comes back when its lease lapses. */
static tp_status recover(tp_conn *conn, tp_status status) {
    fprintf(stderr, "loop: %s\n", tp_last_error()->text);
    if (status == TP_DISCONNECTED) return tp_conn_reopen(conn);
    tp_status rolled_back = tp_rollback(conn);
    return rolled_back == TP_MISUSE ? TP_OK : rolled_back; /* none was open */
}

static tp_status work(tp_conn *conn, tp_conn *beside) {
    const char *handler = "order";
    tp_status status = TP_OK;
    while (status >= TP_OK) {
        tp_batch *batch = NULL;
        tp_claim_request request = TP_CLAIM_INIT;
        request.handlers = &handler;
        request.handler_count = request.limit = 1;
        request.plan = tp_conn_about(conn)->leased_plan;
        status = tp_claim(conn, &request, &batch);
        if (status == TP_NONE) return TP_OK;
        if (status == TP_OK) status = handle(conn, beside, tp_batch_task(batch, 0));
        if (status < TP_OK) status = recover(conn, status);
        tp_batch_free(batch);
    }
    return status;
}

int main(void) {
    tp_env *env = NULL;
    tp_conn *conn = NULL, *beside = NULL;
    tp_status status = tp_env_open(getenv("TASKPOOL_DSN"), &env);
    if (status == TP_OK) status = tp_conn_open(env, &conn);
    if (status == TP_OK) status = tp_conn_open(env, &beside);
    if (status == TP_OK) status = work(conn, beside);
    if (status != TP_OK) fprintf(stderr, "loop: %s\n", tp_last_error()->text);
    tp_conn_close(beside);
    tp_conn_close(conn);
    tp_env_close(env);
    return status == TP_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
