#!/usr/bin/env bash
# Builds and tests from nothing: installs what is missing, builds, starts the private databases, runs the tests of
# docs/guarantees-matrix.md plain and under sanitizers, a soak, the model and the checks. A step that fails does not
# stop the others; the end lists those that failed, and the ten slowest tests. What takes hours is in tools/proof.sh.
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
  cat <<END
usage: tools/test.sh [--quick] [--only PATTERN] [--database NAME] | --help
  --quick          a build, the checks and the tests that find most, in four minutes instead of fifteen
  --only PATTERN   only tests whose names match this regular expression, those of the proof too: 'conformance', 'worker.life'
  --database NAME  only tests on sqlite, postgres, mariadb, mysql, oramode (Oracle's stand-in), generic_sqlite, ...
Databases that run already (tools/db_up.sh) are used and left running, others are stopped at the end. With CI=true a missing
database is a failure instead of a skip. Logs: \$TP_SCRATCH/log (default .scratch/log).
END
}

quick=0 only='' database=''

chosen_steps() {
  local choice=()
  [ $quick = 0 ] || choice+=(-L '^quick$')
  if [ -n "$only" ]; then choice+=(-R "$only"); else choice+=(-LE '^proof$'); fi
  [ -z "$database" ] || choice+=(-L "^$database\$")
  step_if_built "release: chosen tests" run_tests release "${choice[@]}"
}

# The C is the same on every database: SQLite and one server see it all, and what they see here is not run plain as well.
asan_steps() {
  step "debug: build (gcc, ASan, UBSan)" build_for asan debug gcc
  step_if_built "debug: tests under ASan, UBSan" run_tests debug -L '^asan$'
}

tsan_steps() {
  step "tsan: build (clang, no warnings)" build_for tsan tsan clang --objects
  step_if_built "tsan: tests of threads" run_tests tsan -L '^tsan$'
}

# What is read.
static_steps() {
  checks
  step "clang-tidy on what changed" run_there tools/checks/tidy.sh --since-proof
  step "cppcheck on what changed" run_there tools/checks/cppcheck.sh --since-proof
  step "Oracle grammar on what changed" run_there tools/oracle_grammar/check.sh --since-proof
  step "model, short, if it changed" model
}

# A search finds the same each time: what part model of the proof has searched is not searched again.
model() {
  local proven
  proven=$(awk -F ' *[|] *' '$2 == "model" && $7 == "ok" { print $4 }' docs/proof.md)
  if [ -n "$proven" ] && git diff --quiet "$proven" -- 'docs/model/*.pml' tools/model.sh 2>/dev/null; then
    echo "it is as at $proven, where docs/proof.md says that it holds"
  else
    run_there tools/model.sh --short
  fi
}

checks() {
  step "checks" run_there tools/checks/all.sh
}

soak() {
  step "soak: faults for half a minute" run_there tools/soak.sh --duration 30
}

quick_steps() {
  beside checks 0 checks
  step_if_built "release: quick tests" run_tests release -L '^quick$' -LE '^proof$'
  await_chain checks
}

full_steps() {
  beside asan 0 asan_steps
  beside tsan 4 tsan_steps
  beside static 10 static_steps
  beside soak 10 soak
  step_if_built "release: tests" run_tests release -LE '^(proof|asan|tsan)$'
  await_chain asan
  await_chain tsan
  await_chain static
  await_chain soak
}

refuse() {
  complain "$1"
  usage >&2
  exit 2
}

while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=1 ;;
    --only | --database)
      [ -n "${2:-}" ] || refuse "$1 needs a value"
      if [ "$1" = --only ]; then only=$2; else database=$2; fi
      shift
      ;;
    --help | -h) usage && exit 0 ;;
    *) refuse "unknown argument: $1" ;;
  esac
  shift
done

cd "$TP_ROOT" || exit 1
# shellcheck source-path=SCRIPTDIR source=steps.sh
. tools/steps.sh
mkdir -p "$TP_SCRATCH/log"
rm -f "$times" "$times.failed"
if [ -t 1 ]; then
  TP_TERMINAL=$(readlink "/proc/$$/fd/1") && export TP_TERMINAL
fi
# What a step prints is looked through for passwords at the end, too.
# Ctrl-C must not end it before us: what is written then would end us, before the databases are stopped.
exec > >(trap '' INT TERM && exec tee "$TP_SCRATCH/log/test.log") 2>&1
if [ "${CI:-}" = true ]; then
  export TASKPOOL_TEST_REQUIRE=1
fi
begin_run --memory
if [ -n "$only$database" ]; then
  chosen_steps
elif [ $quick = 1 ]; then
  quick_steps
else
  full_steps
fi
step "passwords in all that was written" tools/leaks.sh
report
