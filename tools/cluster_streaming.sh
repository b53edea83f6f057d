# PostgreSQL, a primary and its standby, at 127.0.0.1 and 127.0.0.2 with one port. Which of them is the primary, they say themselves. A part of
# cluster_up.sh. Sourced, not run.
# shellcheck shell=bash disable=SC2034,SC2154

streaming_need() {
  pg_bin=$(find_pg_bin) || missing "PostgreSQL's initdb and pg_ctl"
}

streaming_nodes() {
  echo 1 2
}

streaming_node() {
  TP_PG_PORT=${TP_PORTS[0]}
  pg_host=127.0.0.$1
  pg_dir=$TP_BASE/$1
  pg_socket=$pg_dir/socket
  pg_pidfile=$pg_dir/data/postmaster.pid
  node_dir=$pg_dir node_port=$TP_PG_PORT node_socket=$pg_socket node_pidfile=$pg_pidfile node_end=QUIT
}

# Both by one address each, and whichever takes writes by both.
streaming_dsn() {
  local server="127.0.0.1,127.0.0.2" only=';pqopt={target_session_attrs=read-write}'
  if [ $# != 0 ]; then server=127.0.0.$1 only=; fi
  printf 'Driver=PostgreSQL Unicode;Servername=%s;Port=%s;UID=taskpool;PWD=%s;Database=taskpool%s' "$server" "${TP_PORTS[0]}" "$TP_DB_PASSWORD" "$only"
}

# Each server's own, because a copy of its data brings the other's.
streaming_settings() {
  { pg_settings && printf "wal_keep_size = 64MB\ndynamic_shared_memory_type = mmap\ninclude = '%s'\n" "$pg_dir/synchronous.conf"; } >"$pg_dir/data/postgresql.conf"
  streaming_wait_for ''
  own_for postgres "$pg_dir/data/postgresql.conf"
}

# streaming_wait_for NAMES: these each commit waits for.
streaming_wait_for() {
  printf "synchronous_standby_names = '%s'\n" "$1" >"$pg_dir/synchronous.conf"
  own_for postgres "$pg_dir/synchronous.conf"
}

streaming_is_primary() {
  [ "$(pg_sql -d postgres -c 'SELECT NOT pg_is_in_recovery()' 2>/dev/null)" = t ]
}

streaming_has_copy() {
  [ "$(pg_sql -d postgres -c "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'")" = 1 ]
}

# streaming_copy_of PRIMARY NODE
streaming_copy_of() {
  local socket
  streaming_node "$1"
  socket=$pg_socket
  streaming_node "$2"
  rm -rf "$pg_dir"
  mkdir -p "$pg_socket"
  chmod 700 "$pg_dir" "$pg_socket"
  own_for postgres "$pg_dir" "$pg_socket"
  as_user postgres "$pg_bin/pg_basebackup" -D "$pg_dir/data" -R -X stream -c fast -h "$socket" -p "$TP_PG_PORT" -U postgres
  streaming_settings
  pg_start
  streaming_follow "$1"
}

# The primary waits for its copy once that is there.
streaming_follow() {
  streaming_node "$1"
  await "the copy" 60 streaming_has_copy
  if [ "$TP_CLUSTER" = streaming ]; then
    streaming_wait_for '*'
    pg_sql -d postgres -c 'SELECT pg_reload_conf()' >/dev/null
    await "the commits that wait for the copy" 60 streaming_is_synchronous
  fi
}

streaming_is_synchronous() {
  [ "$(pg_sql -d postgres -c "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")" = 1 ]
}

streaming_up() {
  streaming_node 1
  if [ -e "$TP_BASE/ready" ]; then
    streaming_again 1
    streaming_again 2
    return
  fi
  pg_create
  printf 'local replication all trust\nhost all all 127.0.0.0/8 scram-sha-256\n' >>"$pg_dir/data/pg_hba.conf"
  streaming_settings
  pg_start
  pg_fill
  streaming_copy_of 1 2
  touch "$TP_BASE/ready"
}

streaming_again() {
  local other=$((3 - $1))
  streaming_node "$1"
  if pg_answers; then return; fi
  streaming_node $other
  if pg_answers && streaming_is_primary; then
    streaming_copy_of $other "$1"
  else
    streaming_node "$1"
    pg_start
  fi
}

# It has no copy yet that its commits could wait for.
streaming_promote() {
  streaming_node "$1"
  streaming_wait_for ''
  as_user postgres "$pg_bin/pg_ctl" promote -D "$pg_dir/data" -w -t 60 >/dev/null
}

streaming_pid() {
  streaming_node "$1"
  pg_pid
}
