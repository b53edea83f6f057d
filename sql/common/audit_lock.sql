-- Takes the next place in the audit's chain, and keeps all others who act waiting for it until the end of the transaction.
UPDATE tp_audit_head SET seq = seq + 1 WHERE id = 1
