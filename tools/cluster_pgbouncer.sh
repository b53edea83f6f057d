# PostgreSQL behind PgBouncer, which gives each transaction another session. Node 1 is the server, node 2 the pooler. A part of cluster_up.sh.
# Sourced, not run.
# shellcheck shell=bash disable=SC2034,SC2154

pgbouncer_need() {
  pg_bin=$(find_pg_bin) || missing "PostgreSQL's initdb and pg_ctl"
  pooler_bin=$(PATH=$PATH:/usr/sbin command -v pgbouncer) || missing "pgbouncer"
}

pgbouncer_nodes() {
  echo 1 2
}

pgbouncer_node() {
  TP_PG_PORT=${TP_PORTS[0]}
  pg_dir=$TP_BASE/1
  pg_socket=$pg_dir/socket
  pg_pidfile=$pg_dir/data/postmaster.pid
  node_dir=$TP_BASE/$1 node_port=${TP_PORTS[$(($1 - 1))]} node_socket=$pg_socket node_pidfile=$pg_pidfile node_end=QUIT
  if [ "$1" = 2 ]; then node_pidfile=$node_dir/pid node_end=TERM; fi
}

# pgbouncer_dsn [1]: without the pooler.
pgbouncer_dsn() {
  local port=${TP_PORTS[1]} more=';UseServerSidePrepare=0'
  if [ "${1:-}" = 1 ]; then port=${TP_PORTS[0]} more=; fi
  printf 'Driver=PostgreSQL Unicode;Server=127.0.0.1;Port=%s;UID=taskpool;PWD=%s;Database=taskpool%s' "$port" "$TP_DB_PASSWORD" "$more"
}

pgbouncer_settings() {
  cat <<END
[databases]
taskpool = host=127.0.0.1 port=${TP_PORTS[0]}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${TP_PORTS[1]}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = $node_dir/users
pidfile = $node_dir/pid
logfile = $node_dir/log
pool_mode = transaction
max_client_conn = 500
default_pool_size = 60
server_login_retry = 1
END
}

pgbouncer_start() {
  local pid
  pgbouncer_node 2
  pid=$(server_pid "$node_pidfile" "$node_dir/ini") || pid=
  if [ -n "$pid" ]; then return; fi
  rm -f "$node_pidfile"
  as_user postgres "$pooler_bin" -d -q "$node_dir/ini" </dev/null >/dev/null 2>&1 9>&-
  await "PgBouncer" 60 listens "$node_port"
}

listens() {
  (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# What each session is to have stands with the role, since another's may be given out.
pgbouncer_fill() {
  pg_fill
  pg_sql -d postgres <<END
ALTER ROLE taskpool SET lock_timeout = '10s';
ALTER ROLE taskpool SET default_transaction_isolation = 'read committed';
END
  pgbouncer_node 2
  mkdir "$node_dir"
  chmod 700 "$node_dir"
  printf '"taskpool" "%s"\n' "$TP_DB_PASSWORD" >"$node_dir/users"
  pgbouncer_settings >"$node_dir/ini"
  own_for postgres -R "$node_dir"
}

pgbouncer_up() {
  pgbouncer_node 1
  if [ ! -e "$pg_dir/ready" ]; then
    pg_create
    pg_start
    pgbouncer_fill
  fi
  pgbouncer_again 1
  pgbouncer_again 2
}

pgbouncer_again() {
  pgbouncer_node 1
  if [ "$1" = 2 ]; then
    pgbouncer_start
  elif ! pg_answers; then
    pg_start
  fi
}

pgbouncer_pid() {
  pgbouncer_node "$1"
  if [ "$1" = 1 ]; then pg_pid; else server_pid "$node_pidfile" "$node_dir/ini"; fi
}
