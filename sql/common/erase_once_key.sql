-- Deletes the key of the ledger that is the business row's own.
DELETE FROM tp_once WHERE once_key = :once_key
