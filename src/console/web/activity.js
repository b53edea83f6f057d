/* What was done over hours and days, as plots: how much, how long it waited, how long it ran. */
import { ask } from "./api.js";
import { chart } from "./chart.js";
import { h } from "./dom.js";
import { duration, foreign, number } from "./format.js";
import { link } from "./route.js";
import { t } from "./texts.js";

const RANGES = /** @type {Record<string, number>} */ ({ "1h": 3600e3, "6h": 6 * 3600e3, "24h": 24 * 3600e3, "7d": 7 * 24 * 3600e3 });

/** @param {import("./route.js").Place} place */
function rangeOf(place) {
  return place.query.range in RANGES ? place.query.range : "6h";
}

/** @param {import("./route.js").Place} place */
export function readActivity(place) {
  return ask(place.pool, "activity", { since: Date.now() - RANGES[rangeOf(place)], handler: place.query.handler });
}

/** @param {{step_ms: number, points: any[]}} activity @param {import("./route.js").Place} place */
export function activityCharts(activity, place) {
  const { points, step_ms } = activity;
  const ms = (/** @type {number | null} */ value) => duration(value);
  const count = (/** @type {number | null} */ value) => number(value);
  /** @param {string} name @returns {(point: any) => number | null} */
  const of = (name) => (point) => point[name];
  const here = rangeOf(place);
  const ranges = Object.keys(RANGES).map((range) =>
    h("a", { href: link(place.pool, place.page, { ...place.query, range }), "aria-current": range === here ? "true" : false }, range));
  return h("section", { "data-key": `activity ${here} ${place.query.handler ?? ""}` },
    h("div.bar", {}, h("h2", {}, t("activity"), place.query.handler ? ": " : null, place.query.handler ? foreign(place.query.handler) : null), h("nav.ranges", { "aria-label": t("range") }, ranges)),
    points.length === 0 ? h("p.empty", {}, t("no_activity")) : h("div.charts", {},
      chart({ title: t("settled_per", { time: duration(step_ms) }), points, text: count, series: [
        { label: t("done"), tone: "a", value: of("done"), fill: true },
        ...(place.query.handler ? [] : [{ label: t("put_in"), tone: /** @type {const} */ ("b"), value: of("enqueued") }]),
        { label: t("failures"), tone: "warn", value: of("failed") },
        { label: t("gave_up"), tone: "bad", value: of("gave_up") }] }),
      chart({ title: t("waited"), points, text: ms, series: [
        { label: "p50", tone: "a", value: of("wait_p50_ms") }, { label: "p95", tone: "b", value: of("wait_p95_ms") }] }),
      chart({ title: t("ran"), points, text: ms, series: [
        { label: "p50", tone: "a", value: of("run_p50_ms") }, { label: "p95", tone: "b", value: of("run_p95_ms") }] })));
}
