-- Is there a table of the name of the doctor's, whoever made it? No row is read.
SELECT 1 FROM tp_doctor WHERE 1 = 0
