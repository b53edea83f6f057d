#!/usr/bin/env bash
# Writes the pages of docs/ as a site of plain HTML with a search, which needs no server. Fails when a link leads nowhere.
# usage: site.sh [FOLDER | --check]   (default: build/site; --check: writes nothing that stays)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
case ${1:-} in
  --check)
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    python3 -B tools/manual/site.py "$scratch/site"
    ;;
  -*)
    sed -n '2,3s/^# //p' "${BASH_SOURCE[0]}"
    ;;
  *)
    python3 -B tools/manual/site.py "${1:-build/site}"
    ;;
esac
