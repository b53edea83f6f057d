#!/usr/bin/env bash
# Builds the fuzz targets of tools/fuzz with clang and libFuzzer and runs them, each from what is kept in
# tools/fuzz/corpus.tar.gz, one folder a target. What a run adds stays in the scratch folder until --keep takes it over.
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
  cat <<END
usage: tools/fuzz.sh [--seconds N] [--jobs N] [TARGET...]
       tools/fuzz.sh --keep [TARGET...]
  --seconds N   how long each target runs (default 60)
  --jobs N      how many run at a time (default: one a core)
  --keep        runs nothing; makes tools/fuzz/corpus.tar.gz of it and of what runs have added, as small as covers the same
Without names all targets: ${targets[*]}
Ends with 1 when a target found something; the input is then in $work/TARGET.found, and this shows it again:
  build/fuzz/fuzz/fuzz_TARGET FILE
END
}

work=$TP_SCRATCH/fuzz
mapfile -t targets < <(sed -n 's/^ *taskpool_fuzz_target(\([a-z]*\).*/\1/p' "$TP_ROOT/tools/fuzz/CMakeLists.txt")

build() {
  local log=$work/build.log
  if ! { cmake --preset fuzz -DTASKPOOL_WERROR=ON && cmake --build --preset fuzz -j "$(nproc)"; } >"$log" 2>&1; then
    grep -nE -A8 'FAILED|[Ee]rror' "$log" | head -n 40 >&2
    die "the targets do not build; all output is in $log"
  fi
}

# fuzz TARGET ARGS...: the program, from the target's own folder of inputs.
fuzz() {
  local target=$1
  shift
  export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1
  export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 LSAN_OPTIONS=print_suppressions=0
  calmly "$TP_ROOT/build/fuzz/fuzz/fuzz_$target" -rss_limit_mb=1024 -timeout=20 -max_len=4096 "$@"
}

# What is kept, a folder for each target.
unpack() {
  rm -rf "$work/kept"
  mkdir -p "$work/kept"
  tar -C "$work/kept" -xzf "$TP_ROOT/tools/fuzz/corpus.tar.gz" || die "cannot unpack what is kept"
}

# The same files always give the same archive.
pack() {
  find "$work/kept" -type f -printf '%P\n' | LC_ALL=C sort |
    tar -C "$work/kept" --files-from=- --format=ustar --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=0644 -cf - |
    gzip -9n >"$TP_ROOT/tools/fuzz/corpus.tar.gz"
}

# dictionary TARGET: what stands under its name.
dictionary() {
  awk -v name="# $1" '/^#/ { its = $0 == name } its' "$TP_ROOT/tools/fuzz/dictionary.txt" >"$work/$1.dictionary"
  echo "$work/$1.dictionary"
}

run() {
  local target=$1 kept
  kept=$work/kept/$target
  mkdir -p "$kept"
  mkdir -p "$work/$target" "$work/$target.found"
  rm -f "$work/$target.code"
  fuzz "$target" -max_total_time="$seconds" -print_final_stats=1 -artifact_prefix="$work/$target.found/" \
    -dict="$(dictionary "$target")" "$work/$target" "$kept" >"$work/$target.log" 2>&1
  echo $? >"$work/$target.code"
}

stat_of() {
  sed -n "s/^stat::$2: *//p" "$work/$1.log"
}

# What is N on the last line "... cov: N ... corp: N/...".
seen() {
  sed -n "s/.* $2: \([0-9]*\).*/\1/p" "$work/$1.log" | tail -n 1
}

row() {
  local target=$1 code result=ok
  code=$(cat "$work/$target.code" 2>/dev/null || echo 'was ended')
  [ "$code" = 0 ] || result="FOUND ($code): $work/$target.log"
  printf '%-10s %12s %8s %8s %8s  %s\n' "$target" "$(stat_of "$target" number_of_executed_units)" \
    "$(stat_of "$target" average_exec_per_sec)" "$(seen "$target" corp)" "$(seen "$target" cov)" "$result"
  [ "$code" = 0 ] || grep -hE -m 3 'does not hold|runtime error|ERROR:|Test unit written' "$work/$target.log"
  [ "$code" = 0 ]
}

run_all() {
  local target bad=0
  for target in "$@"; do
    while [ "$(jobs -rp | wc -l)" -ge "$at_a_time" ]; do
      wait -n || true
    done
    run "$target" &
  done
  wait
  printf '%-10s %12s %8s %8s %8s  %s\n' target executions a_second corpus edges result
  for target in "$@"; do
    row "$target" || bad=1
  done
  return $bad
}

# What is kept stays as small as it can be, and old inputs are preferred to new ones.
keep() {
  local target=$1 kept merged
  kept=$work/kept/$target
  mkdir -p "$kept"
  merged=$(mktemp -d)
  mkdir -p "$work/$target"
  fuzz "$target" -merge=1 "$merged" "$kept" "$work/$target" >"$work/$target.keep.log" 2>&1 ||
    die "cannot merge $target; see $work/$target.keep.log"
  # Inputs that once found something stay, whatever they cover.
  find "$kept" -type f ! -name 'found_*' -delete
  find "$merged" -type f -exec mv -t "$kept" {} +
  rm -r "$merged"
  say "$target: $(find "$kept" -type f | wc -l) files, $(du -sb "$kept" | cut -f1) bytes"
}

seconds=60
at_a_time=$(nproc)
keeping=0
while [ $# -gt 0 ]; do
  case $1 in
    --seconds) seconds=${2:?} && shift ;;
    --jobs) at_a_time=${2:?} && shift ;;
    --keep) keeping=1 ;;
    --help | -h)
      usage
      exit 0
      ;;
    -*)
      usage >&2
      exit 2
      ;;
    *) break ;;
  esac
  shift
done
cd "$TP_ROOT" || exit 1
mkdir -p "$work"
for name in "$@"; do
  [[ " ${targets[*]} " == *" $name "* ]] || die "there is no target $name; there are ${targets[*]}"
done
[ $# -gt 0 ] || set -- "${targets[@]}"
build
unpack
if [ $keeping = 1 ]; then
  for name in "$@"; do
    keep "$name"
  done
  pack
else
  run_all "$@"
fi
