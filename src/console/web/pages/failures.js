/* What fails, in groups of the same handler and reason; a whole group is retried or skipped at once. */
import { actionButton } from "../action.js";
import { ask, may } from "../api.js";
import { h } from "../dom.js";
import { foreign, number, time, visible, warned } from "../format.js";
import { link, taskLink } from "../route.js";
import { table } from "../table.js";
import { t } from "../texts.js";

/** @param {import("../route.js").Place} place */
export async function load(place) {
  return ask(place.pool, "failures", place.query);
}

/** Only not stored: a retry would do it again. @param {any} group */
const isDone = (group) => group.retry.startsWith("taskpool skip ");

/** @param {any} group @param {string} pool */
function actions(group, pool) {
  if (!group.reason_like) return null; // it would select more than the group
  const about = t("about_group", { handler: visible(group.handler), reason: visible(group.reason_like ?? "–").slice(0, 200) });
  const body = { selection: { pool: "all", handler: group.handler, reason_like: group.reason_like } };
  return h("div.actions", { role: "group", "aria-label": t("actions") },
    isDone(group) ? null : actionButton(t("retry"), () => ({ pool, name: "retry", title: t("retry"), about, body, warning: warned(group) })),
    actionButton(t("skip"), () => ({ pool, name: "skip", title: t("skip"), about, body })));
}

/** @param {{groups: any[]}} data @param {import("../route.js").Place} place @param {() => void} again */
export function view(data, place, again) {
  const { pool, query } = place;
  const columns = /** @type {import("../table.js").Column<any>[]} */ ([
    { label: t("tasks"), number: true, by: (g) => g.count, cell: (g) => h("a", { href: link(pool, "tasks", { pool: "all", handler: g.handler, reason_like: g.reason_like }) }, number(g.count)) },
    { label: t("of_them_waiting"), number: true, by: (g) => g.waiting, cell: (g) => number(g.waiting) },
    { label: t("handler"), by: (g) => g.handler, cell: (g) => foreign(g.handler) },
    { label: t("reason"), cell: (g) => [foreign(g.reason_like, 300), h("p.warning", {}, warned(g))] },
    { label: t("first"), by: (g) => g.first, spare: true, cell: (g) => time(g.first) },
    { label: t("last"), by: (g) => g.last, cell: (g) => time(g.last) },
    { label: t("example"), cell: (g) => taskLink(pool, g.example) },
  ]);
  if (may()) columns.push({ label: t("actions"), cell: (g) => actions(g, pool) });
  return h("div", {}, h("p.hint", {}, t("failures_hint")),
    query.handler ? h("p", {}, t("only_handler"), " ", foreign(query.handler), " ", h("a", { href: link(pool, "failures") }, t("show_every"))) : null,
    table(t("failures"), columns, data.groups, (g) => `${g.handler} ${g.reason_like}`, { hideCaption: true, empty: t("nothing_fails"), again }));
}

export const live = 8000;
export const title = "failures";
