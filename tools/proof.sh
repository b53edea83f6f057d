#!/usr/bin/env bash
# What takes hours, part by part: every fault point, long soaks and fuzzing, the large model, valgrind, every sanitizer on every
# database, the largest crowds and pools. Each part leaves a line in docs/proof.md. A run goes on where an earlier one of the same
# commit ended.
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
  cat <<END
usage: tools/proof.sh [--list | --again] [--minutes N] [PART...]
  --list       only says which parts were run on this commit, and which never
  --again      also parts that passed on this commit
  --minutes N  a small proof: N minutes for each database of walk, soak and held and each target of fuzz, instead of 10, 60, 10
               and 10; one point in 20 of faults, pairs after one in 400 instead of 40; crowds of 10,000 and flat to 300,000 tasks. The
               page says so
Parts, in this order when none is named:
$(for part in "${parts[@]}"; do printf '  %-12s %s\n' "$part" "${title[$part]}"; done)
All work must be committed (docs/proof.md itself may differ). Logs: \$TP_SCRATCH/log/proof (default .scratch/log/proof).
END
}

# ---- Parts -------------------------------------------------------------------------------------------------
# Each is a function part_NAME, a program's run or several; what it prints is its log. figures_NAME LOG prints what the page keeps of
# it, in a few words.

# In the order in which they run: the shortest first, so that most is known early.
parts=(model portable operators tidy tests asan tsan valgrind packages services distributions allocations fuzz clusters soak faults walk held crowd flat model_large pairs)
declare -A title=(
  [tidy]="clang-tidy, cppcheck and Oracle's grammar on all files"
  [tests]="all tests on all databases, the generic dialect over each engine"
  [faults]="every call to the driver fails once in every way, no point left out"
  [pairs]="and the next try fails too, at every call in every way, after one point in 40: hours"
  [walk]="applications that do all that the header allows, at random for ten minutes"
  [allocations]="every allocation fails once, none left out"
  [asan]="all tests under ASan and UBSan (gcc), those of SQLite by clang too"
  [tsan]="the tests of threads under TSan on all databases (clang), those of SQLite by gcc too"
  [valgrind]="the worker under helgrind and memcheck"
  [model]="every order of events, usual settings"
  [distributions]="demo and quick suite in an empty root of Debian's next releases"
  [packages]="packages built twice and compared, lintian, installed, tried and purged in empty roots of Debian 12 and 13"
  [services]="the units under a living systemd of Debian 12 and 13: an upgrade, stops that wait, the watchdog, kills"
  [portable]="the library for musl; and all of it as on a system with nothing but POSIX, its tests on SQLite"
  [fuzz]="each target fuzzed for ten minutes"
  [clusters]="nodes of each kind of cluster killed under each plan"
  [soak]="an hour of faults on each database"
  [crowd]="100,000 tasks shared by four processes of eight threads, every plan"
  [held]="a steady load beside a session that holds an old snapshot"
  [model_large]="the model, large settings: minutes and gigabytes"
  [operators]="operators' commands in a pool of ten million finished tasks: a second at most, no history read"
  [flat]="claims and settles in pools of up to ten million tasks"
)
walk_minutes=10 fuzz_minutes=10 soak_minutes=60 held_minutes=10 faults_every=1 every=40 crowd_tasks=100000 flat=(--large)
entries=(sqlite postgres mariadb oramode mysql generic_sqlite generic_postgres generic_mariadb generic_mysql)

part_tidy() {
  tools/checks/tidy.sh && tools/checks/cppcheck.sh && tools/oracle_grammar/check.sh
}
figures_tidy() {
  sed -n 's/^clang-tidy on //p' "$1"
}

part_tests() {
  tools/install_packages.sh languages || [ $? = 3 ] # without them their tests are skipped, with a word
  run_tests release
}
figures_tests() {
  sed -n 's/^\([a-z-]*: [0-9]* passed\)/\1/p' "$1" | paste -sd ';'
}

on_each() {
  local entry bad=0
  for entry in "${entries[@]}"; do
    tests/support/on_database.sh "$entry" "$@" || bad=1
  done
  return $bad
}

part_faults() {
  on_each build/release/tests/test_faults --calls --all --every "$faults_every"
}
# The last number of each table's last line, by the entry of the table's head.
figures_faults() {
  awk '/^(points|pairs) tried on / { name = $4; sub(/,$/, "", name) } /^all / { printf "%s %d; ", name, $NF }' "$1"
}

part_pairs() {
  on_each build/release/tests/test_faults --pairs --all --every $every
}
figures_pairs() { figures_faults "$1"; }

part_walk() {
  on_each build/release/tools/walk --seconds $((walk_minutes * 60))
}
figures_walk() {
  awk '/^walked on / { printf "%s %d steps, %d faults; ", $3, $4, $6 }' "$1"
}

part_allocations() {
  on_each build/release/tests/test_faults --allocations --all
}
figures_allocations() { figures_faults "$1"; }

part_asan() {
  build_preset debug gcc
  run_tests debug
  build_preset debug clang debug-clang
  run_tests debug-clang -L asan
}
figures_asan() { figures_tests "$1"; }

part_tsan() {
  build_preset tsan clang
  run_tests tsan -R "^(worker\.(tasks|steps|step_rules|flow|maintenance|life|heartbeat|outages|failover|failures|hold|blocked)|crowd|conformance)\."
  build_preset tsan gcc tsan-gcc
  run_tests tsan-gcc -L tsan
}
figures_tsan() { figures_tests "$1"; }

part_valgrind() {
  tools/valgrind.sh
}
figures_valgrind() {
  printf '%d tests, of these failed, being slow: %d' "$(grep -c '^\[ RUN ' "$1")" "$(grep -c '^\[  FAILED  \] test_[a-z_]*$' "$1")"
}

part_model() {
  tools/model.sh
}
figures_model() {
  awk '$3 == "states" { runs++; sum += $2 } END { printf "%d runs, %d states", runs, sum }' "$1"
}

part_model_large() {
  tools/model.sh --large
}
figures_model_large() { figures_model "$1"; }

part_distributions() {
  tools/debian_roots.sh
}
figures_distributions() {
  sed -n 's/, Debian [^:]*: /: /p' "$1" | sed 's/ ([^)]*\.log)//' | paste -sd ';'
}

part_packages() {
  tools/install_packages.sh packages
  tools/package.sh --check
  tools/package/abi.sh
  tools/debian_roots.sh --folder "$TP_SCRATCH/roots" --packages
}
part_services() {
  tools/debian_roots.sh --folder "$TP_SCRATCH/roots" --services && rm -rf "$TP_SCRATCH/roots"
}
figures_services() {
  sed -n 's/, Debian [^:]*: /: /p' "$1" | sed 's/ ([^)]*\.log)//' | paste -sd ';'
}
figures_packages() {
  grep -E 'built twice|hardened|^ABI|, Debian ' "$1" | sed 's/ ([^)]*\.log)//' | paste -sd ';'
}

part_portable() {
  tools/install_packages.sh musl
  tools/musl.sh
  CFLAGS=-DTP_PLAIN_POSIX build_preset release gcc plain_posix
  run_tests plain_posix -L sqlite -R '^(conformance|faults|fleet|worker\..*)\.' -LE '^proof$'
  run_tests plain_posix -R '^unit\.'
}
figures_portable() {
  grep -E '^(musl|plain_posix: [0-9])' "$1" | paste -sd ';'
}

part_fuzz() {
  tools/fuzz.sh --seconds $((fuzz_minutes * 60))
}
figures_fuzz() {
  awk '$NF == "ok" { printf "%s %d; ", $1, $2 }' "$1"
}

part_soak() {
  tools/soak.sh --duration $((soak_minutes * 60))
}
figures_soak() {
  awk -F ' *[|] *|, ' '/^[a-z]*, seed/ { name = $1 } $2 == "all" { printf "%s %s faults, %s tasks, %s lost, %s twice; ", name, $3, $4, $5, $6 }' "$1"
}

part_clusters() {
  tools/clusters.sh --kills 3
}
figures_clusters() {
  awk -F ' *[|] *' '$5 ~ /^[0-9]+$/ { kills[$2] += $5; tasks[$2] += $6; lost[$2] += $7; bad[$2] += $8 + $9 }
    END { for (kind in kills) printf "%s %d kills, %d tasks, %d lost, %d twice or stuck; ", kind, kills[kind], tasks[kind], lost[kind], bad[kind] }' "$1"
}

part_crowd() {
  local entries=(sqlite postgres mariadb mysql oramode)
  on_each build/release/tools/crowd --tasks "$crowd_tasks"
}
figures_crowd() {
  grep -c '^\[       OK \]' "$1" | sed 's/$/ settings, no task lost, doubled or held twice/'
}

part_held() {
  tools/bench.sh snapshot --minutes "$held_minutes"
}
figures_held() {
  grep ' kept: ' "$1" | paste -sd ';'
}

part_operators() {
  tools/operators.sh
}
figures_operators() {
  awk '/ scans / { commands++; if ($1 > most) most = $1; scans += $3 } END { printf "%d commands, %d ms at most, %d scans", commands, most, scans }' "$1"
}

part_flat() {
  tools/bench.sh growth "${flat[@]}" --only-bad
}
figures_flat() {
  awk '/^not flat: / { sum += $3 } END { print sum + 0, "measures not flat" }' "$1"
}

# ---- The page ----------------------------------------------------------------------------------------------

page=docs/proof.md

# The last commit that changed anything but the page. Fails when the tree is not that commit.
this_commit() {
  local changes
  changes=$(git status --porcelain -- . ":!$page") || return 1
  [ -z "$changes" ] || return 1
  git log -1 --format=%h -- . ":!$page"
}

not_committed() {
  die "git does not answer, or there are changes that are not committed: a proof is one of a commit"
}

machine() {
  printf '%s cores, %s, %s' "$(nproc)" "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(. /etc/os-release && echo "$PRETTY_NAME")"
}

duration() {
  if [ "$1" -lt 120 ]; then echo "$1 s"; else echo "$(($1 / 60)) min"; fi
}

# record PART VERDICT SECONDS FIGURES: the part's line, in place of its last one.
record() {
  local line
  line="| $1 | $(date -u +%F) | $commit | $(machine) | $(duration "$3") | $2 | ${4//|//} |"
  part=$1 line=$line awk '
    $0 ~ "^[|] " ENVIRON["part"] " [|]" { print ENVIRON["line"]; done = 1; next }
    in_table && !/^[|]/ && !done { print ENVIRON["line"]; done = 1 }
    { in_table = /^[|]/; print }
    END { if (!done) print ENVIRON["line"] }' "$page" >"$page.new" && mv "$page.new" "$page"
}

# verdict_of PART: what the page says of it on this commit; nothing: it was not run.
verdict_of() {
  awk -F ' *[|] *' -v part="$1" -v commit="$commit" '$2 == part && $4 == commit { print $7 }' "$page"
}

list() {
  local part never=()
  for part in "${parts[@]}"; do
    if [ -z "$(verdict_of "$part")" ]; then
      never+=("$part")
    else
      printf '%-12s %-8s %s\n' "$part" "$(verdict_of "$part")" "${title[$part]}"
    fi
  done
  if [ ${#never[@]} = 0 ]; then
    say "all parts were run on $commit"
  else
    say "never run on $commit: ${never[*]}"
  fi
}

# ---- Main --------------------------------------------------------------------------------------------------

# logged LOG COMMAND...: its output is shown and kept.
logged() {
  local log=$1
  shift
  "$@" 2>&1 | tee "$log"
}

run_part() {
  local part=$1 began=$SECONDS log=$logs/$1.log verdict=ok figures
  step "$part: ${title[$part]}" logged "$log" "part_$part"
  [ "$last" = 0 ] || verdict=FAILED
  [ "$(this_commit)" = "$commit" ] || not_committed
  figures=$("figures_$part" "$log")
  if [ -n "$minutes" ] && [[ " walk fuzz soak held faults pairs crowd flat " == *" $part "* ]]; then
    figures="--minutes $minutes: $figures"
  fi
  record "$part" "$verdict" $((SECONDS - began)) "$figures"
}

small() {
  minutes=$1
  case $minutes in '' | *[!0-9]* | 0) die "--minutes takes a whole number" ;; esac
  walk_minutes=$minutes fuzz_minutes=$minutes soak_minutes=$minutes held_minutes=$minutes faults_every=20 every=400 crowd_tasks=10000 flat=(--sizes "30000,300000")
}

again=0 only_list=0 minutes=
while [ $# -gt 0 ]; do
  case $1 in
    --list) only_list=1 ;;
    --again) again=1 ;;
    --minutes) small "${2:-}" && shift ;;
    --help | -h) usage && exit 0 ;;
    -*) usage >&2 && exit 2 ;;
    *) break ;;
  esac
  shift
done
for part in "$@"; do
  [ -n "${title[$part]:-}" ] || die "there is no part $part; there are ${parts[*]}"
done
cd "$TP_ROOT" || exit 1
commit=$(this_commit) || not_committed
[ -n "$commit" ] || not_committed
if [ $only_list = 1 ]; then
  list
  exit
fi
# shellcheck source-path=SCRIPTDIR source=steps.sh
. tools/steps.sh
logs=$TP_SCRATCH/log/proof
mkdir -p "$logs"
rm -f "$times" "$times.failed"
export TASKPOOL_TEST_REQUIRE=1 TP_PG_ROUNDS=4096
export TP_DB_CACHE_MB=1024 # held and flat are to measure what claims do, not how a small cache is written to disk
# shellcheck disable=SC2119 # without options, so on disk: memory has no room for pools of ten million tasks
begin_run
[ "$last" = 0 ] || exit "$last"
[ $# -gt 0 ] || set -- "${parts[@]}"
for part in "$@"; do
  if [ $again = 1 ] || [ "$(verdict_of "$part")" != ok ]; then
    run_part "$part"
  fi
done
if [ -n "$(find build/*/Testing -name '*.log' -size +0 -print -quit)" ]; then
  step "passwords in all that was written" tools/leaks.sh
fi
report
list
[ ${#failed[@]} = 0 ]
