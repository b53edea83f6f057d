#!/usr/bin/env bash
# Runs every check of this folder on the repository, each after its self-test, which shows on a made-up tree that
# the check can fail. clang-tidy and cppcheck are apart (tidy.sh, cppcheck.sh): they take longer.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1

checks=(layers.py circles.py sqltext.py sqlsource.py released.py abi.py sizes.py names.py words.py banned.py exports.py bindings.py portable.py copybooks.py prose.py guarantees.py drawings.py figures.py pages.py snippets.py format.sh shell.sh)
failed=()
for check in "${checks[@]}"; do
  if ! "./$check" --self-test; then
    echo "check ${check%.*}: its self-test FAILED"
    failed+=("${check%.*} (self-test)")
  fi
  if "./$check"; then
    echo "check ${check%.*}: ok"
  else
    echo "check ${check%.*}: FAILED"
    failed+=("${check%.*}")
  fi
done
if [ ${#failed[@]} != 0 ]; then
  printf 'failed checks: %s\n' "$(IFS=,; echo "${failed[*]}")"
  exit 1
fi
