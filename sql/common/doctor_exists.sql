-- Is there anything of the name of the doctor's table, whoever made it? No row is read.
SELECT 1 FROM tp_doctor WHERE 1 = 0
