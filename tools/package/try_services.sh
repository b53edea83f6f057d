#!/usr/bin/env bash
# Run where systemd lives and the packages of a folder can be installed: upgrades them under a running worker, then tries the units: start,
# stop that waits, watchdog, a kill, wrong options, the nightly check, the console, the journal; and removes all. boot.sh boots it.
# usage: try_services.sh [--prepare] FOLDER   (--prepare: before the boot, fetches what there is no network for later)
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
failed=0
waits=2400 # tenths of a second, for what hangs

check() {
  local name=$1
  shift
  if "$@"; then
    echo "ok - $name"
  else
    echo "not ok - $name"
    failed=1
  fi
}

# until_true NAME COMMAND...
until_true() {
  local name=$1 i
  shift
  for ((i = 0; i < waits; i++)); do
    if "$@"; then check "$name" true && return; fi
    sleep 0.1
  done
  check "$name" false
  systemctl status --no-pager 'taskpool*' || true
}

property() {
  systemctl show -P "$2" "$1"
}

is() {
  [ "$(property "$1" "$2")" = "$3" ]
}

says() {
  # shellcheck disable=SC2053 # it is a pattern
  [[ $(property "$1" "$2") == $3 ]]
}

has() {
  grep -q -- "$1" <<<"$2"
}

journal_has() {
  journalctl -u "$1" -o cat --no-pager | grep -q -- "$2"
}

as_worker() {
  runuser -u taskpool -- env TASKPOOL_DSN="$dsn" taskpool "$@"
}

settled() {
  as_worker list --pool "$1" --json | grep -c '"handler":"'"$2"'"' || true
}

# All that the packages need, by installing them once.
prepare() {
  rm -f /usr/sbin/policy-rc.d
  apt-get -qq update
  apt-get -qqy install --no-install-recommends systemd systemd-sysv dbus libsqliteodbc odbcinst man-db procps >/dev/null
  apt-get -qqy install --no-install-recommends "$1"/*.deb >/dev/null
  # shellcheck disable=SC2046 # names
  dpkg --purge $(for file in "$1"/*.deb; do dpkg-deb -f "$file" Package; done) >/dev/null
  rm -rf /etc/taskpool /var/lib/taskpool
}

# The same packages as of a version before, which nobody released: what an upgrade does is to be seen, not what is new.
make_previous() {
  local file
  mkdir -p /tmp/previous
  for file in "$folder"/*.deb; do
    rm -rf /tmp/unpacked
    dpkg-deb -R "$file" /tmp/unpacked
    sed -i 's/^\(Version: \).*/\10.0.1-1/; s/(= [0-9.]*-1)/(= 0.0.1-1)/g' /tmp/unpacked/DEBIAN/control
    dpkg-deb -b /tmp/unpacked /tmp/previous >/dev/null
  done
}

set_up() {
  dpkg -i /tmp/previous/*.deb >/dev/null
  cat >/usr/local/bin/slow <<'END'
#!/bin/sh
# Writes that it runs, and waits for a word.
cat >/var/lib/taskpool/running.new && mv /var/lib/taskpool/running.new /var/lib/taskpool/running
while [ ! -e /var/lib/taskpool/go ]; do sleep 0.1; done
END
  chmod 755 /usr/local/bin/slow
  dsn='Driver=SQLite3;Database=/var/lib/taskpool/shop.db;Timeout=60000'
  printf '%s\n' "$dsn" >/etc/taskpool/shop.dsn
  chmod 600 /etc/taskpool/shop.dsn
  cp /usr/share/doc/taskpool/service/example.conf /etc/taskpool/shop.conf
  sed -i 's,^handler.*,handler = quick=/bin/true\nhandler = slow=/usr/local/bin/slow,; s/^#log-format/log-format/' /etc/taskpool/shop.conf
  install -d -o taskpool -g taskpool /var/lib/taskpool
  as_worker schema install >/dev/null
}

done_by_quick() {
  [ "$(settled finished quick)" = "$1" ]
}

ended() {
  ! pgrep -x taskpool >/dev/null
}

starts() {
  systemctl enable --now taskpool@shop
  check "start waits until the worker is ready" is taskpool@shop ActiveState active
  until_true "systemd is told what it does" says taskpool@shop StatusText 'running: *'
  as_worker enqueue quick >/dev/null
  until_true "a task is done" done_by_quick 1
  until_true "the journal has objects" journal_has taskpool@shop '^{.*"event":'
  check "the worker runs as its user" [ "$(ps -o user= -p "$(property taskpool@shop MainPID)")" = taskpool ]
}

upgrades() {
  local sums pid said
  sums=$(sha256sum /etc/taskpool/*)
  pid=$(property taskpool@shop MainPID)
  said=$(apt-get -qqy install --no-install-recommends "$folder"/*.deb 2>&1)
  check "an upgrade keeps what the administrator wrote" [ "$sums" = "$(sha256sum /etc/taskpool/*)" ]
  check "it leaves the worker running" [ "$pid" = "$(property taskpool@shop MainPID)" ]
  check "and says that it runs the version before" has 'version before.*taskpool@shop.service' "$said"
  systemctl restart 'taskpool@*'
  check "restarted, it is another" [ "$pid" != "$(property taskpool@shop MainPID)" ]
  check "and ready" is taskpool@shop ActiveState active
  check "nothing is left of the version before" [ -z "$(find /etc /usr/lib/systemd /usr/bin -name '*.dpkg-*')" ]
}

stop_waits() {
  as_worker enqueue slow >/dev/null
  until_true "a program runs" [ -e /var/lib/taskpool/running ]
  systemctl stop --no-block taskpool@shop
  until_true "it is stopping" is taskpool@shop ActiveState deactivating
  until_true "the worker has said so" journal_has taskpool@shop '"event":"stopping"'
  check "the program still runs" [ "$(settled pending slow)" = 1 ]
  touch /var/lib/taskpool/go
  until_true "stopped" is taskpool@shop ActiveState inactive
  check "the stop was a good one" is taskpool@shop Result success
  check "the task is done" [ "$(settled finished slow)" = 1 ]
}

is_restarted() {
  [ "$(property taskpool@shop NRestarts)" -ge "$1" ] && is taskpool@shop ActiveState active
}

watchdog_and_kill() {
  local restarts
  mkdir -p /run/systemd/system/taskpool@shop.service.d
  # The unit as it is, but not its minutes.
  printf '[Service]\nWatchdogSec=3\nTimeoutStopSec=5\nRestartSec=1\n' >/run/systemd/system/taskpool@shop.service.d/soon.conf
  systemctl daemon-reload
  systemctl start taskpool@shop
  kill -STOP "$(property taskpool@shop MainPID)"
  until_true "a worker that stands still is started again" is_restarted 1
  check "by the watchdog" journal_has taskpool@shop 'Watchdog timeout'
  restarts=$(property taskpool@shop NRestarts)
  kill -KILL "$(property taskpool@shop MainPID)"
  until_true "one that is killed, too" is_restarted $((restarts + 1))
  as_worker enqueue quick >/dev/null
  until_true "and works" done_by_quick 2
  rm -r /run/systemd/system/taskpool@shop.service.d
  systemctl daemon-reload
  systemctl stop taskpool@shop
}

refuses() {
  cp /etc/taskpool/shop.dsn /etc/taskpool/bad.dsn
  echo 'thread = 3' >/etc/taskpool/bad.conf
  check "wrong options do not start" eval '! systemctl start taskpool@bad 2>/dev/null'
  check "and are not tried again" is taskpool@bad ActiveState failed
  check "the journal says why" journal_has taskpool@bad 'there is no option thread'
  check "what has no configuration is left out" eval 'systemctl start taskpool@none && is taskpool@none ConditionResult no'
  rm /etc/taskpool/bad.*
  systemctl reset-failed
}

checks() {
  check "the pool's check is content" systemctl start taskpool-check@shop.service
  as_worker enqueue nobody --due-at 2000-01-01T00:00:00Z >/dev/null
  check "tasks that nobody takes make it fail" eval '! systemctl start taskpool-check@shop.service 2>/dev/null'
  check "with the exit code of check" is taskpool-check@shop.service ExecMainStatus 9
  systemctl reset-failed
  systemctl enable --now --quiet taskpool-check@shop.timer
  check "the timer has a next time" says taskpool-check@shop.timer NextElapseUSecRealtime '*04:*'
}

answers() {
  (exec 3<>/dev/tcp/127.0.0.1/8080 && printf 'GET %s HTTP/1.0\r\nHost: localhost:8080\r\n\r\n' "$1" >&3 && cat <&3) 2>/dev/null | grep -q "$2"
}

shows() {
  # Its database is a file of the worker's: the console, as another user, has to be let in.
  mkdir -p /run/systemd/system/taskpool-console@shop.service.d
  printf '[Service]\nUser=taskpool\nStateDirectory=taskpool\n' >/run/systemd/system/taskpool-console@shop.service.d/sqlite.conf
  systemctl daemon-reload
  systemctl start taskpool-console@shop
  until_true "the console answers" answers /healthz ' 200 '
  until_true "its pool is there" answers /readyz ' 200 '
  check "its page is there" answers / '<html'
  systemctl stop taskpool-console@shop
  check "the console ends well" is taskpool-console@shop Result success
}

looks_at_units() {
  local unit said
  said=$(systemd-analyze verify /usr/lib/systemd/system/taskpool*@.service /usr/lib/systemd/system/taskpool-check@.timer 2>&1 | grep taskpool || true)
  check "systemd has nothing to say of the units: $said" [ -z "$said" ]
  for unit in taskpool@shop taskpool-check@shop taskpool-console@shop; do
    echo "$unit: $(systemd-analyze security --no-pager "$unit.service" | grep 'Overall exposure' | sed 's/^[^A-Z]*//')"
    check "$unit is closed up" systemd-analyze security --no-pager --threshold=25 "$unit.service" >/dev/null
  done
}

removes() {
  local packages
  systemctl start taskpool@shop
  packages=$(for file in "$folder"/*.deb; do dpkg-deb -f "$file" Package; done)
  # shellcheck disable=SC2086 # names
  apt-get -qqy purge $packages >/dev/null 2>&1
  check "a removal stops the worker" ended
  check "and its timer" eval '! systemctl is-active --quiet taskpool-check@shop.timer'
  check "the administrator's files stay" [ -e /etc/taskpool/shop.conf ]
  check "no unit is left" [ -z "$(find /usr/lib/systemd /lib/systemd -name '*taskpool*')" ]
}

if [ "$1" = --prepare ]; then
  prepare "$2"
  exit
fi
folder=$1
make_previous
set_up
starts
upgrades
stop_waits
watchdog_and_kill
refuses
checks
shows
looks_at_units
removes
[ $failed = 0 ] && echo "services upgraded, started, stopped, restarted and removed by $(systemctl --version | head -n 1), Debian $(cat /etc/debian_version)"
