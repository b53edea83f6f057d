/* Which dialects there are, which of them a database gets, and the lists of dialect.h as tables. The only
 * file under src/dialect that names dialects; must not know what is in them. Read next: a file under
 * dialects/. */
#include "dialect/dialect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* X(name), as in dialects/NAME.c and sql/NAME. */
#define DIALECTS(X) X(oracle) X(mysql) X(postgres) X(sqlite) X(generic)

#define DECLARE(name) extern const struct tpi_dialect tpi_dialect_##name;
DIALECTS(DECLARE)
#undef DECLARE

static const struct tpi_dialect *const dialects[] = {
#define ADDRESS(name) &tpi_dialect_##name,
    DIALECTS(ADDRESS)
#undef ADDRESS
};

static const struct {
    const char *name;
    unsigned caps;
} plans[] = {
#define PLAN(id, name, caps) {name, caps},
    TPI_PLAN_LIST(PLAN)
#undef PLAN
};

static const struct {
    const char *name;
    unsigned caps;
} statements[] = {
#define STATEMENT(name, caps) {#name, caps},
    TPI_STATEMENT_LIST(STATEMENT)
#undef STATEMENT
};

static const enum tpi_param_kind param_kinds[] = {
#define KIND(name, kind) TPI_##kind,
    TPI_PARAM_LIST(KIND)
#undef KIND
};

const struct tpi_dialect *tpi_dialect_at(size_t i) {
    return i < sizeof dialects / sizeof dialects[0] ? dialects[i] : NULL;
}

void tpi_dialect_names(char *out, size_t size) {
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; tpi_dialect_at(i) && used < size; i++) {
        int length = snprintf(out + used, size - used, "%s%s", i ? ", " : "", tpi_dialect_at(i)->name);
        used += (size_t)length;
    }
}

const struct tpi_dialect *tpi_dialect_by_name(const char *name) {
    const struct tpi_dialect *dialect;
    for (size_t i = 0; (dialect = tpi_dialect_at(i)); i++)
        if (strcasecmp(dialect->name, name) == 0) return dialect;
    return NULL;
}

const struct tpi_dialect *tpi_dialect_for_dbms(const char *dbms_name) {
    const struct tpi_dialect *dialect;
    for (size_t i = 0; (dialect = tpi_dialect_at(i)); i++)
        for (const struct tpi_dbms *dbms = dialect->dbms; dbms->name; dbms++)
            if (strcasecmp(dbms->name, dbms_name) == 0) return dialect;
    return &tpi_dialect_generic;
}

bool tpi_dialect_may_fit(const struct tpi_dialect *dialect, const char *dbms_name) {
    const struct tpi_dialect *own = tpi_dialect_for_dbms(dbms_name);
    return dialect->anywhere || own == dialect || own == &tpi_dialect_generic;
}

static bool before(const char *version, int major, int minor) {
    char *end = NULL;
    long have_major = strtol(version, &end, 10);
    long have_minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
    return have_major < major || (have_major == major && have_minor < minor);
}

unsigned tpi_dialect_caps(const struct tpi_dialect *dialect, const char *dbms_name,
                          const char *dbms_version) {
    unsigned caps = dialect->caps;
    for (const struct tpi_dbms *dbms = dialect->dbms; dbms->name; dbms++)
        if (strcasecmp(dbms->name, dbms_name) == 0 && before(dbms_version, dbms->major, dbms->minor))
            caps &= ~dbms->caps;
    return caps;
}

const char *tpi_plan_name(enum tpi_plan plan) {
    return plans[plan].name;
}

bool tpi_plan_parse(const char *name, enum tpi_plan *plan) {
    for (int i = 0; i < TPI_PLAN_COUNT; i++) {
        if (strcasecmp(plans[i].name, name) != 0) continue;
        *plan = (enum tpi_plan)i;
        return true;
    }
    return false;
}

bool tpi_plan_possible(enum tpi_plan plan, unsigned caps) {
    return (plans[plan].caps & caps) != 0;
}

enum tpi_plan tpi_plan_default(const struct tpi_dialect *dialect, unsigned caps) {
    static const enum tpi_plan order[] = {TPI_PLAN_SKIP, TPI_PLAN_BATCH, TPI_PLAN_ROW};
    if (tpi_plan_possible(dialect->plan, caps)) return dialect->plan;
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        if (tpi_plan_possible(order[i], caps)) return order[i];
    return TPI_PLAN_CAS;
}

const char *tpi_statement_name(enum tpi_statement statement) {
    return statements[statement].name;
}

unsigned tpi_statement_caps(enum tpi_statement statement) {
    return statements[statement].caps;
}

enum tpi_param_kind tpi_param_kind(enum tpi_param param) {
    return param_kinds[param];
}
