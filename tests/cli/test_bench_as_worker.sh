#!/bin/bash
# taskpool bench by a user who may claim and settle, but delete nothing that is settled: through tests/support/as_user.sh,
# test_bench_as_worker.sh PATH_TO_TASKPOOL.
# shellcheck source-path=SCRIPTDIR source=pool.sh
. "$(dirname "${BASH_SOURCE[0]}")/pool.sh"

owner="${BASE_DSN%;};Prefix=$TASKPOOL_TEST_PREFIX"
export TASKPOOL_DSN="${TASKPOOL_TEST_USER_DSN%;};Prefix=$TASKPOOL_TEST_PREFIX"
run bench --tasks 10 --measure enqueue-many
expect "the bench is refused" 6 '' 'nothing was put in, because it could not be taken out again: permission denied: '
expect_that "which is said once" is "$(lines_of err)" 1
TASKPOOL_DSN=$owner run stats --finished --json
expect "and leaves nothing" 0 '"stats":\[\]'
TASKPOOL_DSN=$owner run history
expect "nor an event" 1
finish
