/* MariaDB's and MySQL's servers, which both drivers reach: what they share (settings, and error numbers,
 * which the drivers report), and where they differ. A deadlock ends the whole transaction in the server, and
 * the next statement commits by itself. A node of a cluster that lost the others answers 1047, and 1180 to a
 * commit that may or may not be done: another session finds out, on another node or later on this one. Read
 * next: src/odbc/driver.h. */
#ifndef TPI_DRIVERS_MYSQL_SERVERS_H
#define TPI_DRIVERS_MYSQL_SERVERS_H

#include "odbc/driver.h"

#define TPI_MYSQL_ADVICE                                                                                     \
    {"innodb_flush_log_at_trx_commit", "SELECT @@innodb_flush_log_at_trx_commit", "1",                       \
     "a power failure loses what was committed within the last second",                                      \
     "set innodb_flush_log_at_trx_commit = 1 in the server's configuration"},                                \
    {                                                                                                        \
        "binlog_format",                                                                                     \
            "SELECT CASE WHEN @@log_bin = 1 AND @@binlog_format = 'STATEMENT' THEN 'STATEMENT' ELSE 'rows' " \
            "END",                                                                                           \
            "rows", "claims at READ COMMITTED are refused",                                                  \
            "set binlog_format = MIXED or ROW in the server's configuration"                                 \
    }

/* Row counts are those of rows found, also where nothing changes. */
#define TPI_MYSQL_FOUND_BIT     "2"
#define TPI_MYSQL_RECONNECT_BIT "4194304"
#define TPI_MYSQL_RECONNECT_BIT_WHY                                                                          \
    "this bit lets the driver reconnect by itself, and such a session commits without being told to; take "  \
    "it out"

/* In a replication group a commit may be refused: 3101 where another member's came first, 3100 where this
 * member was cut off, so that another connection is to be made, to another member. */
#define TPI_MYSQL_RULES                                                                                      \
    {NULL, 1205, 0, NULL, TPI_CLASS_LOCKED}, {NULL, 3572, 0, NULL, TPI_CLASS_LOCKED},                        \
        {NULL, 1213, 0, NULL, TPI_CLASS_CONFLICT}, {NULL, 1020, 0, NULL, TPI_CLASS_CONFLICT},                \
        {NULL, 1243, 0, NULL, TPI_CLASS_FORGOTTEN}, {NULL, 1568, 0, NULL, TPI_CLASS_IN_TX},                  \
        {NULL, 1062, 0, NULL, TPI_CLASS_EXISTS}, {NULL, 1050, 0, NULL, TPI_CLASS_OBJECT_EXISTS},             \
        {NULL, 1060, 1061, NULL, TPI_CLASS_OBJECT_EXISTS}, {NULL, 1304, 0, NULL, TPI_CLASS_OBJECT_EXISTS},   \
        {NULL, 1359, 0, NULL, TPI_CLASS_OBJECT_EXISTS}, {NULL, 1146, 0, NULL, TPI_CLASS_NO_TABLE},           \
        {NULL, 1054, 0, NULL, TPI_CLASS_NO_TABLE}, {NULL, 1305, 0, NULL, TPI_CLASS_NO_TABLE},                \
        {NULL, 1406, 0, NULL, TPI_CLASS_TOO_LONG}, {NULL, 1264, 0, NULL, TPI_CLASS_TOO_LONG},                \
        {NULL, 1153, 0, NULL, TPI_CLASS_TOO_LONG}, {NULL, 1317, 0, NULL, TPI_CLASS_TIMEOUT},                 \
        {NULL, 1969, 0, NULL, TPI_CLASS_TIMEOUT}, {NULL, 3024, 0, NULL, TPI_CLASS_TIMEOUT},                  \
        {NULL, 1044, 0, NULL, TPI_CLASS_DENIED}, {NULL, 1142, 1143, NULL, TPI_CLASS_DENIED},                 \
        {NULL, 1227, 0, NULL, TPI_CLASS_DENIED}, {NULL, 1370, 0, NULL, TPI_CLASS_DENIED},                    \
        {NULL, 1419, 0, NULL, TPI_CLASS_DENIED}, {NULL, 1046, 0, NULL, TPI_CLASS_NO_DATABASE},               \
        {NULL, 1461, 0, NULL, TPI_CLASS_CURSORS}, {NULL, 1040, 0, NULL, TPI_CLASS_REFUSED},                  \
        {NULL, 1045, 0, NULL, TPI_CLASS_REFUSED}, {NULL, 1049, 0, NULL, TPI_CLASS_REFUSED},                  \
        {NULL, 1698, 0, NULL, TPI_CLASS_REFUSED}, {NULL, 2002, 2005, NULL, TPI_CLASS_REFUSED},               \
        {NULL, 1021, 0, NULL, TPI_CLASS_FULL}, {NULL, 1114, 0, NULL, TPI_CLASS_FULL},                        \
        {NULL, 1024, 0, NULL, TPI_CLASS_DISK}, {NULL, 1026, 0, NULL, TPI_CLASS_DISK},                        \
        {NULL, 1036, 0, NULL, TPI_CLASS_READ_ONLY}, {NULL, 1290, 0, NULL, TPI_CLASS_READ_ONLY},              \
        {NULL, 1792, 0, NULL, TPI_CLASS_READ_ONLY}, {NULL, 1836, 0, NULL, TPI_CLASS_READ_ONLY},              \
        {NULL, 1203, 0, NULL, TPI_CLASS_REFUSED}, {NULL, 1226, 0, NULL, TPI_CLASS_REFUSED},                  \
        {NULL, 3101, 0, NULL, TPI_CLASS_CONFLICT}, {NULL, 3100, 0, NULL, TPI_CLASS_DEAD},                    \
        {NULL, 1047, 0, NULL, TPI_CLASS_DEAD}, {NULL, 1180, 0, NULL, TPI_CLASS_DEAD},                        \
        {NULL, 1053, 0, NULL, TPI_CLASS_DEAD}, {NULL, 1927, 0, NULL, TPI_CLASS_DEAD},                        \
        {NULL, 4031, 0, NULL, TPI_CLASS_DEAD}, {                                                             \
        NULL, 2000, 2999, NULL, TPI_CLASS_DEAD                                                               \
    }

/* isolation: the server's name of it. */
#define TPI_MYSQL_CHECKS(isolation)                                                                          \
    {                                                                                                        \
        {"SELECT CASE WHEN @@character_set_client = 'utf8mb4' AND @@character_set_connection = 'utf8mb4' "   \
         "AND COALESCE(@@character_set_results, 'utf8mb4') = 'utf8mb4' THEN 'utf8mb4' ELSE "                 \
         "CONCAT_WS(', ', @@character_set_client, @@character_set_connection, @@character_set_results) END", \
         "utf8mb4",                                                                                          \
         "the connection must speak utf8mb4 (character_set_client, _connection and _results): take CHARSET " \
         "out of the connection string",                                                                     \
         TPI_CHECK_TEXT},                                                                                    \
            {"SELECT @@" isolation, "READ-COMMITTED",                                                        \
             "the isolation level must be READ COMMITTED, or what others did is not seen: set it on the "    \
             "borrowed connection first",                                                                    \
             TPI_CHECK_READING},                                                                             \
            {"SELECT CASE WHEN @@sql_mode LIKE '%STRICT%' THEN 'strict' ELSE 'lax' END", "strict",           \
             "sql_mode must keep STRICT_TRANS_TABLES, or values are cut silently: add modes by "             \
             "SET sql_mode = CONCAT(@@sql_mode, ',...')",                                                    \
             TPI_CHECK_ANYTHING},                                                                            \
            {0},                                                                                             \
    }

static const char *const tpi_mysql_session[] = {"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
                                                "SET SESSION innodb_lock_wait_timeout = 10, autocommit = 1",
                                                NULL};
static const struct tpi_advice tpi_mysql_advice[] = {TPI_MYSQL_ADVICE, {0}};
static const struct tpi_session_check tpi_mariadb_checks[] = TPI_MYSQL_CHECKS("tx_isolation");
static const struct tpi_session_check tpi_mysql_checks[] = TPI_MYSQL_CHECKS("transaction_isolation");

/* With all their options, because completion_type says what the short forms do: after COMMIT alone the
 * session may be in the next transaction, and what is written then is not stored. */
#define TPI_MYSQL_SESSION                                                                                    \
    .session = tpi_mysql_session, .utc = "SET time_zone = '+00:00'", .advice = tpi_mysql_advice,             \
    .begin = "START TRANSACTION", .commit = "COMMIT AND NO CHAIN NO RELEASE",                                \
    .rollback = "ROLLBACK AND NO CHAIN NO RELEASE", .commit_begin = "COMMIT AND CHAIN NO RELEASE",           \
    .tx_ends_silently = true, .locking_reads = true, .autocommit = "SELECT @@autocommit",                    \
    .max_packet = "SELECT @@max_allowed_packet", .number_type = TPI_SQL_BIGINT,                              \
    .trips = {                                                                                               \
        .prepare = 1, .first_execute = 1, .execute = 1, .direct = 1, .begin = 1, .commit = 1, .rollback = 1}

#define TPI_ON_MARIADB                                                                                       \
    .server = "MariaDB", .checks = tpi_mariadb_checks, .tx_probe = "SELECT @@in_transaction",                \
    .tx_open = "1", .own_tx = "SELECT @@in_transaction", .own_tx_open = "1",                                 \
    .prepares = "SELECT VARIABLE_VALUE FROM information_schema.session_status "                              \
                "WHERE VARIABLE_NAME = 'Com_stmt_prepare'",                                                  \
    .may_have_writers = true,                                                                                \
    .cluster = "SELECT COALESCE(MAX(CASE VARIABLE_VALUE WHEN 'ON' THEN '" TPI_MANY_WRITERS                   \
               "' END), 'none in which every node takes writes') FROM information_schema.session_variables " \
               "WHERE VARIABLE_NAME = 'WSREP_ON'"

/* MySQL has no such variable. Inside a transaction it refuses to set the isolation level of the next one
 * alone; outside, this sets the level that the session has anyway. */
#define TPI_MYSQL_PROBE "SET @@transaction_isolation = @@SESSION.transaction_isolation"
#define TPI_ON_MYSQL                                                                                         \
    .checks = tpi_mysql_checks, .tx_probe = TPI_MYSQL_PROBE, .own_tx = TPI_MYSQL_PROBE,                      \
    .may_have_writers = true,                                                                                \
    .cluster = "SELECT COALESCE(MAX(CASE VARIABLE_VALUE WHEN 'OFF' THEN '" TPI_MANY_WRITERS                  \
               "' ELSE 'a replication group of which one member takes writes' END), 'none in which every "   \
               "node takes writes') FROM performance_schema.global_variables WHERE VARIABLE_NAME = "         \
               "'group_replication_single_primary_mode'"

#endif
