/* Workers: who works where, since when, at what; asking them to end. */
import { actionButton } from "../action.js";
import { ask, may } from "../api.js";
import { h } from "../dom.js";
import { ago, duration, foreign, number, time, visible } from "../format.js";
import { lastLive } from "../live.js";
import { taskLink } from "../route.js";
import { table } from "../table.js";
import { t } from "../texts.js";

const TONES = /** @type {Record<string, string>} */ ({ running: "good", stopping: "warn", draining: "warn", silent: "bad", died: "bad", ended: "plain" });

/** @param {import("../route.js").Place} place */
export async function load(place) {
  return ask(place.pool, "workers");
}

/** @param {any} worker @param {string} pool */
function drain(worker, pool) {
  if (worker.state !== "running") return null;
  const one = (/** @type {string} */ label, /** @type {string} */ target, /** @type {string} */ about) =>
    actionButton(label, () => ({ pool, name: "drain", title: t("drain"), about, body: { worker: target } }));
  return h("div.actions", { role: "group", "aria-label": t("actions") },
    one(t("drain"), worker.id, t("about_worker", { name: visible(worker.name) })), one(t("drain_host"), worker.host, t("about_host", { host: visible(worker.host) })));
}

/** @param {any[]} running @param {string} pool @param {number} now */
function inProgress(running, pool, now) {
  return h("section", {}, h("h2", {}, t("in_progress")), table(t("in_progress"), [
    { label: t("id"), cell: (r) => taskLink(pool, r.id) },
    { label: t("handler"), cell: (r) => foreign(r.handler) },
    { label: t("biz_key"), cell: (r) => foreign(r.biz_key) },
    { label: t("for"), number: true, cell: (r) => duration(r.claimed_at ? (r.now ?? now) - r.claimed_at : null) },
    { label: t("progress"), number: true, cell: (r) => r.percent == null ? "–" : `${number(r.percent)} %` },
    { label: t("lease_until"), cell: (r) => time(r.lapses_at) },
    { label: t("worker"), cell: (r) => foreign(r.worker?.name ?? r.worker) },
  ], running, (r) => r.id, { hideCaption: true, empty: t("nothing_runs") }));
}

/** @param {{workers: any[], running?: any[]}} data @param {import("../route.js").Place} place @param {() => void} again */
export function view(data, place, again) {
  const now = lastLive().overview?.now ?? Date.now();
  const running = data.running ?? data.workers.flatMap((w) => (w.in_progress ?? []).map((/** @type {any} */ task) => ({ ...task, worker: w.name })));
  const columns = /** @type {import("../table.js").Column<any>[]} */ ([
    { label: t("worker"), by: (w) => w.name, cell: (w) => foreign(w.name) },
    { label: t("state"), by: (w) => w.state, cell: (w) => [h(`span.state.${TONES[w.state] ?? "plain"}`, {}, w.state), w.drain_who ? h("span.dim", {}, " ", t("by"), " ", foreign(w.drain_who)) : null] },
    { label: t("host"), by: (w) => w.host, cell: (w) => [foreign(w.host), ` ${w.pid ?? ""}`] },
    { label: t("started"), by: (w) => w.started_at, cell: (w) => ago(w.started_at, now) },
    { label: t("seen"), number: true, by: (w) => w.seen_ago_ms, cell: (w) => t("ago", { time: duration(w.seen_ago_ms) }) },
    { label: t("in_progress"), number: true, by: (w) => w.running, cell: (w) => `${number(w.running)} / ${number(w.threads)}` },
    { label: t("done"), number: true, by: (w) => w.done, cell: (w) => number(w.done) },
    { label: t("failures"), number: true, by: (w) => w.failed, cell: (w) => number(w.failed) },
    { label: t("handlers"), spare: true, cell: (w) => foreign(w.handlers, 120) },
  ]);
  if (may()) columns.push({ label: t("actions"), cell: (w) => drain(w, place.pool) });
  return h("div", {}, table(t("workers"), columns, data.workers, (w) => w.id, { hideCaption: true, empty: t("no_workers"), again }),
    inProgress(running, place.pool, now));
}

export const live = 4000;
export const title = "workers";
