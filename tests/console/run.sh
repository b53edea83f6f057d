#!/usr/bin/env bash
# run.sh TEST ARGUMENT...: runs a test of the console's page, or of the site of the docs, in Debian's Chromium. Where the
# browser, node or what npm installs is missing it says so and is skipped; where all is required, it fails.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

without() {
  echo "SKIPPED: NOT tried out in a browser: $1"
  [ "${TASKPOOL_TEST_REQUIRE:-0}" = 1 ] && [ "${2:-}" != network ] && exit 1
  exit 77
}
CHROMIUM=$(command -v chromium || command -v chromium-browser) || without "chromium is not there"
export CHROMIUM
command -v node >/dev/null || without "node is not there"
"$here/../../tools/console/install.sh" all || without "npm cannot install what drives it" network
exec node "$here/$1" "${@:2}"
