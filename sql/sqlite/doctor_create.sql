-- Differs because the types are the database's own.
CREATE TABLE tp_doctor (
  id CHAR(36) NOT NULL,
  state VARCHAR(8) NOT NULL,
  owner CHAR(36),
  due_at BIGINT,
  reason VARCHAR(512),
  params TEXT,
  made_by_taskpool SMALLINT,
  CONSTRAINT tp_doctor_pk PRIMARY KEY (id)
)
