/* Driver profiles: what each error means, driver by driver, and what a profile must
 * have. */
#include "odbc/driver.h"
#include "support/test.h"

struct error {
    const char *state;
    int32_t native;
    const char *text;
    enum tpi_class class;
};

static const struct error psqlodbc[] = {
    {"55P03", 1, "ERROR: could not obtain lock on row in relation \"t\"", TPI_CLASS_LOCKED},
    {"55P03", 1, "ERROR: canceling statement due to lock timeout", TPI_CLASS_LOCKED},
    {"40P01", 1, "ERROR: deadlock detected", TPI_CLASS_CONFLICT},
    {"40001", 1, "ERROR: could not serialize access due to concurrent update", TPI_CLASS_CONFLICT},
    {"40001", 110, "could not serialize access", TPI_CLASS_CONFLICT},
    {"25P02", 1, "ERROR: current transaction is aborted", TPI_CLASS_ABORTED},
    {"23505", 1, "ERROR: duplicate key value violates unique constraint", TPI_CLASS_EXISTS},
    {"23505", 110, "deferred unique at commit", TPI_CLASS_EXISTS},
    {"23502", 1, "ERROR: null value in column", TPI_CLASS_OTHER},
    {"23514", 1, "ERROR: violates check constraint", TPI_CLASS_OTHER},
    {"42P01", 1, "ERROR: relation \"x\" does not exist", TPI_CLASS_NO_TABLE},
    {"42703", 1, "ERROR: column \"x\" does not exist", TPI_CLASS_NO_TABLE},
    {"42601", 1, "ERROR: syntax error at or near \"x\"", TPI_CLASS_OTHER},
    {"42P07", 1, "ERROR: relation \"x\" already exists", TPI_CLASS_OBJECT_EXISTS},
    {"42710", 1, "ERROR: type \"x\" already exists", TPI_CLASS_OBJECT_EXISTS},
    {"22001", 1, "ERROR: value too long for type character varying(64)", TPI_CLASS_TOO_LONG},
    {"22003", 1, "ERROR: integer out of range", TPI_CLASS_TOO_LONG},
    {"22012", 1, "ERROR: division by zero", TPI_CLASS_OTHER},
    {"57014", 1, "ERROR: canceling statement due to user request", TPI_CLASS_TIMEOUT},
    {"57014", 1, "ERROR: canceling statement due to statement timeout", TPI_CLASS_TIMEOUT},
    {"57P01", 35, "FATAL: terminating connection due to administrator command", TPI_CLASS_DEAD},
    {"57P01", 108, "at SQLEndTran", TPI_CLASS_DEAD},
    {"08S01", 35, "no connection to the server", TPI_CLASS_DEAD},
    {"08S01", 113, "at SQLEndTran", TPI_CLASS_DEAD},
    {"25P03", 35, "FATAL: terminating connection due to idle-in-transaction timeout", TPI_CLASS_DEAD},
    {"25P03", 108, "at SQLEndTran", TPI_CLASS_DEAD},
    {"HY000", 8, "internal SAVEPOINT failed", TPI_CLASS_DEAD},
    {"HY000", 8, "something else", TPI_CLASS_OTHER},
    {"08001", 101, "connection to server at \"127.0.0.1\", port 1 failed: Connection refused",
     TPI_CLASS_REFUSED},
    {"08001", 101, "password authentication failed for user \"u\"", TPI_CLASS_REFUSED},
    {"01000", 0, "Can't open lib 'x' : file not found", TPI_CLASS_NO_DRIVER},
    {"IM002", 0, "Data source name not found", TPI_CLASS_NO_DRIVER},
    {"53100", 1, "ERROR: could not extend file: No space left on device", TPI_CLASS_FULL},
    {"58030", 1, "ERROR: could not read block 7", TPI_CLASS_DISK},
    {"XX000", 1, "ERROR: tuple concurrently updated", TPI_CLASS_CONFLICT},
    {"XX000", 1, "ERROR: cache lookup failed", TPI_CLASS_OTHER},
    {"25006", 1, "ERROR: cannot execute UPDATE in a read-only transaction", TPI_CLASS_READ_ONLY},
    {"26000", 1, "ERROR: prepared statement \"_PLAN0x1\" does not exist", TPI_CLASS_FORGOTTEN},
    {"42P05", 1, "ERROR: prepared statement \"_PLAN0x1\" already exists", TPI_CLASS_FORGOTTEN},
    {"42501", 1, "ERROR: permission denied for table x", TPI_CLASS_DENIED},
    {"HYT00", 0, "timeout", TPI_CLASS_TIMEOUT},
};

static const struct error maodbc[] = {
    {"HY000", 1205, "Lock wait timeout exceeded; try restarting transaction", TPI_CLASS_LOCKED},
    {"40001", 1213, "Deadlock found when trying to get lock", TPI_CLASS_CONFLICT},
    {"HY000", 1020, "Record has changed since last read", TPI_CLASS_CONFLICT},
    {"HY000", 1243, "Unknown prepared statement handler (7) given to mysqld_stmt_execute",
     TPI_CLASS_FORGOTTEN},
    {"25001", 1568, "Transaction characteristics can't be changed while a transaction is in progress",
     TPI_CLASS_IN_TX},
    {"23000", 1062, "Duplicate entry 'x' for key 'PRIMARY'", TPI_CLASS_EXISTS},
    {"23000", 1048, "Column 'x' cannot be null", TPI_CLASS_OTHER},
    {"23000", 4025, "CONSTRAINT `x` failed for `t`", TPI_CLASS_OTHER},
    {"42S02", 1146, "Table 'x' doesn't exist", TPI_CLASS_NO_TABLE},
    {"42S22", 1054, "Unknown column 'x'", TPI_CLASS_NO_TABLE},
    {"42000", 1305, "FUNCTION x does not exist", TPI_CLASS_NO_TABLE},
    {"42000", 1064, "You have an error in your SQL syntax", TPI_CLASS_OTHER},
    {"42S01", 1050, "Table 'x' already exists", TPI_CLASS_OBJECT_EXISTS},
    {"42000", 1061, "Duplicate key name 'x'", TPI_CLASS_OBJECT_EXISTS},
    {"42000", 1304, "FUNCTION x already exists", TPI_CLASS_OBJECT_EXISTS},
    {"HY000", 1359, "Trigger 'x' already exists", TPI_CLASS_OBJECT_EXISTS},
    {"22001", 1406, "Data too long for column 'x'", TPI_CLASS_TOO_LONG},
    {"22003", 1264, "Out of range value for column 'x'", TPI_CLASS_TOO_LONG},
    {"HY018", 1317, "Query execution was interrupted", TPI_CLASS_TIMEOUT},
    {"HY018", 1969, "max_statement_time exceeded", TPI_CLASS_TIMEOUT},
    {"08S01", 2013, "Lost connection to MySQL server during query", TPI_CLASS_DEAD},
    {"08S01", 2006, "MySQL server has gone away", TPI_CLASS_DEAD},
    {"08S01", 0, "no connection", TPI_CLASS_DEAD},
    {"HY000", 4031, "The client was disconnected by the server because of inactivity.", TPI_CLASS_DEAD},
    {"HY000", 3100, "Error on observer while running replication hook 'before_commit'.", TPI_CLASS_DEAD},
    {"40000", 3101, "Plugin instructed the server to rollback the current transaction.", TPI_CLASS_CONFLICT},
    {"42000", 1203, "User x already has more than 'max_user_connections' active connections",
     TPI_CLASS_REFUSED},
    {"42000", 1226, "User 'x' has exceeded the 'max_user_connections' resource (current value: 5)",
     TPI_CLASS_REFUSED},
    {"HY000", 3819, "Check constraint 'x' is violated.", TPI_CLASS_OTHER},
    {"HY000", 1290, "The MySQL server is running with the --super-read-only option", TPI_CLASS_READ_ONLY},
    {"HY000", 5014, "error while sending a packet that is too long", TPI_CLASS_DEAD},
    {"HY000", 2055, "Lost connection", TPI_CLASS_DEAD},
    {"70100", 1927, "Connection was killed", TPI_CLASS_DEAD},
    {"08S01", 1053, "Server shutdown in progress", TPI_CLASS_DEAD},
    {"08S01", 1047, "WSREP has not yet prepared node for application use", TPI_CLASS_DEAD},
    {"HY000", 1047, "WSREP has not yet prepared node for application use", TPI_CLASS_DEAD},
    {"HY000", 1180,
     "Error while appending streaming replication fragment(provider status: Not connected to "
     "Primary Component)",
     TPI_CLASS_DEAD},
    {"HY000", 1180, "Got error 5 \"Input/output error\" during COMMIT", TPI_CLASS_DEAD},
    {"HY000", 2002, "Can't connect to server on '127.0.0.1' (111)", TPI_CLASS_REFUSED},
    {"HY000", 2005, "Unknown server host", TPI_CLASS_REFUSED},
    {"28000", 1045, "Access denied for user 'u'@'localhost' (using password: YES)", TPI_CLASS_REFUSED},
    {"42000", 1049, "Unknown database 'x'", TPI_CLASS_REFUSED},
    {"HY000", 1040, "Too many connections", TPI_CLASS_REFUSED},
    {"42000", 1461, "Can't create more than max_prepared_stmt_count statements", TPI_CLASS_CURSORS},
    {"01000", 0, "Can't open lib 'x' : file not found", TPI_CLASS_NO_DRIVER},
    {"IM002", 0, "Data source name not found", TPI_CLASS_NO_DRIVER},
    {"HY000", 1021, "Disk full", TPI_CLASS_FULL},
    {"HY000", 1026, "Error writing file", TPI_CLASS_DISK},
    {"HY000", 1114, "The table 'x' is full", TPI_CLASS_FULL},
    {"HY000", 1290, "The MariaDB server is running with the --read-only option", TPI_CLASS_READ_ONLY},
    {"25006", 1792, "Cannot execute statement in a READ ONLY transaction", TPI_CLASS_READ_ONLY},
    {"HY000", 1836, "Running in read-only mode", TPI_CLASS_READ_ONLY},
    {"42000", 1142, "INSERT command denied to user", TPI_CLASS_DENIED},
    {"3D000", 1046, "No database selected", TPI_CLASS_NO_DATABASE},
    {"HY000", 0, "an error behind the first of several statements", TPI_CLASS_OTHER},
    {"22012", 1365, "Division by 0", TPI_CLASS_OTHER},
};

static const struct error sqliteodbc[] = {
    {"HY000", 5, "database is locked", TPI_CLASS_LOCKED},
    {"HY000", 6, "database table is locked", TPI_CLASS_LOCKED},
    {"HY000", 19, "UNIQUE constraint failed: tp_pending.id", TPI_CLASS_EXISTS},
    {"HY000", 19, "NOT NULL constraint failed: t.c", TPI_CLASS_OTHER},
    {"HY000", 19, "CHECK constraint failed: c", TPI_CLASS_OTHER},
    {"HY000", 1, "no such table: tp_meta", TPI_CLASS_NO_TABLE},
    {"HY000", 1, "no such column: x", TPI_CLASS_NO_TABLE},
    {"HY000", 1, "table t has no column named x", TPI_CLASS_NO_TABLE},
    {"HY000", 1, "table tp_meta already exists", TPI_CLASS_OBJECT_EXISTS},
    {"HY000", 1, "index x already exists", TPI_CLASS_OBJECT_EXISTS},
    {"HY000", 1, "near \"FOR\": syntax error", TPI_CLASS_OTHER},
    {"HY000", 9, "interrupted", TPI_CLASS_TIMEOUT},
    {"HY000", 14, "connect failed", TPI_CLASS_REFUSED},
    {"HY000", 8, "attempt to write a readonly database", TPI_CLASS_READ_ONLY_FILE},
    {"HY000", 10, "disk I/O error", TPI_CLASS_DISK},
    {"HY000", 13, "database or disk is full", TPI_CLASS_FULL},
    {"HY000", 17, "database schema has changed", TPI_CLASS_CONFLICT},
    {"HY000", 18, "string or blob too big", TPI_CLASS_TOO_LONG},
    {"HY000", 11, "database disk image is malformed", TPI_CLASS_OTHER},
    {"01000", 0, "Can't open lib 'x' : file not found", TPI_CLASS_NO_DRIVER},
    {"IM002", 0, "Data source name not found", TPI_CLASS_NO_DRIVER},
};

/* From documentation; judged by the native code. */
static const struct error sqora[] = {
    {"HY000", 54, "ORA-00054: resource busy", TPI_CLASS_LOCKED},
    {"HY000", 30006, "ORA-30006: resource busy; acquire with WAIT timeout expired", TPI_CLASS_LOCKED},
    {"40001", 60, "ORA-00060: deadlock detected", TPI_CLASS_CONFLICT},
    {"HY000", 8177, "ORA-08177: can't serialize access", TPI_CLASS_CONFLICT},
    {"23000", 1, "ORA-00001: unique constraint violated", TPI_CLASS_EXISTS},
    {"23000", 1400, "ORA-01400: cannot insert NULL", TPI_CLASS_OTHER},
    {"23000", 2290, "ORA-02290: check constraint violated", TPI_CLASS_OTHER},
    {"42S02", 942, "ORA-00942: table or view does not exist", TPI_CLASS_NO_TABLE},
    {"42S22", 904, "ORA-00904: invalid identifier", TPI_CLASS_NO_TABLE},
    {"42S01", 955, "ORA-00955: name is already used", TPI_CLASS_OBJECT_EXISTS},
    {"08S01", 3113, "ORA-03113: end-of-file on communication channel", TPI_CLASS_DEAD},
    {"08003", 3114, "ORA-03114: not connected", TPI_CLASS_DEAD},
    {"HY000", 1012, "ORA-01012: not logged on", TPI_CLASS_DEAD},
    {"HY000", 28, "ORA-00028: your session has been killed", TPI_CLASS_DEAD},
    {"HY000", 2396, "ORA-02396: exceeded maximum idle time", TPI_CLASS_DEAD},
    {"HY000", 12537, "ORA-12537: connection closed", TPI_CLASS_DEAD},
    {"HY000", 3135, "ORA-03135: connection lost contact", TPI_CLASS_DEAD},
    {"HY000", 1089, "ORA-01089: immediate shutdown or close in progress", TPI_CLASS_DEAD},
    {"HY000", 1092, "ORA-01092: ORACLE instance terminated. Disconnection forced", TPI_CLASS_DEAD},
    {"HY000", 2399, "ORA-02399: exceeded maximum connect time", TPI_CLASS_DEAD},
    {"HY000", 12571, "ORA-12571: TNS:packet writer failure", TPI_CLASS_DEAD},
    {"HY000", 12547, "ORA-12547: TNS:lost contact", TPI_CLASS_DEAD},
    {"HY000", 12514, "ORA-12514: the listener does not know the service", TPI_CLASS_DEAD},
    {"HY000", 25402, "ORA-25402: transaction must roll back", TPI_CLASS_DEAD},
    {"HY000", 25408, "ORA-25408: can not safely replay call", TPI_CLASS_DEAD},
    {"08001", 12541, "ORA-12541: no listener", TPI_CLASS_REFUSED},
    {"HY000", 1033, "ORA-01033: initialization or shutdown in progress", TPI_CLASS_REFUSED},
    {"HY000", 1034, "ORA-01034: ORACLE not available", TPI_CLASS_REFUSED},
    {"HY000", 12505, "ORA-12505: the listener does not know the SID", TPI_CLASS_REFUSED},
    {"HY000", 12516, "ORA-12516: no handler with matching protocol stack", TPI_CLASS_REFUSED},
    {"HY000", 12518, "ORA-12518: the listener could not hand off", TPI_CLASS_REFUSED},
    {"HY000", 12519, "ORA-12519: no appropriate service handler", TPI_CLASS_REFUSED},
    {"HY000", 12520, "ORA-12520: no handler for the type of server", TPI_CLASS_REFUSED},
    {"HY000", 12528, "ORA-12528: all instances are blocking new connections", TPI_CLASS_REFUSED},
    {"HY000", 28000, "ORA-28000: the account is locked", TPI_CLASS_REFUSED},
    {"HY000", 28001, "ORA-28001: the password has expired", TPI_CLASS_REFUSED},
    {"HY000", 18, "ORA-00018: maximum number of sessions exceeded", TPI_CLASS_REFUSED},
    {"HY000", 20, "ORA-00020: maximum number of processes exceeded", TPI_CLASS_REFUSED},
    {"HY000", 1555, "ORA-01555: snapshot too old", TPI_CLASS_CONFLICT},
    {"HY000", 4068, "ORA-04068: existing state of packages has been discarded", TPI_CLASS_CONFLICT},
    {"HY000", 4061, "ORA-04061: existing state has been invalidated", TPI_CLASS_CONFLICT},
    {"HY000", 1456, "ORA-01456: not in a READ ONLY transaction", TPI_CLASS_READ_ONLY},
    {"HY000", 257, "ORA-00257: archiver error", TPI_CLASS_FULL},
    {"HY000", 1115, "ORA-01115: IO error reading block from file", TPI_CLASS_DISK},
    {"HY000", 1950, "ORA-01950: no privileges on tablespace", TPI_CLASS_FULL},
    {"HY000", 2049, "ORA-02049: distributed transaction waiting for lock", TPI_CLASS_LOCKED},
    {"HY000", 1000, "ORA-01000: maximum open cursors exceeded", TPI_CLASS_CURSORS},
    {"HY000", 24344, "ORA-24344: success with compilation error", TPI_CLASS_INVALID},
    {"HY000", 4098, "ORA-04098: trigger is invalid and failed re-validation", TPI_CLASS_INVALID},
    {"HY000", 6575, "ORA-06575: function TP_NOW is in an invalid state", TPI_CLASS_INVALID},
    {"HY000", 1653, "ORA-01653: unable to extend table X by 128 in tablespace USERS", TPI_CLASS_FULL},
    {"HY000", 1691, "ORA-01691: unable to extend lob segment X", TPI_CLASS_FULL},
    {"HY000", 1536, "ORA-01536: space quota exceeded for tablespace USERS", TPI_CLASS_FULL},
    {"HY000", 30036, "ORA-30036: unable to extend segment by 8 in undo tablespace", TPI_CLASS_FULL},
    {"HY000", 16000, "ORA-16000: database open for read-only access", TPI_CLASS_READ_ONLY},
    {"HY000", 12170, "ORA-12170: connect timeout", TPI_CLASS_REFUSED},
    {"28000", 1017, "ORA-01017: invalid username/password", TPI_CLASS_REFUSED},
    {"HY008", 1013, "ORA-01013: user requested cancel", TPI_CLASS_TIMEOUT},
};

/* A driver nobody knows: standard states only. */
static const struct error any[] = {
    {"57P01", 1, "terminating connection", TPI_CLASS_DEAD},
    {"HY000", 1, "The connection has been lost", TPI_CLASS_DEAD},
    {"25P02", 1, "current transaction is aborted", TPI_CLASS_ABORTED},
    {"42000", 3930, "The current transaction cannot be committed", TPI_CLASS_ABORTED},
    {"55P03", 1, "could not obtain lock", TPI_CLASS_LOCKED},
    {"42P01", 1, "relation does not exist", TPI_CLASS_NO_TABLE},
    {"08001", 1, "x", TPI_CLASS_REFUSED},
    {"28000", 1, "x", TPI_CLASS_REFUSED},
    {"08S01", 1, "x", TPI_CLASS_DEAD},
    {"08003", 1, "x", TPI_CLASS_DEAD},
    {"40001", 1, "x", TPI_CLASS_CONFLICT},
    {"40003", 1, "x", TPI_CLASS_DEAD},
    {"23505", 1, "x", TPI_CLASS_EXISTS},
    {"23000", -1, "SR175: Uniqueness violation : Violating unique index TP_PENDING", TPI_CLASS_EXISTS},
    {"23000", 2627, "Violation of PRIMARY KEY constraint 'x'. Cannot insert duplicate key", TPI_CLASS_EXISTS},
    {"23000", -803, "violation of PRIMARY or UNIQUE KEY constraint \"X\"", TPI_CLASS_EXISTS},
    {"23000", 515, "Cannot insert the value NULL into column 'x'", TPI_CLASS_OTHER},
    {"42S01", 1, "x", TPI_CLASS_OBJECT_EXISTS},
    {"42S02", 1, "x", TPI_CLASS_NO_TABLE},
    {"42S22", 1, "x", TPI_CLASS_NO_TABLE},
    {"22001", 1, "x", TPI_CLASS_TOO_LONG},
    {"22003", 1, "x", TPI_CLASS_TOO_LONG},
    {"HYT00", 1, "x", TPI_CLASS_TIMEOUT},
    {"HYT01", 1, "x", TPI_CLASS_TIMEOUT},
    {"IM002", 0, "x", TPI_CLASS_NO_DRIVER},
    {"IM003", 0, "x", TPI_CLASS_NO_DRIVER},
    {"42501", 1, "x", TPI_CLASS_DENIED},
    {"HY000", 1205, "UNIQUE", TPI_CLASS_OTHER},
    {"HY000", 5014, "x", TPI_CLASS_OTHER},
    {"", 0, "", TPI_CLASS_OTHER},
};

static void check(const char *module, const struct error *errors, size_t count) {
    const struct tpi_driver *driver = tpi_driver_for_module(module);
    for (size_t i = 0; i < count; i++) {
        const struct error *e = &errors[i];
        enum tpi_class found = tpi_driver_classify(driver, e->state, e->native, e->text);
        if (found != e->class)
            fail_msg("%s: %s [%d] %s is taken for: %s", driver->name, e->state, (int)e->native, e->text,
                     tpi_class_info(found)->text);
    }
}
#define CHECK(module, errors) check(module, errors, COUNT(errors))

TEST(test_classify__psqlodbc_by_state) {
    CHECK("psqlodbcw.so", psqlodbc);
    CHECK("psqlodbca.so", psqlodbc);
}

TEST_AS(test_classify__maodbc_by_native_code, CHECK("libmaodbc.so", maodbc))
TEST_AS(test_classify__sqliteodbc_by_native_code_and_text, CHECK("sqlite3odbc.so", sqliteodbc))
TEST_AS(test_classify__oracle_by_native_code, CHECK("libsqora.so.19.1", sqora))
TEST_AS(test_classify__an_unknown_driver_by_standard_states, CHECK("libtdsodbc.so", any))

TEST(test_classify__mysql_s_own_driver_as_mariadb_s) {
    const struct tpi_driver *driver = tpi_driver_for_module("libmyodbc8w.so");
    assert_string_equal(driver->name, "myodbc");
    assert_int_equal(tpi_driver_classify(driver, "HY000", 3572, "NOWAIT is set"), TPI_CLASS_LOCKED);
    assert_int_equal(tpi_driver_classify(driver, "HY000", 1205, ""), TPI_CLASS_LOCKED);
    assert_int_equal(tpi_driver_classify(driver, "40001", 1213, ""), TPI_CLASS_CONFLICT);
    assert_int_equal(tpi_driver_classify(driver, "08S01", 2013, ""), TPI_CLASS_DEAD);
    assert_int_equal(tpi_driver_classify(driver, "HY000", 3024, ""), TPI_CLASS_TIMEOUT);
    assert_int_equal(tpi_driver_classify(driver, "40000", 3101, ""), TPI_CLASS_CONFLICT);
    assert_int_equal(tpi_driver_classify(driver, "HY000", 3100, ""), TPI_CLASS_DEAD);
    assert_int_equal(tpi_driver_classify(driver, "HY000", 4031, ""), TPI_CLASS_DEAD);
}

TEST(test_drivers__are_found_by_their_module) {
    static const char *const found[][2] =
        LIST({"psqlodbcw.so", "psqlodbc"}, {"PSQLODBC35W.DLL", "psqlodbc"}, {"libmaodbc.so", "maodbc"},
             {"maodbc.dll", "maodbc"}, {"libmyodbc9w.so", "myodbc"}, {"sqlite3odbc.so", "sqliteodbc"},
             {"libsqlite3odbc-0.9998.so", "sqliteodbc"}, {"SQORA32.DLL", "sqora"},
             {"libsqora.so.23.1", "sqora"}, {"libtdsodbc.so", "any"}, {"", "any"});
    for (size_t i = 0; i < COUNT(found); i++)
        assert_string_equal(tpi_driver_for_module(found[i][0])->name, found[i][1]);
}

TEST(test_drivers__tell_the_server_apart) {
    static const struct {
        const char *module, *name, *version, *isolation;
    } found[] = {
        {"libmaodbc.so", "MariaDB", "10.11.000019", "SELECT @@tx_isolation"},
        {"libmaodbc.so", "MySQL", "9.7.4", "SELECT @@transaction_isolation"},
        {"libmyodbc8w.so", "MySQL", "5.5.5-10.11.19-MariaDB", "SELECT @@tx_isolation"},
        {"libmyodbc8w.so", "MySQL", "8.4.0", "SELECT @@transaction_isolation"},
    };
    for (size_t i = 0; i < COUNT(found); i++) {
        const struct tpi_driver *driver =
            tpi_driver_for_server(found[i].module, found[i].name, found[i].version);
        const struct tpi_session_check *check = driver->checks;
        while (check->sql && strcmp(check->sql, found[i].isolation) != 0)
            check++;
        if (!check->sql) fail_msg("%s on %s %s", driver->name, found[i].name, found[i].version);
        assert_true(driver->tx_probe && driver->tx_ends_silently);
    }
    assert_string_equal(tpi_driver_for_server("psqlodbcw.so", "PostgreSQL", "15.0.20")->name, "psqlodbc");
}

TEST(test_classes__map_to_the_status_that_tells_what_to_do) {
    static const tp_status wanted[] = {[TPI_CLASS_OTHER] = TP_DB,
                                       [TPI_CLASS_DEAD] = TP_DISCONNECTED,
                                       [TPI_CLASS_REFUSED] = TP_DISCONNECTED,
                                       [TPI_CLASS_NO_DRIVER] = TP_UNSUPPORTED,
                                       [TPI_CLASS_LOCKED] = TP_TIMEOUT,
                                       [TPI_CLASS_TIMEOUT] = TP_TIMEOUT,
                                       [TPI_CLASS_CONFLICT] = TP_CONFLICT,
                                       [TPI_CLASS_EXISTS] = TP_CONFLICT,
                                       [TPI_CLASS_ABORTED] = TP_CONFLICT,
                                       [TPI_CLASS_FORGOTTEN] = TP_CONFLICT,
                                       [TPI_CLASS_OBJECT_EXISTS] = TP_SCHEMA,
                                       [TPI_CLASS_NO_TABLE] = TP_SCHEMA,
                                       [TPI_CLASS_TOO_LONG] = TP_TOOBIG,
                                       [TPI_CLASS_READ_ONLY] = TP_UNWRITABLE,
                                       [TPI_CLASS_READ_ONLY_FILE] = TP_UNWRITABLE,
                                       [TPI_CLASS_FULL] = TP_UNWRITABLE,
                                       [TPI_CLASS_DISK] = TP_DB,
                                       [TPI_CLASS_IN_TX] = TP_DB,
                                       [TPI_CLASS_NO_TX] = TP_DB,
                                       [TPI_CLASS_CURSORS] = TP_CONFLICT,
                                       [TPI_CLASS_INVALID] = TP_SCHEMA,
                                       [TPI_CLASS_DENIED] = TP_DB,
                                       [TPI_CLASS_NO_DATABASE] = TP_MISUSE};
    assert_int_equal(COUNT(wanted), TPI_CLASS_COUNT);
    for (int i = 0; i < TPI_CLASS_COUNT; i++) {
        assert_int_equal(tpi_class_info((enum tpi_class)i)->status, wanted[i]);
        assert_true(strlen(tpi_class_info((enum tpi_class)i)->text) > 0);
        assert_non_null(tpi_class_info((enum tpi_class)i)->hint);
    }
}

static void check_keys(const struct tpi_driver *driver) {
    for (const struct tpi_key *key = driver->keys; key->name; key++) {
        bool has_value = key->use != TPI_KEY_KNOWN && key->use != TPI_KEY_NEEDED;
        if (has_value && !key->value) fail_msg("%s: %s has no value", driver->name, key->name);
        bool has_why = key->use == TPI_KEY_REFUSE || key->use == TPI_KEY_NEEDED;
        if (has_why && !key->why) fail_msg("%s: %s, why?", driver->name, key->name);
    }
}

TEST(test_drivers__have_whole_profiles) {
    const struct tpi_driver *driver;
    size_t count = 0;
    for (; (driver = tpi_driver_at(count)); count++) {
        check_keys(driver);
        bool statements = driver->begin != NULL;
        if (statements != (driver->commit != NULL) || statements != (driver->rollback != NULL))
            fail_msg("%s: begin, commit and rollback do not go together", driver->name);
        if (driver->own_tx_undo && driver->own_tx_open)
            fail_msg("%s: a question is not taken back", driver->name);
        for (const struct tpi_session_check *check = driver->checks; check->sql; check++)
            if (!check->expected || !check->what) fail_msg("%s: %s", driver->name, check->sql);
        if (driver->number_type != TPI_SQL_BIGINT && driver->number_type != TPI_SQL_DECIMAL)
            fail_msg("%s: numbers", driver->name);
        if (driver->binds_int64 && driver->number_type != TPI_SQL_BIGINT)
            fail_msg("%s: numbers of 64 bits are bound as another type", driver->name);
    }
    assert_int_equal(count, 8);
    assert_string_equal(tpi_driver_at(count - 1)->name, "any");
}
