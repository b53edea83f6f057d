#!/usr/bin/env bash
# Boots systemd in a root of Debian and runs a command under it: in processes, mounts and a network of its own, which end with it. For
# tools/debian_roots.sh, as root. Exit code 77, with a word: it cannot be done here.
# usage: boot.sh ROOT COMMAND
set -euo pipefail
root=$1 command=$2

skip() {
  echo "SKIPPED: nothing was tried under a living systemd: $1" >&2
  exit 77
}

# Where processes are counted in groups of the second version, as systemd wants it.
groups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
[ -n "$groups" ] || skip "no cgroup2 is mounted here"
own=$groups/taskpool-$$
mkdir "$own" 2>/dev/null || skip "no group of processes can be made in $groups"
[ -x "$root/lib/systemd/systemd" ] || skip "there is no systemd in $root"

# shellcheck disable=SC2317 # called at the exit
clean_up() {
  # With its first process all others end; only then does unshare.
  if pkill -KILL -P "${booted:-0}"; then wait "$booted" 2>/dev/null || true; fi
  find "$own" -depth -type d -exec rmdir {} \; 2>/dev/null || true
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# The first process of the new namespaces becomes systemd. Mounts are shared among its services, as on a machine: credentials need it.
# shellcheck disable=SC2016 # for the other shell to fill in
unshare --mount --pid --uts --ipc --net --fork --kill-child bash -ec '
  echo $$ >"$2/cgroup.procs"
  exec unshare --cgroup bash -ec "
    mount --make-rprivate /
    mount --bind $1 $1
    cd $1
    mount -t proc proc proc
    mount -t sysfs -o ro sysfs sys
    mount -t cgroup2 cgroup2 sys/fs/cgroup
    mount -t tmpfs -o mode=755 tmpfs run
    mount -t tmpfs -o mode=1777 tmpfs tmp
    mount -t tmpfs -o mode=755 tmpfs dev
    for node in null zero full random urandom tty; do
      touch dev/\$node
      mount --bind /dev/\$node dev/\$node
    done
    mkdir dev/pts dev/shm
    mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
    ln -s pts/ptmx dev/ptmx
    mount -t tmpfs -o mode=1777 tmpfs dev/shm
    mkdir -p before
    pivot_root . before
    umount -l /before
    rmdir /before
    mount --make-rshared /
    exec env -i container=taskpool PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system --show-status=no
  "' bash "$root" "$own" </dev/null >"$root/boot.log" 2>&1 &
booted=$!

# inside COMMAND: beside systemd, the child of unshare.
inside() {
  local first
  first=$(pgrep -P "$booted") || return 1
  nsenter -t "$first" -m -p -u -i -n -C env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 bash -c "$1"
}

for ((i = 0; i < 1200; i++)); do
  kill -0 "$booted" 2>/dev/null || { cat "$root/boot.log" >&2 && skip "systemd ended at once"; }
  case $(inside 'systemctl is-system-running' 2>/dev/null || true) in
    running | degraded)
      inside "$command" </dev/null
      exit
      ;;
  esac
  sleep 0.1
done
cat "$root/boot.log" >&2
echo "boot.sh: systemd was not ready within two minutes" >&2
exit 1
