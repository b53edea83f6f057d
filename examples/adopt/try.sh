#!/bin/sh
# try.sh PATH_TO_TASKPOOL: adopts an old task table in a new SQLite file, and shows what becomes of its rows.
set -eu
taskpool=$1
here=$(cd "$(dirname "$0")" && pwd)
file=$(mktemp)
trap 'rm -f "$file" "$file"-*' EXIT
export TASKPOOL_DSN="Driver=SQLite3;Database=$file"

sqlite3 "$file" "CREATE TABLE old_points (id INTEGER PRIMARY KEY, biz_id VARCHAR(20), biz_data VARCHAR(200), status INTEGER NOT NULL);
INSERT INTO old_points VALUES (1, 'order-1', '100', -2), (2, 'order-2', '200', 3), (3, 'order-3', '300', 0), (4, 'order-4', '400', -1);"
"$taskpool" schema install --quiet
"$taskpool" adopt "$here/points.adopt" --apply
"$taskpool" adopt "$here/points.adopt" --copy
"$taskpool" adopt "$here/points.adopt" --compare
"$taskpool" work --handler points=/bin/true --drain --quiet
"$taskpool" adopt "$here/points.adopt" --copy
sqlite3 "$file" 'SELECT biz_id, status FROM old_points ORDER BY id'
"$taskpool" adopt "$here/points.adopt" --remove
