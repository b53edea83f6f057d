#!/usr/bin/env bash
# Installs what the console's page is built with (uPlot, for its plots) or, with "all", also what it is checked and
# tested with, in the versions of package-lock.json. Exit code 3: it cannot be had here, which is said in words.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

what=${1:-page}
# Said when all was installed, and from which list of versions.
stamp=node_modules/.installed-$what
exec 9<package-lock.json
flock 9 # tests that run side by side may ask at the same time
if [ -e "$stamp" ] && cmp -s package-lock.json "$stamp"; then exit 0; fi
if ! command -v npm >/dev/null; then
  echo "console: npm is not there; install it, or build without plots" >&2
  exit 3
fi
options=(--no-audit --no-fund --ignore-scripts --loglevel=error)
if [ "$what" = page ]; then options+=(--omit=dev); fi
if ! npm ci "${options[@]}" >/dev/null; then
  echo "console: npm could not install what package-lock.json names" >&2
  exit 3
fi
cp package-lock.json node_modules/.installed-page
if [ "$what" = all ]; then cp package-lock.json "$stamp"; fi
