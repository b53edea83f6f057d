/* Hears of the pool, by server-sent events, and knows since when it does not. */
import { apiUrl } from "./api.js";

/**
 * @typedef {{handler: string, paused: boolean, due: number, waiting: number, running: number, failed: number, done: number,
 *   rate_in: number, rate_out: number, wait_p50_ms: number | null, wait_p95_ms: number | null, run_p50_ms: number | null,
 *   run_p95_ms: number | null, oldest_due_at: number | null}} Handler
 * @typedef {{what: string, level: string, handler: string | null, count: number, age_ms: number, text: string}} Finding
 * @typedef {{now: number, wrong: Finding[], notes: Finding[], due: number, paused_due: number, oldest_due_at: number | null, waiting: number, running: number,
 *   failed: number, rate_in: number, rate_out: number, eta_ms: number | null, workers: number, late_schedules: number,
 *   handlers: Handler[]}} Overview
 * @typedef {{overview: Overview | null, away: null | {since: number, error: string | null}}} Live
 */

const SILENT_MS = 15000;

/** @type {Live} */
const live = { overview: null, away: null };
/** @type {EventSource | null} */
let source = null;
let heard = 0;
/** @type {(live: Live) => void} */
let changed = () => {};

/** @param {string | null} error  null: the server itself is not heard */
function lose(error) {
  live.away = { since: live.away?.since ?? (heard || Date.now()), error };
  changed(live);
}

/** @param {(live: Live) => void} see */
export function onLive(see) {
  changed = see;
}

/** @param {string} pool */
export function listen(pool) {
  source?.close();
  live.overview = live.away = null;
  heard = 0;
  source = new EventSource(apiUrl(`pools/${encodeURIComponent(pool)}/events`));
  source.addEventListener("overview", (event) => {
    heard = Date.now();
    live.overview = JSON.parse(event.data);
    live.away = null;
    changed(live);
  });
  source.addEventListener("away", (event) => lose(JSON.parse(event.data).error ?? ""));
  source.onerror = () => {
    lose(null);
    // A browser gives up after an answer that is no stream; a server that comes back is found again.
    if (source?.readyState === EventSource.CLOSED) {
      const closed = source;
      setTimeout(() => closed === source && relisten(pool), 3000);
    }
  };
}

/** @param {string} pool */
function relisten(pool) {
  const { overview, away } = live, last = heard;
  listen(pool);
  Object.assign(live, { overview, away });
  heard = last;
}

export function mute() {
  source?.close();
  source = null;
  live.overview = live.away = null;
}

export function lastLive() {
  return live;
}

setInterval(() => {
  if (source && heard && !live.away && Date.now() - heard > SILENT_MS) lose(null);
}, 1000);
