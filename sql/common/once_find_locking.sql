-- As once_find, by a locking read; see find_any_locking.
{committed SELECT owner FROM tp_once WHERE once_key = :once_key}
