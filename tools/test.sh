#!/usr/bin/env bash
# Builds and tests everything, from nothing: installs what is missing, builds with gcc and clang, starts the private
# databases, runs the suite plain and under the sanitizers, then the checks, and looks for passwords in the output. A
# step that fails does not stop the others; the end lists those that failed.
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
  cat <<END
usage: tools/test.sh [--quick | --help]
  --quick   only the release build and its tests
Databases that run already (tools/db_up.sh) are used and left running, others are stopped at the end. With
CI=true a missing database is a failure instead of a skip. Logs: \$TP_SCRATCH/log (default .scratch/log).
END
}

# ---- Steps -----------------------------------------------------------------------------------------------

summary=()
failed=()

last=0 # exit code of the last step

# note NAME SECONDS CODE: what came of a step.
note() {
  local verdict=ok
  last=$3
  if [ "$3" != 0 ]; then
    verdict="FAILED ($3)"
    failed+=("$1")
  fi
  summary+=("$(printf '%-34s %4d s  %s' "$1" "$2" "$verdict")")
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

# A step that mostly waits goes beside others; its output comes when it is met. The command is a program.
beside_pid=

beside() {
  beside_name=$1
  shift
  say "== $beside_name, beside what follows"
  "$@" >"$TP_SCRATCH/log/beside.log" 2>&1 &
  beside_pid=$!
  beside_began=$SECONDS
}

meet_beside() {
  local code=0
  wait "$beside_pid" || code=$?
  beside_pid=
  say "== $beside_name"
  cat "$TP_SCRATCH/log/beside.log"
  note "$beside_name" $((SECONDS - beside_began)) $code
}

# Binaries of an earlier build must not be taken for the ones that did not build.
step_if_built() {
  if [ "$last" = 0 ]; then
    step "$@"
  else
    step "$1" die "not run: the build failed"
  fi
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

build_preset() {
  local preset=$1
  shift
  quietly "configure-$preset" env CC=gcc CXX=g++ cmake --preset "$preset" "$@"
  quietly "build-$preset" cmake --build "build/$preset" -j "$jobs"
}

# Warnings as errors by clang too; its objects are not run.
build_clang() {
  quietly configure-clang env CC=clang CXX=clang++ cmake -S . -B build/clang -G Ninja \
    -DCMAKE_BUILD_TYPE=Release -DTASKPOOL_WERROR=ON
  quietly build-clang cmake --build build/clang -j "$jobs"
}

# Tests use prefixes of their own in the shared databases, so several at a time are safe.
run_tests() {
  local preset=$1 how=(calmly)
  shift
  [ "$preset" != release ] || how=()
  "${how[@]}" ctest --test-dir "build/$preset" --output-on-failure --no-tests=error --timeout 240 -j "$((jobs * 2))" "$@"
}

# $1 is a folder that has to be there: a check that is gone must not look like one that passed.
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

# ---- Databases -------------------------------------------------------------------------------------------

stop_databases=0

read_env() {
  if [ -r "$TP_SCRATCH/env.sh" ]; then
    # shellcheck source=/dev/null
    . "$TP_SCRATCH/env.sh"
  fi
}

finish() {
  trap '' INT TERM
  if [ -n "$beside_pid" ]; then
    kill "$beside_pid" && wait "$beside_pid"
  fi
  if [ $stop_databases = 1 ]; then
    tools/db_down.sh || true
  fi
}

# ---- Main ------------------------------------------------------------------------------------------------

report() {
  say "== summary (${SECONDS} s)"
  printf '%s\n' "${summary[@]}"
  if [ ${#failed[@]} = 0 ]; then
    say "all steps passed"
    return 0
  fi
  say "FAILED steps: ${#failed[@]}"
  printf '  %s\n' "${failed[@]}"
  return 1
}

quick_steps() {
  step "databases: start" tools/db_up.sh
  read_env
  step "release: build (gcc)" build_preset release -DTASKPOOL_WERROR=ON
  step_if_built "release: tests" run_tests release
}

# What runs no line of C under the sanitizers that another entry does not: generic over the servers, and MariaDB in the mode
# of Oracle's stand-in. What measures memory or counts on speed is no test for them.
not_under_asan='generic_(postgres|mariadb)|oramode|memory|partitions|crowd'
# Enough on the embedded database.
once_under_asan='^(bench|faults|memory)\.(postgres|mariadb)$|^as_'

full_steps() {
  beside "soak: two minutes of faults" tools/soak.sh --duration 120
  step "clang: build, no warnings" build_clang
  step "checks" run_there tools/checks/all.sh
  step "model" run_there tools/model.sh
  step "clang-tidy" run_there tools/checks/tidy.sh
  step "cppcheck" run_there tools/checks/cppcheck.sh
  step "Oracle grammar" run_there tools/oracle_grammar/check.sh
  meet_beside
  step "debug: build (ASan, UBSan)" build_preset debug
  step_if_built "debug: tests under ASan, UBSan" run_tests debug -LE "$not_under_asan" -E "$once_under_asan"
  step "tsan: build" build_preset tsan
  step_if_built "tsan: tests of threads" run_tests tsan -L threads -LE "generic_(postgres|mariadb)|oramode"
  step "fuzzing: 60 s a target" run_there tools/fuzz.sh --seconds 60 --jobs $((jobs * 3))
}

quick=0
case ${1:-} in
  "") ;;
  --quick) quick=1 ;;
  --help | -h)
    usage
    exit 0
    ;;
  *)
    usage >&2
    exit 2
    ;;
esac

cd "$TP_ROOT" || exit 1
jobs=$(nproc)
mkdir -p "$TP_SCRATCH/log"
# What a step prints is looked through for passwords at the end, too.
# Ctrl-C must not end it before us: what is written then would end us, before the databases are stopped.
exec > >(trap '' INT TERM && exec tee "$TP_SCRATCH/log/test.log") 2>&1
if [ "${CI:-}" = true ]; then
  export TASKPOOL_TEST_REQUIRE=1
fi
sanitizer_settings
# Nothing works without the packages, so this step alone ends the run.
step "packages" tools/install_packages.sh test
[ "$last" = 0 ] || exit "$last"
case $(tools/db_up.sh --status 2>/dev/null) in
  *": up"*) ;;
  *) stop_databases=1 ;;
esac
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
quick_steps
if [ $quick = 0 ]; then
  full_steps
fi
step "passwords in all that was written" tools/leaks.sh
report
