/* What the doctor asks of the servers behind a connection: whether others take writes beside this one. */
#include <string.h>

#include "ops/doctor.h"

static tp_status check_cluster(struct tpi_doctor *doctor) {
    struct tpi_link *link = &doctor->a->store.link;
    char answer[16] = "";
    const char *question = link->driver->many_writers;
    if (!question) return TP_OK;
    tp_status status = tpi_stmt_ask(link, "cluster", question, answer, sizeof answer);
    if (status != TP_OK && link->dead) return status;
    if (status != TP_OK)
        tpi_doctor_good(doctor, "cannot be asked: %s", tp_last_error()->text);
    else if (strcmp(answer, "1") != 0)
        tpi_doctor_good(doctor, "none in which every node takes writes");
    else if (doctor->a->plan == TPI_PLAN_HOLD)
        tpi_doctor_bad(doctor, "leave Plan= out, or let all programs connect to one node",
                       "every node takes writes, and plan hold's locks are seen at one node only: at the "
                       "others most handlers are called for nothing");
    else
        tpi_doctor_good(doctor, "every node takes writes; locks are tried out within one node only, and plan "
                                "hold is not for programs that connect to several");
    return TP_OK;
}

const struct tpi_doctor_check tpi_doctor_servers[] = {{"cluster", check_cluster}, {0}};
