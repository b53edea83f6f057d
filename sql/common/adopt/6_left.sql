-- Removal: what is still in the pool, or has not been given back. There must be none before the links are dropped.
SELECT COUNT(*) FROM tp_adopt_[name] WHERE link_stage <> 'back';
