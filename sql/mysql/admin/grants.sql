-- Least privileges for three kinds of user, as roles to be given to real users. For another prefix replace tp_
-- throughout. A producer may only insert; with the library, asking again after a lost connection also reads ids.

CREATE ROLE tp_producer;
CREATE ROLE tp_worker;
CREATE ROLE tp_operator;

-- Producer: puts tasks in.
GRANT INSERT ON tp_pending TO tp_producer;
GRANT SELECT (id, dedup_key) ON tp_pending TO tp_producer;
GRANT SELECT (id) ON tp_finished TO tp_producer;
GRANT SELECT (id) ON tp_failed TO tp_producer;
GRANT SELECT ON tp_meta TO tp_producer;

-- Worker: claims, settles and moves.
GRANT SELECT, INSERT, UPDATE, DELETE ON tp_pending TO tp_worker;
GRANT SELECT, INSERT ON tp_finished TO tp_worker;
GRANT SELECT, INSERT ON tp_failed TO tp_worker;
GRANT SELECT ON tp_meta TO tp_worker;

-- Operator: looks at everything, retries, skips and purges.
GRANT SELECT, INSERT, UPDATE, DELETE ON tp_pending TO tp_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON tp_finished TO tp_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON tp_failed TO tp_operator;
GRANT SELECT ON tp_meta TO tp_operator;
GRANT SELECT ON tp_tasks TO tp_operator;
