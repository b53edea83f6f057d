-- Answers without an error if there is a table tp_doctor, whoever made it. No row is read. Whether a doctor made it: doctor_ours.
SELECT 1 FROM tp_doctor WHERE 1 = 0
