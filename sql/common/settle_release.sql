-- Back to pending without a failure. The owner stays, so that the same call can be made once more. One that is not wanted any more is not
-- due before each claim knows that.
UPDATE tp_pending SET state = 'pending',
       wanted_at = NULL,
       due_at = {as_time {now_plus delay}} + CASE WHEN EXISTS (SELECT 1 FROM tp_cancel asked WHERE asked.task_id = tp_pending.id
         AND asked.created_at >= tp_pending.created_at AND asked.due_at <= {now}) THEN 3000 ELSE 0 END,
       modified_at = {now}
WHERE id = :id AND state = 'handling' AND {not_by_index owner = :token}
