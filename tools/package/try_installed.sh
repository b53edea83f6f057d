#!/usr/bin/env bash
# Run in an empty root of Debian: installs the packages of a folder, uses what they brought, removes and purges them, and looks for what
# is left. Packages of RPM find the libraries that Debian calls otherwise by their sonames. For tools/debian_roots.sh, as root.
# usage: try_installed.sh deb|rpm FOLDER
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
kind=$1 folder=$2
programs=(taskpool taskpool-bench taskpool-console)

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

listing() {
  find / -xdev \( -path /proc -o -path /tmp -o -path /var -o -path /packages -o -path /run -o -path /root -o -path /dev \) -prune -o -print | sort
}

# What packages of Debian would bring by themselves is here for the comparison before and after.
install_others() {
  apt-get -qq update
  apt-get -qqy install --no-install-recommends libsqliteodbc odbcinst man-db gcc libc6-dev pkg-config systemd gnucobol bash-completion >/dev/null
  apt-get -qqy install --no-install-recommends unixodbc-dev uuid-dev libglib2.0-dev libpopt0 libjson-c5 libncursesw6 tzdata >/dev/null
  apt-get -qqy install --no-install-recommends "$(apt-cache search --names-only '^libunistring[0-9]+$' | cut -d ' ' -f 1)" \
    "$(apt-cache search --names-only '^libmicrohttpd12(t64)?$' | cut -d ' ' -f 1)" "$(apt-cache search --names-only '^libgnutls30(t64)?$' | cut -d ' ' -f 1)" \
    "$(apt-cache search --names-only '^libical3(t64)?$' | cut -d ' ' -f 1)" >/dev/null
  if [ "$kind" = rpm ]; then
    apt-get -qqy install --no-install-recommends rpm >/dev/null
    # Folders that its own systems have already.
    mkdir -p /usr/lib64/cmake /usr/lib64/pkgconfig /usr/share/fish/vendor_completions.d /usr/share/zsh/site-functions /usr/share/licenses
  fi
  odbcinst -q -d | grep -q SQLite3 || fail "there is no driver for SQLite"
}

install_packages() {
  case $kind in
    deb) apt-get -qqy install --no-install-recommends "$folder"/*.deb >/dev/null ;;
    rpm)
      # Its names of packages are not those of Debian: what libraries are needed is seen when the programs run.
      rpm -i --nodeps "$folder"/*.rpm
      rpm -Va --nodeps | grep . && fail "what was installed is not what was packed"
      export PKG_CONFIG_PATH=/usr/lib64/pkgconfig LD_LIBRARY_PATH=/usr/lib64 LIBRARY_PATH=/usr/lib64
      ;;
  esac
}

names() {
  local file
  for file in "$folder"/*."$kind"; do
    case $kind in
      deb) dpkg-deb -f "$file" Package ;;
      rpm) rpm -qp --qf '%{NAME}\n' "$file" ;;
    esac
  done
}

remove_packages() {
  local packages
  mapfile -t packages < <(names)
  case $kind in
    deb)
      apt-get -qqy remove "${packages[@]}" >/dev/null
      [ ! -e /usr/bin/taskpool ] || fail "the program is there after its removal"
      dpkg --purge "${packages[@]}" >/dev/null 2>&1
      ;;
    rpm) rpm -e --nodeps "${packages[@]}" ;;
  esac
}

use_program() {
  local name
  export TASKPOOL_DSN='Driver=SQLite3;Database=/tmp/try.db'
  for name in "${programs[@]}"; do
    ldd "/usr/bin/$name" | grep 'not found' && fail "$name does not find a library"
  done
  taskpool --version
  taskpool schema install
  taskpool enqueue hello '{"order":7}'
  taskpool work --handler hello=/bin/cat --drain >/tmp/worked
  grep -q '"order":7' /tmp/worked || fail "the program did not run its handler"
  taskpool check --rows --quiet
  taskpool bench --tasks 10 --singles 2 --samples 2 --rounds 1 --put 10 --quiet >/dev/null || fail "the bench does not run"
}

answers() {
  (exec 3<>/dev/tcp/127.0.0.1/8080 && printf 'GET /readyz HTTP/1.0\r\nHost: localhost:8080\r\n\r\n' >&3 && cat <&3) 2>/dev/null | grep -q ' 200 '
}

use_console() {
  local console i
  taskpool-console >/tmp/console.log 2>&1 &
  console=$!
  for ((i = 0; i < 1200; i++)); do
    if answers; then break; fi
    sleep 0.1
  done
  answers || fail "the console does not answer: $(cat /tmp/console.log)"
  kill "$console" && wait "$console"
}

use_library() {
  cp /usr/share/doc/taskpool/examples/first.c /tmp/first.c
  # shellcheck disable=SC2046 # flags are words
  cc /tmp/first.c $(pkg-config --cflags --libs taskpool) -o /tmp/first
  TASKPOOL_DSN='Driver=SQLite3;Database=/tmp/first.db' /tmp/first >/tmp/first.log
  grep -q 'granting points' /tmp/first.log || fail "the example did not run"
  # A payroll run in COBOL, as docs/cobol.md has it compiled.
  printf '%-8s%11s\n' 1 1000.50 2 2000.00 >/tmp/salaries
  cobc -x -fstatic-call -I /usr/share/taskpool/cobol -o /tmp/PAYRUN /usr/share/doc/taskpool/examples/cobol/PAYRUN.cob -ltaskpool_cobol
  TASKPOOL_DSN='Driver=SQLite3;Database=/tmp/cobol.db' SALARIES=/tmp/salaries /tmp/PAYRUN 2026-11
  [ "$(TASKPOOL_DSN='Driver=SQLite3;Database=/tmp/cobol.db' taskpool list --json | grep -c '"handler":"salary"')" = 2 ] || fail "the run in COBOL stored no tasks"
}

look_at_files() {
  local page name
  for page in taskpool.1 taskpool-work.1 taskpool-console.1 tp_enqueue.3 taskpool-schema.7 taskpool-guarantees.7; do
    man --warnings "${page%.*}" 2>&1 >/dev/null | grep . && fail "man has something to say of $page"
    [ -n "$(man -w "${page##*.}" "${page%.*}")" ] || fail "there is no $page"
  done
  for name in "${programs[@]}"; do
    for page in bash-completion/completions/"$name" zsh/site-functions/_"$name" fish/vendor_completions.d/"$name".fish; do
      [ -s "/usr/share/$page" ] || fail "there is no $page"
    done
  done
  for name in taskpool taskpool-console; do
    id "$name" >/dev/null || fail "there is no user $name for the services"
    systemd-analyze verify "/usr/lib/systemd/system/$name@.service" 2>&1 | grep "$name" | grep -v 'Failed to\|not executable' &&
      fail "systemd has something to say of the unit $name@"
  done
  return 0
}

install_others
listing >/tmp/before
install_packages
use_program
use_console
use_library
look_at_files
remove_packages
listing >/tmp/after
# The users stay, as Debian does it, and man's index and the loader's cache are not ours.
left=$(diff /tmp/before /tmp/after | grep '^[<>]' | grep -vE '/etc/(passwd|group|shadow|gshadow|subuid|subgid)-?$|ld.so.cache|\.pwd\.lock') || true
[ -z "$left" ] || fail "left after the purge: $left"
echo "packages installed, tried, removed and purged on Debian $(cat /etc/debian_version)"
