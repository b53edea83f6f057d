#!/usr/bin/env bash
# Goes through every order of events of the protocols in docs/model with spin: the protocol as it is must hold
# in each setting, and with any one part of it taken out an error must be found.
# shellcheck disable=SC2317,SC2329 # runs are called by also
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
  cat <<END
usage: tools/model.sh [--short | --large | --help]
  --short   without the two largest of the usual settings
  --large   only the settings that take minutes and gigabytes
Prints a line for each run: states, seconds, memory. As many run at a time as there are processors, two at most. What is left
of each run (the program, and the trail of an error) is in \$TP_SCRATCH/model (default .scratch/model).
END
}

models=$TP_ROOT/docs/model
base=$TP_SCRATCH/model
limit=3000 # MB that one run may take
level=-O1  # compiling takes longer than most searches

# build NAME GCC-OPTIONS SPIN-OPTIONS...: makes the checker of one setting in its own folder.
build() {
  local folder=$base/$1 options=$2
  shift 2
  rm -rf "$folder"
  mkdir -p "$folder"
  (
    cd "$folder"
    # The checker names the model by the path it was given, and looks for its trail beside itself.
    case $folder in */gates* | */GATE_*) model=gates.pml ;; */groups* | */GROUP_*) model=groups.pml ;; */deadline* | */DEADLINE_*) model=deadline.pml ;; *) model=taskpool.pml ;; esac
    cp "$models/$model" .
    spin -a "$@" "$model" >spin.log 2>&1
    # shellcheck disable=SC2086 # several options
    gcc -w $options -DNOREDUCE -DVECTORSZ=256 -DMEMLIM="$limit" -o pan pan.c >gcc.log 2>&1
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

line() {
  local seconds
  seconds=$(awk '/elapsed time/ { print $4 }' "$base/$1/out")
  printf '%-20s %12s states %8s s %7.0f MB  %s\n' "$1" "$(figure "$1" 'states, stored')" "$seconds" \
    "$(figure "$1" 'total actual memory usage')" "$2"
}

# full NAME WORDS: its search found nothing, and left nothing out.
full() {
  local out=$base/$1/out
  grep -q 'errors: 0$' "$out" || die "$1: an error; see $out"
  if grep -qE 'Search not completed|max search depth|out of memory' "$out" || ! grep -q 'Full statespace search' "$out"; then
    die "$1: not a full search; see $out"
  fi
  line "$1" "$2"
}

# holds NAME HASH SPIN-OPTIONS...: no assertion fails, and nothing gets stuck. HASH is the table's size in bits.
holds() {
  local name=$1 hash=$2
  shift 2
  build "$name" "$level -DSAFETY" "$@"
  run "$name" "-w$hash"
  full "$name" "holds"
}

# ends NAME HASH SPIN-OPTIONS...: every task ends.
ends() {
  local name=$1 hash=$2
  shift 2
  build "$name" "$level" -DENDS "$@"
  run "$name" -a "-w$hash"
  full "$name" "every task ends"
}

# An error must be found, and be of the kind that the words say.
expect() {
  local name=$1 words=$2 found
  found=$(grep -m1 -E '^pan:1: ' "$base/$name/out" || true)
  case $found in
    *"$words"*) line "$name" "fails, as it should: ${found#pan:1: }" ;;
    *) die "$name: expected '$words', found '${found:-nothing}'; see $base/$name/out" ;;
  esac
}

# fails NAME WORDS SPIN-OPTIONS...
fails() {
  local name=$1 words=$2
  shift 2
  build "$name" "-O0 -DSAFETY" "-D$name" "$@"
  run "$name" -w20
  expect "$name" "$words"
}

never_ends() {
  local name=$1
  shift
  build "$name" "-O0" -DENDS "-D$name" "$@"
  run "$name" -a -w20
  expect "$name" "acceptance cycle"
}

# ---- Two at a time ---------------------------------------------------------------------------------------

bad=0 running=0 most=1
[ "$(nproc)" -lt 2 ] || most=2

await_one() {
  wait -n || bad=1
  running=$((running - 1))
}

also() {
  [ "$running" -lt "$most" ] || await_one
  "$@" &
  running=$((running + 1))
}

await_all() {
  while [ "$running" -gt 0 ]; do
    await_one
  done
}

# ---- Settings --------------------------------------------------------------------------------------------

# The longest first, so that the others go beside it.
usual() {
  level=-O2 also holds three_workers 24 -DEXTRAS=0 -DFEW_OUTCOMES -DMAX_FAILURES=1
  also ends two_workers_end 22 -DWORKERS=2 -DTROUBLES=2 -DEXTRAS=0
  also holds two_workers 22 -DWORKERS=2 -DTROUBLES=2 -DEXTRAS=0
  also holds gates_limit 22 -DWIDTH=2 -DTROUBLES=1
  also holds gates_old_library 22 -DOLD=1 -DTROUBLES=1
  also holds gates_tokens 22 -DWIDTH=2 -DTOKENS=2 -DTROUBLES=0 -DWORKERS=1
  short
}

short() {
  also fails NO_TOKEN "assertion violated ((stored[me]"
  also fails NO_RECHECK "assertion violated ((at[t]!=3)||due[t])"
  also fails NO_GUARD "assertion violated ((at[t]!=3)||due[t])" -DCAS_FROM=1
  also fails NO_STATE "assertion violated (stored["
  also fails NO_LOOK "assertion violated ( !(((stored[me]"
  also fails NO_MIGRATE_ATOMIC "assertion violated (effects[t]"
  also fails COMMIT_OVER "assertion violated (effects[t]"
  also fails NO_MOVED_LOOK "assertion violated (at["
  also fails NO_SECOND_LOOK "assertion violated (at["
  also fails ENQUEUE_ALONE "assertion violated (at["
  also never_ends NO_COUNT_CRASH -DPOISON
  also ends lost_answers_end 22 -DWORKERS=2 -DTASKS=1 -DTROUBLES=3 -DLATES=2
  also holds lost_answers 22 -DWORKERS=2 -DTASKS=1 -DTROUBLES=3 -DLATES=2
  also ends poison_ends 22 -DWORKERS=2 -DTROUBLES=1 -DEXTRAS=0 -DPOISON
  also holds plan_cas 22 -DWORKERS=2 -DTROUBLES=1 -DEXTRAS=0 -DCAS_FROM=2
  also fails GATE_NO_LOCK "assertion violated (first<="
  also fails GATE_EARLY_PLACE "assertion violated ((((committed[i]"
  also fails GATE_LEAVE_TWICE "invalid end state"
  also fails GATE_NO_FILL "invalid end state" -DGATE_NO_MAINTENANCE
  also fails GATE_NO_MAINTENANCE "invalid end state" -DOLD=1
  also holds gates_order 22
  also fails GROUP_NO_SHARE "assertion violated (group!="
  also fails GROUP_OPEN_ENDS "assertion violated ((group=="
  also fails GROUP_AFTER_NO_SHARE "invalid end state"
  also fails GROUP_NO_MAINTENANCE "invalid end state"
  also holds groups_end 22
  also fails GATE_EARLY_TOKEN "assertion violated ((2==0)||" -DWIDTH=2 -DTOKENS=2 -DTROUBLES=0
  also fails GATE_NO_GIVER "invalid end state" -DTOKENS=1 -DTROUBLES=0
  also fails DEADLINE_NO_RECHECK "assertion violated ((row&&past)"
  also fails DEADLINE_NO_STATE "assertion violated  !(((at==2)"
  also fails DEADLINE_BELIEF "assertion violated (( !((again"
  also holds deadline 22 -DLAPSES=1
  also holds gates_tokens_old 22 -DTOKENS=1 -DOLD=1 -DTROUBLES=1 -DWORKERS=1
}

large() {
  limit=7000
  level=-O2
  also holds large_skip 24 -DWORKERS=2 -DTASKS=1 -DTROUBLES=3 -DLATES=2 -DWITH_SKIP
  also holds large_outcomes 26 -DEXTRAS=0 -DMAX_FAILURES=1
  also holds large_failures 26 -DEXTRAS=0
  also holds large_cas 26 -DCAS_FROM=3 -DEXTRAS=0 -DFEW_OUTCOMES -DMAX_FAILURES=1
}

chosen=usual
case ${1:-} in
  "") ;;
  --short | --large) chosen=${1#--} ;;
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
"$chosen"
await_all
exit $bad
