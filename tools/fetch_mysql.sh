#!/usr/bin/env bash
# Fetches MySQL's own server, which the stable release does not have, from the archive's unstable suite, and unpacks it
# into a folder of its own: nothing is installed, and apt's lists and state are not the machine's. Signatures are checked by apt.
set -euo pipefail
umask 022
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

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

# A line for the machine's own source of the archive: URI, and the file and line that it stands in. apt knows whose source it is once it
# has fetched its lists.
own_source() {
  # shellcheck disable=SC2016 # for apt
  apt-get indextargets --format '$(REPO_URI) $(SOURCESENTRY)' \
    'Created-By: Packages' 'Origin: Debian' 'Label: Debian' 'Component: main' 2>/dev/null | head -n 1
}

# The key that the file of sources names; where it names none, apt would try all it has.
key_of() {
  local key
  key=$(sed -nE 's/^Signed-By: *//Ip; s/^deb .*signed-by=([^] ]*).*/\1/Ip' "$1" | head -n 1)
  printf '%s' "${key:-/usr/share/keyrings/debian-archive-keyring.gpg}"
}

own_apt() {
  apt-get -q -y -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State="$apt/state" \
    -o Dir::State::lists="$apt/state/lists" -o Dir::State::status="$apt/state/status" -o Dir::Cache="$apt/cache" \
    -o APT::Install-Recommends=false -o APT::Sandbox::User=root -o Acquire::Retries=1 -o Acquire::http::Timeout=20 "$@" \
    </dev/null >>"$apt/log" 2>&1
}

complaint() {
  sed -n 's/^[EW]: //p' "$apt/log" | head -n 1
}

fetch() {
  local source uri entry
  command -v apt-get >/dev/null || cannot "there is no apt-get here"
  source=$(own_source)
  [ -n "$source" ] || cannot "apt knows no source of Debian's archive here (its lists may be empty: apt-get update)"
  read -r uri entry <<<"$source"
  mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial"
  : >"$apt/state/status"
  printf 'deb [signed-by=%s] %s sid main\n' "$(key_of "${entry%:*}")" "$uri" >"$apt/sources.list"
  own_apt update -o APT::Update::Error-Mode=any || cannot "the archive's unstable suite cannot be read: $(complaint)"
  own_apt -d install "${packages[@]}" || cannot "the packages cannot be fetched: $(complaint)"
}

# perl is for the server's helpers, and large.
unpack() {
  local package
  mkdir "$apt/root"
  for package in "$apt"/cache/archives/*.deb; do
    case ${package##*/} in
      perl* | libperl*) ;;
      *) dpkg-deb -x "$package" "$apt/root" ;;
    esac
  done
  [ -x "$apt/root/usr/sbin/mysqld" ] || die "the packages hold no usr/sbin/mysqld"
  chmod 755 "$apt/root"
}

# A folder that is complete takes its name at last, so that who is ended halfway leaves nothing that looks right.
place() {
  local home
  for home in "${mysql_homes[@]}"; do
    if mkdir -p "${home%/*}" 2>/dev/null && [ -w "${home%/*}" ]; then
      apt=$(mktemp -d "${home%/*}/mysql.XXXXXX")
      trap 'rm -rf "$apt"' EXIT
      fetch
      unpack
      mv -T "$apt/root" "$home" 2>/dev/null || [ -x "$home/usr/sbin/mysqld" ] || die "$home is in the way"
      say "MySQL: unpacked into $home"
      return
    fi
  done
  die "none of these folders can be written: ${mysql_homes[*]}"
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
  place
fi
