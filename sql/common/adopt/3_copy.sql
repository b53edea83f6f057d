-- Takes open rows, at most [batch], in one transaction at READ COMMITTED, after the way back. It goes by the rows' state, so that a
-- row is not missed that was committed late. A row that an old consumer takes at the same moment is left to it.

-- A row that was opened again while its task is in the pool is the same row: it gets its mark back, and no second task.
UPDATE [table] {adopt_of} SET [mark] = [taken] WHERE [open] AND {adopt_by link_stage = 'pool'};
-- One that was opened again after its task had failed is a new task, but not while that one can run again. Those in the failed pool were
-- skipped before, and their links closed; these were purged from it.
UPDATE tp_adopt_[name] SET link_closed = link_task
WHERE link_stage = 'back' AND link_closed <> link_task
  AND EXISTS (SELECT 1 FROM [table] src WHERE [keys AND~src.@ = key_#] AND [open])
  AND NOT EXISTS (SELECT 1 FROM tp_failed task WHERE task.id = link_task)
  AND NOT EXISTS (SELECT 1 FROM tp_pending task WHERE task.id = link_task)
  AND NOT EXISTS (SELECT 1 FROM tp_finished task WHERE task.id = link_task);
INSERT INTO tp_adopt_[name] ([keys ,~key_#], link_was, link_task, link_closed, link_stage, link_result)
SELECT [keys ,~src.@], src.[state], {new_id}, '00000000-0000-0000-0000-000000000000', 'new', 'none'
FROM [table] src
WHERE [open] AND [keys AND~src.@ IS NOT NULL]
  AND NOT EXISTS (SELECT 1 FROM tp_adopt_[name] link
                  WHERE [keys AND~link.key_# = src.@] AND link.link_closed = '00000000-0000-0000-0000-000000000000')
  {first_rows};
-- Compare and set: only rows that are still as they were read get the mark.
UPDATE [table] {adopt_of} SET [mark] = [taken] WHERE [open] AND {adopt_new};
DELETE FROM tp_adopt_[name]
WHERE link_stage = 'new'
  AND NOT EXISTS (SELECT 1 FROM [table] src WHERE [keys AND~src.@ = key_#] AND src.[mark] = [taken]);
INSERT INTO tp_pending (id, handler, biz_key, params, state, failures, shard, due_at)
SELECT link.link_task, [handler],
       [if biz_key~[biz_key]][unless biz_key~{text_begin}[keys {text_and} '/' {text_and}~REPLACE(REPLACE({as_text src.@}, '%', '%25'), '/', '%2F')]{text_end}],
       [params], CASE WHEN [failures] > 0 THEN 'failed' ELSE 'pending' END, CASE WHEN [failures] > 0 THEN [failures] ELSE 0 END,
       [shard], [if due~CASE WHEN [due] IS NULL THEN {now} ELSE {adopt_ms [due]} END][unless due~{now}]
FROM tp_adopt_[name] link JOIN [table] src ON [keys AND~src.@ = link.key_#]
WHERE link.link_stage = 'new';
UPDATE tp_adopt_[name] SET link_stage = 'pool' WHERE link_stage = 'new';
