-- Adoption of [table] as [name]: the table of links. A link says that a row of [table] is a task of the pool, or was.
-- link_was: the row's state before, where it has one. link_closed: zeros while the link is the row's own; else the task's id.
-- link_stage: new (inside of a transaction), pool, settled, back (the result is written into the row), retried.

CREATE TABLE tp_adopt_[name] {table_options} AS
SELECT [keys ,~src.@ AS key_#], [unless alone~src.[state]][if alone~task.state] AS link_was, task.id AS link_task, task.id AS link_closed,
       task.state AS link_stage, task.state AS link_result
FROM [table] src, tp_pending task WHERE 1 = 0;
CREATE UNIQUE INDEX tp_adopt_[name]_k ON tp_adopt_[name] ([keys ,~key_#], link_closed);
CREATE UNIQUE INDEX tp_adopt_[name]_t ON tp_adopt_[name] (link_task);
CREATE INDEX tp_adopt_[name]_s ON tp_adopt_[name] (link_stage);
