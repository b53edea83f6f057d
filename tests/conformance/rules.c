/* Makes and drops constraints and triggers on the pool's tables. See rules.h. */
#include "conformance/rules.h"

#include "base/uuid.h"

enum { SQL_MAX = 900 };

static bool on_server(void) {
    return !pool_on_sqlite();
}

/* In its Oracle mode MariaDB wants another grammar. */
static bool on_plain_mariadb(void) {
    return pool_on_mariadb() && !prepared();
}

/* Oracle's words where they are no other's. */
static bool on_oracle_itself(void) {
    return pool_on_oracle() && !prepared();
}

static bool on_other_server(void) {
    return on_server() && !on_oracle_itself();
}

static bool in_oracles_grammar(void) {
    return pool_on_oracle() || prepared();
}

/* Triggers that refuse a row (NEW or OLD) before an INSERT, UPDATE or DELETE, each in its database's words.
 */
#define PLPGSQL(event, row, refuses, result)                                                                 \
    .possible = pool_on_postgres,                                                                            \
    .make = {"CREATE FUNCTION tp_own_f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF " row                 \
             ".@C = ''@V'' THEN " refuses "; END IF; RETURN " result "; END'",                               \
             "CREATE TRIGGER tp_own_t BEFORE " event " ON tp_@T FOR EACH ROW EXECUTE FUNCTION tp_own_f()"},  \
    .lift = {"DROP TRIGGER tp_own_t ON tp_@T", "DROP FUNCTION tp_own_f()"}
#define TRIGGER(database, event, row, body)                                                                  \
    .possible = (database), .make = {"CREATE TRIGGER tp_own_t BEFORE " event " ON tp_@T " body},             \
    .lift = {"DROP TRIGGER tp_own_t"}
#define ON_SQLITE(event, row, raise)                                                                         \
    TRIGGER(pool_on_sqlite, event, row, "WHEN " row ".@C = '@V' BEGIN SELECT RAISE(" raise "); END")

#define TRIGGERS(event, row, result, silently)                                                               \
    {.name = "trigger that fails", PLPGSQL(event, row, "RAISE EXCEPTION ''not wanted''", result)},           \
        {.name = silently, .silent = true, PLPGSQL(event, row, "RETURN NULL", result)},                      \
        {.name = "trigger that fails",                                                                       \
         TRIGGER(in_oracles_grammar, event, row,                                                             \
                 "FOR EACH ROW DECLARE unwanted EXCEPTION; BEGIN IF :" row                                   \
                 ".@C = '@V' THEN RAISE unwanted; END IF; END;")},                                           \
        {.name = "trigger that fails",                                                                       \
         TRIGGER(on_plain_mariadb, event, row,                                                               \
                 "FOR EACH ROW IF " row ".@C = '@V' THEN SIGNAL SQLSTATE '45000' "                           \
                 "SET MESSAGE_TEXT = 'not wanted'; END IF")},                                                \
        {.name = "trigger that fails", ON_SQLITE(event, row, "ABORT, 'not wanted'")}, {                      \
        .name = silently, .silent = true, ON_SQLITE(event, row, "IGNORE")                                    \
    }

#define RULE_OF_NOTHING(event)                                                                               \
    {                                                                                                        \
        .name = "rule that does nothing instead", .silent = true, .possible = pool_on_postgres,              \
        .refuses_all = true,                                                                                 \
        .make = {"CREATE RULE tp_own_rule AS ON " event " TO tp_@T DO INSTEAD NOTHING"}, .lift = {           \
            "DROP RULE tp_own_rule ON tp_@T"                                                                 \
        }                                                                                                    \
    }

#define WITHOUT_DEFAULT(database, first, second)                                                             \
    {                                                                                                        \
        .name = "column without a default", .possible = (database), .refuses_all = true,                     \
        .make = {"ALTER TABLE tp_@T ADD " first, "ALTER TABLE tp_@T " second}, .lift = {                     \
            "ALTER TABLE tp_@T DROP COLUMN own"                                                              \
        }                                                                                                    \
    }

#define KEPT_BY_KEY(key, database, first, second)                                                            \
    {                                                                                                        \
        .name = key, .possible = (database), .make = {"CREATE TABLE tp_own_keys " first, second}, .lift = {  \
            "DROP TABLE tp_own_keys"                                                                         \
        }                                                                                                    \
    }
#define AT_THE_END  "foreign key at the end of the transaction"
#define KEPT_ROW    "SELECT @I AS k FROM tp_@T WHERE @C = '@V'"
#define REFERENCE   "ALTER TABLE tp_own_keys ADD CONSTRAINT tp_own_fk FOREIGN KEY (k) REFERENCES tp_@T (@I)"
#define DEFERRABLE  " DEFERRABLE INITIALLY DEFERRED"
#define SQLITES_KEY "k VARCHAR(255) REFERENCES tp_@T (@I)"
#define KEPT_THERE  "INSERT INTO tp_own_keys SELECT @I FROM tp_@T WHERE @C = '@V'"

static const struct rule on_insert[] = {
    {.name = "CHECK",
     .possible = on_server,
     .make = {"ALTER TABLE tp_@T ADD CONSTRAINT tp_own_check CHECK (@C <> '@V')"},
     .lift = {"ALTER TABLE tp_@T DROP CONSTRAINT tp_own_check"}},
    {.name = "CHECK of a column",
     .possible = pool_on_sqlite,
     .make = {"ALTER TABLE tp_@T ADD COLUMN own INTEGER CHECK (@C <> '@V')"},
     .lift = {"ALTER TABLE tp_@T DROP COLUMN own"}},
    {.name = "foreign key",
     .possible = on_server,
     .make = {"CREATE TABLE tp_own_keys AS SELECT DISTINCT @C AS k FROM tp_@T WHERE @C <> '@V'",
              "ALTER TABLE tp_own_keys ADD CONSTRAINT tp_own_keys_pk PRIMARY KEY (k)",
              "ALTER TABLE tp_@T ADD CONSTRAINT tp_own_fk FOREIGN KEY (@C) REFERENCES tp_own_keys (k)"},
     .lift = {"ALTER TABLE tp_@T DROP CONSTRAINT tp_own_fk", "DROP TABLE tp_own_keys"}},
    {.name = "foreign key of a column",
     .possible = pool_on_sqlite,
     .refuses_all = true,
     .make = {"CREATE TABLE tp_own_keys (k VARCHAR(9) PRIMARY KEY)",
              "ALTER TABLE tp_@T ADD COLUMN own VARCHAR(9) DEFAULT 'nobody' REFERENCES tp_own_keys (k)"},
     .lift = {"ALTER TABLE tp_@T DROP COLUMN own", "DROP TABLE tp_own_keys"}},
    WITHOUT_DEFAULT(on_oracle_itself, "own INTEGER DEFAULT 0 NOT NULL", "MODIFY own DEFAULT NULL"),
    WITHOUT_DEFAULT(on_other_server, "COLUMN own INTEGER DEFAULT 0 NOT NULL",
                    "ALTER COLUMN own DROP DEFAULT"),
    {.name = "unique index",
     .seeded = true,
     .make = {"CREATE UNIQUE INDEX tp_own_i ON tp_@T (@C)"},
     .lift = {"DROP INDEX tp_own_i", "DROP INDEX tp_own_i ON tp_@T"}},
    TRIGGERS("INSERT", "NEW", "NEW", "trigger that drops the row"),
    RULE_OF_NOTHING("INSERT"),
};
const struct rules rules_on_insert = {on_insert, LENGTH(on_insert)};

/* What befalls a row that is changed. */
static const struct rule on_update[] = {
    TRIGGERS("UPDATE", "OLD", "NEW", "trigger that keeps the row as it was"),
};
const struct rules rules_on_update = {on_update, LENGTH(on_update)};

/* What befalls a row that is deleted. */
static const struct rule on_delete[] = {
    TRIGGERS("DELETE", "OLD", "OLD", "trigger that keeps the row"),
    RULE_OF_NOTHING("DELETE"),
    KEPT_BY_KEY(AT_THE_END, pool_on_postgres, "AS " KEPT_ROW, REFERENCE DEFERRABLE),
    KEPT_BY_KEY("foreign key", on_server, "AS " KEPT_ROW, REFERENCE),
    KEPT_BY_KEY("foreign key", pool_on_sqlite, "(" SQLITES_KEY ")", KEPT_THERE),
    KEPT_BY_KEY(AT_THE_END, pool_on_sqlite, "(" SQLITES_KEY DEFERRABLE ")", KEPT_THERE),
};
const struct rules rules_on_delete = {on_delete, LENGTH(on_delete)};

static struct {
    const struct rule *rule; /* NULL: none */
    const char *table, *column, *value;
    char id[ID]; /* of the seed */
} made;

static const char *key_of_table(void) {
    return strcmp(made.table, "once") == 0 ? "once_key" : "id";
}

static void expand(const char *text, char out[SQL_MAX]) {
    size_t used = 0;
    for (; *text && used + 80 < SQL_MAX; text++) {
        const char *put = *text != '@'     ? NULL
                          : text[1] == 'T' ? made.table
                          : text[1] == 'I' ? key_of_table()
                          : text[1] == 'R' ? made.id
                          : text[1] == 'C' ? made.column
                                           : made.value;
        if (put)
            used += (size_t)snprintf(out + used, SQL_MAX - used, "%s", put);
        else
            out[used++] = *text;
        text += put != NULL;
    }
    out[used] = '\0';
}

/* SQLite checks them where the session wants it. */
static void keep_foreign_keys(bool keep) {
    if (!pool_on_sqlite()) return;
    sql_run(pool.a, "PRAGMA foreign_keys = %s", keep ? "ON" : "OFF");
    sql_run(pool.b, "PRAGMA foreign_keys = %s", keep ? "ON" : "OFF");
}

void rule_lift(void) {
    char sql[SQL_MAX];
    if (!made.rule) return;
    if (tp_rollback(pool.a) == TP_OK) print_message("  rolled back\n"); /* its locks kept the rule there */
    for (size_t i = 0; made.rule && i < 4 && made.rule->lift[i]; i++) {
        expand(made.rule->lift[i], sql);
        (void)sql_try(pool.eye, "%s", sql);
    }
    keep_foreign_keys(false);
    made.rule = NULL;
}

static void lift(void *nothing) {
    (void)nothing;
    rule_lift();
}

/* The row that a unique index compares with. */
static const struct {
    const char *table, *sql;
} seeds[] = {
    {"pending",
     "INSERT INTO tp_pending (id, handler, biz_key, shard, priority, state, failures, due_at, "
     "created_at, modified_at) VALUES ('@R', 'seed', '@V', 0, 0, 'pending', 0, 4000000000000, 1, 1)"},
    {"finished",
     "INSERT INTO tp_finished (id, handler, biz_key, shard, priority, state, failures, due_at, "
     "created_at, modified_at, settled_at) VALUES ('@R', 'seed', '@V', 0, 0, 'done', 0, 1, 1, 1, 1)"},
    {"failed",
     "INSERT INTO tp_failed (id, handler, biz_key, shard, priority, state, failures, due_at, "
     "created_at, modified_at, settled_at) VALUES ('@R', 'seed', '@V', 0, 0, 'failed', 0, 1, 1, 1, 1)"},
    {"once", "INSERT INTO tp_once (once_key, handler, owner, created_at) VALUES ('seed', '@V', '@R', 1)"},
    {"history", "INSERT INTO tp_history (id, handler, event, created_at) VALUES ('@R', '@V', 'seed', 1)"},
    {"worker",
     "INSERT INTO tp_worker (id, name, host, pid, handlers, plan, threads, state, running, claimed, "
     "done, failed, started_at, seen_at) VALUES ('@R', '@V', '-', 0, 'seed', 'skip', 0, 'ended', 0, "
     "0, 0, 0, 1, 4000000000000)"},
    {"schedule",
     "INSERT INTO tp_schedule (name, rule, handler, biz_key, shard, priority, missed, missed_max, alone, "
     "paused, "
     "created_at, modified_at) VALUES ('seed', 'every 1h', 'seed', '@V', 0, 0, 'once', 1, 0, 1, 1, 1)"},
    {"pause", "INSERT INTO tp_pause (handler, who, created_at) VALUES ('seed', '@V', 1)"},
};

static void seed(void) {
    char sql[SQL_MAX];
    size_t i = 0;
    while (strcmp(seeds[i].table, made.table) != 0)
        i++;
    tpi_uuid_random(made.id);
    expand(seeds[i].sql, sql);
    sql_run(pool.eye, "%s", sql);
}

void rule_make_over(const struct rule *rule, const char *table, const char *column, const char *value) {
    char sql[SQL_MAX];
    at_end(lift, NULL);
    made.rule = rule;
    made.table = table;
    made.column = column;
    made.value = value;
    for (size_t i = 0; i < 4 && rule->make[i]; i++) {
        expand(rule->make[i], sql);
        sql_run(pool.eye, "%s", sql);
    }
    keep_foreign_keys(true);
}

void rule_make(const struct rule *rule, const char *table, const char *column, const char *value) {
    sql_run(pool.eye, "DELETE FROM tp_%s", table);
    rule_make_over(rule, table, column, value);
    if (rule->seeded) seed();
}

void rule_for_each(const struct rules *rules, void (*fn)(const struct rule *rule)) {
    for (size_t i = 0; i < rules->count; i++) {
        const struct rule *rule = &rules->all[i];
        if (rule->possible && !rule->possible()) continue;
        print_message("  %s\n", rule->name);
        empty_pool();
        fn(rule);
        rule_lift();
    }
}

void rule_check_refused(tp_status status, const char *call, const char *file, int line) {
    check_status(TP_DB, status, call, file, line);
    if (strlen(tp_last_error()->text) > 20) return;
    print_error("%s: no words: %s\n", call, tp_last_error()->text);
    _fail(file, line);
}

void rule_check_refused_inside(tp_status status, const char *call, const char *file, int line) {
    bool blind = made.rule->seeded && strcmp(pool.entry, "generic_postgres") == 0;
    if (!blind || status != TP_CONFLICT) rule_check_refused(status, call, file, line);
}
