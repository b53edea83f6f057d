-- Locks a gate, at any level of isolation, and takes :place places. Its row always changes, so that whoever read it before notices.
UPDATE tp_gate SET next_place = next_place + :place + 1, modified_at = {now} WHERE name = :name
