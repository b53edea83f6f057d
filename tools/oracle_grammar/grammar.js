'use strict';
// Parses one statement with the PL/SQL grammar of antlr4ts-sql and gives back a plain tree:
//   token {text, upper, word, line, start}   leaf {token, up}   node {rule, kids, up}
// Only the Oracle parser is loaded: the package's own index loads four.

const DIST = 'antlr4ts-sql/dist/src/';
const { ANTLRInputStream, CommonTokenStream } = require('antlr4ts');
const { PredictionMode } = require('antlr4ts/atn/PredictionMode');
const { CaseChangingStream } = require(DIST + 'models/CaseChangingStream');
const { PlSqlLexer } = require(DIST + 'grammar-output/plsql/PlSqlLexer');
const { PlSqlParser } = require(DIST + 'grammar-output/plsql/PlSqlParser');

const NOT_WORDS = new Set([PlSqlLexer.CHAR_STRING, PlSqlLexer.BINDVAR]);

// SEQ is a word of the grammar alone: Oracle takes it as a name.
function asNames(stream) {
  stream.fill();
  for (const token of stream.getTokens()) if (token.type === PlSqlLexer.SEQ) token.type = PlSqlLexer.REGULAR_ID;
}

// Where the quick way of deciding finds no error it reads as the whole one does, which takes several times as long.
function parse(text) {
  const quick = parseBy(PredictionMode.SLL, text);
  return quick.errors.length ? parseBy(PredictionMode.LL, text) : quick;
}

function parseBy(mode, text) {
  const errors = [];
  const lexer = new PlSqlLexer(new CaseChangingStream(new ANTLRInputStream(text), true));
  const stream = new CommonTokenStream(lexer);
  const parser = new PlSqlParser(stream);
  parser.interpreter.setPredictionMode(mode);
  lexer.removeErrorListeners();
  parser.removeErrorListeners();
  lexer.addErrorListener({
    syntaxError: (_r, _o, line, column) => {
      const rest = text.split('\n')[line - 1].slice(column, column + 12).trim();
      errors.push({ line, message: `unexpected ${rest}` });
    },
  });
  asNames(stream);
  parser.addErrorListener({
    syntaxError: (_r, bad, line) => errors.push({ line, message: `unexpected ${describe(text, bad)}` }),
  });
  const script = parser.sql_script();
  const tokens = stream.getTokens().filter((t) => t.channel === 0 && t.type !== -1)
    .map((t) => tokenOf(text, t));
  const byStart = new Map(tokens.map((t) => [t.start, t]));
  const tree = plain(script, null, parser.ruleNames, byStart);
  const units = tree.kids.filter((k) => k.rule);
  return { errors, tokens, tree, units };
}

const spelling = (text, token) => text.slice(token.startIndex, token.stopIndex + 1);

function describe(text, token) {
  if (!token || token.type === -1 || token.startIndex >= text.trimEnd().length) return 'end of statement';
  const before = text.slice(0, token.startIndex).trimEnd().split(/[\s(),]+/).pop();
  return `'${spelling(text, token)}'` + (before ? ` after '${before}'` : '');
}

function tokenOf(text, token) {
  const spelled = spelling(text, token);
  const word = /^("?)[A-Za-z]/.test(spelled) && !NOT_WORDS.has(token.type);
  const upper = spelled.toUpperCase();
  return { text: spelled, upper, word, line: token.line, start: token.startIndex };
}

function plain(context, up, names, byStart) {
  if (context.symbol) return { token: byStart.get(context.symbol.startIndex), up, kids: [] };
  const node = { rule: names[context.ruleIndex], up, kids: [] };
  node.kids = (context.children || []).map((c) => plain(c, node, names, byStart))
    .filter((k) => k.rule || k.token);
  return node;
}

// All nodes of the given rules below a node, without going into the rules of `stop`.
function find(node, rules, stop = []) {
  const found = [];
  const visit = (n) => {
    for (const kid of n.kids) {
      if (rules.includes(kid.rule)) found.push(kid);
      if (!stop.includes(kid.rule)) visit(kid);
    }
  };
  visit(node);
  return found;
}

function tokensOf(node, stop = []) {
  if (node.token) return [node.token];
  return node.kids.filter((k) => !stop.includes(k.rule)).flatMap((k) => tokensOf(k, stop));
}

const kid = (node, ...rules) => node.kids.find((k) => rules.includes(k.rule));
const lineOf = (node) => (tokensOf(node)[0] || { line: 1 }).line;

module.exports = { parse, find, tokensOf, kid, lineOf };
