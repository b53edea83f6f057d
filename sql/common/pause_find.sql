-- Is the handler paused?
SELECT handler FROM tp_pause WHERE handler = :handler
