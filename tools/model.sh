#!/usr/bin/env bash
# Goes through every order of events of the protocol in docs/model/taskpool.pml with spin: the protocol as it is must hold
# in each setting, and with any one part of it taken out an error must be found.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
  cat <<END
usage: tools/model.sh [--large | --help]
  --large   the settings that take minutes and gigabytes as well
Prints a line for each run: states, seconds, memory. What is left of each run (the program, and the trail of an error) is
in \$TP_SCRATCH/model (default .scratch/model).
END
}

model=$TP_ROOT/docs/model/taskpool.pml
base=$TP_SCRATCH/model
bad=0

# build NAME GCC-OPTIONS SPIN-OPTIONS...: makes the checker of one setting in its own folder.
build() {
  local folder=$base/$1 options=$2
  shift 2
  rm -rf "$folder"
  mkdir -p "$folder"
  (
    cd "$folder"
    # The checker names the model by the path it was given, and looks for its trail beside itself.
    cp "$model" .
    spin -a "$@" taskpool.pml >spin.log
    # shellcheck disable=SC2086 # several options
    gcc -O2 -w $options -DNOREDUCE -DVECTORSZ=256 -o pan pan.c
  ) || die "cannot build $1; see $folder"
}

# run NAME PAN-OPTIONS...: runs its checker; out has what it said.
run() {
  local folder=$base/$1
  shift
  (cd "$folder" && ./pan "$@" -m20000 >out 2>&1) || true
}

# figure NAME PATTERN: the number at the beginning of the line that has the pattern.
figure() {
  awk -v pattern="$2" '$0 ~ pattern { print $1; exit }' "$base/$1/out"
}

wrong() {
  complain "$*"
  bad=1
}

line() {
  local seconds
  seconds=$(awk '/elapsed time/ { print $4 }' "$base/$1/out")
  printf '%-20s %12s states %8s s %7.0f MB  %s\n' "$1" "$(figure "$1" 'states, stored')" "$seconds" \
    "$(figure "$1" 'total actual memory usage')" "$2"
}

# A full search that finds nothing.
holds() {
  local name=$1 why=''
  shift
  build "$name" "-DNFAIR=1" "$@"
  run "$name" -a -w24
  grep -q 'errors: 0$' "$base/$name/out" || why="an error"
  grep -qE 'Search not completed|max search depth|out of memory' "$base/$name/out" && why="not a full search"
  grep -q 'Full statespace search' "$base/$name/out" || why="not a full search"
  if [ -n "$why" ]; then
    wrong "$name: $why; see $base/$name/out"
    return
  fi
  line "$name" "holds"
}

# fails NAME WORDS SPIN-OPTIONS...: an error must be found, and be of the kind that the words say.
fails() {
  local name=$1 words=$2 found
  shift 2
  build "$name" "-DNFAIR=1" "-D$name" "$@"
  run "$name" -a -w20
  found=$(grep -m1 -E '^pan:1: ' "$base/$name/out" || true)
  case $found in
    *"$words"*) line "$name" "fails, as it should: ${found#pan:1: }" ;;
    *) wrong "$name: expected '$words', found '${found:-nothing}'; see $base/$name/out" ;;
  esac
}

large=0
case ${1:-} in
  "") ;;
  --large) large=1 ;;
  --help | -h)
    usage
    exit 0
    ;;
  *)
    usage >&2
    exit 2
    ;;
esac
for tool in spin gcc awk; do
  command -v "$tool" >/dev/null || die "$tool is missing; tools/install_packages.sh test installs it"
done

holds three_workers -DEXTRAS=0 -DNO_LOSSES -DFEW_OUTCOMES -DMAX_FAILURES=1
holds lost_answers -DWORKERS=2 -DTASKS=1 -DTROUBLES=3 -DLATES=2
holds plan_cas -DWORKERS=2 -DTROUBLES=1 -DEXTRAS=0 -DCAS_FROM=2
holds poison -DWORKERS=2 -DTROUBLES=1 -DEXTRAS=0 -DPOISON

fails NO_TOKEN "assertion violated ((stored[me]"
fails NO_RECHECK "assertion violated ((at[t]!=3)||due[t])"
fails NO_GUARD "assertion violated ((at[t]!=3)||due[t])" -DCAS_FROM=1
fails NO_STATE "assertion violated (stored["
fails NO_LOOK "assertion violated ( !(((stored[me]"
fails NO_MIGRATE_ATOMIC "assertion violated (effects[t]"
fails COMMIT_OVER "assertion violated (effects[t]"
fails NO_MOVED_LOOK "assertion violated (at["
fails NO_SECOND_LOOK "assertion violated (at["
fails ENQUEUE_ALONE "assertion violated (at["
fails NO_COUNT_CRASH "acceptance cycle" -DPOISON

if [ $large = 1 ]; then
  holds large_skip -DWORKERS=2 -DTASKS=1 -DTROUBLES=3 -DLATES=2 -DWITH_SKIP
  holds large_crashes -DEXTRAS=0 -DNO_LOSSES
  holds large_rows
  holds large_cas -DCAS_FROM=3 -DEXTRAS=0
fi
exit $bad
