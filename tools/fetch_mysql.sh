#!/usr/bin/env bash
# Fetches MySQL's own server, which the stable release does not have; see unstable.sh.
set -euo pipefail
umask 022
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=unstable.sh
. "$TP_ROOT/tools/unstable.sh"

usage() {
  cat <<END
usage: tools/fetch_mysql.sh [--help]
Unpacks MySQL's server into \$TP_MYSQL (default /var/cache/taskpool/mysql), or into \$TP_SCRATCH/mysql where that cannot be written. Does
nothing when it is there. Exit code 3: the archive cannot be reached from here; \$TP_SCRATCH/mysql.unreachable says why.
END
}

packages=(mysql-server-core mysql-client-core)

cannot() {
  complain "NOT THERE: MySQL's server: $1"
  complain "its tests will be skipped"
  printf '%s\n' "$1" >"$TP_SCRATCH/mysql.unreachable"
  exit 3
}

fetch() {
  own_apt -d install "${packages[@]}" || cannot "the packages cannot be fetched: $(complaint)"
}

# perl is for the server's helpers, and large.
unpack() {
  local package
  for package in "$apt"/cache/archives/*.deb; do
    case ${package##*/} in
      perl* | libperl*) ;;
      *) dpkg-deb -x "$package" "$apt/root" ;;
    esac
  done
}

case ${1:-} in
  "") ;;
  --help | -h) usage && exit 0 ;;
  *) usage >&2 && exit 2 ;;
esac
mkdir -p "$TP_SCRATCH"
rm -f "$TP_SCRATCH/mysql.unreachable"
if home=$(find_mysql); then
  say "MySQL: in $home already"
else
  place MySQL usr/sbin/mysqld "${mysql_homes[@]}"
fi
