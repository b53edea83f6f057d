-- Differs because the types are the database's own.
CREATE TABLE tp_doctor (
  id VARCHAR2(36) NOT NULL,
  state VARCHAR2(8) NOT NULL,
  owner VARCHAR2(36),
  due_at NUMBER(19),
  reason VARCHAR2(512),
  params CLOB,
  made_by_taskpool NUMBER(5),
  CONSTRAINT tp_doctor_pk PRIMARY KEY (id)
)
