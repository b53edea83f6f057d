/* Pays one employee. The payment is written through the task's own transaction: it commits together with the
 * task's end, or neither does. So a worker may die at any instruction, and nobody is paid twice or forgotten.
 * The ledger key commits with them: a file that is read twice makes two tasks for an employee, and one
 * payment.
 */
#include "payroll.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define BUSY_TIMES 2

/* The parameters of a task. The texts belong to json. */
struct payment {
    json_object *json;
    const char *run;
    const char *employee;
    const char *name;
    const char *amount; /* 1234.56 */
    const char *note;
    char cents[24]; /* 123456 */
};

static tp_verdict fail(tp_run *run, const char *reason) {
    tp_run_reason(run, reason);
    return TP_RUN_FAILED;
}

static const char *text_of(json_object *json, const char *name) {
    json_object *value = NULL;

    if (!json_object_object_get_ex(json, name, &value) || !json_object_is_type(value, json_type_string))
        return NULL;
    return json_object_get_string(value);
}

/* 1234.56 is 123456 cents. Money never goes through floating point. */
static bool read_cents(const char *amount, char *cents, size_t size) {
    static const char digits[] = "0123456789";
    size_t whole = strspn(amount, digits);

    if (whole == 0 || whole > 13 || amount[whole] != '.') return false;
    if (strspn(amount + whole + 1, digits) != 2 || amount[whole + 3] != '\0') return false;
    snprintf(cents, size, "%.*s%s", (int)whole, amount, amount + whole + 1);
    return true;
}

static bool read_payment(const char *params, struct payment *payment) {
    memset(payment, 0, sizeof *payment);
    payment->json = json_tokener_parse(params);
    if (!payment->json) return false;
    payment->run = text_of(payment->json, "run");
    payment->employee = text_of(payment->json, "employee");
    payment->name = text_of(payment->json, "name");
    payment->amount = text_of(payment->json, "amount");
    payment->note = text_of(payment->json, "note");
    return payment->run && payment->employee && payment->name && payment->amount && payment->note &&
           read_cents(payment->amount, payment->cents, sizeof payment->cents);
}

/* Stands for a question to the bank, which moves no money: that does the insert below, in the task's
 * transaction. (A call that moves money must be asked about before each call, whatever failures says:
 * docs/guarantees.md.) Slow work belongs here, before the transaction: what is locked is not waited for. */
static bool ask_bank(const tp_task *task, const struct payment *payment, int64_t pay_ms,
                     const char **refusal) {
    struct timespec pause = {(time_t)(pay_ms / 1000), (long)(pay_ms % 1000) * 1000000};

    nanosleep(&pause, NULL);
    if (strcmp(payment->note, "account closed") == 0)
        *refusal = "the bank says: account closed";
    else if (strcmp(payment->note, "bank busy") == 0 && task->failures < BUSY_TIMES)
        *refusal = "the bank says: busy, try again";
    else
        return true;
    return false;
}

static tp_verdict insert_payment(tp_run *run, tp_conn *conn, const struct payment *payment,
                                 const char *table) {
    const char *texts[] = {payment->run, payment->employee, payment->name, payment->cents,
                           tp_run_task(run)->id};
    char sql[200];
    char error[DB_TEXT];

    snprintf(sql, sizeof sql,
             "INSERT INTO %s (run, employee, name, amount_cents, task_id) VALUES (?, ?, ?, ?, ?)", table);
    if (!db_insert(conn, sql, texts, sizeof texts / sizeof texts[0], error)) return fail(run, error);
    return TP_RUN_DONE;
}

/* One payment for an employee and a run, however many tasks there are for it. */
static tp_verdict write_payment(tp_run *run, const struct payment *payment, const char *table) {
    char key[TP_KEY_MAX + 1];
    tp_conn *conn = NULL;
    tp_status status = tp_run_conn(run, &conn);

    snprintf(key, sizeof key, "pay/%s/%s", payment->run, payment->employee);
    if (status == TP_OK) status = tp_once(conn, key, tp_run_task(run));
    if (status < TP_OK) return fail(run, tp_last_error()->text);
    if (status == TP_OK) return insert_payment(run, conn, payment, table);
    tp_run_reason(run, "paid before");
    return TP_RUN_SKIPPED;
}

static tp_verdict pay_employee(tp_run *run, const struct payment *payment, const struct settings *settings) {
    const char *refusal = NULL;

    if (strcmp(payment->note, "left the company") == 0) {
        tp_run_reason(run, "left the company, nothing is due");
        return TP_RUN_SKIPPED;
    }
    if (!ask_bank(tp_run_task(run), payment, settings->pay_ms, &refusal)) return fail(run, refusal);
    return write_payment(run, payment, settings->table);
}

tp_verdict pay(tp_run *run, void *arg) {
    const struct settings *settings = arg;
    const char *params = NULL;
    struct payment payment;
    tp_verdict verdict;

    if (tp_run_params(run, &params, NULL) != TP_OK) return fail(run, tp_last_error()->text);
    if (read_payment(params, &payment))
        verdict = pay_employee(run, &payment, settings);
    else
        verdict = fail(run, "the parameters are not those of a payment");
    json_object_put(payment.json);
    return verdict;
}
