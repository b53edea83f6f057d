-- Differs because the types are the database's own.
CREATE TABLE tp_doctor (
  id uuid NOT NULL,
  state varchar(8) NOT NULL,
  owner uuid,
  due_at bigint,
  reason varchar(512),
  params text,
  made_by_taskpool smallint,
  CONSTRAINT tp_doctor_pk PRIMARY KEY (id)
)
