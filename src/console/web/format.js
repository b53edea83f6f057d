/* How numbers, times, durations and the text of tasks are shown. */
import { h } from "./dom.js";
import { language, t } from "./texts.js";

/* Characters that a reader cannot see, or that turn what stands around them: control characters but tab and newline,
 * marks of direction, zero-width characters, surrogates without the other half. */
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|\p{Cs}/gu; // eslint-disable-line no-control-regex

/** @param {string} text  @returns {string} with hidden characters written out, as \u202e */
export function visible(text) {
  return text.replace(HIDDEN, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

/** Text that somebody else wrote, on its own: its direction does not reach what is beside it. @param {unknown} text @param {number} [most] */
export function foreign(text, most = 400) {
  if (text === null || text === undefined || text === "") return h("span.nothing", {}, "–");
  const all = String(text);
  return h("bdi", all.length > most ? { title: visible(all.slice(0, 2000)) } : {}, visible(all.length > most ? all.slice(0, most) + "…" : all));
}

/** @param {number | null | undefined} value */
export function number(value) {
  return value === null || value === undefined ? "–" : new Intl.NumberFormat(language()).format(value);
}

/** Tasks a second. @param {number | null | undefined} value */
export function rate(value) {
  if (value === null || value === undefined) return "–";
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return new Intl.NumberFormat(language(), { maximumFractionDigits: digits }).format(value) + "/s";
}

/** The two largest units. @param {number | null | undefined} ms */
export function duration(ms) {
  if (ms === null || ms === undefined) return "–";
  if (ms < 0) return "0 ms";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10000) return `${number(Math.round(ms / 100) / 10)} s`;
  const s = Math.round(ms / 1000);
  if (s < 60) return `${s} s`;
  if (s < 3600) return pair(s, 60, "min", "s");
  if (s < 86400) return pair(Math.round(s / 60), 60, "h", "min");
  return pair(Math.round(s / 3600), 24, t("days_short"), "h");
}

/** @param {number} value @param {number} base @param {string} large @param {string} small */
function pair(value, base, large, small) {
  const rest = value % base;
  return `${Math.floor(value / base)} ${large}` + (rest ? ` ${rest} ${small}` : "");
}

/** @param {number} ms @param {string} [zone]  the reader's own without it */
export function timeText(ms, zone) {
  const options = /** @type {Intl.DateTimeFormatOptions} */ ({
    year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false, timeZone: zone,
  });
  try {
    return new Intl.DateTimeFormat("sv-SE", options).format(ms);
  } catch {
    return new Date(ms).toISOString(); // a zone that this browser does not know
  }
}

/** A moment, in the reader's zone; the title has it in UTC. @param {number | null | undefined} ms @param {string} [zone] */
export function time(ms, zone) {
  if (!ms) return h("span.nothing", {}, "–");
  const iso = new Date(ms).toISOString();
  return h("time", { datetime: iso, title: iso }, timeText(ms, zone));
}

/** @param {number | null | undefined} ms  as an input of type datetime-local has it, in the reader's zone */
export function localInput(ms) {
  const at = new Date((ms ?? NaN) - new Date(ms ?? NaN).getTimezoneOffset() * 60000);
  return Number.isNaN(at.getTime()) ? "" : at.toISOString().slice(0, 16);
}

/** How long ago, or in how long. @param {number | null | undefined} ms @param {number} now */
export function ago(ms, now) {
  if (!ms) return "–";
  return ms <= now ? t("ago", { time: duration(now - ms) }) : t("in", { time: duration(ms - now) });
}

/** @param {{state: string, failures?: number, pool?: string}} task */
export function state(task) {
  const text = task.state === "failed" ? `failed-${task.failures ?? ""}` : task.state;
  const tone = task.state === "done" ? "good" : task.state === "failed" ? (task.pool === "failed" ? "bad" : "warn") : task.state === "handling" ? "busy" : "plain";
  return h(`span.state.${tone}`, {}, text);
}

/** A task's gate or, as > and its name, the group after which it comes. Until it is let through it is due at the end of the
 * year 9999. @param {{gate: string | null, pool: string, due_at: number}} task */
export function gateOf({ gate, pool, due_at }) {
  const waits = Boolean(gate) && pool === "pending" && due_at === 253402300799999;
  if (gate?.startsWith(">")) return { name: gate.slice(1), waits, label: t("after_group") };
  return { name: gate, waits, label: t(waits ? "waits_at_gate" : "gate") };
}

/** What must be known before a failed task, or a group of them, is retried. @param {{warning?: string | null}} failed */
export function warned({ warning }) {
  return warning ? t(warning) : undefined;
}
