/* The doctor: says what is connected and why it is used as it is, then tries out with two sessions, on a
 * table of its own, what the claim plans rely on. The table goes away whatever happens. Read next:
 * doctor_sessions.c. */
#include "ops/doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- What is there ----------------------------------------------------------------------------------- */

static tp_status say_driver(struct tpi_doctor *doctor) {
    const tp_conn_info *info = tp_conn_about(doctor->a);
    bool known = *doctor->a->store.link.driver->modules != NULL;
    tpi_doctor_good(doctor, "%s %s, %s%s", info->driver_name, info->driver_version,
                    known ? "profile " : "which no profile knows: taken to follow the standard, profile ",
                    info->profile);
    return TP_OK;
}

static tp_status say_manager(struct tpi_doctor *doctor) {
    char version[64];
    tpi_link_manager(&doctor->a->store.link, version, sizeof version);
    tpi_doctor_good(doctor, "%s", *version ? version : "does not say its version");
    return TP_OK;
}

static tp_status say_database(struct tpi_doctor *doctor) {
    const tp_conn_info *info = tp_conn_about(doctor->a);
    tpi_doctor_good(doctor, "%s %s", info->dbms_name, info->dbms_version);
    return TP_OK;
}

static tp_status say_dialect(struct tpi_doctor *doctor) {
    const tp_conn_info *info = tp_conn_about(doctor->a);
    if (doctor->env->dialect_given)
        tpi_doctor_good(doctor, "%s, as Dialect= says; without it: %s", info->dialect,
                        tpi_dialect_for_dbms(info->dbms_name)->name);
    else
        tpi_doctor_good(doctor, "%s, found by the database's name", info->dialect);
    return TP_OK;
}

static tp_status say_plan(struct tpi_doctor *doctor) {
    const struct tpi_store *store = &doctor->a->store;
    const char *usual = tpi_plan_name(tpi_plan_default(store->dialect, store->caps));
    if (doctor->env->plan_given)
        tpi_doctor_good(doctor, "%s, as Plan= says; without it: %s", tp_conn_about(doctor->a)->plan, usual);
    else
        tpi_doctor_good(doctor, "%s, the default of dialect %s with this version", usual,
                        store->dialect->name);
    return TP_OK;
}

/* That there is no pool yet is no fault; one that this library would refuse is. */
static tp_status say_schema(struct tpi_doctor *doctor) {
    long version = 0;
    tp_status status = tpi_schema_version(doctor->a, &version);
    if (status == TP_OK) status = tp_schema_check(doctor->a);
    if (status == TP_OK)
        tpi_doctor_good(doctor, "version %d, prefix %s", tp_schema_version(), doctor->env->prefix);
    else if (status == TP_SCHEMA && version == 0)
        tpi_doctor_good(doctor, "%s", tp_last_error()->text);
    return status == TP_SCHEMA && version == 0 ? TP_OK : status;
}

/* What the profile demands was checked when the sessions were opened. */
static tp_status say_session(struct tpi_doctor *doctor) {
    int count = 0;
    for (const struct tpi_session_check *check = doctor->a->store.link.driver->checks; check->sql; check++)
        count++;
    if (count)
        tpi_doctor_good(doctor, "%d settings checked, all as they must be", count);
    else
        tpi_doctor_good(doctor, "profile %s has no settings to check", doctor->a->store.link.driver->name);
    return TP_OK;
}

/* How many statements the server has prepared for this session, by a statement that is prepared for it. */
static tp_status count_prepared(struct tpi_link *link, int64_t *count) {
    char answer[32];
    tp_status status =
        tpi_doctor_ask_prepared(link, "prepares", link->driver->prepares, answer, sizeof answer);
    *count = status == TP_OK ? tpi_number(answer) : 0;
    return status;
}

/* What is prepared again must reach the server, or it keeps a plan that was made when the tables were empty.
 * The count is 0 for ever where the driver prepares nothing there. */
static tp_status say_statement_cache(struct tpi_doctor *doctor) {
    int64_t first = 0, second = 0;
    struct tpi_link *link = &doctor->a->store.link;
    if (!link->driver->prepares) return TP_OK;
    tp_status status = count_prepared(link, &first);
    if (status == TP_OK) status = count_prepared(link, &second);
    if (status != TP_OK && link->dead) return status;
    if (status != TP_OK)
        tpi_doctor_good(doctor, "cannot be asked: %s", tp_last_error()->text);
    else if (second == 0 || second > first)
        tpi_doctor_good(doctor, "none: what is prepared again is prepared by the server");
    else
        tpi_doctor_bad(
            doctor, "put PSCACHESIZE=0 into the connection string, or what switches this driver's cache off",
            "the driver keeps what it has prepared by its text: a claim would keep a plan that was "
            "made for an empty table, and read all tasks that are due");
    return TP_OK;
}

static const struct tpi_doctor_check about[] = {
    {"driver", say_driver},
    {"driver-manager", say_manager},
    {"database", say_database},
    {"dialect", say_dialect},
    {"plan", say_plan},
    {"schema", say_schema},
    {"session", say_session},
    {"statement-cache", say_statement_cache},
    {0},
};

/* Settings that the profile advises on. One that cannot be asked (an older server, a right that is missing)
 * is no fault. */
static tp_status say_advice(struct tpi_doctor *doctor) {
    struct tpi_link *link = &doctor->a->store.link;
    for (const struct tpi_advice *advice = link->driver->advice; advice && advice->sql; advice++) {
        char answer[128] = "";
        doctor->name = advice->name;
        tp_status status = tpi_stmt_ask(link, "session", advice->sql, answer, sizeof answer);
        if (status != TP_OK && link->dead) return status;
        if (status != TP_OK)
            tpi_doctor_good(doctor, "cannot be asked: %s", tp_last_error()->text);
        else if (strcasecmp(answer, advice->good) == 0)
            tpi_doctor_good(doctor, "%s", answer);
        else
            tpi_doctor_bad(doctor, advice->remedy, "%s: %s", answer, advice->what);
    }
    return TP_OK;
}

/* ---- The sessions and the table ---------------------------------------------------------------------- */

static tp_status mend_session(tp_conn *conn) {
    struct tpi_link *link = &conn->store.link;
    if (link->tx != TPI_TX_NONE) tpi_link_rollback(link);
    return link->dead ? tp_conn_reopen(conn) : TP_OK;
}

/* After each check: no transaction open, both connected. */
static tp_status mend(struct tpi_doctor *doctor) {
    tp_status first = mend_session(doctor->a);
    tp_status second = mend_session(doctor->b);
    return first != TP_OK ? first : second;
}

/* A lost connection says nothing of what was to be tried out, so it is tried once more. */
static tp_status run_check(struct tpi_doctor *doctor, const struct tpi_doctor_check *check) {
    doctor->name = check->name;
    tp_status answer = check->run(doctor);
    tp_status mended = TP_OK;
    if (answer == TP_DISCONNECTED) {
        mended = mend(doctor);
        if (mended == TP_OK) answer = check->run(doctor);
    }
    if (answer < TP_OK) tpi_doctor_error(doctor);
    return mended == TP_OK ? mend(doctor) : mended;
}

static tp_status run_checks(struct tpi_doctor *doctor, const struct tpi_doctor_check *checks) {
    tp_status status = TP_OK;
    for (; checks->name && status == TP_OK; checks++)
        status = run_check(doctor, checks);
    return status;
}

enum owner { NOBODY, OURS, THEIRS };

/* A table that is there and lacks our column is theirs. */
static tp_status find_owner(struct tpi_doctor *doctor, enum owner *owner) {
    struct tpi_args args = {0};
    bool found = false;
    tpi_store_forget(&doctor->a->store);
    tpi_store_forget(&doctor->b->store);
    *owner = NOBODY;
    tp_status status = tpi_store_exists(&doctor->a->store, TPI_S_doctor_exists, &args, &found);
    if (status != TP_OK) return status == TP_SCHEMA ? TP_OK : status;
    status = tpi_store_exists(&doctor->a->store, TPI_S_doctor_ours, &args, &found);
    *owner = status == TP_OK ? OURS : THEIRS;
    return status == TP_SCHEMA ? TP_OK : status;
}

/* Statements in hand and open transactions would keep the table from going. */
static tp_status drop_table(struct tpi_doctor *doctor) {
    enum { TRIES = 3 };
    tp_status status = TP_DB;
    for (int i = 0; i < TRIES && status != TP_OK; i++) {
        enum owner owner = THEIRS;
        status = mend(doctor);
        if (status == TP_OK) status = find_owner(doctor, &owner);
        if (status != TP_OK || owner == NOBODY) continue;
        status = owner == THEIRS ? tpi_error(TP_MISUSE, "no doctor made it")
                                 : tpi_store_define(&doctor->a->store, TPI_S_doctor_drop);
        if (status == TP_SCHEMA) status = TP_OK;
    }
    return status;
}

/* Whatever is there from an earlier one goes first. */
static tp_status make_table_once(struct tpi_doctor *doctor) {
    tp_status status = drop_table(doctor);
    return status == TP_OK ? tpi_store_define(&doctor->a->store, TPI_S_doctor_create) : status;
}

static bool make_table(struct tpi_doctor *doctor) {
    doctor->name = "table";
    tp_status status = make_table_once(doctor);
    if (status == TP_DISCONNECTED) status = make_table_once(doctor);
    if (status == TP_OK)
        tpi_doctor_good(doctor, "%sdoctor made; it is removed at the end", doctor->env->prefix);
    else if (status == TP_MISUSE)
        tpi_doctor_bad(
            doctor, "rename what is there, or run the doctor with another Prefix=",
            "%sdoctor is there already and was not made by a doctor; it was left alone and nothing "
            "was tried out",
            doctor->env->prefix);
    else if (status == TP_UNWRITABLE || tpi_doctor_is_poolers(tp_last_error()->text))
        tpi_doctor_error(doctor);
    else
        tpi_doctor_bad(doctor, "run the doctor as a user who may create and drop tables",
                       "%sdoctor cannot be made: %s", doctor->env->prefix, tp_last_error()->text);
    return status == TP_OK;
}

static tp_status examine_with_table(struct tpi_doctor *doctor) {
    char remedy[64];
    if (!make_table(doctor)) {
        (void)drop_table(doctor); /* it may be there although the answer was lost */
        return TP_OK;
    }
    tp_status status = run_checks(doctor, tpi_doctor_sessions);
    if (status == TP_OK) status = run_checks(doctor, tpi_doctor_values);
    struct tpi_kept_error kept = tpi_error_keep();
    doctor->name = "table";
    if (drop_table(doctor) != TP_OK) {
        snprintf(remedy, sizeof remedy, "take the table %sdoctor away by hand", doctor->env->prefix);
        tpi_doctor_bad(doctor, remedy, "cannot be removed: %s", tp_last_error()->text);
    }
    if (status != TP_OK) tpi_error_restore(&kept);
    return status;
}

static tp_status examine(struct tpi_doctor *doctor) {
    tp_status status = run_checks(doctor, about);
    if (status == TP_OK) status = say_advice(doctor);
    if (status == TP_OK) status = run_checks(doctor, tpi_doctor_servers);
    return status == TP_OK && !doctor->cannot_write ? examine_with_table(doctor) : status;
}

/* A connection string that the library refuses is what the doctor is there to explain; a server that is away
 * is not. */
static bool refused(tp_status status) {
    return status == TP_UNSUPPORTED || status == TP_MISUSE || status == TP_DB;
}

tp_status tp_doctor(tp_env *env, tp_finding_fn see, void *arg, int *bad) {
    if (!env) return tpi_error(TP_MISUSE, "tp_doctor: env is NULL");
    struct tpi_doctor doctor = {.env = env, .see = see, .arg = arg, .name = "connection"};
    tp_status status = tp_conn_open(env, &doctor.a);
    if (status == TP_OK) status = tp_conn_open(env, &doctor.b);
    if (status == TP_OK) {
        status = examine(&doctor);
    } else if (refused(status)) {
        tpi_doctor_error(&doctor);
        status = TP_OK;
    }
    tp_conn_close(doctor.b);
    tp_conn_close(doctor.a);
    if (status == TP_OK && bad) *bad = doctor.bad;
    return status;
}
