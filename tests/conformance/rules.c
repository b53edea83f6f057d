/* See rules.h. */
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

#define NEW_COLUMN_LIFT                                                                                      \
    { "ALTER TABLE tp_@T DROP COLUMN own" }

static const struct rule on_insert[] = {
    {.name = "CHECK",
     .possible = on_server,
     .make = {"ALTER TABLE tp_@T ADD CONSTRAINT tp_own_check CHECK (@C <> '@V')"},
     .lift = {"ALTER TABLE tp_@T DROP CONSTRAINT tp_own_check"}},
    {.name = "CHECK of a column",
     .possible = pool_on_sqlite,
     .make = {"ALTER TABLE tp_@T ADD COLUMN own INTEGER CHECK (@C <> '@V')"},
     .lift = NEW_COLUMN_LIFT},
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
    {.name = "column without a default",
     .possible = on_oracle_itself,
     .refuses_all = true,
     .make = {"ALTER TABLE tp_@T ADD own INTEGER DEFAULT 0 NOT NULL",
              "ALTER TABLE tp_@T MODIFY own DEFAULT NULL"},
     .lift = NEW_COLUMN_LIFT},
    {.name = "column without a default",
     .possible = on_other_server,
     .refuses_all = true,
     .make = {"ALTER TABLE tp_@T ADD COLUMN own INTEGER DEFAULT 0 NOT NULL",
              "ALTER TABLE tp_@T ALTER COLUMN own DROP DEFAULT"},
     .lift = NEW_COLUMN_LIFT},
    {.name = "unique index",
     .seeded = true,
     .make = {"CREATE UNIQUE INDEX tp_own_i ON tp_@T (@C)"},
     .lift = {"DROP INDEX tp_own_i", "DROP INDEX tp_own_i ON tp_@T"}},
    {.name = "trigger that fails",
     .possible = pool_on_postgres,
     .make = {"CREATE FUNCTION tp_own_f() RETURNS trigger LANGUAGE plpgsql AS "
              "'BEGIN IF NEW.@C = ''@V'' THEN RAISE EXCEPTION ''not wanted''; END IF; RETURN NEW; END'",
              "CREATE TRIGGER tp_own_t BEFORE INSERT ON tp_@T FOR EACH ROW EXECUTE FUNCTION tp_own_f()"},
     .lift = {"DROP TRIGGER tp_own_t ON tp_@T", "DROP FUNCTION tp_own_f()"}},
    {.name = "trigger that drops the row",
     .silent = true,
     .possible = pool_on_postgres,
     .make = {"CREATE FUNCTION tp_own_f() RETURNS trigger LANGUAGE plpgsql AS "
              "'BEGIN IF NEW.@C = ''@V'' THEN RETURN NULL; END IF; RETURN NEW; END'",
              "CREATE TRIGGER tp_own_t BEFORE INSERT ON tp_@T FOR EACH ROW EXECUTE FUNCTION tp_own_f()"},
     .lift = {"DROP TRIGGER tp_own_t ON tp_@T", "DROP FUNCTION tp_own_f()"}},
    {.name = "rule that does nothing instead",
     .silent = true,
     .possible = pool_on_postgres,
     .refuses_all = true,
     .make = {"CREATE RULE tp_own_rule AS ON INSERT TO tp_@T DO INSTEAD NOTHING"},
     .lift = {"DROP RULE tp_own_rule ON tp_@T"}},
    {.name = "trigger that fails",
     .possible = in_oracles_grammar,
     .make = {"CREATE TRIGGER tp_own_t BEFORE INSERT ON tp_@T FOR EACH ROW DECLARE unwanted EXCEPTION; BEGIN "
              "IF :NEW.@C = '@V' THEN RAISE unwanted; END IF; END;"},
     .lift = {"DROP TRIGGER tp_own_t"}},
    {.name = "trigger that fails",
     .possible = on_plain_mariadb,
     .make = {"CREATE TRIGGER tp_own_t BEFORE INSERT ON tp_@T FOR EACH ROW IF NEW.@C = '@V' THEN "
              "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not wanted'; END IF"},
     .lift = {"DROP TRIGGER tp_own_t"}},
    {.name = "trigger that fails",
     .possible = pool_on_sqlite,
     .make = {"CREATE TRIGGER tp_own_t BEFORE INSERT ON tp_@T WHEN NEW.@C = '@V' BEGIN "
              "SELECT RAISE(ABORT, 'not wanted'); END"},
     .lift = {"DROP TRIGGER tp_own_t"}},
    {.name = "trigger that drops the row",
     .silent = true,
     .possible = pool_on_sqlite,
     .make = {"CREATE TRIGGER tp_own_t BEFORE INSERT ON tp_@T WHEN NEW.@C = '@V' BEGIN "
              "SELECT RAISE(IGNORE); END"},
     .lift = {"DROP TRIGGER tp_own_t"}},
};
const struct rules rules_on_insert = {on_insert, sizeof on_insert / sizeof on_insert[0]};

/* What befalls a row that is changed. */
static const struct rule on_update[] = {
    {.name = "trigger that fails",
     .possible = pool_on_postgres,
     .make = {"CREATE FUNCTION tp_own_f() RETURNS trigger LANGUAGE plpgsql AS "
              "'BEGIN IF OLD.@C = ''@V'' THEN RAISE EXCEPTION ''not wanted''; END IF; RETURN NEW; END'",
              "CREATE TRIGGER tp_own_t BEFORE UPDATE ON tp_@T FOR EACH ROW EXECUTE FUNCTION tp_own_f()"},
     .lift = {"DROP TRIGGER tp_own_t ON tp_@T", "DROP FUNCTION tp_own_f()"}},
    {.name = "trigger that keeps the row as it was",
     .silent = true,
     .possible = pool_on_postgres,
     .make = {"CREATE FUNCTION tp_own_f() RETURNS trigger LANGUAGE plpgsql AS "
              "'BEGIN IF OLD.@C = ''@V'' THEN RETURN NULL; END IF; RETURN NEW; END'",
              "CREATE TRIGGER tp_own_t BEFORE UPDATE ON tp_@T FOR EACH ROW EXECUTE FUNCTION tp_own_f()"},
     .lift = {"DROP TRIGGER tp_own_t ON tp_@T", "DROP FUNCTION tp_own_f()"}},
    {.name = "trigger that fails",
     .possible = in_oracles_grammar,
     .make = {"CREATE TRIGGER tp_own_t BEFORE UPDATE ON tp_@T FOR EACH ROW DECLARE unwanted EXCEPTION; BEGIN "
              "IF :OLD.@C = '@V' THEN RAISE unwanted; END IF; END;"},
     .lift = {"DROP TRIGGER tp_own_t"}},
    {.name = "trigger that fails",
     .possible = on_plain_mariadb,
     .make = {"CREATE TRIGGER tp_own_t BEFORE UPDATE ON tp_@T FOR EACH ROW IF OLD.@C = '@V' THEN "
              "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not wanted'; END IF"},
     .lift = {"DROP TRIGGER tp_own_t"}},
    {.name = "trigger that fails",
     .possible = pool_on_sqlite,
     .make = {"CREATE TRIGGER tp_own_t BEFORE UPDATE ON tp_@T WHEN OLD.@C = '@V' BEGIN "
              "SELECT RAISE(ABORT, 'not wanted'); END"},
     .lift = {"DROP TRIGGER tp_own_t"}},
    {.name = "trigger that keeps the row as it was",
     .silent = true,
     .possible = pool_on_sqlite,
     .make = {"CREATE TRIGGER tp_own_t BEFORE UPDATE ON tp_@T WHEN OLD.@C = '@V' BEGIN "
              "SELECT RAISE(IGNORE); END"},
     .lift = {"DROP TRIGGER tp_own_t"}},
};
const struct rules rules_on_update = {on_update, sizeof on_update / sizeof on_update[0]};

/* What befalls a row that is deleted. */
static const struct rule on_delete[] = {
    {.name = "trigger that fails",
     .possible = pool_on_postgres,
     .make = {"CREATE FUNCTION tp_own_f() RETURNS trigger LANGUAGE plpgsql AS "
              "'BEGIN IF OLD.@C = ''@V'' THEN RAISE EXCEPTION ''not wanted''; END IF; RETURN OLD; END'",
              "CREATE TRIGGER tp_own_t BEFORE DELETE ON tp_@T FOR EACH ROW EXECUTE FUNCTION tp_own_f()"},
     .lift = {"DROP TRIGGER tp_own_t ON tp_@T", "DROP FUNCTION tp_own_f()"}},
    {.name = "trigger that keeps the row",
     .silent = true,
     .possible = pool_on_postgres,
     .make = {"CREATE FUNCTION tp_own_f() RETURNS trigger LANGUAGE plpgsql AS "
              "'BEGIN IF OLD.@C = ''@V'' THEN RETURN NULL; END IF; RETURN OLD; END'",
              "CREATE TRIGGER tp_own_t BEFORE DELETE ON tp_@T FOR EACH ROW EXECUTE FUNCTION tp_own_f()"},
     .lift = {"DROP TRIGGER tp_own_t ON tp_@T", "DROP FUNCTION tp_own_f()"}},
    {.name = "rule that does nothing instead",
     .silent = true,
     .possible = pool_on_postgres,
     .refuses_all = true,
     .make = {"CREATE RULE tp_own_rule AS ON DELETE TO tp_@T DO INSTEAD NOTHING"},
     .lift = {"DROP RULE tp_own_rule ON tp_@T"}},
    {.name = "foreign key at the end of the transaction",
     .possible = pool_on_postgres,
     .make = {"CREATE TABLE tp_own_keys AS SELECT @I AS k FROM tp_@T WHERE @C = '@V'",
              "ALTER TABLE tp_own_keys ADD CONSTRAINT tp_own_fk FOREIGN KEY (k) REFERENCES tp_@T (@I) "
              "DEFERRABLE INITIALLY DEFERRED"},
     .lift = {"DROP TABLE tp_own_keys"}},
    {.name = "foreign key",
     .possible = on_server,
     .make = {"CREATE TABLE tp_own_keys AS SELECT @I AS k FROM tp_@T WHERE @C = '@V'",
              "ALTER TABLE tp_own_keys ADD CONSTRAINT tp_own_fk FOREIGN KEY (k) REFERENCES tp_@T (@I)"},
     .lift = {"DROP TABLE tp_own_keys"}},
    {.name = "trigger that fails",
     .possible = in_oracles_grammar,
     .make = {"CREATE TRIGGER tp_own_t BEFORE DELETE ON tp_@T FOR EACH ROW DECLARE unwanted EXCEPTION; BEGIN "
              "IF :OLD.@C = '@V' THEN RAISE unwanted; END IF; END;"},
     .lift = {"DROP TRIGGER tp_own_t"}},
    {.name = "trigger that fails",
     .possible = on_plain_mariadb,
     .make = {"CREATE TRIGGER tp_own_t BEFORE DELETE ON tp_@T FOR EACH ROW IF OLD.@C = '@V' THEN "
              "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not wanted'; END IF"},
     .lift = {"DROP TRIGGER tp_own_t"}},
    {.name = "trigger that fails",
     .possible = pool_on_sqlite,
     .make = {"CREATE TRIGGER tp_own_t BEFORE DELETE ON tp_@T WHEN OLD.@C = '@V' BEGIN "
              "SELECT RAISE(ABORT, 'not wanted'); END"},
     .lift = {"DROP TRIGGER tp_own_t"}},
    {.name = "trigger that keeps the row",
     .silent = true,
     .possible = pool_on_sqlite,
     .make = {"CREATE TRIGGER tp_own_t BEFORE DELETE ON tp_@T WHEN OLD.@C = '@V' BEGIN "
              "SELECT RAISE(IGNORE); END"},
     .lift = {"DROP TRIGGER tp_own_t"}},
    {.name = "foreign key",
     .possible = pool_on_sqlite,
     .make = {"CREATE TABLE tp_own_keys (k VARCHAR(255) REFERENCES tp_@T (@I))",
              "INSERT INTO tp_own_keys SELECT @I FROM tp_@T WHERE @C = '@V'"},
     .lift = {"DROP TABLE tp_own_keys"}},
    {.name = "foreign key at the end of the transaction",
     .possible = pool_on_sqlite,
     .make = {"CREATE TABLE tp_own_keys (k VARCHAR(255) REFERENCES tp_@T (@I) DEFERRABLE INITIALLY DEFERRED)",
              "INSERT INTO tp_own_keys SELECT @I FROM tp_@T WHERE @C = '@V'"},
     .lift = {"DROP TABLE tp_own_keys"}},
};
const struct rules rules_on_delete = {on_delete, sizeof on_delete / sizeof on_delete[0]};

/* ---- Making and lifting -------------------------------------------------------------------------------- */

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
