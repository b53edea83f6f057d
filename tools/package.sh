#!/usr/bin/env bash
# Builds the packages of this tree: .deb where dpkg is, .rpm where rpmbuild is, and the list of parts (SBOM) that goes beside them. The
# same commit gives the same packages, in whichever folder it is built.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
  cat <<END
usage: tools/package.sh [--check] [deb] [rpm] [FOLDER] | --help
Writes packages into FOLDER (default: build/packages). Without a kind, all kinds whose tools are here are built.
  --check   builds them twice, the other time in another folder and year, by another user, with another umask, locale and time zone, and
            compares; reads back hardening, runs lintian, checks what needs what. Takes minutes.
Needs what tools/install_packages.sh packages installs.
END
}

# The compiler's and linker's flags that Debian's own packages have; folders of the build are not told.
hardened() {
  local flags
  export DEB_BUILD_MAINT_OPTIONS=hardening=+all
  if command -v dpkg-buildflags >/dev/null; then
    CFLAGS="$(dpkg-buildflags --get CFLAGS) $(dpkg-buildflags --get CPPFLAGS)"
    LDFLAGS=$(dpkg-buildflags --get LDFLAGS)
  else
    CFLAGS='-O2 -g -fstack-protector-strong -fstack-clash-protection -D_FORTIFY_SOURCE=2 -Wformat -Werror=format-security'
    LDFLAGS='-Wl,-z,relro -Wl,-z,now'
  fi
  flags=$(tr ' ' '\n' <<<"$CFLAGS" | grep -v '^-ffile-prefix-map=' | paste -sd ' ')
  # Of the compiler's own threads, too: link-time optimization would make each build another.
  # A cache may answer with what was compiled in another folder.
  export CCACHE_DISABLE=1 CFLAGS="$flags -ffile-prefix-map=$1=. -ffile-prefix-map=$TP_ROOT=." LDFLAGS
}

# The time of the last commit is that of every file in a package.
source_date() {
  [ -z "${SOURCE_DATE_EPOCH:-}" ] || { echo "$SOURCE_DATE_EPOCH" && return; }
  git -C "$TP_ROOT" log -1 --format=%ct 2>/dev/null || stat -c %Y "$TP_ROOT/CHANGELOG.md"
}

# build KIND BUILD-FOLDER OUTPUT-FOLDER
build() {
  local kind=$1 folder=$2 output=$3 how=() log
  log=$folder.log
  [ "$kind" = deb ] || how=(-DCMAKE_INSTALL_LIBDIR=lib64 -DCMAKE_INSTALL_SO_NO_EXE=0)
  [ "$kind" != deb ] || how=(-DCPACK_DEB=ON)
  mkdir -p "$folder" "$output"
  (
    # Before a || the shell would go on after an error.
    hardened "$folder" &&
      umask 022 && # modes of what is packed come from it
      cmake -G Ninja -S "$TP_ROOT" -B "$folder" -DCMAKE_BUILD_TYPE=None -DCMAKE_INSTALL_PREFIX=/usr -DTASKPOOL_PACKAGE=ON \
      -DTASKPOOL_PROGRAM=ON -DTASKPOOL_BENCH=ON -DTASKPOOL_SCREEN=ON -DTASKPOOL_CONSOLE=ON -DTASKPOOL_TLS=ON -DTASKPOOL_MANUALS=ON -DTASKPOOL_COBOL=ON "${how[@]}" &&
      cmake --build "$folder" -j "$(nproc)" &&
      cd "$folder" && cpack -G "${kind^^}" -B "$folder/packages"
  ) >"$log" 2>&1 || { tail -n 30 "$log" >&2 && die "the packages were not built; all output is in $log"; }
  find "$folder/packages" -maxdepth 1 -name "*.$kind" -exec cp {} "$output" \;
  (cd "$output" && "$TP_ROOT/tools/package/sbom.py" "$TP_ROOT") >"$output/taskpool.spdx.json"
}

# build_otherwise KIND FOLDER: this script once more, with all changed that must not matter. A clock that is ahead needs faketime, and
# another user root; what cannot be changed is said.
build_otherwise() {
  local how=(env TZ=Pacific/Kiritimati LC_ALL=C TMPDIR="$2") same=()
  mkdir -p "$2"
  if [ "$(id -u)" = 0 ] && runuser -u nobody -- test -r "$TP_ROOT/CMakeLists.txt"; then
    chown nobody "$2"
    how=(runuser -u nobody -- "${how[@]}" HOME="$2" PATH="$PATH")
  else
    same+=("the same user")
  fi
  if command -v faketime >/dev/null; then how+=(faketime -f +400d); else same+=("the same year (faketime is not here)"); fi
  (umask 027 && "${how[@]}" "$TP_ROOT/tools/package.sh" "$1" "$2/packages") >"$2.log" 2>&1 ||
    { tail -n 30 "$2.log" >&2 && die "built otherwise, the packages were not made; all output is in $2.log"; }
  [ ${#same[@]} = 0 ] || complain "SKIPPED: both builds had $(printf '%s, ' "${same[@]}" | sed 's/, $//')"
}

build_kind() {
  local kind=$1 work file
  work=$(mktemp -d "${TMPDIR:-/tmp}/taskpool-package.XXXXXX")
  chmod 755 "$work"
  build "$kind" "$work/one" "$output"
  if [ $check = 1 ]; then
    build_otherwise "$kind" "$work/again"
    for file in "$output"/*."$kind"; do
      cmp "$file" "$work/again/packages/${file##*/}" || die "${file##*/} is not the same when it is built again"
    done
    say "$kind: built twice, the same"
    "$TP_ROOT/tools/package/check.sh" "$kind" "$output"
  fi
  rm -rf "$work"
}

# What draws the console's plots is taken into its program.
find_uplot() {
  [ -e "$TP_ROOT/tools/console/node_modules/uplot/LICENSE" ] || "$TP_ROOT/tools/console/install.sh" page ||
    complain "SKIPPED: the console of these packages has tables in place of plots"
}

kinds=() check=0 output=$TP_ROOT/build/packages
while [ $# -gt 0 ]; do
  case $1 in
    --check) check=1 ;;
    --help | -h) usage && exit 0 ;;
    deb | rpm) kinds+=("$1") ;;
    -*) usage >&2 && exit 2 ;;
    *) output=$(realpath -m -- "$1") ;;
  esac
  shift
done
if [ ${#kinds[@]} = 0 ]; then
  if command -v dpkg-deb >/dev/null; then kinds+=(deb); fi
  if command -v rpmbuild >/dev/null; then kinds+=(rpm); fi
fi
[ ${#kinds[@]} != 0 ] || die "neither dpkg-deb nor rpmbuild is here"
SOURCE_DATE_EPOCH=$(source_date) && export SOURCE_DATE_EPOCH
mkdir -p "$output"
find_uplot
for kind in "${kinds[@]}"; do
  rm -f "$output"/*."$kind"
  build_kind "$kind"
done
ls -l "$output"
