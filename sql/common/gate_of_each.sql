-- Which of the given tasks are behind gates?
SELECT id, gate FROM tp_pending WHERE {among_ids id} AND gate IS NOT NULL
