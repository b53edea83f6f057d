#!/usr/bin/env bash
# as_oracle.sh COMMAND...: through on_database.sh oramode; runs a test under the entry oracle over the stand-in, as it will run
# where TASKPOOL_TEST_DSN_ORACLE names a server: no test knows that MariaDB is behind it. What a test's own connections have to ask
# of MariaDB elsewhere stands in the connection string.
set -eu
settings="SET tx_isolation='READ-COMMITTED', "
TASKPOOL_TEST_DSN="${TASKPOOL_TEST_DSN/INITSTMT=\{SET /OPTION=2;INITSTMT=\{$settings}"
export TASKPOOL_TEST_DSN TASKPOOL_DSN=$TASKPOOL_TEST_DSN TASKPOOL_TEST_ENTRY=oracle
exec "$@"
