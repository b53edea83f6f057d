#!/usr/bin/env bash
# Legacy compilers read our headers: both compile as C99, C11, C++98 and C++17 without a warning, in any order, alone
# and twice; and their initialisers and lists work there.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

write_uses() {
  cat <<'END'
static const char *const names[] = {
#define NAME(id, number, name, retryable, text) name,
    TP_STATUS_LIST(NAME)
#undef NAME
};
static const char *const events[] = {
#define NAME(id, name) name,
    TP_EVENT_LIST(NAME)
#undef NAME
};
static tp_verdict handle(tp_run *run, void *arg)
{
    tp_conn *conn = NULL;
    (void)arg;
    if (tp_run_conn(run, &conn) != TP_OK || tp_conn_dbc(conn) == NULL)
        return TP_RUN_FAILED;
    return TP_RUN_DONE;
}
int main(void)
{
    tp_new_task task = TP_NEW_TASK_INIT;
    tp_claim_request claim = TP_CLAIM_INIT;
    tp_list_request list = TP_LIST_INIT;
    tp_worker_options options = TP_WORKER_INIT;
    tp_retry retry = TP_RETRY_INIT;
    tp_selection selection = TP_SELECTION_INIT;
    tp_operated operated = TP_OPERATED_INIT;
    tp_schedule schedule = TP_SCHEDULE_INIT;
    tp_counters counters = TP_COUNTERS_INIT;
    tp_worker_info info = TP_WORKER_INFO_INIT;
    tp_handler_fn handler = handle;
    char id[TP_ID_SIZE];
    id[0] = task.id[0];
    return !(names[0] && events[0] && handler && id[0] == claim.token[0] && list.size && options.size && retry.size && selection.size &&
             operated.size && schedule.size && counters.size && info.size);
}
END
}

# What stands in no template is compiled anyway; handlers are templates.
write_cpp_uses() {
  cat <<'END'
#include "taskpool.hpp"
#include "taskpool.hpp"
#include "taskpool_odbc.h"
tp_status use(const taskpool::env &env, tp_conn *borrowed);
tp_status use(const taskpool::env &env, tp_conn *borrowed)
{
    taskpool::conn conn(borrowed);
    taskpool::worker worker;
    taskpool::new_task task("a", "b");
    tp_status status = worker.open(env, TP_WORKER_INIT, {}, {}, std::nothrow);
    if (status == TP_OK)
        status = worker.handle("a", [](taskpool::run &run) { return run.lost() ? TP_RUN_FAILED : TP_RUN_DONE; }, std::nothrow);
    return status == TP_OK ? conn.enqueue(task, std::nothrow) : status;
}
END
}

write_sources() {
  local kind
  for kind in c cpp; do
    printf '#include "taskpool.h"\n' >"$scratch/one.$kind"
    printf '#include "taskpool_odbc.h"\n' >"$scratch/two.$kind"
    printf '#include "taskpool_odbc.h"\n#include "taskpool.h"\n#include "taskpool.h"\n' >"$scratch/all.$kind"
    printf '#include "taskpool_odbc.h"\n' >>"$scratch/all.$kind"
    write_uses >>"$scratch/all.$kind"
  done
  write_cpp_uses >"$scratch/hpp.cpp"
}

# compile COMPILER STANDARD SOURCE
compile() {
  attempt "$1 -std=$2 ${3##*/}" "$1" "-std=$2" -pedantic -Wall -Wextra -Werror -I"$root/include" \
    -fsyntax-only "$3" || true
}

compile_all() {
  local compiler=$1 kind=$2 standard source
  shift 2
  if ! command -v "$compiler" >/dev/null; then
    skip "$compiler is not installed"
    return
  fi
  for standard in "$@"; do
    for source in one two all; do
      compile "$compiler" "$standard" "$scratch/$source.$kind"
    done
  done
}

# What clang compiles for Windows gives the functions away when the library is built, and takes them from it elsewhere. Nothing is linked.
for_windows() {
  local how=(clang --target=x86_64-pc-windows-gnu -ffreestanding -Werror -I"$root/include" -c)
  command -v clang >/dev/null || { skip "clang is not installed" && return; }
  printf '#include "taskpool.h"\nconst char *tp_version(void) { return ""; }\n' >"$scratch/gives.c"
  printf '#include "taskpool.h"\nconst char *ask(void) { return tp_version(); }\n' >"$scratch/takes.c"
  if attempt "clang for Windows, TP_BUILDING" "${how[@]}" -DTP_BUILDING -o "$scratch/gives.o" "$scratch/gives.c"; then
    expect "what is exported on Windows" "$(grep -aoE -- '-export:"?tp_version' "$scratch/gives.o" | head -1 | tr -d '"')" -export:tp_version
  fi
  if attempt "clang for Windows" "${how[@]}" -o "$scratch/takes.o" "$scratch/takes.c"; then
    expect "what is imported on Windows" "$(grep -aoE '__imp_tp_version' "$scratch/takes.o" | head -1)" __imp_tp_version
  fi
}

write_sources
for_windows
for compiler in gcc clang; do
  compile_all "$compiler" c c99 c11
done
for compiler in g++ clang++; do
  compile_all "$compiler" cpp c++98 c++17
  if command -v "$compiler" >/dev/null; then
    for exceptions in -fexceptions -fno-exceptions; do
      attempt "$compiler $exceptions taskpool.hpp" "$compiler" -std=c++17 "$exceptions" -pedantic -Wall -Wextra -Wconversion -Wshadow \
        -Werror -I"$root/include" -fsyntax-only "$scratch/hpp.cpp" || true
    done
  fi
done
finish
