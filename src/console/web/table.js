/* Tables of all pages: a head, rows with keys, cells that are labelled where a phone shows a row as a card. */
import { h } from "./dom.js";
import { t } from "./texts.js";

/**
 * @template Row
 * @typedef {{label: string, cell: (row: Row) => import("./dom.js").Child | import("./dom.js").Child[], number?: boolean, spare?: boolean,
 *   by?: (row: Row) => number | string | null}} Column
 */

/** How each table is sorted by its reader: caption -> column and direction. @type {Map<string, {label: string, down: boolean}>} */
const orders = new Map();

/**
 * Rows that are all there can be sorted by the columns with `by`; pages of a larger list are in the order of their keys.
 * @template Row
 * @param {string} caption
 * @param {Column<Row>[]} columns @param {Row[]} rows
 * @param {(row: Row) => string} keyOf
 * @param {{empty?: string, hideCaption?: boolean, again?: () => void}} [options]  again: shows the page anew, after a click on a head
 */
export function table(caption, columns, rows, keyOf, options = {}) {
  if (!rows.length) return h("p.empty", { "data-key": caption }, options.empty ?? t("none"));
  const order = orders.get(caption);
  const by = order && columns.find((column) => column.label === order.label)?.by;
  const sorted = by ? [...rows].sort((a, b) => compare(by(a), by(b)) * (order.down ? -1 : 1)) : rows;
  const head = columns.map((column) => headCell(caption, column, order, options.again));
  const body = sorted.map((row) => h("tr", { "data-key": keyOf(row) }, columns.map((column) =>
    h(`td${column.number ? ".number" : ""}${column.spare ? ".spare" : ""}`, { "data-label": column.label }, column.cell(row)))));
  return h("div.scroll", { "data-key": caption, role: "region", "aria-label": caption, tabindex: "0" },
    h("table", {}, h(options.hideCaption ? "caption.hidden" : "caption", {}, caption), h("thead", {}, h("tr", {}, head)), h("tbody", {}, body)));
}

/** @param {string} caption @param {Column<any>} column @param {{label: string, down: boolean} | undefined} order @param {(() => void) | undefined} again */
function headCell(caption, column, order, again) {
  const tag = `th${column.number ? ".number" : ""}${column.spare ? ".spare" : ""}`;
  if (!column.by || !again) return h(tag, { scope: "col" }, column.label);
  const here = order?.label === column.label;
  const turn = () => {
    orders.set(caption, { label: column.label, down: here ? !order.down : true });
    again();
  };
  return h(tag, { scope: "col", "aria-sort": here ? (order.down ? "descending" : "ascending") : "none" },
    h("button.sort", { type: "button", onclick: turn }, column.label, h("span", { "aria-hidden": "true" }, here ? (order.down ? " ▾" : " ▴") : "")));
}

/** What is not set comes last, when the largest come first. @param {number | string | null} a @param {number | string | null} b */
function compare(a, b) {
  if (a === b) return 0;
  if (a === null) return -1;
  if (b === null) return 1;
  return a < b ? -1 : 1;
}

/** Names and values. @param {[string, import("./dom.js").Child][]} pairs */
export function list(pairs) {
  return h("dl.fields", {}, pairs.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}
