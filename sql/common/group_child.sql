-- A group within this one that has not ended.
SELECT name FROM tp_group WHERE parent = :name AND state < 'opening'
