-- Least privileges for seven kinds of user, as roles to be given to real users. For another prefix replace tp_
-- throughout. Run it as a user who may create roles and grant on these tables.
-- Databases differ here: where roles, or these forms, are not known, say the same in the database's own way.

CREATE ROLE tp_producer;
CREATE ROLE tp_worker;
CREATE ROLE tp_operator;
CREATE ROLE tp_viewer;
CREATE ROLE tp_requester;
CREATE ROLE tp_approver;
CREATE ROLE tp_administrator;

-- Producer: puts tasks in, and cannot take them out or change them. Plain SQL needs INSERT only; the library also reads ids
-- and keys, to find out what an earlier try did.
-- Where the database grants by column, give SELECT (id, dedup_key) on tp_pending and SELECT (id) on the others.
GRANT INSERT ON tp_pending TO tp_producer;
GRANT SELECT ON tp_pending TO tp_producer;
GRANT SELECT ON tp_finished TO tp_producer;
GRANT SELECT ON tp_failed TO tp_producer;
GRANT SELECT ON tp_meta TO tp_producer;
-- tp_once in the transaction that enqueues.
GRANT INSERT ON tp_once TO tp_producer;
GRANT SELECT ON tp_once TO tp_producer;
-- Due at a cut-off.
GRANT SELECT ON tp_calendar TO tp_producer;
GRANT SELECT ON tp_calendar_day TO tp_producer;
-- Where producers change tasks that wait, by the key of a new one (on_duplicate), also:
-- GRANT UPDATE ON tp_pending TO tp_producer;
-- GRANT SELECT, INSERT ON tp_history TO tp_producer;
-- GRANT SELECT ON tp_step TO tp_producer;
-- GRANT SELECT, INSERT, DELETE ON tp_cancel TO tp_producer;
-- Where producers put tasks behind gates (order_key, gate), also:
-- GRANT SELECT (id, gate, due_at, wanted_at, modified_at) ON tp_pending TO tp_producer;
-- GRANT UPDATE (due_at, modified_at) ON tp_pending TO tp_producer;
-- GRANT SELECT, INSERT, UPDATE ON tp_gate TO tp_producer;
-- GRANT SELECT, INSERT, UPDATE, DELETE ON tp_gate_task TO tp_producer;
-- Where producers open groups, put tasks into them, or after them, also:
-- GRANT SELECT, INSERT, UPDATE ON tp_group TO tp_producer;
-- GRANT SELECT, INSERT ON tp_group_task TO tp_producer;
-- GRANT SELECT (gate, due_at, wanted_at, modified_at) ON tp_pending TO tp_producer;
-- GRANT UPDATE (gate, due_at, modified_at) ON tp_pending TO tp_producer;
-- Where producers give tasks deadlines, also:
-- GRANT SELECT, INSERT, DELETE ON tp_cancel TO tp_producer;

-- Worker: claims, settles and moves, fires schedules, uses the ledger, keeps its row of the table of workers. Deletes nothing that is settled.
GRANT SELECT, INSERT, UPDATE, DELETE ON tp_pending TO tp_worker;
GRANT SELECT, INSERT ON tp_finished TO tp_worker;
GRANT UPDATE (result) ON tp_finished TO tp_worker;
GRANT SELECT, INSERT ON tp_failed TO tp_worker;
GRANT SELECT, INSERT, UPDATE ON tp_history TO tp_worker;
GRANT SELECT, INSERT ON tp_once TO tp_worker;
GRANT SELECT, INSERT ON tp_step TO tp_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON tp_progress TO tp_worker;
GRANT SELECT, UPDATE ON tp_schedule TO tp_worker;
GRANT SELECT ON tp_calendar TO tp_worker;
GRANT SELECT ON tp_calendar_day TO tp_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON tp_gate TO tp_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON tp_gate_task TO tp_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON tp_group TO tp_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON tp_group_task TO tp_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON tp_worker TO tp_worker;
GRANT SELECT ON tp_pause TO tp_worker;
GRANT SELECT, DELETE ON tp_cancel TO tp_worker;
GRANT SELECT, INSERT, DELETE ON tp_activity TO tp_worker;
GRANT SELECT ON tp_meta TO tp_worker;
-- Where settled rows are kept for a time only (taskpool retention) and workers are to delete older ones, also:
-- GRANT DELETE ON tp_finished TO tp_worker;
-- GRANT DELETE ON tp_failed TO tp_worker;
-- GRANT DELETE ON tp_step TO tp_worker;

-- Operator: looks at everything, retries, skips, releases, purges, pauses, plans.
GRANT SELECT, INSERT, UPDATE, DELETE ON tp_pending TO tp_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON tp_finished TO tp_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON tp_failed TO tp_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON tp_history TO tp_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON tp_once TO tp_operator;
GRANT SELECT, DELETE ON tp_step TO tp_operator;
GRANT SELECT, DELETE ON tp_progress TO tp_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON tp_schedule TO tp_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON tp_calendar TO tp_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON tp_calendar_day TO tp_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON tp_gate TO tp_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON tp_gate_task TO tp_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON tp_group TO tp_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON tp_group_task TO tp_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON tp_worker TO tp_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON tp_pause TO tp_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON tp_cancel TO tp_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON tp_activity TO tp_operator;
GRANT SELECT ON tp_meta TO tp_operator;
-- Asks for what needs a second person (docs/approvals.md).
GRANT SELECT, INSERT ON tp_request TO tp_operator;
GRANT SELECT, INSERT ON tp_request_row TO tp_operator;
-- What operators did: nobody changes or deletes it.
GRANT SELECT, INSERT ON tp_audit TO tp_operator;
GRANT SELECT, UPDATE ON tp_audit_head TO tp_operator;
GRANT SELECT ON tp_tasks TO tp_operator;
GRANT SELECT ON tp_running TO tp_operator;
GRANT SELECT ON tp_failures TO tp_operator;
GRANT SELECT ON tp_throughput TO tp_operator;

-- Viewer: looks at everything, parameters too, and changes nothing: for who only looks, and for what taskpool-console shows.
GRANT SELECT ON tp_pending TO tp_viewer;
GRANT SELECT ON tp_finished TO tp_viewer;
GRANT SELECT ON tp_failed TO tp_viewer;
GRANT SELECT ON tp_history TO tp_viewer;
GRANT SELECT ON tp_step TO tp_viewer;
GRANT SELECT ON tp_progress TO tp_viewer;
GRANT SELECT ON tp_schedule TO tp_viewer;
GRANT SELECT ON tp_worker TO tp_viewer;
GRANT SELECT ON tp_pause TO tp_viewer;
GRANT SELECT ON tp_cancel TO tp_viewer;
GRANT SELECT ON tp_activity TO tp_viewer;
GRANT SELECT ON tp_gate TO tp_viewer;
GRANT SELECT ON tp_gate_task TO tp_viewer;
GRANT SELECT ON tp_group TO tp_viewer;
GRANT SELECT ON tp_group_task TO tp_viewer;
GRANT SELECT ON tp_audit TO tp_viewer;
GRANT SELECT ON tp_audit_head TO tp_viewer;
GRANT SELECT ON tp_meta TO tp_viewer;
GRANT SELECT ON tp_tasks TO tp_viewer;
GRANT SELECT ON tp_running TO tp_viewer;
GRANT SELECT ON tp_failures TO tp_viewer;
GRANT SELECT ON tp_throughput TO tp_viewer;
GRANT SELECT ON tp_request TO tp_viewer;
GRANT SELECT ON tp_request_row TO tp_viewer;

-- Requester: looks at everything, and can do nothing alone: only ask, while four eyes is on, for what another person approves.
GRANT tp_viewer TO tp_requester;
GRANT SELECT ON tp_once TO tp_requester;
GRANT INSERT ON tp_request TO tp_requester;
GRANT INSERT ON tp_request_row TO tp_requester;
GRANT INSERT ON tp_history TO tp_requester;
GRANT INSERT ON tp_audit TO tp_requester;
GRANT UPDATE ON tp_audit_head TO tp_requester;

-- Approver: carries out what others asked for, so he may do what an operator may.
GRANT tp_operator TO tp_approver;
GRANT UPDATE ON tp_request TO tp_approver;
GRANT DELETE ON tp_request_row TO tp_approver;

-- Administrator: also switches settings, such as four eyes and retention, and approves that.
GRANT tp_approver TO tp_administrator;
GRANT INSERT, UPDATE ON tp_meta TO tp_administrator;
