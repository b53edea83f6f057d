-- Was this row of a worker's activity written?
SELECT minute FROM tp_activity WHERE minute = :at AND worker = :id AND handler = :handler
