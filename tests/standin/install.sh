#!/usr/bin/env bash
# install.sh PREFIX: makes the stand-in's functions (oracle_functions.sql) under a prefix, in the database of the matrix entry
# oramode, before the schema is installed there.
set -euo pipefail
prefix=$1
here=$(dirname "${BASH_SOURCE[0]}")
{
  printf "SET sql_mode = CONCAT(@@sql_mode, ',ORACLE,EMPTY_STRING_IS_NULL');\nDELIMITER //\n"
  grep -v '^--' "$here/oracle_functions.sql" | sed "s/tp_/$prefix/g; s|\$|//|"
} | mariadb --no-defaults --socket="$TASKPOOL_TEST_MARIADB_SOCKET" --user=root taskpool_ora
