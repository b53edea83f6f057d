-- Behind which gate is the task?
SELECT gate FROM tp_pending WHERE id = :id AND gate IS NOT NULL
