'use strict';
// Cuts our SQL files into statements: comments blanked, line numbers kept. Knows the file conventions
// (README.md), not the grammar. What SQL*Plus would do differently from the library is reported here.

const CODE = 0, STRING = 1, COMMENT = 2;
const CLOSERS = { '[': ']', '{': '}', '(': ')', '<': '>' };
const UNIT = new RegExp('^(BEGIN|DECLARE|CREATE(\\s+OR\\s+REPLACE)?(\\s+(NON)?EDITIONABLE)?\\s+' +
  '(FUNCTION|PROCEDURE|TRIGGER|PACKAGE|TYPE))\\b', 'i');
const DDL = /^\s*(CREATE|ALTER|DROP|GRANT|REVOKE|COMMENT)\b/i;
const EMPTY = { line: 1, message: 'no statement in the file' };
const ROWS = /\/\*rows\*\/([\s\S]*?)\/\*end\*\//;
const OPTIONAL = /\/\*shards\*\/([^/]*?)\/\*end\*\//g;
const MARKS = /\/\*(rows|shards|end)\*\//g;

// The end of the quoted or commented part that begins at i, or of the one code character there.
function partAt(text, i) {
  const two = text.slice(i, i + 2);
  const end = (mark, from) => {
    const at = text.indexOf(mark, from);
    return at < 0 ? -1 : at + mark.length;
  };
  if (two === '--') return { kind: COMMENT, end: i + text.slice(i).search(/\n|$/) };
  if (two === '/*') return { kind: COMMENT, end: end('*/', i + 2) };
  if (/^q'$/i.test(two) && !/\w/.test(text[i - 1] || ' ')) {
    const open = text[i + 2];
    return { kind: STRING, end: end((CLOSERS[open] || open) + "'", i + 3) };
  }
  if (/['"]/.test(text[i])) return { kind: STRING, end: end(text[i], i + 1) }; // 'a''b' is two parts
  return { kind: CODE, end: i + 1 };
}

// Text of the same length and lines with comments blanked; kinds[i] says what text[i] is.
function scan(text) {
  const kinds = new Uint8Array(text.length);
  const problems = [];
  for (let i = 0; i < text.length;) {
    let { kind, end } = partAt(text, i);
    if (end < 0) {
      problems.push({ line: lineOf(text, i), message: 'string or comment without an end' });
      end = text.length;
    }
    kinds.fill(kind, i, end);
    i = end;
  }
  const plain = Array.from({ length: text.length },
    (_, i) => (kinds[i] === COMMENT && text[i] !== '\n' ? ' ' : text[i])).join('');
  return { plain, kinds, problems };
}

function lineOf(text, offset) {
  return text.slice(0, offset).split('\n').length;
}

const isUnit = (text) => UNIT.test(text.trim());

// A script holds many statements: it lies in a subfolder (schema/, drop/, grants/), is numbered, or is DDL
// with statements ended by ';', or has a line of only '/'.
function isScript(path, text) {
  const parts = path.split(/[\\/]/);
  const name = parts[parts.length - 1];
  const folder = parts[parts.length - 2] || '';
  if (/^(schema|drop|drops|grants|partitioned)$/.test(folder)) return true;
  if (/(^|[\\/])sql[\\/]oracle[\\/][^\\/]+[\\/]/.test(path)) return true;
  if (/^(\d{4}_.*|schema|drop|grants)\.sql$/.test(name)) return true;
  const { plain } = scan(text);
  return /^\/[ \t]*$/m.test(plain) || (!isUnit(plain) && DDL.test(plain) && /;[ \t]*$/m.test(plain));
}

// One statement, as the library sends it; once more with the repeated part twice, without the optional parts, and both.
function statementOf(text) {
  const { plain, problems } = scan(text);
  const trimmed = plain.trimEnd();
  const unit = isUnit(plain);
  const line = lineOf(text, plain.search(/\S|$/));
  if (!trimmed.trim()) return { statements: [], problems: [EMPTY] };
  if (unit && !trimmed.endsWith(';')) problems.push({ line, message: 'a PL/SQL block must end with ;' });
  if (!unit) {
    for (const at of codeOffsets(text, ';')) {
      problems.push({ line: lineOf(text, at), message: '; in a statement file (Oracle: ORA-00911)' });
    }
  }
  const statements = [{ text: trimmed, line, unit }];
  const marks = (text.match(MARKS) || []).join('');
  const bare = text.replace(OPTIONAL, '');
  const optional = bare !== text, left = (bare.match(MARKS) || []).join('');
  const paired = left === '/*rows*//*end*/';
  if (left && !paired) problems.push({ line, message: `want one /*rows*/ ... /*end*/ pair, not ${marks}` });
  const note = ' (without the shards part)';
  if (optional) statements.push({ text: scan(bare).plain.trimEnd(), line, unit, note });
  if (paired) statements.push({ text: twice(whole(text)), line, unit, note: ' (with the rows part twice)' });
  if (paired && optional) statements.push({ text: twice(bare), line, unit, note: `${note} (twice)` });
  return { statements, problems };
}

// Without the marks of the optional parts.
function whole(text) {
  return text.replace(OPTIONAL, '$1');
}

function twice(text) {
  const doubled = text.replace(ROWS, (all, part) => {
    const again = scan(part).plain.replace(/\s+/g, ' ').trim();
    return ` ${part} UNION ALL ${again} `;
  });
  return scan(doubled).plain.trimEnd();
}

// The SQL that a page of the documentation gives for Oracle: blocks that name no database, or this one.
function pageOf(text) {
  const statements = [], problems = [];
  for (const { 1: head, 2: info, 3: sql, index } of text.matchAll(/^(```sql(.*)\n)([\s\S]*?)^```/gm)) {
    const database = info.trim().split(/\s+/)[1];
    if (database && database !== 'oracle') continue;
    const block = scriptOf('\n'.repeat(lineOf(text, index + head.length) - 1) + sql);
    statements.push(...block.statements);
    problems.push(...block.problems);
  }
  if (!statements.length) problems.push(EMPTY);
  return { statements, problems };
}

function codeOffsets(text, mark) {
  const { kinds } = scan(text);
  return text.split('').flatMap((c, i) => (c === mark && kinds[i] === CODE ? [i] : []));
}

// A script's statements: SQL ends with ';' at the end of a line, a PL/SQL unit with a line of only '/'.
function scriptOf(text) {
  const { plain, kinds, problems } = scan(text);
  const statements = [];
  const raw = text.split('\n');
  let open = null; // the statement being read
  let offset = 0;
  plain.split('\n').forEach((code, i) => {
    const line = i + 1;
    const say = (message) => problems.push({ line, message });
    const inString = offset > 0 && kinds[offset - 1] === STRING; // of the line feed before
    const ends = /;\s*$/.test(code) && kinds[offset + code.trimEnd().length - 1] === CODE;
    if (i < raw.length - 1) sqlplusTraps(raw[i], { code, open, inString, ends }, say);
    if (/^\s*\/\s*$/.test(code) && !inString) {
      if (open && open.unit) { statements.push(open); open = null; }
      else say('a line with only / where no PL/SQL block is open: SQL*Plus runs the last statement again');
    } else if (open || code.trim()) {
      open = open || { text: '\n'.repeat(i), line };
      open.text += (open.line === line ? '' : '\n') + code;
      open.unit = isUnit(open.text);
      if (!open.unit && ends) {
        open.text = open.text.trimEnd().slice(0, -1);
        statements.push(open);
        open = null;
      }
    }
    offset += code.length + 1;
  });
  if (open && open.text.trim()) {
    const how = open.unit ? 'a line with only /' : '; at the end of a line';
    problems.push({ line: open.line, message: `this statement is not ended by ${how}` });
    statements.push(open);
  }
  if (!statements.length) problems.push(EMPTY);
  return { statements, problems };
}

// Scripts also run in SQL*Plus, which reads lines, not tokens.
function sqlplusTraps(raw, { code, open, inString, ends }, say) {
  const comment = raw.slice(code.trimEnd().length).trim();
  const inSql = open ? !open.unit : code.trim() && !isUnit(code);
  if (raw.includes('&')) say('& starts a SQL*Plus variable, even in a comment or a string');
  if (open && inSql && !raw.trim()) say('blank line inside a statement: SQL*Plus drops what came before it');
  if (!open && /^\s*\/\*\S/.test(raw)) say('/* without a space after it: SQL*Plus takes it for /');
  if (inSql && ends && comment) say('comment after ; : SQL*Plus does not see the end');
  if (inSql && !ends && /;\s*$/.test(raw)) say('comment or string with ; at a line end: SQL*Plus ends there');
  if (/-\s*$/.test(raw)) say('- at the end of a line: SQL*Plus joins the next line to it');
  if (inString && /^\s*\/\s*$/.test(raw)) say('line with only / in a string: SQL*Plus ends there');
}

module.exports = { scan, statementOf, scriptOf, pageOf, isScript };
