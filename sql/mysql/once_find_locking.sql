-- Differs from once_find because the session's level may show a key that is not committed, or hide one that is.
{committed SELECT owner FROM tp_once WHERE once_key = :once_key}
