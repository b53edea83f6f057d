-- Tasks of this handler may be claimed again.
DELETE FROM tp_pause WHERE handler = :handler
