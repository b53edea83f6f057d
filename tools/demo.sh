#!/usr/bin/env bash
# From nothing to a payroll run of 2,000 employees: installs what is missing, builds, lets four workers pay, kills
# one of them half way, reads the input a second time by mistake, and compares what was paid with what was due.
# Fails if a single cent is off.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
  cat <<END
usage: tools/demo.sh [--dsn STRING | --dsn-file FILE] [--prepare PROGRAM] [--keep] [--console] [--help]
Runs the payroll example: 2,000 employees, four workers, one of them killed in mid-run, the input read twice.
  --dsn STRING      ODBC connection string of the database (default: a new SQLite file). Everybody on this
                    machine can see it in the process list: with a password use --dsn-file
  --dsn-file FILE   file with that string
  --prepare PROGRAM run it with the tables' prefix before they are created: for a database
                    that needs something first
  --keep            leave the scratch folder (input, logs, SQLite file) for you to look at
  --console         leave it, and a web page of the pool running
In a database of yours the tables get a prefix of their own, new with each run, and are left there.
END
}

employees=2000
worker_options=(--threads 4 --lease-ms 5000 --retry-ms "200,400,800" --pay-ms 40 --drain --verbose)
build_dir=${TASKPOOL_BUILD:-$TP_ROOT/build/library} # TASKPOOL_BUILD: a build that is there, to be used as it is
stuck_after=120 # seconds in which nothing moves

# ---- Messages --------------------------------------------------------------------------------------------

steps=10
step=0
line_open=0

begin() {
  step=$((step + 1))
  printf '%5s  %-30s ' "$step/$steps" "$1"
  line_open=1
}

end() {
  printf '%s\n' "$*"
  line_open=0
}

# fail MESSAGE [LOG]: also says what a log ends with.
fail() {
  [ "$line_open" = 0 ] || end "FAILED"
  if [ -n "${2:-}" ] && [ -s "$2" ]; then
    tail -n 20 "$2" >&2
  fi
  complain "$1"
  keep=1
  exit 1
}

figure() {
  printf '  %-34s %12s%s\n' "$1" "$2" "${3:+   $3}"
}

# ---- Clean-up --------------------------------------------------------------------------------------------

keep=0
scratch=''
workers=() # process ids, those only that we started and have not waited for

clean_up() {
  local pid
  for pid in "${workers[@]}"; do
    { kill -KILL "$pid" && wait "$pid"; } 2>/dev/null || true
  done
  if [ -z "$scratch" ]; then
    return
  elif [ "$keep" = 1 ]; then
    say "input, logs and, with SQLite, the database are in $scratch"
  else
    rm -rf "$scratch"
  fi
}

# ---- What the pool says ----------------------------------------------------------------------------------

taskpool() {
  "$build_dir/taskpool" "$@"
}

payroll() {
  "$build_dir/examples/payroll" "$@"
}

# How many tasks are in the pending pool, in whatever state.
open_tasks() {
  taskpool stats --json | tr '}' '\n' |
    awk -F '"count":' '/"pool":"pending"/ { open += $2 + 0 } END { print open + 0 }'
}

# list OPTIONS...: one line for each task: id, owner, failures.
list() {
  { taskpool list --json --limit 1000000 "$@" || [ $? = 1 ]; } | awk '
    function value(name, pattern) {
      if (!match($0, "\"" name "\":" pattern)) return "-"
      text = substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3)
      gsub(/"/, "", text)
      return text
    }
    { print tolower(value("id", "\"[^\"]*\"")), tolower(value("owner", "\"[^\"]*\"")), value("failures", "[0-9]+") }'
}

# held_under LOG: those in the file handling whose claim token a worker wrote into its log.
held_under() {
  awk 'NR == FNR { if ($1 == "claimed") token[tolower($4)]; next } $2 in token' "$1" "$scratch/handling"
}

# ---- Steps -----------------------------------------------------------------------------------------------

install_packages() {
  local said
  begin "packages"
  if [ -n "${TASKPOOL_BUILD:-}" ]; then
    end "not looked at: TASKPOOL_BUILD is set"
    return
  fi
  said=$(tools/install_packages.sh build) || fail "what the build needs could not be installed"
  end "${said##*packages for build: }"
}

build() {
  local began=$SECONDS log=$scratch/build.log
  begin "build"
  if [ -n "${TASKPOOL_BUILD:-}" ]; then
    end "$(taskpool --version) in $build_dir"
    return
  fi
  cmake --preset library >"$log" 2>&1 || fail "cmake --preset library failed; $log has all of it" "$log"
  cmake --build --preset library --target taskpool payroll ${console:+taskpool-console} >>"$log" 2>&1 || fail "the build failed; $log has all of it" "$log"
  end "$(taskpool --version), $((SECONDS - began)) s"
}

# Exported, never an argument: a connection string may hold a password.
choose_database() {
  local suffix
  suffix=$(od -An -N3 -tx1 /dev/urandom | tr -d ' \n')
  prefix=demo${suffix}_
  export PAYROLL_TABLE=payment_$suffix
  export TASKPOOL_DSN="${dsn:-Driver=SQLite3;Database=$scratch/payroll.db};Prefix=$prefix;"
}

examine() {
  local log=$scratch/doctor.log
  begin "database and driver"
  taskpool doctor >"$log" 2>&1 || fail "they do not do what tasks rely on" "$log"
  end "taskpool doctor: all passed"
}

create_tables() {
  local log=$scratch/setup.log
  begin "tables"
  if [ -n "$prepare" ]; then
    "$prepare" "$prefix" >"$log" 2>&1 || fail "$prepare failed" "$log"
  fi
  taskpool schema install >"$log" 2>&1 || fail "the pool's tables could not be created" "$log"
  payroll setup >>"$log" 2>&1 || fail "the payment table could not be created" "$log"
  end "${prefix}pending, ${prefix}finished, ${prefix}failed, $PAYROLL_TABLE"
}

make_input() {
  begin "employees.csv"
  examples/payroll/make_employees.sh "$scratch" "$employees" || fail "the input could not be made"
  end "$(($(wc -l <"$scratch/employees.csv") - 1)) employees"
}

enqueue() {
  local log=$scratch/enqueue.log
  begin "tasks"
  taskpool enqueue --file "$scratch/employees.csv" >"$log" 2>&1 || fail "the tasks could not be enqueued" "$log"
  [ "$(open_tasks)" = "$employees" ] || fail "the pool holds $(open_tasks) tasks instead of $employees" "$log"
  end "$(tail -n 1 "$log")"
}

started=0
start_worker() {
  started=$((started + 1))
  payroll_log="$scratch/worker$started.log"
  "$build_dir/examples/payroll" work "${worker_options[@]}" >"$payroll_log" 2>&1 &
  workers+=($!)
  log_of[$!]=$payroll_log
}

declare -A log_of
start_workers() {
  local i
  begin "four workers"
  for ((i = 0; i < 4; i++)); do
    start_worker
  done
  end "processes ${workers[*]}"
}

# Sets open; fails when nothing moves any more. A worker that is stopped may have a lock that SQLite's readers wait for: the next
# moment is longer.
moved_at=0
open=-1
moment=1 # tenths of a second
look() {
  local now
  if now=$(open_tasks 2>"$scratch/look.log"); then
    moment=1
  else
    now=$open
    moment=$((moment * 2))
  fi
  if [ "$now" != "$open" ]; then
    open=$now
    moved_at=$SECONDS
  fi
  [ $((SECONDS - moved_at)) -lt $stuck_after ] ||
    fail "for $stuck_after s nothing has moved; $open tasks are open; $(cat "$scratch/look.log")" "$scratch/worker1.log"
}

forget_worker() {
  local pid rest=()
  for pid in "${workers[@]}"; do
    [ "$pid" = "$1" ] || rest+=("$pid")
  done
  workers=("${rest[@]}")
}

# Sets victim to a worker that holds tasks. False: none does at this moment.
find_victim() {
  local pid
  list --state handling >"$scratch/handling" 2>"$scratch/look.log" || return 1
  for pid in "${workers[@]}"; do
    if [ -n "$(held_under "${log_of[$pid]}")" ]; then
      victim=$pid
      return 0
    fi
  done
  return 1
}

# They run for a moment, and are stopped while they are looked at: on a busy machine a look takes as long as the whole run.
run_a_moment() {
  kill -CONT "${workers[@]}"
  sleep "$((moment / 10)).$((moment % 10))"
  kill -STOP "${workers[@]}"
  look
}

# A quarter is judged by the pool, not by the clock; the victim must hold tasks, before and after.
kill_worker() {
  local victim try
  begin "one of them killed (SIGKILL)"
  open=$employees moved_at=$SECONDS
  for ((try = 0; try < 5; try++)); do
    run_a_moment
    while [ "$open" -gt $((employees * 3 / 4)) ] || ! find_victim; do
      [ "$open" -gt 0 ] || fail "everything was done before a worker could be killed"
      run_a_moment
    done
    { kill -KILL "$victim" && wait "$victim"; } 2>/dev/null || true
    forget_worker "$victim"
    list --state handling >"$scratch/handling" || true
    held_under "${log_of[$victim]}" >"$scratch/held"
    kill -CONT "${workers[@]}"
    held=$(wc -l <"$scratch/held")
    if [ "$held" -gt 0 ]; then
      end "process $victim, with $((employees - open)) tasks settled and $held in its hands"
      return
    fi
    start_worker
  done
  fail "no worker could be killed while it held tasks"
}

wait_for_workers() {
  local began=$SECONDS pid code
  begin "the others go on"
  while [ -n "$(jobs -rp)" ]; do
    look
    sleep 0.2
  done
  for pid in "${workers[@]}"; do
    code=0
    wait "$pid" || code=$?
    forget_worker "$pid"
    [ $code = 0 ] || fail "worker $pid ended with exit code $code" "${log_of[$pid]}"
  done
  end "until nothing is left, $((SECONDS - began)) s"
}

# What happens when somebody runs the job again. The bank is not asked to be slow this time.
read_again() {
  local log=$scratch/again.log
  begin "the same file once more"
  taskpool enqueue --file "$scratch/employees.csv" >"$log" 2>&1 || fail "the tasks could not be enqueued" "$log"
  payroll work --threads 4 --retry-ms "10,10,10" --drain >>"$log" 2>&1 || fail "the second run failed" "$log"
  end "$employees tasks, nobody is paid again"
}

# ---- The report ------------------------------------------------------------------------------------------

report_crash() {
  local back own
  list --pool finished >"$scratch/settled"
  list --pool failed >>"$scratch/settled"
  read -r back own < <(awk '
    NR == FNR { token[$1] = $2; next }
    $1 in token { if ($2 == token[$1]) own++; else back++ }
    END { print back + 0, own + 0 }' "$scratch/held" "$scratch/settled")
  figure "tasks the killed worker held" "$held"
  figure "of these handled by the others" "$back" "came back when the lease lapsed"
  if [ "$own" != 0 ]; then
    figure "of these just committed by it" "$own" "its last commits were under way"
  fi
  [ "$back" -gt 0 ] || fail "no task of the killed worker came back"
  [ $((back + own)) = "$held" ] || fail "$((held - back - own)) tasks of the killed worker are missing"
}

# Only what fails twice and is then paid has two failures in the finished pool; a crash may add to that.
report_retries() {
  local busy retried
  busy=$(sed -n 's/^busy=//p' "$scratch/control.txt")
  retried=$(awk '$3 >= 2' <(list --pool finished --state "done") | wc -l)
  figure "paid after two failures" "$retried" "the bank was busy for $busy"
  [ "$retried" -ge "$busy" ] || fail "$busy employees should have been paid after two failures"
}

report() {
  local ok=1
  say
  taskpool stats --finished || fail "the pool cannot be looked at"
  say
  payroll verify --control "$scratch/control.txt" --runs 2 || ok=0
  report_crash
  report_retries
  taskpool check --rows >"$scratch/check.log" || fail "taskpool check found something wrong" "$scratch/check.log"
  figure "findings of taskpool check --rows" 0 "each task in one pool, every row legal"
  say
  [ $ok = 1 ] || fail "the books do not agree"
  say "Everything agrees: each payment was made once. $SECONDS s in all."
  if [ -n "$dsn" ]; then
    say "The tables ${prefix}* and $PAYROLL_TABLE are left in your database. To remove them run, with the database's own"
    say "client, what sed s/tp_/$prefix/g sql/DIALECT/admin/drop.sql prints, and DROP TABLE $PAYROLL_TABLE."
  fi
}

# The connection string goes by the environment, as always here.
look_at_it() {
  local url='' pid
  if [ -z "$console" ]; then
    say "To look at such a pool in a browser: tools/demo.sh --console"
    return
  fi
  nohup "$build_dir/taskpool-console" --listen 127.0.0.1:0 </dev/null >"$scratch/console.log" 2>&1 &
  pid=$!
  while [ -z "$url" ] && kill -0 "$pid" 2>/dev/null; do
    sleep 0.1
    url=$(sed -n 's/^taskpool-console: //p' "$scratch/console.log")
  done
  [ -n "$url" ] || fail "taskpool-console did not start" "$scratch/console.log"
  keep=1
  say "The pool in a browser: $url (kill $pid ends it)"
}

# ---- Main ------------------------------------------------------------------------------------------------

refuse() {
  complain "$1"
  usage >&2
  exit 2
}

dsn=''
dsn_given=0
prepare=''
console=''
while [ $# -gt 0 ]; do
  case $1 in
    --dsn | --dsn-file)
      [ $# -gt 1 ] || refuse "$1 needs a value"
      [ $dsn_given = 0 ] || refuse "only one of --dsn and --dsn-file"
      dsn_given=1
      dsn=$2
      if [ "$1" = --dsn-file ]; then
        dsn=$(cat -- "$2") || exit 2
      fi
      shift
      ;;
    --prepare)
      [ $# -gt 1 ] || refuse "$1 needs a value"
      prepare=$(realpath -- "$2") || exit 2
      shift
      ;;
    --keep) keep=1 ;;
    --console) console=1 ;;
    --help | -h)
      usage
      exit 0
      ;;
    *) refuse "unknown argument: ${1%%=*}" ;;
  esac
  shift
done
dsn=${dsn%"${dsn##*[![:space:];]}"}
if [ $dsn_given = 1 ] && [ -z "$dsn" ]; then
  refuse "the connection string is empty"
fi
if [[ $dsn =~ (^|;)[[:space:]]*[Pp][Rr][Ee][Ff][Ii][Xx][[:space:]]*= ]]; then
  refuse "leave Prefix= out of the connection string: the demo takes one of its own"
fi

cd "$TP_ROOT"
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
scratch=$(mktemp -d "${TMPDIR:-/tmp}/taskpool-demo.XXXXXX")
choose_database
say "Payroll demo: four workers pay $employees employees, one of them is killed in mid-run."
install_packages
build
examine
create_tables
make_input
enqueue
start_workers
kill_worker
wait_for_workers
read_again
report
look_at_it
