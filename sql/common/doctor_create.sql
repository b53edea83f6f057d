-- The table on which the doctor tries things out. Its types are those of the pool's tables.
CREATE TABLE tp_doctor (
  id {type_id} NOT NULL,
  state {type_text 8} NOT NULL,
  owner {type_id},
  due_at {type_time},
  reason {type_text 512},
  params {type_long_text},
  made_by_taskpool {type_small},
  CONSTRAINT tp_doctor_pk PRIMARY KEY (id)
) {table_options}
