-- Sets minutes back, for tests. Negative meanwhile: a row must not meet the one that is to make room for it.
UPDATE tp_activity SET minute = :delay_ms - minute WHERE minute > 0
