-- Differs because the types, the engine and the collation are those of the pool's tables.
CREATE TABLE tp_doctor (
  id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  state VARCHAR(8) NOT NULL,
  owner CHAR(36) CHARACTER SET ascii COLLATE ascii_bin,
  due_at BIGINT,
  reason VARCHAR(512),
  params LONGTEXT,
  made_by_taskpool SMALLINT,
  CONSTRAINT tp_doctor_pk PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
