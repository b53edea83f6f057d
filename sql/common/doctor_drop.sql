-- Takes the doctor's table away.
DROP TABLE tp_doctor
