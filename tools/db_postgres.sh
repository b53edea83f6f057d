# PostgreSQL's servers: a part of db_up.sh and cluster_up.sh. Sourced, not run.
# shellcheck shell=bash disable=SC2154

pg_settings() {
  cat <<END
listen_addresses = '${pg_host:-127.0.0.1}'
port = $TP_PG_PORT
unix_socket_directories = '$pg_socket'
max_connections = 400
shared_buffers = ${db_cache_mb}MB
fsync = on
synchronous_commit = on
full_page_writes = on
max_wal_size = 512MB
password_encryption = 'scram-sha-256'
END
}

pg_access() {
  cat <<END
# The socket's folder is open to the server's owner and root only.
local all all trust
host all all 127.0.0.1/32 scram-sha-256
END
}

# psql as superuser over the socket; statements come on stdin so that no password is an argument.
pg_sql() {
  as_user postgres "$pg_bin/psql" -XqAt -v ON_ERROR_STOP=1 -h "$pg_socket" -p "$TP_PG_PORT" -U postgres "$@"
}

pg_create() {
  rm -rf "$pg_dir"
  mkdir -p "$pg_socket"
  chmod 700 "$pg_dir" "$pg_socket"
  own_for postgres "$pg_dir" "$pg_socket"
  as_user postgres "$pg_bin/initdb" -D "$pg_dir/data" -U postgres --encoding=UTF8 --locale=C.UTF-8 \
    --auth-local=trust --auth-host=scram-sha-256 >"$TP_SCRATCH/initdb.log" 2>&1 ||
    fail_with_log "PostgreSQL: initdb failed" "$TP_SCRATCH/initdb.log"
  pg_settings >>"$pg_dir/data/postgresql.conf"
  pg_access >"$pg_dir/data/pg_hba.conf"
}

# A killed server's children hold its shared memory for a moment, so starting is tried again.
pg_start() {
  local try
  for try in 1 2 3 4 5 6 7 8 9 10; do
    if as_user postgres "$pg_bin/pg_ctl" start -D "$pg_dir/data" -l "$pg_dir/server.log" -w -t 60 \
      </dev/null >/dev/null 2>&1 9>&-; then
      return 0
    fi
    [ "$try" = 10 ] || sleep 1
  done
  fail_with_log "PostgreSQL did not start" "$pg_dir/server.log"
}

# What the server keeps of the password, with one round of hashing instead of 4096: tests log in ten thousand times. Java's
# driver takes no less than 4096 (TP_PG_ROUNDS).
pg_verifier() {
  TP_DB_PASSWORD=$TP_DB_PASSWORD TP_PG_ROUNDS=${TP_PG_ROUNDS:-1} python3 - <<'END'
import hashlib
import hmac
import os
from base64 import b64encode

rounds = int(os.environ["TP_PG_ROUNDS"])
salt = os.urandom(16)
salted = hashlib.pbkdf2_hmac("sha256", os.environ["TP_DB_PASSWORD"].encode(), salt, rounds)
stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
salt, stored, server = (b64encode(key).decode() for key in (salt, stored, hmac.digest(salted, b"Server Key", "sha256")))
print(f"SCRAM-SHA-256${rounds}:{salt}${stored}:{server}")
END
}

pg_fill() {
  local verifier
  verifier=$(pg_verifier)
  pg_sql -d postgres <<END
CREATE ROLE taskpool LOGIN CREATEDB PASSWORD '$verifier';
CREATE DATABASE taskpool OWNER taskpool;
CREATE DATABASE taskpool_gen OWNER taskpool;
END
  touch "$pg_dir/ready"
}
