-- Notes the given tasks of the {pool} pool that are selected, as they are, for a request. modified_at: as they were when somebody saw them.
INSERT INTO tp_request_row (request_id, pool, row_key, state, modified_at)
SELECT {as_id :id} AS request_id, '{pool}' AS pool, {id_text id} AS row_key, state, modified_at FROM tp_{pool}
WHERE id IN (:ids) AND state = COALESCE(:state, state) AND handler = COALESCE(:handler, handler)
  AND COALESCE(reason, ' ') LIKE COALESCE(:part, '%') ESCAPE '!' AND {given_or_null dedup_key} AND {given_owner}
  AND {changed_at} >= :since AND {changed_at} <= :before AND modified_at = COALESCE({as_time :modified_at}, modified_at)
