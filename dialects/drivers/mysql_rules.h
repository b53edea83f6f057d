/* What MariaDB's and MySQL's servers share: error numbers, as the drivers hand them on, and settings. */
#ifndef TPI_DRIVERS_MYSQL_RULES_H
#define TPI_DRIVERS_MYSQL_RULES_H

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

#define TPI_MYSQL_RULES                                                                                      \
    {NULL, 1205, 0, NULL, TPI_CLASS_LOCKED}, {NULL, 3572, 0, NULL, TPI_CLASS_LOCKED},                        \
        {NULL, 1213, 0, NULL, TPI_CLASS_CONFLICT}, {NULL, 1020, 0, NULL, TPI_CLASS_CONFLICT},                \
        {NULL, 1062, 0, NULL, TPI_CLASS_EXISTS}, {NULL, 1050, 0, NULL, TPI_CLASS_OBJECT_EXISTS},             \
        {NULL, 1061, 0, NULL, TPI_CLASS_OBJECT_EXISTS}, {NULL, 1304, 0, NULL, TPI_CLASS_OBJECT_EXISTS},      \
        {NULL, 1359, 0, NULL, TPI_CLASS_OBJECT_EXISTS}, {NULL, 1146, 0, NULL, TPI_CLASS_NO_TABLE},           \
        {NULL, 1054, 0, NULL, TPI_CLASS_NO_TABLE}, {NULL, 1305, 0, NULL, TPI_CLASS_NO_TABLE},                \
        {NULL, 1406, 0, NULL, TPI_CLASS_TOO_LONG}, {NULL, 1264, 0, NULL, TPI_CLASS_TOO_LONG},                \
        {NULL, 1153, 0, NULL, TPI_CLASS_TOO_LONG}, {NULL, 1317, 0, NULL, TPI_CLASS_TIMEOUT},                 \
        {NULL, 1969, 0, NULL, TPI_CLASS_TIMEOUT}, {NULL, 3024, 0, NULL, TPI_CLASS_TIMEOUT},                  \
        {NULL, 1044, 0, NULL, TPI_CLASS_DENIED}, {NULL, 1142, 1143, NULL, TPI_CLASS_DENIED},                 \
        {NULL, 1227, 0, NULL, TPI_CLASS_DENIED}, {NULL, 1370, 0, NULL, TPI_CLASS_DENIED},                    \
        {NULL, 1461, 0, NULL, TPI_CLASS_CURSORS}, {NULL, 1040, 0, NULL, TPI_CLASS_REFUSED},                  \
        {NULL, 1045, 0, NULL, TPI_CLASS_REFUSED}, {NULL, 1049, 0, NULL, TPI_CLASS_REFUSED},                  \
        {NULL, 1698, 0, NULL, TPI_CLASS_REFUSED}, {NULL, 2002, 2005, NULL, TPI_CLASS_REFUSED},               \
        {NULL, 1021, 0, NULL, TPI_CLASS_FULL}, {NULL, 1114, 0, NULL, TPI_CLASS_FULL},                        \
        {NULL, 1036, 0, NULL, TPI_CLASS_READ_ONLY}, {NULL, 1290, 0, NULL, TPI_CLASS_READ_ONLY},              \
        {NULL, 1792, 0, NULL, TPI_CLASS_READ_ONLY}, {NULL, 1836, 0, NULL, TPI_CLASS_READ_ONLY},              \
        {NULL, 1053, 0, NULL, TPI_CLASS_DEAD}, {NULL, 1927, 0, NULL, TPI_CLASS_DEAD}, {                      \
        NULL, 2000, 2999, NULL, TPI_CLASS_DEAD                                                               \
    }

#endif
