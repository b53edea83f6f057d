/* Approvals: what waits for a second person, and whether anything has to. */
import { actionButton } from "../action.js";
import { ask, currentSession, may } from "../api.js";
import { h } from "../dom.js";
import { foreign, number, time, visible } from "../format.js";
import { paramsOf } from "../params.js";
import { link, taskLink } from "../route.js";
import { table } from "../table.js";
import { t } from "../texts.js";

/** @param {import("../route.js").Place} place */
export async function load(place) {
  return ask(place.pool, "requests", { limit: 100, state: place.query.all ? "" : "waiting" });
}

/** A selection says the shard and the deadline of an edit, also when that is decided. @param {string} name @param {any} request */
function selected(name, request) {
  const [, value] = new RegExp(` ${name === "shard" ? name : "deadline"}=(-?\\d+)`).exec(request.selection ?? "") ?? [];
  if (value === undefined) return null;
  if (name === "shard") return number(Number(value));
  return Number(value) ? time(Number(value)) : t("taken_out");
}

/** One field of an edit, whole; of a request that is decided, whose content is no longer kept, its name.
 * @param {string} name @param {any} request */
function field(name, request) {
  if (name === "retry") return h("div", {}, t("retry_too"));
  if (name === "shard" || name === "deadline_at") return h("div", {}, t(name), " ", h("code", {}, selected(name, request)));
  if (name === "params" && request.params) return h("div", {}, t("params"), paramsOf(request, Infinity));
  if (request.state !== "waiting" || (name === "params" && request.params_hidden)) return h("div", {}, t(name), name === "params" && request.params_hidden ? " ***" : null);
  const value = name === "due_at" ? time(request.due_at) : name === "priority" || name === "max_failures" ? number(request[name] ?? 0)
    : request[name] ? foreign(request[name], Infinity) : t("taken_out");
  return h("div", {}, t(name), " ", h("code", {}, value));
}

/** Everything that an edit writes, and whose traces are erased. @param {any} request */
function content(request) {
  const names = String(request.fields ?? "").split(" ").filter(Boolean);
  if (!names.length) return request.biz_key ? h("div", {}, t("biz_key"), " ", h("code", {}, foreign(request.biz_key, Infinity))) : [];
  return names.map((name) => field(name, request));
}

/** An edit names its task. @param {any} request @param {string} pool */
function selection(request, pool) {
  const id = request.act === "edit" && /^id=([0-9a-f-]{36})(?: |$)/.exec(request.selection ?? "");
  return id ? taskLink(pool, id[1]) : foreign(request.selection ?? "", 600);
}

/** @param {any} request @param {string} pool */
function decisions(request, pool) {
  if (request.state !== "waiting") return foreign(request.decided_by ?? "");
  const own = currentSession().user?.toLowerCase() === request.asked_by.toLowerCase();
  const about = t("about_request", { act: request.act, name: visible(request.asked_by) });
  const button = (/** @type {string} */ name, /** @type {string} */ role) => actionButton(t(name),
    () => ({ pool, name, title: t(name), about, body: { request: request.request }, any: true }), "quiet", role);
  return h("div.actions", { role: "group", "aria-label": t("actions") }, own ? null : button("approve", "approver"), button("refuse", own ? "operator" : "approver"));
}

/** @param {any} data @param {string} pool */
function setting(data, pool) {
  const title = t(data.four_eyes ? "eyes_switch_off" : "eyes_switch_on");
  return h("p.answer", {}, h("span", {}, data.four_eyes ? t("eyes_on", { n: number(data.retries) }) : t("eyes_off")), " ",
    actionButton(title, () => ({ pool, name: "four-eyes", title, about: t("about_eyes"), body: { on: !data.four_eyes } }), "quiet", "administrator"));
}

/** @param {any} data @param {import("../route.js").Place} place */
export function view(data, place) {
  const { pool, query } = place;
  const columns = /** @type {import("../table.js").Column<any>[]} */ ([
    { label: t("time"), cell: (r) => time(r.created_at) },
    { label: t("act"), cell: (r) => [foreign(r.act), r.pool ? [" ", foreign(r.pool)] : null].flat() },
    { label: t("rows"), number: true, cell: (r) => number(r.rows) },
    { label: t("selection"), cell: (r) => selection(r, pool) },
    { label: t("content"), cell: (r) => content(r) },
    { label: t("asked_by"), cell: (r) => foreign(r.asked_by) },
    { label: t("reason"), cell: (r) => foreign(r.why ?? "", 600) },
    { label: t("state"), cell: (r) => foreign(r.state) },
    { label: t("expires"), spare: true, cell: (r) => time(r.expires_at) },
  ]);
  if (may() || query.all) columns.push({ label: may() ? t("actions") : t("decided_by"), cell: (r) => decisions(r, pool) });
  return h("div", {}, setting(data, pool),
    h("p", {}, h("a.quiet", { href: link(pool, "approvals", query.all ? {} : { all: "1" }) }, t(query.all ? "waiting_only" : "all_requests"))),
    table(t("approvals"), columns, data.requests, (r) => r.request, { hideCaption: true, empty: t("nothing_waits") }));
}

export const live = 5000;
export const title = "approvals";
