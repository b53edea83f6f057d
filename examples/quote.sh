#!/bin/sh
# A handler program that says how far it is and gives something back:
#   taskpool work --handler quote=examples/quote.sh
set -eu
pieces=$(cat)
echo "50 half of $pieces pieces" >&"$TASKPOOL_PROGRESS_FD"
echo "{\"pieces\": $pieces, \"cents\": $((pieces * 1250))}" >&"$TASKPOOL_RESULT_FD"
