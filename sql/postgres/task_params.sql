-- Differs because IS TRUE keeps the index of owner out: by it, each row would cost all that the claim holds.
SELECT params FROM tp_pending WHERE id = :id AND state = 'handling' AND (owner = :token) IS TRUE
