-- What the edit with this id did, and how many later ones its task has had.
SELECT task_id, reason,
       (SELECT COUNT(*) FROM tp_history newer
        WHERE newer.task_id = asked.task_id AND newer.event = 'edited' AND newer.created_at > asked.created_at) AS later
FROM tp_history asked WHERE asked.id = :history_id
