#!/usr/bin/env bash
# Checks the console's page: types by tsc, rules by eslint, no other host, no inline script or style, no file over 400
# lines, and that each text has all languages. What cannot be installed here is left out, in words.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
web=../../src/console/web

problem() {
  echo "console: $1" >&2
  failed=1
}
failed=0
if grep -nE 'https?://' -r $web | grep -v 'xmlns="http://www.w3.org/2000/svg"'; then problem "the page names another host"; fi
if grep -nE '<style|style=|<script>|javascript:| on[a-z]+=' $web/index.html; then problem "index.html has inline script or style"; fi
if grep -nE 'https?://' package-lock.json | grep -E '"resolved"'; then
  problem "package-lock.json names a registry: npm install --omit-lockfile-registry-resolved"
fi
while read -r lines file; do
  if [ "$file" != total ] && [ "$lines" -gt 400 ]; then problem "$file has $lines lines, over 400"; fi
done < <(find $web -name "*.js" -exec wc -l {} + -o -name "*.css" -exec wc -l {} +)

./install.sh all || [ $? = 3 ]
if [ -x node_modules/.bin/tsc ] && [ -x node_modules/.bin/eslint ]; then
  node_modules/.bin/tsc -p tsconfig.json || problem "tsc found what is above"
  (cd ../.. && tools/console/node_modules/.bin/eslint --no-config-lookup --config tools/console/eslint.config.js src/console/web) ||
    problem "eslint found what is above"
  node texts.mjs || problem "a text is missing"
else
  echo "console: types and rules were NOT checked: node, tsc or eslint cannot be had here"
fi
exit $failed
