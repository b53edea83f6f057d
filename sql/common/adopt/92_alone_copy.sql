-- Takes rows, at most [batch], in one transaction at READ COMMITTED, after the way back. A link is the mark that a row was taken; a
-- key that was put in again after its row was deleted is a new task.

INSERT INTO tp_adopt_[name] ([keys ,~key_#], link_was, link_task, link_closed, link_stage, link_result)
SELECT [keys ,~src.@], 'none', {new_id}, '00000000-0000-0000-0000-000000000000', 'new', 'none'
FROM [table] src
WHERE [open] AND [keys AND~src.@ IS NOT NULL]
  AND NOT EXISTS (SELECT 1 FROM tp_adopt_[name] link
                  WHERE [keys AND~link.key_# = src.@] AND link.link_closed = '00000000-0000-0000-0000-000000000000')
  {first_rows};
INSERT INTO tp_pending (id, handler, biz_key, params, state, failures, shard, due_at)
SELECT link.link_task, [handler],
       [if biz_key~[biz_key]][unless biz_key~{text_begin}[keys {text_and} '/' {text_and}~REPLACE(REPLACE({as_text src.@}, '%', '%25'), '/', '%2F')]{text_end}],
       [params], CASE WHEN [failures] > 0 THEN 'failed' ELSE 'pending' END, CASE WHEN [failures] > 0 THEN [failures] ELSE 0 END,
       [shard], [if due~CASE WHEN [due] IS NULL THEN {now} ELSE {adopt_ms [due]} END][unless due~{now}]
FROM tp_adopt_[name] link JOIN [table] src ON [keys AND~src.@ = link.key_#]
WHERE link.link_stage = 'new';
-- Where reading takes no lock, a row may have been deleted meanwhile: it is no task.
DELETE FROM tp_adopt_[name]
WHERE link_stage = 'new' AND NOT EXISTS (SELECT 1 FROM tp_pending task WHERE task.id = link_task);
UPDATE tp_adopt_[name] SET link_stage = 'pool' WHERE link_stage = 'new';
