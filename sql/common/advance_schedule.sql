-- For tests: planned times and ages move into the past. The days of calendars stay where they are.
UPDATE tp_schedule SET next_at = next_at - :delay_ms, last_at = last_at - :delay_ms, fire_at = fire_at - :delay_ms, rule_at = rule_at - :delay_ms,
       created_at = created_at - :delay_ms, modified_at = modified_at - :delay_ms
