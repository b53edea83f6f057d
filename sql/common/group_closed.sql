-- Groups that are closed and have not ended.
SELECT name FROM tp_group WHERE state = 'closed'
