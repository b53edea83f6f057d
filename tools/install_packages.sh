#!/usr/bin/env bash
# Installs the Debian packages that building or testing needs, those only that are missing. With everything
# there it asks apt nothing. Packages that bring a server may start the distribution's own; we never use it.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
  cat <<END
usage: tools/install_packages.sh [build | test | languages | packages | musl | roots | --help]
  build   what compiling the library and the program takes, and SQLite
  test    that, and the databases, compilers and checkers of tools/test.sh (default), with MySQL's server by
          tools/fetch_mysql.sh, OpenTelemetry by tools/fetch_opentelemetry.sh and what npm has for the console's
          page where these can be reached
  languages  the compilers and drivers of examples/java and examples/csharp, which tools/proof.sh runs
  packages  what tools/package.sh builds and checks packages with
  musl    what tools/musl.sh compiles with
  roots   what tools/debian_roots.sh makes other releases of Debian with
Exit code 3: packages are missing and cannot be installed from here.
END
}

# NAME, or NAME:COMMAND where the command may as well come from elsewhere.
build_packages=(
  gcc cmake ninja-build pkg-config libc6-dev
  unixodbc-dev unixodbc odbcinst uuid-dev libglib2.0-dev tzdata libpopt-dev libjson-c-dev libunistring-dev libncurses-dev
  libmicrohttpd-dev libgnutls28-dev libcrypt-dev libical-dev
  libsqliteodbc
)
test_packages=(
  g++ libcmocka-dev sqlite3 clang clang-tidy clang-format cppcheck valgrind shellcheck:shellcheck
  postgresql odbc-postgresql mariadb-server mariadb-client odbc-mariadb
  mandoc:mandoc zsh:zsh fish:fish man-db:man systemd:systemd-analyze
  nodejs:node npm:npm ca-certificates openssl:openssl procps util-linux python3:python3 git:git binutils spin faketime jq:jq
  libsqlite3-dev libmariadb-dev gnuplot-nox:gnuplot
  chromium:chromium
  gnucobol:cobc python3-pyodbc libdbd-sqlite3-perl libdbd-pg-perl libdbd-mariadb-perl galera-4 rsync:rsync lsof:lsof pgbouncer:pgbouncer
)

language_packages=(
  default-jdk-headless:javac libpostgresql-jdbc-java libmariadb-java mono-mcs:mcs mono-runtime:mono libmono-system-data4.0-cil
)

package_packages=(python3:python3 git:git file rpm rpmlint:rpmlint cpio lintian dpkg-dev faketime mandoc abigail-tools man-db)

installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# The name of the package with clang's sanitizer libraries, which carries a version on some releases.
clang_runtime() {
  local version
  if dpkg-query -W -f='${db:Status-Status}\n' 'libclang-rt*-dev' 2>/dev/null | grep -qx installed; then
    return
  fi
  if [ -n "$(apt-cache show --no-all-versions libclang-rt-dev 2>/dev/null)" ]; then
    echo libclang-rt-dev
  else
    version=$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9][0-9]*\)$/\1/p')
    echo "libclang-rt-${version:-14}-dev"
  fi
}

# What only some releases have: elsewhere its tests are skipped, loudly.
of_some_releases() {
  local name=python3-workalendar
  installed $name || [ -z "$(apt-cache show --no-all-versions $name 2>/dev/null)" ] || echo $name
}

missing_of() {
  local entry
  for entry in "$@"; do
    if installed "${entry%%:*}"; then
      continue
    fi
    if [ "$entry" = "${entry#*:}" ] || ! command -v "${entry#*:}" >/dev/null; then
      echo "${entry%%:*}"
    fi
  done
}

# How apt is to be called: sudo may ask for a password only where somebody can answer.
find_root() {
  if [ "$(id -u)" = 0 ]; then
    as_root=(env)
  elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
    as_root=(sudo env)
  else
    return 1
  fi
}

apt() {
  echo "+ apt-get $*" >>"$log"
  "${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get -y -o DPkg::Lock::Timeout=120 "$@" \
    </dev/null >>"$log" 2>&1
}

update() {
  apt update || { sleep 5 && apt update; }
}

cannot() {
  complain "$1"
  complain "install these packages, then run it again: ${missing[*]}"
  exit 3
}

install_missing() {
  command -v apt-get >/dev/null || cannot "there is no apt-get here"
  find_root || cannot "not root, and sudo is not to be had without a password"
  log=$(mktemp)
  say "installing: ${missing[*]}"
  # The first list may lack the sanitizer libraries' name: it needs apt's lists, which update fetches.
  if ! { update && find_missing && apt install --no-install-recommends "${missing[@]}"; }; then
    complain "apt-get failed; its output:"
    cat "$log" >&2
    rm -f "$log"
    exit 1
  fi
  rm -f "$log"
}

find_missing() {
  if [ "$group" = roots ]; then
    mapfile -t missing < <(missing_of debootstrap)
    return
  fi
  mapfile -t missing < <(missing_of "${build_packages[@]}")
  if [ "$group" = languages ]; then
    mapfile -t -O "${#missing[@]}" missing < <(missing_of "${language_packages[@]}")
  fi
  if [ "$group" = musl ]; then
    mapfile -t -O "${#missing[@]}" missing < <(missing_of musl-tools:musl-gcc)
  fi
  if [ "$group" = packages ]; then
    mapfile -t -O "${#missing[@]}" missing < <(missing_of "${package_packages[@]}")
  fi
  if [ "$group" = test ]; then
    mapfile -t -O "${#missing[@]}" missing < <(missing_of "${test_packages[@]}" && clang_runtime && of_some_releases)
  fi
}

group=${1:-test}
case $group in
  build | test | languages | packages | musl | roots) ;;
  --help | -h)
    usage
    exit 0
    ;;
  *)
    usage >&2
    exit 2
    ;;
esac
missing=()
if ! command -v dpkg-query >/dev/null; then
  missing=("${build_packages[@]%%:*}")
  cannot "this is no Debian; the names below are Debian's"
fi
find_missing
if [ ${#missing[@]} = 0 ]; then
  say "packages for $group: all there"
else
  install_missing
  say "packages for $group: installed"
fi
# What is fetched from elsewhere may be out of reach; its tests are skipped then, loudly.
if [ "$group" = test ]; then
  "$TP_ROOT/tools/fetch_mysql.sh" || [ $? = 3 ]
  "$TP_ROOT/tools/fetch_opentelemetry.sh" || [ $? = 3 ]
  "$TP_ROOT/tools/console/install.sh" all || [ $? = 3 ]
fi
