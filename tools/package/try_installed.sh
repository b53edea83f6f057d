#!/usr/bin/env bash
# Run in an empty root of Debian: installs the packages of a folder, uses what they brought, removes and purges them, and looks for what
# is left. For tools/debian_roots.sh, as root.
# usage: try_installed.sh FOLDER
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
folder=$1

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

listing() {
  find / -xdev \( -path /proc -o -path /tmp -o -path /var -o -path /packages -o -path /run -o -path /root -o -path /dev \) -prune -o -print | sort
}

install_all() {
  apt-get -qq update
  apt-get -qqy install --no-install-recommends libsqliteodbc odbcinst man-db gcc libc6-dev pkg-config systemd >/dev/null
  apt-get -qqy install --no-install-recommends unixodbc-dev uuid-dev libglib2.0-dev libpopt0 libjson-c5 tzdata >/dev/null
  odbcinst -q -d | grep -q SQLite3 || fail "there is no driver for SQLite"
}

use_program() {
  export TASKPOOL_DSN='Driver=SQLite3;Database=/tmp/try.db'
  taskpool --version
  taskpool schema install
  taskpool enqueue hello '{"order":7}'
  taskpool work --handler hello=/bin/cat --drain | grep -q '"order":7' || fail "the program did not run its handler"
  taskpool check --rows --quiet
  taskpool bench --help >/dev/null
}

use_library() {
  cp /usr/share/doc/taskpool/examples/first.c /tmp/first.c
  # shellcheck disable=SC2046 # flags are words
  cc /tmp/first.c $(pkg-config --cflags --libs taskpool) -o /tmp/first
  TASKPOOL_DSN='Driver=SQLite3;Database=/tmp/first.db' /tmp/first | grep -q 'granting points' || fail "the example did not run"
}

look_at_files() {
  local page
  for page in taskpool.1 taskpool-work.1 tp_enqueue.3 taskpool-schema.7 taskpool-guarantees.7; do
    man --warnings "${page%.*}" 2>&1 >/dev/null | grep . && fail "man has something to say of $page"
    [ -n "$(man -w "${page##*.}" "${page%.*}")" ] || fail "there is no $page"
  done
  id taskpool >/dev/null || fail "there is no user for the services"
  systemd-analyze verify /usr/lib/systemd/system/taskpool@.service 2>&1 | grep taskpool | grep -v 'Failed to\|not executable' &&
    fail "systemd has something to say of the unit"
  return 0
}

install_all
listing >/tmp/before
apt-get -qqy install --no-install-recommends "$folder"/*.deb >/dev/null
use_program
use_library
look_at_files
packages=$(for file in "$folder"/*.deb; do dpkg-deb -f "$file" Package; done)
# shellcheck disable=SC2086 # names
apt-get -qqy remove $packages >/dev/null
[ ! -e /usr/bin/taskpool ] || fail "the program is there after its removal"
# shellcheck disable=SC2086
dpkg --purge $packages >/dev/null 2>&1
listing >/tmp/after
# The user stays, as Debian does it, and man's index and the loader's cache are not ours.
if diff /tmp/before /tmp/after | grep '^[<>]' | grep -vE '/etc/(passwd|group|shadow|gshadow|subuid|subgid)-?$|ld.so.cache|\.pwd\.lock'; then
  fail "left after the purge"
fi
echo "packages installed, tried, removed and purged on Debian $(cat /etc/debian_version)"
