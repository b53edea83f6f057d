'use strict';
// What Oracle refuses (or takes in a sense that we never mean) and the grammar lets through.
// Token rules run always; tree rules only when the grammar accepted the statement, else the tree is torn.

const { find, tokensOf, kid, lineOf } = require('./grammar');

const set = (words) => new Set(words.trim().split(/\s+/));
const TYPES = set(`
  BIGINT INT8 INT4 INT2 TINYINT MEDIUMINT TEXT LONGTEXT MEDIUMTEXT TINYTEXT DATETIME TIME UUID TIMESTAMPTZ
  SERIAL BIGSERIAL BYTEA JSONB BOOL SIGNED UNSIGNED VARBINARY`);
const FUNCTIONS = set(`
  NOW UUID GEN_RANDOM_UUID IFNULL ISNULL STRFTIME UNIXEPOCH JULIANDAY UNIX_TIMESTAMP FROM_UNIXTIME DATE
  DATETIME TIME DATE_ADD DATE_SUB DATE_PART DATE_TRUNC DATEDIFF TIMESTAMPDIFF RANDOM RAND SUBSTRING LEFT
  RIGHT CHAR_LENGTH CHARACTER_LENGTH OCTET_LENGTH GROUP_CONCAT STRING_AGG CONCAT_WS LAST_INSERT_ID
  ROW_COUNT CHANGES RANDOMBLOB PRINTF CLOCK_TIMESTAMP STATEMENT_TIMESTAMP UTC_TIMESTAMP CURDATE POSITION
  STRPOS LOCATE SYSDATE GENERATE_SERIES`);
const RESERVED = set(`
  ACCESS ADD ALL ALTER AND ANY AS ASC AUDIT BETWEEN BY CHAR CHECK CLUSTER COLUMN COMMENT COMPRESS CONNECT
  CREATE CURRENT DATE DECIMAL DEFAULT DELETE DESC DISTINCT DROP ELSE EXCLUSIVE EXISTS FILE FLOAT FOR FROM
  GRANT GROUP HAVING IDENTIFIED IMMEDIATE IN INCREMENT INDEX INITIAL INSERT INTEGER INTERSECT INTO IS
  LEVEL LIKE LOCK LONG MAXEXTENTS MINUS MLSLABEL MODE MODIFY NOAUDIT NOCOMPRESS NOT NOWAIT NULL NUMBER OF
  OFFLINE ON ONLINE OPTION OR ORDER PCTFREE PRIOR PUBLIC RAW RENAME RESOURCE REVOKE ROW ROWID ROWNUM ROWS
  SELECT SESSION SET SHARE SIZE SMALLINT START SUCCESSFUL SYNONYM SYSDATE TABLE THEN TO TRIGGER UID UNION
  UNIQUE UPDATE USER VALIDATE VALUES VARCHAR VARCHAR2 VIEW WHENEVER WHERE WITH`);
const NAMES = ['column_name', 'tableview_name', 'table_alias', 'column_alias', 'index_name',
  'constraint_name'];
const STATEMENTS = ['select_statement', 'insert_statement', 'update_statement', 'delete_statement',
  'merge_statement'];
const INNER = ['select_statement', 'select_only_statement', 'subquery'];

const VALUE_QUERIES = ['in_elements', 'atom', 'quantified_expression', 'column_based_update_set_clause'];
const COMPUTED = /^(ROWNUM|ORDER|DISTINCT|GROUP|UNION|MINUS|INTERSECT|FETCH|OFFSET)$/;

const above = (node, test) => {
  for (let n = node.up; n; n = n.up) if (test(n)) return n;
  return null;
};

// ---- rules over tokens: (tokens, unit, say); unit = a PL/SQL block or function ----

function foreignWords(tokens, unit, say) {
  tokens.forEach((t, i) => {
    const next = tokens[i + 1] || { upper: '' };
    const before = tokens[i - 1] || { upper: '' };
    if (t.upper === 'LIMIT' && !unit) say(t.line, 'LIMIT: Oracle has ROWNUM and FETCH FIRST');
    if (t.upper === 'EXCEPT') say(t.line, 'EXCEPT: Oracle has MINUS');
    if (/^(TRUE|FALSE)$/.test(t.upper) && !unit) say(t.line, `${t.upper}: Oracle's SQL has no such literal`);
    if (next.upper === '(' && before.upper !== '.' && t.word && FUNCTIONS.has(t.upper)) {
      say(t.line, `${t.text}(...): Oracle has no such function`);
    }
    const extract = before.upper === '(' && (tokens[i - 2] || {}).upper === 'EXTRACT';
    if (extract && /^(EPOCH|MILLISECONDS?)$/.test(t.upper)) {
      say(t.line, `EXTRACT(${t.text} ...): Oracle has no such field`);
    }
  });
}

function longNames(tokens, unit, say) {
  for (const t of tokens) {
    const name = t.text.replace(/"/g, '');
    if (t.word && name.length > 30) say(t.line, `${name}: ${name.length} characters, 30 are allowed`);
  }
}

function manyRows(tokens, unit, say) {
  tokens.forEach((t, i) => {
    if (t.upper !== 'VALUES' || (tokens[i + 1] || {}).upper !== '(') return;
    const close = closing(tokens, i + 1);
    const [comma, open] = [tokens[close + 1], tokens[close + 2]];
    const more = comma && comma.upper === ',' && open && open.upper === '(';
    if (more) say(open.line, 'VALUES with several rows');
  });
}

function closing(tokens, open) {
  let depth = 0;
  for (let i = open; i < tokens.length; i++) {
    if (tokens[i].upper === '(') depth++;
    if (tokens[i].upper === ')' && --depth === 0) return i;
  }
  return tokens.length;
}

// JSON_VALUE(... RETURNING NUMBER) is another clause: it lies in parentheses.
function returning(tokens, unit, say) {
  let depth = 0;
  tokens.forEach((t, i) => {
    depth += t.upper === '(' ? 1 : t.upper === ')' ? -1 : 0;
    if (t.upper !== 'RETURNING' || depth > 0) return;
    const rest = tokens.slice(i + 1);
    const end = rest.findIndex((r) => r.upper === ';');
    const clause = end < 0 ? rest : rest.slice(0, end);
    if (!clause.some((r) => r.upper === 'INTO')) say(t.line, 'RETURNING without INTO');
  });
}

// ---- rules over the tree: (tree, unit, say) ----

function columnTypes(tree, unit, say) {
  for (const node of find(tree, ['type_name', 'native_datatype_element'])) {
    const type = tokensOf(node)[0].upper;
    const owner = above(node, (n) => /^(column_definition|modify_col_properties|type_spec)$/.test(n.rule));
    const column = owner && owner.rule !== 'type_spec';
    const sized = tokensOf(owner || node).some((t) => t.upper === '(');
    if (TYPES.has(type)) say(lineOf(node), `${type}: no type of Oracle`);
    if (type === 'BOOLEAN' && !unit) say(lineOf(node), 'BOOLEAN: no type of Oracle SQL before 23ai');
    if (type === 'VARCHAR' && column) say(lineOf(node), 'VARCHAR: Oracle says to use VARCHAR2');
    if (/^(VARCHAR2?|RAW)$/.test(type) && !unit && !sized) say(lineOf(node), `${type} without a length`);
  }
}

function truthInSql(tree, unit, say) {
  if (!unit) return; // there the token rule has it
  for (const node of find(tree, STATEMENTS)) {
    for (const t of tokensOf(node, STATEMENTS)) {
      if (/^(TRUE|FALSE)$/.test(t.upper)) say(t.line, `${t.upper}: Oracle's SQL has no such literal`);
    }
  }
}

function emptyStrings(tree, unit, say) {
  const isEmpty = (node) => tokensOf(node).map((t) => t.text).join('') === "''";
  for (const node of find(tree, ['relational_expression'])) {
    if (kid(node, 'relational_operator') && node.kids.some(isEmpty)) {
      say(lineOf(node), "comparison with '': in Oracle '' is NULL, so it is never true");
    }
  }
  for (const node of find(tree, ['in_elements'])) {
    if (node.kids.some(isEmpty)) say(lineOf(node), "IN ('') : in Oracle '' is NULL, so it is never true");
  }
}

function reservedNames(tree, unit, say) {
  for (const node of find(tree, NAMES)) {
    for (const t of tokensOf(node)) {
      const named = t.upper !== 'AS' || !kid(node, 'identifier'); // AS itself is part of a column_alias
      if (t.word && named && RESERVED.has(t.upper)) say(t.line, `${t.text}: a reserved word as a name`);
    }
  }
}

// Only a constant expression or Oracle's own functions may stand in DEFAULT and CHECK.
function ownFunctions(tree, unit, say) {
  for (const node of find(tree, ['column_definition', 'check_constraint', 'out_of_line_constraint'])) {
    for (const part of find(node, ['general_element_part', 'function_argument'])) {
      const name = tokensOf(part)[0];
      if (kid(part, 'function_argument') && /^TP_/.test(name.upper)) {
        say(name.line, `${name.text}() in DEFAULT or CHECK: Oracle refuses own functions there (ORA-04044)`);
      }
    }
  }
  for (const node of find(tree, ['check_constraint'])) {
    const clock = tokensOf(node).find((t) => /^(SYSDATE|(SYS|CURRENT_)TIMESTAMP|ROWNUM|USER)$/.test(t.upper));
    if (clock) say(clock.line, `${clock.text} in CHECK (ORA-02436)`);
  }
}

// The level that a FOR UPDATE locks: its query blocks, without the subqueries inside them.
function lockedLevels(tree, unit, say) {
  for (const lock of find(tree, ['for_update_clause'])) {
    const say14 = (what) => say(lineOf(lock), `FOR UPDATE ${what} (ORA-02014)`);
    const select = lock.up;
    const blocks = find(select, ['query_block'], ['query_block']);
    if (find(select, ['subquery_operation_part'], ['query_block']).length) say14('over UNION or MINUS');
    const inside = ['selected_list', 'from_clause', 'where_clause'];
    if (find(select, ['fetch_clause', 'offset_clause'], inside).length) say14('with FETCH FIRST or OFFSET');
    for (const block of blocks) {
      const from = kid(block, 'from_clause');
      const heads = block.kids.filter((k) => k.token).map((k) => k.token.upper);
      if (heads.includes('DISTINCT') || heads.includes('UNIQUE')) say14('with DISTINCT');
      if (kid(block, 'group_by_clause')) say14('with GROUP BY');
      const inner = from ? find(from, ['select_statement', 'subquery']).flatMap((n) => tokensOf(n)) : [];
      const bad = inner.find((t) => COMPUTED.test(t.upper));
      if (bad) say14(`over a FROM subquery with ${bad.upper}`);
    }
    if (tokensOf(lock).some((t) => t.upper === 'SKIP') && blocks.some(limitsByRownum)) {
      say(lineOf(lock), 'SKIP LOCKED with ROWNUM: rows are counted before the locked ones are skipped');
    }
  }
}

function limitsByRownum(block) {
  const where = kid(block, 'where_clause');
  return Boolean(where) && tokensOf(where, INNER).some((t) => t.upper === 'ROWNUM');
}

function orderedLevels(tree, unit, say) {
  for (const block of find(tree, ['query_block'])) {
    const order = kid(block, 'order_by_clause');
    if (!order) continue;
    if (limitsByRownum(block)) say(lineOf(order), 'ROWNUM and ORDER BY on one level: counted before sorted');
    const union = above(block, (n) => n.rule === 'subquery');
    const last = union.kids[union.kids.length - 1];
    if (union.kids.length > 1 && above(block, (n) => n === last) === null) {
      say(lineOf(order), 'ORDER BY before UNION (ORA-00933)');
    }
    const user = above(block, (n) => !/^(subquery(_\w+)?|select_(only_)?statement)$/.test(n.rule));
    if (VALUE_QUERIES.includes(user.rule) && !kid(block, 'fetch_clause')) {
      say(lineOf(order), 'ORDER BY in a subquery outside FROM (ORA-00907)');
    }
  }
}

const counts = (element) => tokensOf(element, INNER).some((t) => /^(COUNT|SUM|MIN|MAX|AVG)$/.test(t.upper));
const asks = (element) => find(element, INNER).length > 0;

// A query as a value is no constant to Oracle, though it asks for nothing of the row.
function queriesBesideCounts(tree, unit, say) {
  for (const block of find(tree, ['query_block'])) {
    const elements = find(block, ['select_list_elements'], INNER);
    if (kid(block, 'group_by_clause') || !elements.some(counts)) continue;
    const alone = elements.find((element) => asks(element) && !counts(element));
    if (alone) say(lineOf(alone), 'a query as a column beside COUNT or the like (ORA-00937): make that a query, too');
  }
}

// Oracle's SQL has no boolean values: a condition may stand only where one is asked for.
const CONDITION_PLACES = ['where_clause', 'condition', 'join_on_part', 'having_clause', 'merge_statement',
  'start_part', 'hierarchical_query_clause'];
const VALUE_PLACES = ['select_list_elements', 'column_based_update_set_clause', 'order_by_elements',
  'group_by_elements', 'function_argument', 'numeric_function', 'other_function', 'string_function',
  'values_clause'];

function isCondition(node) {
  if (node.rule === 'relational_expression') return Boolean(kid(node, 'relational_operator'));
  if (node.rule === 'quantified_expression') return tokensOf(node)[0].upper === 'EXISTS';
  return ['logical_expression', 'unary_logical_expression', 'compound_expression'].includes(node.rule) &&
    node.kids.length > 1;
}

function conditionsAsValues(tree, unit, say) {
  if (unit) return;
  for (const node of find(tree, ['relational_expression', 'quantified_expression', 'logical_expression',
    'unary_logical_expression', 'compound_expression'])) {
    if (isCondition(node) && inValuePlace(node)) {
      say(lineOf(node), 'a condition where a value is wanted: use CASE WHEN ... THEN 1 ELSE 0 END');
    }
  }
}

function inValuePlace(node) {
  for (let n = node; n.up; n = n.up) {
    if (/^searched_case_when_part$/.test(n.up.rule)) return n.up.kids.filter((k) => k.rule)[0] !== n;
    if (CONDITION_PLACES.includes(n.up.rule)) return false;
    if (VALUE_PLACES.includes(n.up.rule)) return true;
  }
  return false;
}

// ---- what Oracle takes, and does otherwise than our statements mean ----

const heads = (node) => tokensOf(node).map((t) => t.upper).join(' ');
const leavesOf = (node) => (node.token ? [node] : node.kids.flatMap(leavesOf));
const ofDual = (block) => Boolean(kid(block, 'from_clause')) && heads(kid(block, 'from_clause')) === 'FROM DUAL';

// A long text is bound as LONG, which may be a whole value of VALUES or SET and nothing else. Rows of DUAL get short ones only.
function longTexts(tree, unit, say) {
  if (unit) return;
  for (const leaf of leavesOf(tree).filter((n) => n.token.upper === ':PARAMS')) {
    let value = leaf;
    while (tokensOf(value.up).length === 1) value = value.up;
    const place = value.up.rule;
    const block = above(leaf, (n) => n.rule === 'query_block');
    const given = block ? ofDual(block) && /^select(ed_list|_list_elements)$/.test(place)
      : /^(expressions|values_clause|column_based_update_set_clause)$/.test(place);
    if (!given) say(leaf.token.line, ':params, a LONG, is neither a value of VALUES nor of SET (ORA-01461)');
  }
}

// The clock is a function of PL/SQL: called for each row, unless it is all that a subquery of DUAL has.
function clockOnce(tree, unit, say) {
  if (unit) return;
  const leaves = leavesOf(tree);
  for (const leaf of leaves.filter((n, i) => n.token.upper === 'TP_NOW' && (leaves[i + 1] || n).token.text === '(')) {
    const block = above(leaf, (n) => n.rule === 'query_block');
    const within = block && above(block, (n) => /^(query_block|where_clause|update_statement)$/.test(n.rule));
    const once = !block ? above(leaf, (n) => n.rule === 'values_clause')
      : ofDual(block) && (!within || heads(block) === 'SELECT TP_NOW ( ) FROM DUAL');
    if (!once) say(leaf.token.line, 'tp_now() for each row: write (SELECT tp_now() FROM DUAL)');
  }
}

// The conditions of a WHERE that are joined by AND, ROWNUM's apart.
function conditionsOf(where) {
  const all = [''];
  let depth = 0;
  for (const { upper } of tokensOf(where).slice(1)) {
    depth += upper === '(' ? 1 : upper === ')' ? -1 : 0;
    if (upper === 'AND' && depth === 0) all.push('');
    else all[all.length - 1] += ` ${upper}`;
  }
  return all.filter((condition) => !/ ROWNUM /.test(condition));
}

// An UPDATE that waited for a row looks at its own conditions again, not at those of its subquery.
function repeatedConditions(tree, unit, say) {
  for (const update of find(tree, ['update_statement'])) {
    const where = kid(update, 'where_clause');
    const blocks = where ? find(where, ['query_block']) : [];
    if (!blocks.some(limitsByRownum)) continue;
    const table = heads(kid(update, 'general_table_ref')).split(' ')[0];
    const own = conditionsOf(where);
    for (const block of blocks.filter((b) => heads(kid(b, 'from_clause')).split(' ')[1] === table)) {
      const inner = kid(block, 'where_clause') ? conditionsOf(kid(block, 'where_clause')) : [];
      const missing = inner.find((condition) => !own.includes(condition));
      if (missing) say(lineOf(update), `UPDATE of the first n without its subquery's condition${missing}`);
    }
  }
}

const TOKEN_RULES = [foreignWords, longNames, manyRows, returning];
const TREE_RULES = [columnTypes, truthInSql, emptyStrings, reservedNames, ownFunctions, lockedLevels,
  orderedLevels, queriesBesideCounts, conditionsAsValues, longTexts, clockOnce, repeatedConditions];

// [{line, message}] for one parsed statement; unit: it is a PL/SQL block or function.
function judge({ errors, tokens, tree }, unit) {
  const problems = [];
  const say = (line, message) => {
    if (!problems.some((p) => p.line === line && p.message === message)) problems.push({ line, message });
  };
  TOKEN_RULES.forEach((rule) => rule(tokens, unit, say));
  if (!errors.length) TREE_RULES.forEach((rule) => rule(tree, unit, say));
  return problems;
}

module.exports = { judge };
