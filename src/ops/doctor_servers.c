/* What the doctor asks of the servers behind a connection: which others there are beside this one, and
 * whether a pooler gives each transaction another session. */
#include <string.h>

#include "ops/doctor.h"

static void report_cannot_write(struct tpi_doctor *doctor, bool copy) {
    doctor->cannot_write = true;
    if (copy)
        tpi_doctor_bad(doctor,
                       "name the server that takes writes, or all servers and one way to tell: "
                       "pqopt={target_session_attrs=read-write}",
                       "this server is itself a copy and only reads; nothing was tried out");
    else
        tpi_doctor_bad(doctor,
                       "start the standbys that synchronous_standby_names asks for, or empty it and "
                       "reload the server",
                       "every commit waits for copies, and too few of them follow this server; nothing was "
                       "tried out");
}

static tp_status check_cluster(struct tpi_doctor *doctor) {
    struct tpi_link *link = &doctor->a->store.link;
    char answer[256];
    tp_status status = tpi_cluster_ask(link, answer, sizeof answer);
    if (status != TP_OK && link->dead) return status;
    if (status == TP_OK && !*answer) return TP_OK;
    if (status != TP_OK)
        tpi_doctor_good(doctor, "cannot be asked: %s", tp_last_error()->text);
    else if (strcmp(answer, TPI_IS_COPY) == 0 || strcmp(answer, TPI_COMMITS_HANG) == 0)
        report_cannot_write(doctor, strcmp(answer, TPI_IS_COPY) == 0);
    else if (strcmp(answer, TPI_MANY_WRITERS) != 0)
        tpi_doctor_good(doctor, "%s", answer);
    else if (doctor->a->plan == TPI_PLAN_HOLD)
        tpi_doctor_bad(doctor, "leave Plan= out, or let all programs connect to one node",
                       "every node takes writes, and plan hold's locks are seen at one node only: at the "
                       "others most handlers are called for nothing, and what they wrote may stay");
    else
        tpi_doctor_good(doctor, "every node takes writes; locks are tried out within one node only, and plan "
                                "hold is not for programs that connect to several");
    return TP_OK;
}

/* ---- Poolers ------------------------------------------------------------------------------------------- */

static tp_status ask_number(tp_conn *conn, const char *question, char answer[32]) {
    return tpi_stmt_ask(&conn->store.link, "pooler", question, answer, 32);
}

/* Session b takes what a has just given back, so that a gets another the next time. */
static tp_status see_pooler(struct tpi_doctor *doctor, const char *question, bool *pooler) {
    char first[32] = "", others[32] = "", second[32] = "";
    tp_status status = ask_number(doctor->a, question, first);
    if (status == TP_OK) status = tp_begin(doctor->b);
    if (status == TP_OK) status = ask_number(doctor->b, question, others);
    if (status == TP_OK) status = ask_number(doctor->a, question, second);
    if (status == TP_OK) status = tp_rollback(doctor->b);
    *pooler = strcmp(first, second) != 0 || strcmp(first, others) == 0;
    return status;
}

/* Does the server hear of what is prepared? One transaction has one session. */
static tp_status see_prepares(struct tpi_doctor *doctor, const char *question, bool *prepares) {
    char before[32] = "", after[32] = "";
    struct tpi_link *link = &doctor->a->store.link;
    tp_status status = tp_begin(doctor->a);
    if (status == TP_OK) status = ask_number(doctor->a, question, before);
    if (status == TP_OK) status = tpi_doctor_ask_prepared(link, "pooler", question, after, sizeof after);
    *prepares = status == TP_OK && strcmp(before, after) != 0;
    return status == TP_OK ? tp_rollback(doctor->a) : status;
}

static tp_status judge_pooler(struct tpi_doctor *doctor) {
    const struct tpi_driver *driver = doctor->a->store.link.driver;
    const char *defaults = driver->lacking_defaults;
    bool prepares = false;
    char lacking[128] = "";
    tp_status status = see_prepares(doctor, driver->prepared_count, &prepares);
    if (status == TP_OK)
        status = tpi_stmt_ask(&doctor->a->store.link, "pooler", defaults, lacking, sizeof lacking);
    if (status != TP_OK) return status;
    if (prepares)
        tpi_doctor_bad(doctor, tpi_doctor_pooler_remedy(doctor),
                       "each transaction gets another session, which does not know what was prepared");
    else if (*lacking)
        tpi_doctor_bad(doctor, tpi_doctor_pooler_remedy(doctor),
                       "each transaction gets another session: what is set when connecting is missing there, "
                       "and is left in the sessions of others (%s)",
                       lacking);
    else
        tpi_doctor_good(doctor, "each transaction gets another session, which has what it is to have");
    return TP_OK;
}

static tp_status check_pooler(struct tpi_doctor *doctor) {
    const char *question = doctor->a->store.link.driver->session_number;
    bool pooler = false;
    if (!question) return TP_OK;
    tp_status status = see_pooler(doctor, question, &pooler);
    if (status == TP_OK && pooler) return judge_pooler(doctor);
    if (status == TP_OK) tpi_doctor_good(doctor, "none that gives a connection several sessions");
    return status;
}

const struct tpi_doctor_check tpi_doctor_servers[] = {
    {"cluster", check_cluster}, {"pooler", check_pooler}, {0}};
