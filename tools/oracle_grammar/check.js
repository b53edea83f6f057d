'use strict';
// Says for each file with Oracle SQL whether Oracle would take it, as far as a grammar can tell.
// Reads: source.js cuts files into statements, grammar.js parses one, rules.js has what the grammar lacks.
// Started by check.sh, which sets NODE_PATH.

const fs = require('fs');
const path = require('path');
const { parse, tokensOf } = require('./grammar');
const { judge } = require('./rules');
const { statementOf, scriptOf, pageOf, isScript } = require('./source');

// Statements that Oracle takes and the grammar does not know; accepted by their whole shape.
const NAME = '[A-Z][A-Z0-9_$#]{0,29}(\\.[A-Z][A-Z0-9_$#]{0,29})?';
const GAPS = [
  `DROP TABLE ${NAME} CASCADE CONSTRAINTS( PURGE)?`,
  `(CREATE|DROP) ROLE ${NAME}`,
  `DROP (PUBLIC )?SYNONYM ${NAME}`,
  `REVOKE [A-Z]+( , [A-Z]+)*( ON ${NAME})? FROM ${NAME}( , ${NAME})*`,
].map((shape) => new RegExp(`^${shape}$`));

const VERBS = new RegExp('^\\s*\\(*\\s*(SELECT|WITH|INSERT|UPDATE|DELETE|MERGE|CREATE|ALTER|DROP|GRANT|' +
  'REVOKE|COMMENT|TRUNCATE|LOCK|COMMIT|ROLLBACK|SAVEPOINT|SET\\s+TRANSACTION|CALL|BEGIN|DECLARE)\\b', 'i');

const HINTS = [
  [/unexpected 'AS'/i, 'Oracle takes no AS before a table alias'],
  [/'json_table'/i, 'the grammar does not know JSON_TABLE, Oracle does'],
  [/unexpected 'DEFAULT' after 'NULL'/i, 'DEFAULT stands before NOT NULL'],
];

// One statement: [{line, message}], empty when accepted.
function check(statement) {
  const shape = statement.text.trim().replace(/\s*,\s*/g, ' , ').replace(/\s+/g, ' ').toUpperCase();
  if (!statement.unit && GAPS.some((gap) => gap.test(shape))) return [];
  const parsed = parse(statement.text + (statement.unit ? '' : '\n;'));
  const problems = judge(parsed, statement.unit);
  if (parsed.errors.length) problems.push(parsed.errors[0]);
  else problems.push(...oneStatement(parsed, statement));
  const lastLine = statement.text.split('\n').length; // our own ';' stands one line below
  return problems.map(({ line, message }) => {
    const hint = HINTS.find(([sign]) => sign.test(message));
    const text = message + (hint ? `: ${hint[1]}` : '') + (statement.note || '');
    return { line: Math.min(line, lastLine), message: text };
  });
}

// The grammar reads on without ';': what it does not understand may pass as a second statement.
function oneStatement({ units, tree }, statement) {
  if (units.length !== 1) {
    const odd = tokensOf(units[1] || units[0] || tree)[0] || statement;
    return [{ line: odd.line, message: `not one statement but ${units.length}, from '${odd.text}' on` }];
  }
  if (VERBS.test(statement.text)) return [];
  return [{ line: statement.line, message: 'no SQL: a SQL*Plus command cannot go through the library' }];
}

function checkFile(file, script) {
  const text = fs.readFileSync(file, 'utf8').replace(/\r\n/g, '\n');
  const cut = file.endsWith('.md') ? pageOf : script || isScript(file, text) ? scriptOf : statementOf;
  const { statements, problems } = cut(text);
  return [...problems, ...statements.flatMap(check)].sort((a, b) => a.line - b.line);
}

function sqlFiles(folder, deep) {
  if (!fs.existsSync(folder)) return [];
  return fs.readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const file = path.join(folder, entry.name);
      if (entry.isDirectory()) return deep ? sqlFiles(file, true) : [];
      return entry.name.endsWith('.sql') ? [file] : [];
    });
}

// The scripts of sql/oracle, the statements and scripts that the build writes, and what a page tells people to run.
function filesOf(root, statements) {
  const scripts = sqlFiles(path.join(root, 'sql', 'oracle'), true).filter((f) => path.basename(path.dirname(f)) !== 'oracle');
  const page = path.join(root, 'docs', 'origins.md');
  return [...scripts, ...sqlFiles(statements, true), ...(fs.existsSync(page) ? [page] : [])];
}

// Is it the same text there, where the statements stand in a folder of that name?
function isAsBefore(file, root, statements, before) {
  const inside = path.relative(statements, file);
  const old = inside.startsWith('..') ? path.join(before, path.relative(root, file)) : path.join(before, 'statements', inside);
  return fs.existsSync(old) && fs.readFileSync(old, 'utf8') === fs.readFileSync(file, 'utf8');
}

function filesFrom(args) {
  const files = [];
  let root = path.resolve(__dirname, '..', '..');
  let script = false, statements = '', before = '';
  while (args.length) {
    const arg = args.shift();
    if (arg === '--root') root = args.shift();
    else if (arg === '--statements') statements = args.shift();
    else if (arg === '--before') before = args.shift();
    else if (arg === '--script') script = true;
    else { files.push({ file: arg, shown: arg, script }); script = false; }
  }
  if (files.length) return { files, root };
  const all = filesOf(root, statements);
  const changed = before ? all.filter((file) => !isAsBefore(file, root, statements, before)) : all;
  return { files: changed.map((file) => ({ file, shown: path.relative(root, file) })), root, left: all.length - changed.length };
}

function main() {
  const { files, root, left } = filesFrom(process.argv.slice(2));
  const missing = files.find(({ file }) => !fs.existsSync(file));
  if (missing) {
    console.error(`oracle_grammar: no such file: ${missing.file}`);
    process.exit(2);
  }
  if (!files.length && !left) {
    console.error(`oracle_grammar: nothing to check: no .sql file in sql/oracle of ${root}`);
    process.exit(2);
  }
  let failed = 0;
  for (const { file, shown, script } of files) {
    const problems = checkFile(file, script);
    if (!problems.length) { console.log(`ok ${shown}`); continue; }
    failed++;
    console.log(`REFUSED ${shown}:${problems[0].line}: ${problems[0].message}`);
    for (const p of problems.slice(1)) console.log(`        ${shown}:${p.line}: ${p.message}`);
  }
  if (left) console.log(`${left} are as they were at the proof`);
  console.log(`${files.length - failed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
}

module.exports = { check, checkFile };
if (require.main === module) main();
