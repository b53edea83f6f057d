-- Tries to change a row of the chain, which must be refused; it is undone in any case.
UPDATE tp_audit SET action = action WHERE seq = :seq
