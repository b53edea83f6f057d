/* The audit: what was done to tasks, by whom, when and why; as a file for a spreadsheet. */
import { ask } from "../api.js";
import { h, note } from "../dom.js";
import { foreign, number, time } from "../format.js";
import { go, link, taskLink } from "../route.js";
import { table } from "../table.js";
import { t } from "../texts.js";

const MOST = 10000; // events of a file
const FIELDS = ["at", "event", "id", "handler", "attempt", "owner", "who", "reason"];

/** @param {import("../route.js").Place} place */
export async function load(place) {
  return ask(place.pool, "history", { limit: 100, ...place.query });
}

/** A cell of RFC 4180. A text that a spreadsheet would take for a formula gets an apostrophe before it. @param {unknown} value */
function cell(value) {
  if (typeof value === "number") return String(value);
  const text = value === null || value === undefined ? "" : String(value);
  return `"${(/^[=+\-@\t\r]/.test(text) ? "'" : "") + text.replaceAll('"', '""')}"`;
}

/** @param {import("../route.js").Place} place */
async function exportCsv(place) {
  const { after: _, ...query } = place.query; // eslint-disable-line no-unused-vars
  const lines = [FIELDS.join(",")];
  let after = null;
  do {
    const page = await ask(place.pool, "history", { ...query, limit: 200, after });
    for (const event of page.events)
      lines.push(FIELDS.map((name) => cell(name === "at" ? new Date(event.at).toISOString() : event[name])).join(","));
    after = page.next;
  } while (after && lines.length <= MOST);
  const url = URL.createObjectURL(new Blob([lines.join("\r\n") + "\r\n"], { type: "text/csv" }));
  h("a", { href: url, download: `taskpool-${place.pool}-history.csv` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
  note(t(after ? "exported_part" : "exported", { n: number(lines.length - 1) }));
}

/** @param {{events: any[], next: string | null}} data @param {import("../route.js").Place} place */
export function view(data, place) {
  const { pool, query } = place;
  /** @param {SubmitEvent} event */
  const onsubmit = (event) => {
    event.preventDefault();
    go(link(pool, "history", Object.fromEntries(new FormData(/** @type {HTMLFormElement} */ (event.target)))));
  };
  const field = (/** @type {string} */ name) => h("div.field", {}, h("label", { for: `by-${name}` }, t(name)), h("input", { id: `by-${name}`, name, value: query[name] ?? "", maxlength: 200 }));
  const save = () => exportCsv(place).catch((/** @type {Error} */ error) => note(error.message));
  return h("div", {},
    h("form.search", { onsubmit, role: "search" }, field("who"), field("what"),
      h("div.buttons", {}, h("button.main", { type: "submit" }, t("search")), h("button.quiet", { type: "button", onclick: save }, t("export")))),
    table(t("history"), [
      { label: t("time"), cell: (e) => time(e.at) },
      { label: t("what"), cell: (e) => foreign(e.event) },
      { label: t("who"), cell: (e) => foreign(e.who) },
      { label: t("task"), cell: (e) => (e.id ? taskLink(pool, e.id) : "–") },
      { label: t("handler"), cell: (e) => foreign(e.handler) },
      { label: t("attempt"), number: true, spare: true, cell: (e) => number(e.attempt) },
      { label: t("reason"), cell: (e) => foreign(e.reason, 600) },
    ], data.events, (e) => `${e.at} ${e.event} ${e.id} ${e.attempt}`, { hideCaption: true }),
    h("nav.paging", { "aria-label": t("paging") },
      query.after ? h("a.quiet", { href: link(pool, "history", { ...query, after: "" }) }, t("first_page")) : null,
      data.next ? h("a.quiet", { href: link(pool, "history", { ...query, after: data.next }) }, t("older")) : h("span.dim", {}, t("end"))));
}

export const live = 0;
export const title = "history";
