#!/bin/sh
# For `taskpool work --alert /path/to/mail_group.sh --alert-group 10m`: one mail for all tasks that failed in that time,
# by the system's mailer, with their number by handler and reason. The worker collects them, so this program keeps
# nothing. What cannot be mailed is given again two minutes later. The mail has no parameters: they may be private.
set -eu
to=root
PATH=$PATH:/usr/sbin:/usr/lib

# One line, whatever a reason has in it.
line() {
    printf '%s' "$1" | tr '\000-\037\177' ' '
}

{
    printf 'To: %s\nSubject: taskpool: %s tasks failed\n' "$to" "$(line "$TASKPOOL_ALERT_COUNT")"
    printf 'Auto-Submitted: auto-generated\nMIME-Version: 1.0\n'
    printf 'Content-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: 8bit\n\n'
    line "$TASKPOOL_ALERT_SUMMARY" | awk '{ gsub(/; /, "\n"); print }'
    printf '\nOn %s. One of them is %s.\n\n' "$(uname -n)" "$(line "$TASKPOOL_ID")"
    printf 'What fails, and how to retry it:  taskpool failures\n'
    printf 'The life of a task:               taskpool show ID\n'
} | sendmail -i -t
