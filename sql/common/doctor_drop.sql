-- Drops the doctor's table.
DROP TABLE tp_doctor
