-- Answers without an error if a doctor made the table: no other has the column. No row is read.
SELECT made_by_taskpool FROM tp_doctor WHERE 1 = 0
