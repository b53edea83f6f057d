-- What the old table says, and what the pool says.
SELECT 'in the pool' AS what,
       (SELECT COUNT(*) FROM tp_adopt_[name] link JOIN [table] src ON [keys AND~src.@ = link.key_#]
        WHERE link.link_stage = 'pool'[unless alone~ AND src.[mark] = [taken]]) AS in_old,
       (SELECT COUNT(*) FROM tp_adopt_[name] link JOIN tp_pending task ON task.id = link.link_task) AS in_pool
{from_one}
UNION ALL
SELECT 'done', (SELECT COUNT(*) FROM tp_adopt_[name] link WHERE link.link_stage = 'back' AND link.link_result = 'done'
                AND NOT EXISTS (SELECT 1 FROM [table] src WHERE [keys AND~src.@ = link.key_#][unless alone~ AND src.[state] <> [done]]
                                AND NOT EXISTS (SELECT 1 FROM tp_adopt_[name] later WHERE [keys AND~later.key_# = link.key_#]
                                                AND later.link_task <> link.link_task))),
       (SELECT COUNT(*) FROM tp_adopt_[name] link
        WHERE EXISTS (SELECT 1 FROM tp_finished task WHERE task.id = link.link_task AND task.state = 'done')
           OR (link.link_stage = 'back' AND link.link_result = 'done'))
{from_one}
UNION ALL
SELECT 'skipped', (SELECT COUNT(*) FROM tp_adopt_[name] link WHERE link.link_stage = 'back' AND link.link_result IN ('skipped', 'returned')),
       (SELECT COUNT(*) FROM tp_adopt_[name] link
        WHERE EXISTS (SELECT 1 FROM tp_finished task WHERE task.id = link.link_task AND task.state = 'skipped')
           OR (link.link_stage = 'back' AND link.link_result IN ('skipped', 'returned')))
{from_one}
UNION ALL
SELECT 'failed', (SELECT COUNT(*) FROM tp_adopt_[name] link WHERE link.link_stage = 'back' AND link.link_result = 'failed'
                  AND NOT EXISTS (SELECT 1 FROM [table] src WHERE [keys AND~src.@ = link.key_#] [unless alone~AND src.[state] <> [failed]
                                  AND link.link_closed <> link.link_task]
                                  [if alone~AND NOT EXISTS (SELECT 1 FROM tp_adopt_[name] later WHERE [keys AND~later.key_# = link.key_#]
                                                AND later.link_task <> link.link_task)])),
       (SELECT COUNT(*) FROM tp_adopt_[name] link
        WHERE EXISTS (SELECT 1 FROM tp_failed task WHERE task.id = link.link_task)
           OR (link.link_stage = 'back' AND link.link_result = 'failed'
               [unless alone~AND NOT EXISTS (SELECT 1 FROM tp_pending task WHERE task.id = link.link_task)
               AND NOT EXISTS (SELECT 1 FROM tp_finished task WHERE task.id = link.link_task)]))
{from_one}
UNION ALL
SELECT 'taken without a task', (SELECT COUNT(*) FROM [table] src WHERE [unless alone~src.[mark] = [taken]][if alone~1 = 0]
                                AND NOT EXISTS (SELECT 1 FROM tp_adopt_[name] link WHERE [keys AND~link.key_# = src.@])), 0
{from_one}
UNION ALL
SELECT 'in no pool', (SELECT COUNT(*) FROM tp_adopt_[name] link WHERE link.link_stage = 'pool'
                      AND NOT EXISTS (SELECT 1 FROM tp_pending task WHERE task.id = link.link_task)
                      AND NOT EXISTS (SELECT 1 FROM tp_finished task WHERE task.id = link.link_task)
                      AND NOT EXISTS (SELECT 1 FROM tp_failed task WHERE task.id = link.link_task)), 0
{from_one};
