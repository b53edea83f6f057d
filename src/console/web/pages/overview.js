/* The overview: is anything wrong, how much is there to do, how long does it take, what fails now. */
import { ask } from "../api.js";
import { activityCharts, readActivity } from "../activity.js";
import { h } from "../dom.js";
import { ago, duration, foreign, number, rate } from "../format.js";
import { lastLive } from "../live.js";
import { link } from "../route.js";
import { table } from "../table.js";
import { language, t } from "../texts.js";

/** @typedef {import("../live.js").Overview} Overview */

/** @param {import("../route.js").Place} place */
export async function load(place) {
  const [overview, failures, activity] = await Promise.all([
    lastLive().overview ?? ask(place.pool, "overview"), ask(place.pool, "failures"), readActivity(place)]);
  return { overview, groups: failures.groups, activity };
}

/** The server's sentence is English; the parts of those that the table knows make one in another language. @param {import("../live.js").Finding} found */
function sentence(found) {
  const name = found.what === "workers" && found.level === "note" ? "found_held" : `found_${found.what}`;
  if (language() === "en" || t(name) === name) return foreign(found.text, 1000);
  return foreign(t(name, { handler: found.handler ?? "–", n: number(found.count), time: duration(found.age_ms) }), 1000);
}

/** @param {Overview} o */
function verdict({ wrong, notes }) {
  const heading = wrong.length === 0 ? t(notes.length ? "notes_only" : "nothing_wrong") : t(wrong.length === 1 ? "wrong_one" : "wrong_many", { n: wrong.length });
  const list = (/** @type {import("../live.js").Finding[]} */ all) => (all.length ? h("ul", {}, all.map((found) => h("li", {}, sentence(found)))) : null);
  return h(`section.verdict.${wrong.length ? "bad" : "good"}`, { "aria-label": t("verdict") },
    h("p.answer", { role: "status" }, heading), list(wrong), list(notes));
}

/** @param {string} label @param {string} value @param {import("../dom.js").Child} [below] @param {string} [tone] @param {string} [href] */
function tile(label, value, below, tone = "", href = "") {
  const inner = [h("span.label", {}, label), h("span.figure", {}, value), h("span.below", {}, below ?? "")];
  return h("li", {}, href ? h(`a.tile${tone}`, { href }, inner) : h(`div.tile${tone}`, {}, inner));
}

/** @param {Overview} o @param {string} pool */
function tiles(o, pool) {
  const to = (/** @type {string} */ page, /** @type {Record<string, string>} */ query = {}) => link(pool, page, query);
  return h("ul.tiles", { "aria-label": t("figures") },
    tile(t("due"), number(o.due), o.paused_due ? t("of_paused", { n: o.paused_due }) : o.oldest_due_at ? t("oldest", { time: duration(o.now - o.oldest_due_at) }) : "", "", to("tasks", { state: "pending" })),
    tile(t("running"), number(o.running), "", "", to("tasks", { state: "handling" })),
    tile(t("waiting"), number(o.waiting), t("due_later")),
    tile(t("failed"), number(o.failed), t("need_person"), o.failed ? ".bad" : "", to("failures")),
    tile(t("rate_in"), rate(o.rate_in), t("last_minute")),
    tile(t("rate_out"), rate(o.rate_out), t("last_minute")),
    tile(t("eta"), duration(o.eta_ms), o.eta_ms === null && o.due ? t("never") : ""),
    tile(t("workers"), number(o.workers), t("living"), o.workers ? "" : ".bad", to("workers")),
    tile(t("late_schedules"), number(o.late_schedules), "", o.late_schedules ? ".bad" : "", to("schedules")));
}

/** @param {any[]} groups @param {Overview} o @param {string} pool */
function failing(groups, o, pool) {
  const newest = [...groups].sort((a, b) => b.last - a.last).slice(0, 5);
  return h("section", {}, h("h2", {}, t("fails_now")), table(t("fails_now"), [
    { label: t("last"), cell: (g) => ago(g.last, o.now) },
    { label: t("tasks"), number: true, cell: (g) => h("a", { href: link(pool, "failures", { handler: g.handler }) }, number(g.count)) },
    { label: t("handler"), cell: (g) => foreign(g.handler) },
    { label: t("reason"), cell: (g) => foreign(g.reason_like, 160) },
  ], newest, (g) => `${g.handler} ${g.reason_like}`, { hideCaption: true, empty: t("nothing_fails") }));
}

/** @param {Overview} o @param {string} pool */
function busiest(o, pool) {
  const rows = [...o.handlers].sort((a, b) => b.due + b.running - a.due - a.running).slice(0, 8);
  return h("section", {}, h("h2", {}, t("busiest")), table(t("busiest"), [
    { label: t("handler"), cell: (r) => [h("a", { href: link(pool, "handlers", { handler: r.handler }) }, foreign(r.handler)), r.paused ? h("span.state.warn", {}, t("paused")) : null] },
    { label: t("due"), number: true, cell: (r) => number(r.due) },
    { label: t("age"), number: true, cell: (r) => duration(r.oldest_due_at ? o.now - r.oldest_due_at : null) },
    { label: t("rate_out"), number: true, cell: (r) => rate(r.rate_out) },
  ], rows, (r) => r.handler, { hideCaption: true }));
}

/** @param {Awaited<ReturnType<typeof load>>} data @param {import("../route.js").Place} place */
export function view(data, place) {
  const o = /** @type {Overview} */ (lastLive().overview ?? data.overview);
  return h("div", {}, verdict(o), tiles(o, place.pool), activityCharts(data.activity, place),
    h("div.columns", {}, failing(data.groups, o, place.pool), busiest(o, place.pool)));
}

export const live = 10000;
export const title = "overview";
