-- Records what somebody did.
INSERT INTO tp_audit (seq, act, created_at, who, action, subject, detail, changed, ids_hash, request_id, reason, prev_hash, row_hash)
VALUES (:seq, :act, :at, :who, :action, :subject, :detail, :changed, :ids_hash, :request_id, :reason, :prev_hash, :row_hash)
