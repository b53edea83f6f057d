-- Gives the handler pay a partition of its own in tp_pending. Replace pay throughout, and tp_ for another prefix. Waits for open
-- transactions and keeps others out while it moves the handler's tasks.
BEGIN;
LOCK TABLE tp_pending IN ACCESS EXCLUSIVE MODE;
CREATE TABLE tp_pending_pay (LIKE tp_pending INCLUDING DEFAULTS INCLUDING CONSTRAINTS);
INSERT INTO tp_pending_pay SELECT * FROM tp_pending_others WHERE handler = 'pay';
DELETE FROM tp_pending_others WHERE handler = 'pay';
ALTER TABLE tp_pending ATTACH PARTITION tp_pending_pay FOR VALUES IN ('pay');
COMMIT;
