# Packages that the stable release does not have, from the archive's unstable suite, unpacked into a folder of their own: nothing
# is installed, and apt's lists and state are not the machine's. Signatures are checked by apt. A part of fetch_mysql.sh and
# fetch_opentelemetry.sh, which say with cannot what is missing where the archive is out of reach. Sourced, not run.
# shellcheck shell=bash

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

# The lists of the unstable suite alone, in $apt.
open_archive() {
  local source uri entry
  command -v apt-get >/dev/null || cannot "there is no apt-get here"
  source=$(own_source)
  [ -n "$source" ] || cannot "apt knows no source of Debian's archive here (its lists may be empty: apt-get update)"
  read -r uri entry <<<"$source"
  mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$apt/root"
  : >"$apt/state/status"
  printf 'deb [signed-by=%s] %s sid main\n' "$(key_of "${entry%:*}")" "$uri" >"$apt/sources.list"
  own_apt update -o APT::Update::Error-Mode=any || cannot "the archive's unstable suite cannot be read: $(complaint)"
}

# place WHAT FILE HOME...: in the first of the folders that can be written; FILE of the packages is there when it is complete. It
# takes its name at last, so that who is ended halfway leaves nothing that looks right. Who sources this has fetch and unpack.
place() {
  local what=$1 file=$2 home
  shift 2
  for home in "$@"; do
    if mkdir -p "${home%/*}" 2>/dev/null && [ -w "${home%/*}" ]; then
      apt=$(mktemp -d "$home.XXXXXX")
      trap 'rm -rf "$apt"' EXIT
      open_archive
      fetch
      unpack
      [ -e "$apt/root/$file" ] || die "the packages hold no $file"
      chmod 755 "$apt/root"
      mv -T "$apt/root" "$home" 2>/dev/null || [ -e "$home/$file" ] || die "$home is in the way"
      say "$what: unpacked into $home"
      return
    fi
  done
  die "none of these folders can be written: $*"
}
