#!/bin/sh
# For `taskpool work --alert /path/to/mail_failed.sh`: mails that tasks of a handler went to the failed pool, by the
# system's mailer. One mail for each handler in $every minutes; how many came meanwhile is in the next one. What cannot
# be mailed is tried again by the worker a minute later. The mail has no parameters: they may be private.
set -eu
to=root
every=10
PATH=$PATH:/usr/sbin:/usr/lib
folder=${HOME:?}/.taskpool-alerts

umask 077
mkdir -p "$folder"
name=$(printf '%s' "$TASKPOOL_HANDLER" | tr -cd 'A-Za-z0-9._-')
group=$folder/$(printf '%s' "$TASKPOOL_HANDLER" | cksum | tr ' ' -)
exec 9>"$group.lock"
flock 9
if [ -n "$(find "$group.mailed" -mmin "-$every" 2>/dev/null)" ]; then
    echo "$TASKPOOL_ID" >>"$group.more"
    exit 0
fi
more=0
if [ -e "$group.more" ]; then more=$(wc -l <"$group.more"); fi
{
    printf 'To: %s\nSubject: taskpool: tasks of %s fail\n' "$to" "$name"
    printf 'Auto-Submitted: auto-generated\nMIME-Version: 1.0\n'
    printf 'Content-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: 8bit\n\n'
    printf 'Task %s went to the failed pool: %s\n\n' "$TASKPOOL_ID" \
        "$(printf '%s' "${TASKPOOL_REASON:-}" | tr '\000-\037\177' ' ')"
    if [ "$more" -gt 0 ]; then printf '%s others did since the last mail.\n' "$more"; fi
    printf 'The next mail about this handler comes in %s minutes at the earliest.\n\n' "$every"
    printf 'What fails, and how to retry it:  taskpool failures\n'
    printf 'The life of this task:            taskpool show %s\n' "$TASKPOOL_ID"
} >"$group.mail"
sendmail -i -t <"$group.mail"
touch "$group.mailed"
rm -f "$group.more" "$group.mail"
