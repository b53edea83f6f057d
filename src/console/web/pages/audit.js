/* The audit: what people did, when, why and to how many; as a file for a spreadsheet. */
import { ask } from "../api.js";
import { h, note } from "../dom.js";
import { foreign, number, time } from "../format.js";
import { go, link, taskLink } from "../route.js";
import { table } from "../table.js";
import { t } from "../texts.js";

const MOST = 100000; // rows of a file
const FIELDS = ["seq", "at", "who", "action", "subject", "changed", "detail", "why", "act", "ids_hash", "request_id", "prev_hash", "hash"];
const IS_TASK = /^[0-9a-f-]{36}$/;

/** @param {import("../route.js").Place} place */
export async function load(place) {
  return ask(place.pool, "audit", { limit: 100, ...place.query });
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
    const page = await ask(place.pool, "audit", { ...query, limit: 200, after });
    for (const act of page.acts)
      lines.push(FIELDS.map((name) => cell(name === "at" ? new Date(act.at).toISOString() : act[name])).join(","));
    after = page.next;
  } while (after && lines.length <= MOST);
  const url = URL.createObjectURL(new Blob([lines.join("\r\n") + "\r\n"], { type: "text/csv" }));
  h("a", { href: url, download: `taskpool-${place.pool}-audit.csv` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
  note(t(after ? "exported_part" : "exported", { n: number(lines.length - 1) }));
}

/** @param {{acts: any[], next: string | null}} data @param {import("../route.js").Place} place */
export function view(data, place) {
  const { pool, query } = place;
  /** @param {SubmitEvent} event */
  const onsubmit = (event) => {
    event.preventDefault();
    go(link(pool, "audit", Object.fromEntries(new FormData(/** @type {HTMLFormElement} */ (event.target)))));
  };
  const field = (/** @type {string} */ name) => h("div.field", {}, h("label", { for: `by-${name}` }, t(name)), h("input", { id: `by-${name}`, name, value: query[name] ?? "", maxlength: 200 }));
  const save = () => exportCsv(place).catch((/** @type {Error} */ error) => note(error.message));
  return h("div", {},
    h("form.search", { onsubmit, role: "search" }, field("who"), field("what"),
      h("div.buttons", {}, h("button.main", { type: "submit" }, t("search")), h("button.quiet", { type: "button", onclick: save }, t("export")))),
    table(t("audit"), [
      { label: t("time"), cell: (a) => time(a.at) },
      { label: t("who"), cell: (a) => foreign(a.who) },
      { label: t("what"), cell: (a) => foreign(a.action) },
      { label: t("to_what"), cell: (a) => (IS_TASK.test(a.subject) ? taskLink(pool, a.subject) : foreign(a.subject)) },
      { label: t("how_many"), number: true, cell: (a) => number(a.changed) },
      { label: t("selected"), spare: true, cell: (a) => foreign(a.detail, 600) },
      { label: t("why"), cell: (a) => foreign(a.why, 600) },
    ], data.acts, (a) => String(a.seq), { hideCaption: true }),
    h("nav.paging", { "aria-label": t("paging") },
      query.after ? h("a.quiet", { href: link(pool, "audit", { ...query, after: "" }) }, t("first_page")) : null,
      data.next ? h("a.quiet", { href: link(pool, "audit", { ...query, after: data.next }) }, t("older")) : h("span.dim", {}, t("end"))));
}

export const live = 0;
export const title = "audit";
