-- The table on which the doctor tries things out.
CREATE TABLE tp_doctor (
  id CHAR(36) NOT NULL,
  state VARCHAR(8) NOT NULL,
  owner CHAR(36),
  due_at BIGINT,
  reason VARCHAR(512),
  params CLOB,
  made_by_taskpool SMALLINT,
  CONSTRAINT tp_doctor_pk PRIMARY KEY (id)
)
