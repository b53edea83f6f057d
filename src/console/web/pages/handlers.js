/* Handlers: backlog, rates, waits and run times, pause and resume; one of them over time. */
import { actionButton } from "../action.js";
import { activityCharts, readActivity } from "../activity.js";
import { ask, may } from "../api.js";
import { h } from "../dom.js";
import { duration, foreign, number, rate, visible } from "../format.js";
import { lastLive } from "../live.js";
import { link } from "../route.js";
import { table } from "../table.js";
import { t } from "../texts.js";

/** @param {import("../route.js").Place} place */
export async function load(place) {
  const [overview, activity] = await Promise.all([lastLive().overview ?? ask(place.pool, "overview"), place.query.handler ? readActivity(place) : null]);
  return { overview, activity };
}

/** @param {import("../live.js").Handler} row @param {string} pool */
function pauseOrResume(row, pool) {
  const name = row.paused ? "resume" : "pause";
  return actionButton(t(name), () => ({ pool, name, title: t(name), about: t("about_handler", { handler: visible(row.handler) }), body: { handler: row.handler } }));
}

/** @param {{overview: import("../live.js").Overview, activity: any}} data @param {import("../route.js").Place} place @param {() => void} again */
export function view(data, place, again) {
  const o = lastLive().overview ?? data.overview;
  const { pool, query } = place;
  const ms = (/** @type {number | null} */ a, /** @type {number | null} */ b) => (a === null && b === null ? "–" : `${duration(a)} / ${duration(b)}`);
  const columns = /** @type {import("../table.js").Column<import("../live.js").Handler>[]} */ ([
    { label: t("handler"), by: (r) => r.handler, cell: (r) => [h("a", { href: link(pool, "handlers", { handler: r.handler }), "aria-current": r.handler === query.handler ? "true" : false }, foreign(r.handler)),
      r.paused ? h("span.state.warn", {}, t("paused")) : null] },
    { label: t("due"), number: true, by: (r) => r.due, cell: (r) => h("a", { href: link(pool, "tasks", { handler: r.handler }) }, number(r.due)) },
    { label: t("age"), number: true, by: (r) => (r.oldest_due_at ? o.now - r.oldest_due_at : null), cell: (r) => duration(r.oldest_due_at ? o.now - r.oldest_due_at : null) },
    { label: t("waiting"), number: true, by: (r) => r.waiting, cell: (r) => number(r.waiting) },
    { label: t("running"), number: true, by: (r) => r.running, cell: (r) => number(r.running) },
    { label: t("failed"), number: true, by: (r) => r.failed, cell: (r) => (r.failed ? h("a.bad", { href: link(pool, "failures", { handler: r.handler }) }, number(r.failed)) : "0") },
    { label: t("rate_in"), number: true, by: (r) => r.rate_in, cell: (r) => rate(r.rate_in) },
    { label: t("rate_out"), number: true, by: (r) => r.rate_out, cell: (r) => rate(r.rate_out) },
    { label: t("wait_p"), number: true, by: (r) => r.wait_p95_ms, cell: (r) => ms(r.wait_p50_ms, r.wait_p95_ms) },
    { label: t("run_p"), number: true, by: (r) => r.run_p95_ms, cell: (r) => ms(r.run_p50_ms, r.run_p95_ms) },
  ]);
  if (may()) columns.push({ label: t("actions"), cell: (r) => pauseOrResume(r, pool) });
  return h("div", {}, table(t("handlers"), columns, o.handlers, (r) => r.handler, { hideCaption: true, again }),
    query.handler && data.activity ? activityCharts(data.activity, place) : h("p.hint", {}, t("handlers_hint")));
}

export const live = 20000;
export const title = "handlers";
