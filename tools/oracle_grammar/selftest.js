'use strict';
// Shows that the checker can tell right from wrong before its word is taken. Any wrong verdict fails.
// KNOWN_GAPS: Oracle takes them, the grammar does not; when one is accepted, remove it here and in README.md.

const { check } = require('./check');
const { statementOf, scriptOf, pageOf } = require('./source');

const ACCEPTED = [
  'INSERT INTO t (a, params) VALUES (:a, :params)', 'INSERT INTO t (params) VALUES (:params)',
  'UPDATE t SET params = :params, a = :a WHERE id = :id',
  'INSERT INTO t (a, params) SELECT :a, :params AS params FROM DUAL UNION ALL SELECT :a, :params FROM DUAL',
  'INSERT INTO t (a, b) VALUES (tp_now(), COALESCE(:b, tp_now() + :c))', 'SELECT tp_now() AS now_ms FROM DUAL',
  'INSERT INTO t (a) SELECT tp_now() + :a FROM DUAL', 'SELECT a, (SELECT tp_now() FROM DUAL) - b AS age FROM t',
  'UPDATE t SET a = (SELECT tp_now() FROM DUAL) + :a WHERE b <= (SELECT tp_now() FROM DUAL)',
  "UPDATE t SET a = 1 WHERE id IN (SELECT id FROM (SELECT id FROM t WHERE b = 'x' AND c <= :c ORDER BY c) " +
    "WHERE ROWNUM <= :n) AND b = 'x' AND c <= :c",
  'UPDATE t SET a = 1 WHERE id IN (SELECT id FROM u WHERE b = 2 AND ROWNUM <= :n)',
  'SELECT id FROM t WHERE id IN (:ids) AND owner = ?',
  "SELECT id FROM t WHERE id = :id AND state IN ('pending') FOR UPDATE NOWAIT",
  'SELECT id FROM t WHERE due_at <= (SELECT tp_now() FROM DUAL) ORDER BY due_at, id FOR UPDATE SKIP LOCKED',
  'SELECT id FROM t WHERE id = :id FOR UPDATE OF state WAIT 3',
  'SELECT id FROM (SELECT id FROM t ORDER BY priority, id) WHERE ROWNUM <= :limit',
  'SELECT id FROM t ORDER BY id FETCH FIRST :n ROWS ONLY',
  'SELECT t.*, ROWNUM FROM t',
  "SELECT CASE WHEN failures > 0 THEN 'failed-' || failures ELSE state END AS state FROM t",
  "SELECT COALESCE(SUM(CASE WHEN a = 'x' AND b IS NULL THEN 1 ELSE 0 END), 0) AS n FROM t GROUP BY c",
  'SELECT s.id FROM s LEFT JOIN p ON p.id = s.id AND (p.a = 1 OR p.b = 2) WHERE p.id IS NULL',
  'SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY c) AS rn FROM t WHERE ROWNUM <= 3',
  'SELECT a FROM t MINUS SELECT a FROM u',
  'SELECT a FROM t UNION ALL SELECT a FROM u ORDER BY a',
  'SELECT id FROM t WHERE id IN (SELECT id FROM (SELECT id FROM t ORDER BY id) WHERE ROWNUM <= 3)',
  "SELECT a FROM t WHERE NULLIF(a, 'x') IS NULL AND b LIKE 'y%' ESCAPE '!'",
  'SELECT SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(5, \'SECOND\') FROM DUAL',
  'SELECT (SELECT COUNT(*) FROM t) AS a, (SELECT MAX(b) FROM u) AS b FROM DUAL', 'SELECT COUNT(*), MAX(a) FROM t',
  'INSERT INTO t (a) VALUES (:a)',
  'INSERT INTO t (a) SELECT :a FROM DUAL UNION ALL SELECT :a FROM DUAL',
  'INSERT INTO t (a) SELECT :a FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM t WHERE a = :a)',
  'INSERT INTO t (a) VALUES (1) RETURNING a INTO :a',
  'INSERT ALL INTO t (a) VALUES (1) INTO t (a) VALUES (2) SELECT 1 FROM DUAL',
  'MERGE INTO t USING (SELECT 1 a FROM DUAL) s ON (t.a = s.a) WHEN NOT MATCHED THEN INSERT (a) VALUES (s.a)',
  "UPDATE t SET a = a + CASE state WHEN 'handling' THEN 1 ELSE 0 END, b = '' WHERE id IN (:ids)",
  'UPDATE t SET (a, b) = (SELECT a, b FROM u WHERE u.id = t.id) WHERE id = :id',
  'DELETE FROM t WHERE id = :id AND ROWNUM <= :n',
  'SELECT seq FROM t', 'CREATE TABLE t (seq NUMBER)',
  "CREATE TABLE t (a VARCHAR2(36) DEFAULT SYS_GUID() NOT NULL, b NUMBER(19) DEFAULT 0 NOT NULL, c CLOB, " +
    "d RAW(16), e VARCHAR2(9 CHAR), CONSTRAINT t_pk PRIMARY KEY (a), CONSTRAINT t_ck CHECK (b IN (1, 2)))",
  'CREATE TABLE t (a NUMBER GENERATED ALWAYS AS IDENTITY)',
  "CREATE TABLE t (h VARCHAR2(64) NOT NULL) PARTITION BY LIST (h) (PARTITION p VALUES ('x'), " +
    'PARTITION pd VALUES (DEFAULT))',
  'CREATE TABLE t (a NUMBER(19) DEFAULT (EXTRACT(DAY FROM (SYS_EXTRACT_UTC(SYSTIMESTAMP) - ' +
    "TIMESTAMP '1970-01-01 00:00:00')) * 86400000) NOT NULL)",
  'CREATE UNIQUE INDEX i ON t (a)',
  "CREATE UNIQUE INDEX i ON t (CASE WHEN state = 'x' THEN k END)",
  'CREATE OR REPLACE VIEW v AS SELECT a FROM t UNION ALL SELECT a FROM u',
  'CREATE SEQUENCE s START WITH 1 INCREMENT BY 1 CACHE 20',
  'ALTER TABLE t ADD (a NUMBER(5) DEFAULT 0 NOT NULL)',
  'DROP TABLE t CASCADE CONSTRAINTS PURGE', 'DROP TABLE t', 'DROP ROLE r', 'CREATE ROLE r', 'DROP SYNONYM s',
  'GRANT SELECT, INSERT ON t TO r', 'REVOKE ALL ON t FROM r', "COMMENT ON TABLE t IS 'x'",
  'CREATE FUNCTION f RETURN NUMBER IS BEGIN RETURN 1; END;',
  'CREATE OR REPLACE FUNCTION f RETURN NUMBER AS d INTERVAL DAY(9) TO SECOND(3) := SYS_EXTRACT_UTC(' +
    "SYSTIMESTAMP) - TIMESTAMP '1970-01-01 00:00:00'; BEGIN RETURN TRUNC(EXTRACT(SECOND FROM d)); END f;",
  'DECLARE b BOOLEAN := TRUE; BEGIN IF (b) THEN UPDATE t SET a = 1 RETURNING a INTO :a; END IF; END;',
  'DECLARE CURSOR c IS SELECT id FROM t ORDER BY id FOR UPDATE SKIP LOCKED; ' +
    'TYPE ids IS TABLE OF VARCHAR2(36); v ids; ' +
    'BEGIN OPEN c; FETCH c BULK COLLECT INTO v LIMIT :n; CLOSE c; END;',
  'CREATE OR REPLACE TRIGGER x BEFORE INSERT ON t FOR EACH ROW BEGIN :NEW.a := tp_now(); END;',
  'INSERT INTO t (a)\n/*rows*/ SELECT :a FROM DUAL /*end*/',
  'SELECT a FROM t WHERE a = :a /*shards*/ AND s IN (:s) /*end*/ AND b = :b',
  '-- it\'s; not a string\nSELECT a /* ; */ FROM t WHERE a = \';\'',
];

const REFUSED = [
  'SELECT a FROM t LIMIT 5', 'SELECT a FROM t ORDER BY a LIMIT :n', 'SELECT a FROM t LIMIT',
  'DELETE FROM t WHERE id IN (SELECT id FROM u LIMIT 5)', 'UPDATE t SET a = 1 ORDER BY id LIMIT 5',
  'INSERT INTO t (a) VALUES (1), (2)', 'INSERT INTO t DEFAULT VALUES', 'SELECT * FROM (VALUES (1)) x',
  'UPDATE t SET a = u.a FROM u WHERE u.id = t.id', 'UPDATE t JOIN u ON u.id = t.id SET t.a = 1',
  'DELETE FROM t USING u WHERE u.id = t.id', 'WITH x AS (SELECT 1 a FROM DUAL) UPDATE t SET a = 1',
  'INSERT INTO t (a) VALUES (1) ON CONFLICT DO NOTHING', 'INSERT OR IGNORE INTO t (a) VALUES (1)',
  'INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE a = 2', 'REPLACE INTO t (a) VALUES (1)',
  'SELECT a::text FROM t', 'SELECT `a` FROM t', 'SELECT a % 2 FROM t', 'SELECT a FROM t WHERE a ILIKE \'x\'',
  'SELECT a FROM t WHERE a IS NOT DISTINCT FROM b', "SELECT a FROM t WHERE a = E'x'", 'SELECT $1 FROM DUAL',
  'CREATE TABLE IF NOT EXISTS t (a NUMBER)', 'DROP TABLE IF EXISTS t', 'DROP TABLE t CASCADE',
  'SELECT 1', 'SELECT :id WHERE NOT EXISTS (SELECT 1 FROM t)', 'SELECT *, a FROM t',
  'SELECT a FROM WHERE b = 1',
  'CREATE TABLE t (a NUMBER NOT NULL DEFAULT 0)', 'CREATE TABLE t (a NUMBER AUTO_INCREMENT)',
  'CREATE TABLE t (a INTEGER PRIMARY KEY AUTOINCREMENT)', 'CREATE TABLE t (a NUMBER) ENGINE=InnoDB',
  'CREATE INDEX i ON t (a) WHERE a IS NOT NULL', 'ALTER TABLE t ADD COLUMN a NUMBER',
  ...'BIGINT TEXT LONGTEXT INT8 BOOLEAN VARCHAR(9) TINYINT DATETIME UUID VARCHAR2'.split(' ')
    .flatMap((type) => [`CREATE TABLE t (id NUMBER, a ${type})`, `ALTER TABLE t ADD (a ${type})`]),
  'ALTER TABLE t ADD a BIGINT', 'ALTER TABLE t MODIFY (a BIGINT)', 'SELECT CAST(a AS BIGINT) FROM t',
  'INSERT INTO t (a) VALUES (1) RETURNING a', 'UPDATE t SET a = 1 WHERE b = 2 RETURNING a, b',
  'DELETE FROM t RETURNING a', 'BEGIN UPDATE t SET a = 1 RETURNING a; SELECT 1 INTO x FROM DUAL; END;',
  'SELECT a FROM t WHERE a = TRUE', 'UPDATE t SET a = FALSE', 'BEGIN UPDATE t SET a = TRUE; END;',
  'SELECT a FROM t EXCEPT SELECT a FROM u',
  'SELECT a FROM t AS x', 'SELECT a FROM (SELECT a FROM t) AS x', 'UPDATE t AS x SET a = 1',
  'SELECT a FROM t JOIN u AS x ON t.a = x.a', 'INSERT INTO t AS x (a) VALUES (1)',
  'SELECT id FROM (SELECT id FROM t ORDER BY id) WHERE ROWNUM <= 3 FOR UPDATE',
  'SELECT id FROM (SELECT id FROM t WHERE ROWNUM <= 3) FOR UPDATE SKIP LOCKED',
  'SELECT id FROM t ORDER BY id FETCH FIRST 5 ROWS ONLY FOR UPDATE',
  'SELECT id FROM t FETCH FIRST 5 ROWS ONLY FOR UPDATE SKIP LOCKED',
  'SELECT id FROM t OFFSET 5 ROWS FOR UPDATE', 'SELECT DISTINCT id FROM t FOR UPDATE',
  'SELECT id FROM t UNION ALL SELECT id FROM u FOR UPDATE', 'SELECT a FROM t GROUP BY a FOR UPDATE',
  'SELECT COUNT(*), (SELECT COUNT(*) FROM u) AS b FROM t',
  'DECLARE CURSOR c IS SELECT id FROM (SELECT id FROM t WHERE ROWNUM < 3) FOR UPDATE; BEGIN NULL; END;',
  'SELECT id FROM t WHERE id IN (SELECT id FROM u FOR UPDATE)', 'SELECT id FROM t FOR SHARE',
  'SELECT id FROM t LOCK IN SHARE MODE', 'SELECT id FROM t WHERE ROWNUM <= 3 FOR UPDATE SKIP LOCKED',
  'SELECT id FROM t WHERE ROWNUM <= 3 ORDER BY id',
  'SELECT id FROM t WHERE id IN (SELECT id FROM u ORDER BY id)',
  'SELECT id FROM t ORDER BY id UNION ALL SELECT id FROM u',
  'UPDATE t SET a = (SELECT b FROM u ORDER BY b)',
  "SELECT a FROM t WHERE a = ''", "SELECT a FROM t WHERE a <> ''", "SELECT a FROM t WHERE '' != a",
  "SELECT a FROM t WHERE a IN ('', 'x')", "BEGIN IF x = '' THEN y := 1; END IF; END;",
  'SELECT a_name_that_is_longer_than_30_c FROM t', 'CREATE TABLE t_234567890_234567890_234567890 (a NUMBER)',
  'CREATE TABLE t (comment VARCHAR2(9))', 'SELECT a AS level FROM t',
  'CREATE TABLE t (a NUMBER, mode NUMBER)',
  'SELECT NOW() FROM DUAL', 'SELECT IFNULL(a, 1) FROM t', 'SELECT SUBSTRING(a, 1, 2) FROM t',
  'SELECT EXTRACT(EPOCH FROM a) FROM t',
  'SELECT a = b FROM t', "SELECT SUM(a = 'x') FROM t", 'SELECT EXISTS (SELECT 1 FROM t) FROM DUAL',
  'SELECT a IS NULL FROM t', 'UPDATE t SET a = (b > 1)',
  'CREATE TABLE t (a NUMBER(19) DEFAULT tp_now() NOT NULL)', 'CREATE TABLE t (a NUMBER CHECK (a > tp_now()))',
  'SELECT a FROM t; SELECT b FROM t', 'SELECT a FROM t;', 'SELECT a FROM t SELECT b FROM t',
  'BEGIN NULL; END', 'SELEC a FROM t', 'SELECT a FROM t WHERE (a = 1', "SELECT a FROM t WHERE a = 'x", '',
  '-- x',
  'SELECT a FROM t WHERE a = :a /*shards*/ AND s IN (:s)', 'SELECT a FROM t WHERE /*shards*/ s IN (:s) /*end*/',
  'INSERT INTO t (a) VALUES /*rows*/ (:a) /*end*/', 'INSERT INTO t (a) /*rows*/ SELECT :a FROM DUAL',
  'INSERT INTO t (a) /*rows*/ SELECT :a FROM DUAL ORDER BY 1 /*end*/',
  'INSERT INTO t (params) SELECT :params FROM u', 'INSERT INTO t (params) VALUES (TO_CLOB(:params))',
  'UPDATE t SET params = :params || a', 'SELECT a FROM t WHERE params = :params', 'SELECT LENGTH(:params) FROM DUAL',
  'SELECT a FROM t WHERE b <= tp_now()', 'SELECT tp_now() - b FROM t', 'UPDATE t SET a = tp_now()',
  'DELETE FROM t WHERE b < tp_now() - 1', 'INSERT INTO t (a) SELECT tp_now() FROM u',
  'SELECT a, (SELECT tp_now() - t.b FROM DUAL) AS age FROM t', 'UPDATE t SET a = (SELECT MAX(tp_now()) FROM u)',
  "UPDATE t SET a = 1 WHERE id IN (SELECT id FROM (SELECT id FROM t WHERE b = 'x' AND c <= :c ORDER BY c) " +
    "WHERE ROWNUM <= :n) AND b = 'x'",
  'UPDATE t SET a = 1 WHERE id IN (SELECT id FROM t WHERE b = 2 AND ROWNUM <= :n)',
  'EXIT', 'PROMPT hello', "SET DEFINE OFF",
];

const GOOD_SCRIPTS = [
  '-- schema\nCREATE TABLE t (\n  a NUMBER -- it\'s a\n);\n\nCREATE INDEX i ON t (a);\nCOMMIT;\n',
  'CREATE OR REPLACE FUNCTION f RETURN NUMBER IS\nBEGIN\n\n  RETURN 1;\nEND;\n/\n/* next */\nDROP TABLE t;\n',
  "BEGIN\n  EXECUTE IMMEDIATE 'DROP TABLE t';\nEXCEPTION WHEN OTHERS THEN NULL;\nEND;\n/\n",
  "INSERT INTO t (a) VALUES ('x; y\n/ z');\n",
];

const BAD_SCRIPTS = [
  'CREATE TABLE t (a NUMBER)\n', 'CREATE TABLE t (a NUMBER);\n/\n', 'BEGIN NULL; END;\n', '',
  'CREATE TABLE t (\n\n  a NUMBER\n);\n', 'CREATE TABLE t (a NUMBER); -- done\n', "-- R&D\nDROP TABLE t;\n",
  'CREATE TABLE t ( -- one;\n  a NUMBER\n);\n', 'DROP TABLE t;\n/*note*/\nDROP TABLE u;\n',
  'CREATE TABLE t (a BIGINT);\n', 'DROP TABLE t; DROP TABLE u;\n', 'DROP TABLE t\nDROP TABLE u;\n',
  "INSERT INTO t (a) VALUES ('x;\ny');\n", "INSERT INTO t (a) VALUES ('x\n/\ny');\n",
  'CREATE TABLE t ( -- ---\n  a NUMBER\n);\n',
  'WHENEVER SQLERROR EXIT FAILURE;\nDROP TABLE t;\n',
  'CREATE FUNCTION f RETURN NUMBER IS BEGIN RETURN 1; END\n/\n',
];

const GOOD_PAGES = [
  'text\n```sql a.move\nDELETE FROM t;\n```\n```sql a.move sqlite\nDELETE FROM t LIMIT 5;\n```\n',
  '```sql\nDELETE FROM t;\nDELETE FROM u;\n```\n```sh\nls\n```\n',
];

const BAD_PAGES = [
  '```sql a.move\nDELETE FROM t LIMIT 5;\n```\n', '```sql a.move oracle\nDELETE FROM t LIMIT 5;\n```\n',
  '```sql a.move\nDELETE FROM t\n```\n', 'no SQL\n',
];

const KNOWN_GAPS = [
  "SELECT JSON_VALUE(a, '$.x' RETURNING NUMBER) FROM t",
  "SELECT j.a FROM t, JSON_TABLE(t.p, '$' COLUMNS (a NUMBER PATH '$.a')) j",
  "ALTER SESSION SET nls_sort = 'BINARY'",
  'SELECT a FROM t CROSS APPLY (SELECT b FROM u WHERE u.id = t.id) x',
  "CREATE TABLE t (h VARCHAR2(9)) PARTITION BY LIST (h) AUTOMATIC (PARTITION p VALUES ('x'))",
];

const problemsOf = (cut) => (text) => {
  const { statements, problems } = cut(text);
  return [...problems, ...statements.flatMap(check)];
};

let wrong = 0;
let right = 0;
function expect(texts, judge, accept, what) {
  for (const text of texts) {
    const problems = judge(text);
    if ((problems.length === 0) === accept) { right++; continue; }
    wrong++;
    const why = problems.length ? `: ${problems[0].message}` : '';
    console.log(`SELF-TEST ${what}${why}\n  ${text.replace(/\n/g, '\n  ')}`);
  }
}

function expectLine(judge, text, line) {
  const [first] = judge(text);
  if (first && first.line === line) { right++; return; }
  wrong++;
  console.log(`SELF-TEST wrong line: want ${line}, have ${first && first.line}\n${text}`);
}

const statement = problemsOf(statementOf);
const script = problemsOf(scriptOf);
const page = problemsOf(pageOf);
expect(ACCEPTED, statement, true, 'refused, must be accepted');
expect(REFUSED, statement, false, 'accepted, must be refused');
expect(GOOD_SCRIPTS, script, true, 'script refused, must be accepted');
expect(BAD_SCRIPTS, script, false, 'script accepted, must be refused');
expect(GOOD_PAGES, page, true, 'page refused, must be accepted');
expect(BAD_PAGES, page, false, 'page accepted, must be refused');
expect(KNOWN_GAPS, statement, false, 'known gap is closed, remove it from the list');
expectLine(statement, '-- a\nSELECT a\nFROM t\nLIMIT 5\n-- b\n', 4);
expectLine(statement, 'SELECT a\nFROM t\nWHERE\n', 3);
expectLine(script, 'DROP TABLE t;\n\n/* x\n */\nCREATE TABLE t (\n  a BIGINT\n);\n', 6);
expectLine(page, 'a\n\n```sql\nDELETE FROM t;\nDELETE FROM t LIMIT 5;\n```\n', 5);

console.log(`self-test: ${right} verdicts right, ${wrong} wrong`);
if (wrong) process.exit(1);
