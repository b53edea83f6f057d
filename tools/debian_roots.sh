#!/usr/bin/env bash
# Tries the last commit on other releases of Debian: for each an empty root is made, and in it tools/demo.sh and
# tools/test.sh --quick are run. Prints a line for each release; a run's output is in the folder of logs.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
  cat <<END
usage: tools/debian_roots.sh [--folder FOLDER] [--demo | --suite | --packages] [RELEASE...] | --help
Runs the demo and the quick suite in an empty root of each release of Debian (default: ${releases[*]}).
  --folder FOLDER   keep the roots there, and use those that are there (default: new ones, removed at the end)
  --demo, --suite   only one of the two
  --packages        instead builds the packages in one root, and installs, tries, removes and purges them in another
                    (default: ${package_releases[*]})
  --services        instead builds the packages in one root, boots systemd in another, and tries the units there (default: as above)
                    Both can be given, in this order.
Needs root. Takes this machine's own mirror, and for each release three gigabytes and a quarter of an hour.
Logs: \$TP_SCRATCH/log/roots (default .scratch/log/roots).
END
}

releases=(trixie sid)
package_releases=(bookworm trixie)
declare -A package_kinds=([bookworm]="deb rpm") # elsewhere deb

# The archive that apt uses here.
find_mirror() {
  # shellcheck disable=SC2016 # for apt to fill in
  apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' 'Origin: Debian' 'Label: Debian' |
    sed -n 's,/*$,,; 1p'
}

# No package may start a server of its own there; and a mirror may lag behind the archive.
make_root() {
  rm -rf "$root"
  mkdir -p "$root"
  debootstrap --variant=minbase "$release" "$root" "$mirror"
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
  chmod 755 "$root/usr/sbin/policy-rc.d"
  echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/99lag"
  rm -rf "$root.empty"
  cp -a "$root" "$root.empty" # for what is to be tried without all that building takes
  touch "$root/made"
}

# What was committed, with its history: tests build older versions.
copy_tree() {
  rm -rf "$root/taskpool"
  git clone -q "file://$TP_ROOT" "$root/taskpool"
}

# in_root COMMAND: in processes and mounts of its own, which end with it.
in_root() {
  # shellcheck disable=SC2016 # for the other shell to fill in
  unshare --mount --pid --fork --kill-child bash -ec '
    mount -t proc proc "$1/proc"
    mount -t tmpfs -o mode=1777,size=50% tmpfs "$1/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=0666 devpts "$1/dev/pts"
    code=0
    chroot "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 bash -c "cd /taskpool && $2" || code=$?
    exit $code' bash "$root" "$1" </dev/null
}

# logged NAME COMMAND...: sets log.
logged() {
  log=$logs/$release-$1.log
  shift
  "$@" >"$log" 2>&1
}

try_demo() {
  if ! logged demo in_root tools/demo.sh; then
    verdict="demo FAILED ($log)"
    return 1
  fi
  verdict="demo ok"
}

try_suite() {
  local code=0
  logged suite in_root "tools/test.sh --quick" || code=$?
  verdict="quick suite $([ $code = 0 ] && echo ok || echo "FAILED ($log)"): "
  verdict+=$(grep -E '^[0-9]+ passed, ' "$log" || echo "no test ran")
  return $code
}

# build_packages OPTION...: in the root, unless that was done for this commit; then they are in root.empty, in which they are tried: it has
# nothing of what building them takes.
build_packages() {
  local kinds commit uplot=tools/console/node_modules/uplot
  read -ra kinds <<<"${package_kinds[$release]:-deb}"
  commit=$(git -C "$root/taskpool" rev-parse HEAD)
  verdict="packages FAILED ($logs/$release-packages$*.log)"
  if [ ! -e "$root/packages/$commit" ]; then
    rm -rf "$root/packages"
    if tools/console/install.sh page; then # npm is on this machine only
      mkdir -p "$root/taskpool/${uplot%/*}"
      cp -r "$uplot" "$root/taskpool/${uplot%/*}"
    fi
    logged "packages$*" in_root "tools/install_packages.sh packages && tools/package.sh $* ${kinds[*]} /packages" || return 1
    touch "$root/packages/$commit"
  fi
  rm -rf "$root.empty/packages" "$root.empty/taskpool"
  cp -r "$root/packages" "$root.empty/packages"
  mkdir "$root.empty/taskpool"
  cp tools/package/try_*.sh "$root.empty/taskpool"
}

# in_empty_root COMMAND
in_empty_root() {
  local root=$root.empty
  in_root "$1"
}

try_packages() {
  local kind kinds said=()
  read -ra kinds <<<"${package_kinds[$release]:-deb}"
  build_packages --check || return 1
  for kind in "${kinds[@]}"; do
    logged "$kind" in_empty_root "./try_installed.sh $kind /packages" || { verdict="$kind FAILED ($log)" && return 1; }
    said+=("$kind $(tail -n 1 "$log")")
  done
  verdict=$(printf '%s; ' "${said[@]}" | sed 's/; $//')
}

try_services() {
  local code=0
  build_packages || return 1
  verdict="services FAILED ($logs/$release-services.log)"
  logged prepare in_empty_root "./try_services.sh --prepare /packages" || { verdict="services FAILED ($log)" && return 1; }
  logged services tools/package/boot.sh "$root.empty" "/taskpool/try_services.sh /packages" || code=$?
  if [ $code = 77 ] && [ -z "${TASKPOOL_TEST_REQUIRE:-}" ]; then
    verdict=$(tail -n 1 "$log")
    return 0
  fi
  [ $code = 0 ] && verdict=$(tail -n 1 "$log")
}

# Sets good to 0 when something failed; says one line.
try_release() {
  local part said=()
  root=$folder/$release
  if [ ! -e "$root/made" ] && ! logged make make_root; then
    said=("root FAILED ($log)")
  elif ! logged copy copy_tree; then
    said=("copy FAILED ($log)")
  else
    for part in "${wanted[@]}"; do
      "try_$part" || good=0
      said+=("$verdict")
    done
    say "$release, Debian $(cat "$root/etc/debian_version"): $(printf '%s; ' "${said[@]}" | sed 's/; $//')"
    return
  fi
  good=0
  say "$release: ${said[*]}"
}

clean_up() {
  [ "$kept" = 1 ] || rm -rf "$folder"
}

folder='' kept=0 wanted=(demo suite)
while [ $# -gt 0 ]; do
  case $1 in
    --folder)
      [ -n "${2:-}" ] || { usage >&2 && exit 2; }
      kept=1
      mkdir -p "$2"
      folder=$(realpath -- "$2")
      shift
      ;;
    --demo) wanted=(demo) ;;
    --suite) wanted=(suite) ;;
    --packages | --services)
      [ "${wanted[0]}" = packages ] || wanted=()
      wanted+=("${1#--}")
      releases=("${package_releases[@]}")
      ;;
    --help | -h) usage && exit 0 ;;
    -*) usage >&2 && exit 2 ;;
    *) break ;;
  esac
  shift
done
[ $# = 0 ] || releases=("$@")
cd "$TP_ROOT"
[ "$(id -u)" = 0 ] || die "only root can make a root"
tools/install_packages.sh roots
mirror=$(find_mirror)
[ -n "$mirror" ] || die "apt's sources name no archive of Debian"
logs=$TP_SCRATCH/log/roots
mkdir -p "$logs"
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
[ $kept = 1 ] || folder=$(mktemp -d "${TMPDIR:-/tmp}/taskpool-roots.XXXXXX")
good=1
for release in "${releases[@]}"; do
  try_release
done
[ $good = 1 ]
