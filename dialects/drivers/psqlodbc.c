/* psqlODBC, seen with 13.02. Error states are the server's; native codes mean nothing. Protocol=7.4-0: no
 * savepoint around each statement, and nothing can go on after an error. Even so the driver reports success
 * for the COMMIT of a transaction that the server had already given up; tx_probe finds that out. Where
 * synchronous_commit is off, a commit that was reported may be lost in a crash. With the system's own
 * keep-alive a connection waits two hours for a host that is gone. Read next: src/odbc/driver.h. */
#include "odbc/driver.h"

static const char *const modules[] = {"psqlodbc", NULL};
static const char *const session[] = {"SELECT set_config('synchronous_commit', 'on', false) "
                                      "WHERE current_setting('synchronous_commit') = 'off'",
                                      NULL};

static const struct tpi_key keys[] = {
    {"Protocol", "7.4-0", TPI_KEY_ONLY,
     "with it a transaction goes on, or begins anew, after an error; take it out"},
    {"ConnSettings",
     "set client_encoding to 'UTF8';set lock_timeout to '10s';"
     "set session characteristics as transaction isolation level read committed",
     TPI_KEY_APPEND, NULL},
    {"Server", NULL, TPI_KEY_KNOWN, NULL},
    {"Servername", NULL, TPI_KEY_KNOWN, NULL},
    {"Port", NULL, TPI_KEY_KNOWN, NULL},
    {"Database", NULL, TPI_KEY_KNOWN, NULL},
    {"Username", NULL, TPI_KEY_KNOWN, NULL},
    {"Password", NULL, TPI_KEY_KNOWN, NULL},
    {"SSLmode", NULL, TPI_KEY_KNOWN, NULL},
    {"UseServerSidePrepare", NULL, TPI_KEY_KNOWN, NULL},
    {"KeepaliveTime", "30", TPI_KEY_DEFAULT, NULL},
    {"KeepaliveInterval", "10", TPI_KEY_DEFAULT, NULL},
    {0},
};

static const struct tpi_rule rules[] = {
    {"57P0", 0, 0, NULL, TPI_CLASS_DEAD},
    {"25P03", 0, 0, NULL, TPI_CLASS_DEAD},
    {"HY000", 8, 0, "SAVEPOINT", TPI_CLASS_DEAD},
    {"08001", 0, 0, "session is read-only", TPI_CLASS_READ_ONLY},
    {"08001", 0, 0, NULL, TPI_CLASS_REFUSED},
    {"08", 0, 0, NULL, TPI_CLASS_DEAD},
    {"55P03", 0, 0, NULL, TPI_CLASS_LOCKED},
    {"57014", 0, 0, NULL, TPI_CLASS_TIMEOUT},
    {"40003", 0, 0, NULL, TPI_CLASS_DEAD}, /* it may have been done */
    /* A warning of a commit: it is here, and perhaps not on the standby that it was to wait for. */
    {"01000", 0, 0, "wait for synchronous replication", TPI_CLASS_DEAD},
    {"40", 0, 0, NULL, TPI_CLASS_CONFLICT},
    {"XX000", 0, 0, "tuple concurrently", TPI_CLASS_CONFLICT}, /* two that define the same function */
    {"25P02", 0, 0, NULL, TPI_CLASS_ABORTED},
    {"26000", 0, 0, NULL, TPI_CLASS_FORGOTTEN},
    {"23505", 0, 0, NULL, TPI_CLASS_EXISTS},
    {"42P07", 0, 0, NULL, TPI_CLASS_OBJECT_EXISTS},
    {"42701", 0, 0, NULL, TPI_CLASS_OBJECT_EXISTS},
    {"42710", 0, 0, NULL, TPI_CLASS_OBJECT_EXISTS},
    {"42723", 0, 0, NULL, TPI_CLASS_OBJECT_EXISTS},
    {"42P01", 0, 0, NULL, TPI_CLASS_NO_TABLE},
    {"42703", 0, 0, NULL, TPI_CLASS_NO_TABLE},
    {"22001", 0, 0, NULL, TPI_CLASS_TOO_LONG},
    {"22003", 0, 0, NULL, TPI_CLASS_TOO_LONG},
    {"25006", 0, 0, NULL, TPI_CLASS_READ_ONLY},
    {"53100", 0, 0, NULL, TPI_CLASS_FULL},
    {"58030", 0, 0, NULL, TPI_CLASS_DISK},
    {"53300", 0, 0, NULL, TPI_CLASS_REFUSED},
    {"42501", 0, 0, NULL, TPI_CLASS_DENIED},
};

static const struct tpi_session_check checks[] = {
    {"SELECT current_setting('client_encoding')", "UTF8",
     "client_encoding must be UTF8, or text is stored wrongly: run \"set client_encoding to 'UTF8'\" first",
     TPI_CHECK_TEXT},
    {"SELECT 'a' || chr(10)", "a\n",
     "LFConversion must be 0, or the driver adds a carriage return to each line end that it reads",
     TPI_CHECK_LINES},
    /* The server takes read uncommitted for read committed. */
    {"SELECT replace(current_setting('transaction_isolation'), 'uncommitted', 'committed')", "read committed",
     "the isolation level must be read committed: take other settings out of ConnSettings, set it first "
     "on a borrowed connection, or behind a pooler give it to the role: ALTER ROLE ... SET "
     "default_transaction_isolation = 'read committed'",
     TPI_CHECK_READING},
    {0},
};

static const struct tpi_advice advice[] = {
    {"synchronous_commit",
     "SELECT CASE WHEN current_setting('synchronous_commit') = 'off' THEN 'off' ELSE 'on' END", "on",
     "a crash of the server loses what was just committed",
     "set synchronous_commit to on, for the server or in ConnSettings"},
    {"fsync", "SELECT current_setting('fsync')", "on", "a power failure may destroy the database",
     "set fsync = on in the server's configuration"},
    {0},
};

const struct tpi_driver tpi_driver_psqlodbc = {
    .name = "psqlodbc",
    .modules = modules,
    .keys = keys,
    .rules = rules,
    .rule_count = sizeof rules / sizeof rules[0],
    .session = session,
    .utc = "SET timezone TO 'UTC'",
    .checks = checks,
    .advice = advice,
    .commit_begin = "COMMIT;BEGIN",
    .tx_probe = "SELECT 1",
    .tx_open = "1",
    /* Sent alone, a statement has one message and one time with its own transaction; in another's it is
       later. */
    .own_tx = "SELECT CASE WHEN statement_timestamp() = transaction_timestamp() THEN 'none' ELSE 'open' END",
    .own_tx_open = "open",
    /* A name that no application has: of two with the same name the server means the last. */
    .savepoint = "SAVEPOINT taskpool_put_c41d7e02",
    .savepoint_back = "ROLLBACK TO SAVEPOINT taskpool_put_c41d7e02",
    .savepoint_end = "RELEASE SAVEPOINT taskpool_put_c41d7e02",
    .commit_may_lie = true,
    .binds_columns = true,
    .keeps_plans = 5,
    .number_type = TPI_SQL_BIGINT,
    .trips =
        {.prepare = 0, .first_execute = 3, .execute = 1, .direct = 1, .begin = 1, .commit = 1, .rollback = 1},
    .pooler_remedy = "put UseServerSidePrepare=0 into the connection string, and give the role what each "
                     "session is to have: ALTER ROLE ... SET lock_timeout = '10s' and ALTER ROLE ... SET "
                     "default_transaction_isolation = 'read committed'; or let the pooler keep a session for "
                     "each connection (pool_mode = session)",
    /* A commit that waits writes to the log; a number of its own does not make it wait. */
    .catch_up = "SELECT CASE WHEN current_setting('synchronous_standby_names') <> '' AND NOT "
                "pg_is_in_recovery() THEN pg_logical_emit_message(true, 'taskpool', '') END",
    /* Who may not see how a copy follows sees that it does. */
    .cluster =
        "SELECT CASE WHEN pg_is_in_recovery() THEN '" TPI_IS_COPY "' "
        "WHEN current_setting('synchronous_standby_names') <> '' AND "
        "current_setting('synchronous_commit') NOT IN ('local', 'off') AND "
        "COUNT(CASE WHEN COALESCE(sync_state, 'sync') IN ('sync', 'quorum') THEN 1 END) < "
        "COALESCE(CAST(substring(current_setting('synchronous_standby_names') FROM '([0-9]+) *[(]') AS "
        "integer), 1) THEN '" TPI_COMMITS_HANG "' "
        "WHEN COUNT(*) = 0 THEN 'no copy follows this server' "
        "WHEN current_setting('synchronous_standby_names') <> '' AND "
        "current_setting('synchronous_commit') <> 'local' THEN 'copies that follow this server: ' || "
        "COUNT(*) || '; a commit waits for those named in synchronous_standby_names' "
        "ELSE 'copies that follow this server: ' || COUNT(*) || '; no commit waits for them: when one "
        "takes over, what was committed in the last moments may be gone' END FROM pg_stat_replication",
    .session_number = "SELECT pg_backend_pid()",
    .prepared_count = "SELECT COUNT(*) FROM pg_prepared_statements",
    .lacking_defaults =
        "SELECT string_agg(name, ', ') FROM pg_settings WHERE name = 'lock_timeout' AND reset_val = '0' OR "
        "name = 'default_transaction_isolation' AND reset_val <> 'read committed' OR name = "
        "'synchronous_commit' AND reset_val = 'off'",
};
