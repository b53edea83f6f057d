-- Who put the key into the ledger?
SELECT owner FROM tp_once WHERE once_key = :once_key
