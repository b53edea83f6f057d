# Shared by tools/test.sh and tools/proof.sh: steps with their times and verdicts, builds, and runs of the tests. Sourced, after
# lib.sh; the caller has `set -uo pipefail` and is in the repository's root.
# shellcheck shell=bash

jobs=$(nproc)
summary=() # a line for each step
failed=()  # names of steps
last=0     # exit code of the last step
times=$TP_SCRATCH/log/times.tsv # a line for each test: seconds, build, name, verdict

# ---- Steps -----------------------------------------------------------------------------------------------

# note NAME SECONDS CODE: what came of a step. Of one of a chain it is kept until the chain is awaited.
note() {
  local verdict=ok
  last=$3
  if [ -n "$chain" ]; then
    printf '%s\t%s\t%s\n' "$2" "$3" "$1" >>"$TP_SCRATCH/log/chain.$chain.notes"
    return
  fi
  if [ "$3" != 0 ]; then
    verdict="FAILED ($3)"
    failed+=("$1")
  fi
  summary+=("$(printf '%-40s %5d s  %s' "$1" "$2" "$verdict")")
  say "${summary[-1]}"
}

# step NAME COMMAND...: runs the command in a subshell that stops at its first error. Not to be called in a
# condition, where bash would not stop.
step() {
  local name=$1 began=$SECONDS
  shift
  say "== $name"
  (
    set -e
    "$@"
  )
  note "$name" $((SECONDS - began)) $?
}

# Binaries of an earlier build must not be taken for the ones that did not build.
step_if_built() {
  if [ "$last" = 0 ]; then
    step "$@"
  else
    step "$1" die "not run: the build failed"
  fi
}

# ---- Beside others -----------------------------------------------------------------------------------------
# Tests wait a lot, and leave the processors to others. A chain is a process group whose steps run one after the other. One that is long
# needs its share from the beginning: what is left of it when the others end has the processors alone, and seldom uses all of them. What its
# steps print comes when the chain is awaited.

declare -A chains=() # process groups by name
chain=''             # that of this shell

# beside CHAIN NICENESS COMMAND...: step, or a function that calls step and step_if_built.
beside() {
  local niceness=$2
  say "== $1: beside what follows"
  rm -f "$TP_SCRATCH/log/chain.$1".*
  chain=$1
  set -m
  (
    trap - INT TERM EXIT
    renice -n "$niceness" -p "$BASHPID" >/dev/null
    unset TP_TERMINAL # its line is that of the tests in front
    shift 2
    "$@"
  ) </dev/null >"$TP_SCRATCH/log/chain.$1.log" 2>&1 &
  chains[$1]=$!
  set +m
  chain=''
}

# await_chain CHAIN: its steps count as others do.
await_chain() {
  local seconds code name ended=0
  wait "${chains[$1]}" || ended=$?
  unset "chains[$1]"
  cat "$TP_SCRATCH/log/chain.$1.log"
  while IFS=$'\t' read -r seconds code name; do
    note "$name" "$seconds" "$code"
  done <"$TP_SCRATCH/log/chain.$1.notes"
  [ "$ended" = 0 ] || note "$1" 0 "$ended"
}

# Output of what is only interesting when it fails.
quietly() {
  local log=$TP_SCRATCH/log/$1.log
  shift
  if ! "$@" >"$log" 2>&1; then
    grep -nE -B2 -A12 'FAILED|[Ee]rror' "$log" | head -n 80 || true
    complain "failed: $*; all its output is in $log"
    return 1
  fi
}

report() {
  say "== summary (${SECONDS} s)"
  printf '%s\n' "${summary[@]}"
  if [ -s "$times" ]; then
    say "the slowest tests, in seconds:"
    sort -rn "$times" | head -n 10 | awk -F '\t' '{ printf "  %6.1f  %s (%s)\n", $1, $3, $2 }'
    awk -F '\t' '{ count[$4]++ } END {
      printf "%d passed, %d failed, %d skipped\n", count["passed"], count["failed"], count["skipped"] }' "$times"
  fi
  if [ -e "$TP_SCRATCH/mysql.unreachable" ]; then
    say "NOT RUN: mysql (archive not reachable): $(cat "$TP_SCRATCH/mysql.unreachable")"
  fi
  if [ ${#failed[@]} = 0 ]; then
    say "all steps passed"
    return 0
  fi
  if [ -s "$times.failed" ]; then
    say "what failed tests said, from their first failure on:"
    cat "$times.failed"
  fi
  say "FAILED steps: ${#failed[@]}"
  printf '  %s\n' "${failed[@]}"
  return 1
}

# ---- Builds and tests --------------------------------------------------------------------------------------

configure_preset() {
  local name=${3:-$1} cxx=g++
  [ "$2" != clang ] || cxx=clang++
  quietly "configure-$name" env CC="$2" CXX="$cxx" cmake --preset "$1" -B "build/$name" -DTASKPOOL_WERROR=ON -UCMAKE_C_FLAGS_DEBUG "${@:4}"
}

# build_preset PRESET COMPILER [NAME]: into build/NAME, or build/PRESET.
build_preset() {
  configure_preset "$@"
  quietly "build-${3:-$1}" cmake --build "build/${3:-$1}" -j "$jobs"
}

# build_for LABEL PRESET COMPILER [--objects]: what the tests of the label need, into build/PRESET; see needed_targets.py.
build_for() {
  local targets
  # Of debug information only lines are looked at, in what the sanitizers say.
  configure_preset "$2" "$3" "$2" -DCMAKE_C_FLAGS_DEBUG=-g1
  mapfile -t targets < <(tools/needed_targets.py "build/$2" "$1" "${@:4}")
  quietly "build-$2" cmake --build "build/$2" -j "$jobs" --target "${targets[@]:?nothing to build}"
}

# run_tests NAME CTEST-OPTIONS...: those of build/NAME. Tests use prefixes of their own in the shared databases and wait a lot, so
# several go at a time; of those beside others half as many.
run_tests() {
  local name=$1 how=(calmly) several=$((jobs * 6))
  shift
  [ "$name" != release ] || how=()
  [ -z "$chain" ] || several=$((jobs * 3))
  "${how[@]}" ctest --test-dir "build/$name" --output-on-failure --no-tests=error --timeout 3600 -j "$several" "$@" 2>&1 |
    tools/ctest_lines.py "$name" "$times"
}

# $1 is a program that has to be there: a check that is gone must not look like one that passed.
run_there() {
  [ -x "$1" ] || die "$1 is missing or not executable"
  "$@"
}

sanitizer_settings() {
  local folder=$TP_ROOT/tools/sanitize
  export ASAN_OPTIONS=detect_leaks=1:halt_on_error=1:strict_string_checks=1:detect_stack_use_after_return=1
  export LSAN_OPTIONS=suppressions=$folder/lsan.supp:print_suppressions=0
  export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
  export TSAN_OPTIONS=suppressions=$folder/tsan.supp:halt_on_error=1:second_deadlock_stack=1
}

# ---- Databases ---------------------------------------------------------------------------------------------

stop_databases=0

# Those that run already are used, and left running.
note_databases() {
  case $(tools/db_up.sh --status 2>/dev/null) in
    *": up"*) ;;
    *) stop_databases=1 ;;
  esac
}

read_env() {
  if [ -r "$TP_SCRATCH/env.sh" ]; then
    # shellcheck source=/dev/null
    . "$TP_SCRATCH/env.sh"
  fi
}

finish() {
  trap '' INT TERM
  local chain
  for chain in "${chains[@]}"; do
    kill -- "-$chain"
  done
  [ ${#chains[@]} = 0 ] || wait "${chains[@]}"
  if [ $stop_databases = 1 ]; then
    tools/db_down.sh || true
  fi
}

# begin_run DB_UP-OPTIONS...: packages, databases and the release build, whose verdict is in last. Nothing works without the packages,
# so that step alone ends the run.
begin_run() {
  local built
  sanitizer_settings
  step "packages" tools/install_packages.sh test
  [ "$last" = 0 ] || exit "$last"
  note_databases
  trap finish EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  beside databases 0 step "databases: start" tools/db_up.sh "$@"
  step "release: build (gcc, no warnings)" build_preset release gcc
  built=$last
  await_chain databases
  read_env
  last=$built
}
