/* Every way of setting a connection that an application may have. See ways.h. */
#include "lent/ways.h"

#include <sqlext.h>

#include "support/check.h"
#include "support/sql.h"

static bool on_mysql_or_mariadb(void) {
    return pool_on_mariadb() && !pool_on_oracle();
}
static bool on_mariadb_driver(void) {
    return on_mysql_or_mariadb() && !pool_on_mysql();
}
/* Generic reads the clock as text and refuses another zone than UTC, and another form than ISO. */
static bool on_own_clock(void) {
    return on_mysql_or_mariadb() && !pool_on_generic();
}
/* Oracle's own level of one transaction, which cannot be known either, is not that of its stand-in. */
static bool on_level_of_one(void) {
    return on_mysql_or_mariadb() && !pool_speaks("oracle");
}
static bool on_postgres_clock(void) {
    return pool_on_postgres() && !pool_on_generic();
}
static bool on_postgres(void) {
    return pool_on_postgres();
}
static bool on_sqlite(void) {
    return pool_on_sqlite();
}

#define PG_LEVEL(level)  "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL " level
#define MY_LEVEL(level)  "SET SESSION TRANSACTION ISOLATION LEVEL " level
#define ONE_LEVEL(level) "SET TRANSACTION ISOLATION LEVEL " level
#define MY_MODE(mode)    "SET SESSION sql_mode = CONCAT(@@sql_mode, '," mode "')"

/* SET NAMES, which a driver may refuse. */
#define MY_NAMES(name)                                                                                       \
    "SET character_set_client = " name ", character_set_connection = " name ", character_set_results "       \
    "= " name

static const struct way ways[] = {
    {.name = "as it comes"},
    {.name = "an ODBC 2 environment", .version = SQL_OV_ODBC2},
    {.name = "read uncommitted, by attribute", .level = SQL_TXN_READ_UNCOMMITTED},
    {.name = "read committed, by attribute", .level = SQL_TXN_READ_COMMITTED},
    {.name = "repeatable read, by attribute", .level = SQL_TXN_REPEATABLE_READ},
    {.name = "serializable, by attribute", .level = SQL_TXN_SERIALIZABLE},
    {.name = "serializable, ODBC 2", .level = SQL_TXN_SERIALIZABLE, .version = SQL_OV_ODBC2},
    {.name = "a limit of rows, ODBC 2", .version = SQL_OV_ODBC2, .attribute = SQL_MAX_ROWS, .set_to = 1},
    {.name = "a limit of length, ODBC 2", .version = SQL_OV_ODBC2, .attribute = SQL_MAX_LENGTH, .set_to = 5},
    {.name = "a dynamic cursor, ODBC 2",
     .version = SQL_OV_ODBC2,
     .attribute = SQL_CURSOR_TYPE,
     .set_to = SQL_CURSOR_DYNAMIC},
    {.name = "data not retrieved, ODBC 2",
     .version = SQL_OV_ODBC2,
     .attribute = SQL_RETRIEVE_DATA,
     .set_to = SQL_RD_OFF},
    {.name = "locking rows, ODBC 2",
     .version = SQL_OV_ODBC2,
     .attribute = SQL_CONCURRENCY,
     .set_to = SQL_CONCUR_LOCK},
    {.name = "no scan for escapes, ODBC 2", .version = SQL_OV_ODBC2, .attribute = SQL_NOSCAN, .set_to = 1},
    {.name = "metadata ids", .attribute = SQL_ATTR_METADATA_ID, .set_to = SQL_TRUE},
    {.name = "asynchronous", .attribute = SQL_ATTR_ASYNC_ENABLE, .set_to = SQL_ASYNC_ENABLE_ON},
    {.name = "read only, by attribute", .attribute = SQL_ATTR_ACCESS_MODE, .set_to = SQL_MODE_READ_ONLY},

    {"read uncommitted", on_postgres, .sql = PG_LEVEL("READ UNCOMMITTED")},
    {"repeatable read", on_postgres, .sql = PG_LEVEL("REPEATABLE READ")},
    {"serializable", on_postgres, .sql = PG_LEVEL("SERIALIZABLE")},
    {"client_encoding LATIN1", on_postgres, .sql = "SET client_encoding TO 'LATIN1'"},
    {"client_encoding WIN1252", on_postgres, .sql = "SET client_encoding TO 'WIN1252'"},
    {"client_encoding SQL_ASCII", on_postgres, .sql = "SET client_encoding TO 'SQL_ASCII'"},
    {"client_encoding EUC_JP", on_postgres, .sql = "SET client_encoding TO 'EUC_JP'"},
    {"repeatable read, one transaction", on_postgres, .next = ONE_LEVEL("REPEATABLE READ")},
    {"serializable, one transaction", on_postgres, .next = ONE_LEVEL("SERIALIZABLE")},
    {"default serializable", on_postgres, .sql = "SET default_transaction_isolation TO 'serializable'"},
    {"client_encoding SJIS", on_postgres, .sql = "SET client_encoding TO 'SJIS'"},
    {"transform_null_equals", on_postgres, .sql = "SET transform_null_equals TO on"},
    {"DateStyle and time zone", on_postgres_clock,
     .sql = "SET DateStyle TO 'German'; SET TimeZone TO 'Asia/Kolkata'"},
    {"TextAsLongVarchar=0", on_postgres, .key = "TextAsLongVarchar", .value = "0"},
    {"MaxVarcharSize=10", on_postgres, .key = "MaxVarcharSize", .value = "10"},
    {"Parse=1", on_postgres, .key = "Parse", .value = "1"},
    {"UpdatableCursors=1", on_postgres, .key = "UpdatableCursors", .value = "1"},
    {"BoolsAsChar=0", on_postgres, .key = "BoolsAsChar", .value = "0"},
    {"LFConversion=1", on_postgres, .key = "LFConversion", .value = "1"},
    {"standard_conforming_strings off", on_postgres, .sql = "SET standard_conforming_strings TO off"},
    {"Protocol=7.4-1", on_postgres, .key = "Protocol", .value = "7.4-1"},
    {"Protocol=7.4-2", on_postgres, .key = "Protocol", .value = "7.4-2"},
    {"repeatable read, Protocol=7.4-0", on_postgres, .sql = PG_LEVEL("REPEATABLE READ"), .key = "Protocol",
     .value = "7.4-0"},
    {"repeatable read, Protocol=7.4-1", on_postgres, .sql = PG_LEVEL("REPEATABLE READ"), .key = "Protocol",
     .value = "7.4-1"},
    {"serializable, UseServerSidePrepare=0", on_postgres, .sql = PG_LEVEL("SERIALIZABLE"),
     .key = "UseServerSidePrepare", .value = "0"},
    {"UseServerSidePrepare=0", on_postgres, .key = "UseServerSidePrepare", .value = "0"},
    {"UseDeclareFetch=1", on_postgres, .key = "UseDeclareFetch", .value = "1"},
    {"MaxLongVarcharSize=20", on_postgres, .key = "MaxLongVarcharSize", .value = "20"},
    {"ByteaAsLongVarBinary=1", on_postgres, .key = "ByteaAsLongVarBinary", .value = "1"},

    {"read uncommitted", on_mysql_or_mariadb, .sql = MY_LEVEL("READ UNCOMMITTED")},
    {"read committed", on_mysql_or_mariadb, .sql = MY_LEVEL("READ COMMITTED")},
    {"repeatable read", on_mysql_or_mariadb, .sql = MY_LEVEL("REPEATABLE READ")},
    {"serializable", on_mysql_or_mariadb, .sql = MY_LEVEL("SERIALIZABLE")},
    {"read uncommitted, one transaction", on_level_of_one, .sql = MY_LEVEL("READ COMMITTED"),
     .next = ONE_LEVEL("READ UNCOMMITTED")},
    {"repeatable read, one transaction", on_level_of_one, .sql = MY_LEVEL("READ COMMITTED"),
     .next = ONE_LEVEL("REPEATABLE READ")},
    {"SET NAMES latin1", on_mysql_or_mariadb, .sql = MY_NAMES("latin1")},
    {"SET NAMES utf8mb3", on_mysql_or_mariadb, .sql = MY_NAMES("utf8mb3")},
    {"character_set_client latin1", on_mysql_or_mariadb, .sql = "SET character_set_client = latin1"},
    {"character_set_connection latin1", on_mysql_or_mariadb, .sql = "SET character_set_connection = latin1"},
    {"character_set_results latin1", on_mysql_or_mariadb, .sql = "SET character_set_results = latin1"},
    {"character_set_results NULL", on_mysql_or_mariadb, .sql = "SET character_set_results = NULL"},
    {"ANSI_QUOTES and more", on_mysql_or_mariadb, .sql = MY_MODE("ANSI_QUOTES,PIPES_AS_CONCAT,IGNORE_SPACE")},
    {"NO_BACKSLASH_ESCAPES", on_mysql_or_mariadb, .sql = MY_MODE("NO_BACKSLASH_ESCAPES")},
    {"PAD_CHAR_TO_FULL_LENGTH", on_mariadb_driver, .sql = MY_MODE("PAD_CHAR_TO_FULL_LENGTH")},
    {"not strict", on_mysql_or_mariadb, .sql = "SET SESSION sql_mode = ''"},
    {"SET NAMES cp1251", on_mysql_or_mariadb, .sql = MY_NAMES("cp1251")},
    {"SET NAMES gbk", on_mysql_or_mariadb, .sql = MY_NAMES("gbk")},
    {"sql_auto_is_null", on_mysql_or_mariadb, .sql = "SET SESSION sql_auto_is_null = 1"},
    {"max_join_size", on_mysql_or_mariadb, .sql = "SET SESSION sql_big_selects = 0, max_join_size = 100000"},
    {"another collation", on_mysql_or_mariadb,
     .sql = "SET SESSION collation_connection = utf8mb4_general_ci"},
    {"sql_mode ORACLE", on_mariadb_driver, .sql = MY_MODE("ORACLE")},
    {"EMPTY_STRING_IS_NULL", on_mariadb_driver, .sql = MY_MODE("EMPTY_STRING_IS_NULL")},
    {"sql_select_limit 1", on_mysql_or_mariadb, .sql = "SET SESSION sql_select_limit = 1"},
    {"sql_safe_updates", on_mysql_or_mariadb, .sql = "SET SESSION sql_safe_updates = 1"},
    {"completion_type CHAIN", on_mysql_or_mariadb, .sql = "SET SESSION completion_type = 'CHAIN'"},
    {"a time zone", on_own_clock, .sql = "SET SESSION time_zone = '+05:30'"},
    {"rows changed, not found", on_mysql_or_mariadb, .key = "OPTION", .value = "0"},
    {"several statements at once", on_mariadb_driver, .key = "OPTION", .value = "67108866"},

    {"PRAGMA read_uncommitted", on_sqlite, .sql = "PRAGMA read_uncommitted = 1"},
    {"PRAGMA case_sensitive_like", on_sqlite, .sql = "PRAGMA case_sensitive_like = 1"},
    {"PRAGMA count_changes", on_sqlite, .sql = "PRAGMA count_changes = 1"},
    {"PRAGMA full_column_names", on_sqlite, .sql = "PRAGMA full_column_names = 1"},
    {"PRAGMA reverse_unordered_selects", on_sqlite, .sql = "PRAGMA reverse_unordered_selects = 1"},
    {"FKSupport=1", on_sqlite, .key = "FKSupport", .value = "1"},
    {"StepAPI=1", on_sqlite, .key = "StepAPI", .value = "1"},
    {"BigInt=1", on_sqlite, .key = "BigInt", .value = "1"},
    {"LongNames=1", on_sqlite, .key = "LongNames", .value = "1"},
    {"NoWCHAR=1", on_sqlite, .key = "NoWCHAR", .value = "1"},
    {"SyncPragma=OFF", on_sqlite, .key = "SyncPragma", .value = "OFF"},
};

const struct way *way_at(size_t i) {
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++)
        if ((!ways[k].on || ways[k].on()) && i-- == 0) return &ways[k];
    return NULL;
}

void way_connect(const struct way *way, SQLULEN autocommit, struct pool_raw *raw) {
    SQLULEN version = way->version ? way->version : SQL_OV_ODBC3;
    sure(pool_raw_open_as(raw, version, way->key, way->value), "%s: cannot connect", way->name);
    SQLSetConnectAttr(raw->dbc, SQL_ATTR_AUTOCOMMIT, (SQLPOINTER)autocommit, SQL_IS_UINTEGER);
}

static void end_manual(SQLHDBC dbc, SQLSMALLINT how) {
    SQLUINTEGER autocommit = SQL_AUTOCOMMIT_ON;
    SQLGetConnectAttr(dbc, SQL_ATTR_AUTOCOMMIT, &autocommit, 0, NULL);
    if (autocommit == SQL_AUTOCOMMIT_OFF) SQLEndTran(SQL_HANDLE_DBC, dbc, how);
}

static bool set_attribute(SQLHDBC dbc, SQLINTEGER attribute, SQLULEN value) {
    return !attribute || SQL_SUCCEEDED(SQLSetConnectAttr(dbc, attribute, (SQLPOINTER)value, SQL_IS_UINTEGER));
}

bool way_set(const struct way *way, SQLHDBC dbc) {
    sure(!way->sql || sql_raw(dbc, "%s", way->sql), "%s: %s", way->name, sql_reason());
    end_manual(dbc, SQL_COMMIT); /* what is of a session counts from the next one on */
    return set_attribute(dbc, way->level ? SQL_ATTR_TXN_ISOLATION : 0, way->level) &&
           set_attribute(dbc, way->attribute, way->set_to);
}

bool way_open(const struct way *way, SQLULEN autocommit, struct pool_raw *raw) {
    way_connect(way, autocommit, raw);
    bool known = way_set(way, raw->dbc);
    if (!known) pool_raw_close(raw);
    return known;
}

void way_begin(const struct way *way, SQLHDBC dbc) {
    int64_t rows = 0;
    end_manual(dbc, SQL_ROLLBACK); /* that in which the session was looked at */
    sure(!way->next || sql_raw(dbc, "%s", way->next), "%s: %s", way->name, sql_reason());
    sure(sql_raw_number(dbc, &rows, "SELECT COUNT(*) FROM tp_finished"), "%s: %s", way->name, sql_reason());
}
