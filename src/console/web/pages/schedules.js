/* Schedules: when each is next in its own zone, when it was last, firing what is due. */
import { actionButton } from "../action.js";
import { ask, may, uuid } from "../api.js";
import { h } from "../dom.js";
import { ago, foreign, time, visible } from "../format.js";
import { lastLive } from "../live.js";
import { link } from "../route.js";
import { table } from "../table.js";
import { t } from "../texts.js";

const LATE_MS = 60000;

/** @param {import("../route.js").Place} place */
export async function load(place) {
  return ask(place.pool, "schedules");
}

/** @param {any} schedule @param {number} now */
function next(schedule, now) {
  if (schedule.paused) return h("span.state.warn", {}, t("paused"));
  if (!schedule.next_at) return "–";
  const late = schedule.next_at < now - LATE_MS;
  return [time(schedule.next_at, schedule.time_zone || "UTC"), " ", h(late ? "span.state.bad" : "span.dim", {}, late ? t("late", { time: ago(schedule.next_at, now) }) : ago(schedule.next_at, now))];
}

/** @param {any} schedule @param {string} pool */
function pauseOrResume(schedule, pool) {
  const name = schedule.paused ? "resume" : "pause";
  return actionButton(t(name), () => ({ pool, name, title: t(name), about: t("about_schedule", { name: visible(schedule.name) }), body: { schedule: schedule.name } }));
}

/** Which days count, and what becomes of a time on another. @param {any} schedule */
function calendar(schedule) {
  return schedule.calendar ? [foreign(schedule.calendar), " ", h("span.dim", {}, t(`closed_${schedule.closed}`))] : "–";
}

/** The dialog's id becomes the task's: confirmed twice, it is one task. @param {any} schedule @param {string} pool */
function fireNow(schedule, pool) {
  return actionButton(t("fire_now"), () => ({ pool, name: "fire", title: t("fire_now"), about: t("about_schedule", { name: visible(schedule.name) }), body: { schedule: schedule.name, id: uuid() } }));
}

/** @param {{schedules: any[]}} data @param {import("../route.js").Place} place @param {() => void} again */
export function view(data, place, again) {
  const now = lastLive().overview?.now ?? Date.now();
  const { pool } = place;
  const columns = /** @type {import("../table.js").Column<any>[]} */ ([
    { label: t("name"), by: (s) => s.name, cell: (s) => foreign(s.name) },
    { label: t("rule"), cell: (s) => h("code", {}, foreign(s.rule)) },
    { label: t("next"), by: (s) => s.next_at, cell: (s) => next(s, now) },
    { label: t("zone"), cell: (s) => foreign(s.time_zone || "UTC") },
    ...(data.schedules.some((s) => s.calendar) ? [{ label: t("calendar"), by: (/** @type {any} */ s) => s.calendar, cell: calendar }] : []),
    { label: t("last"), by: (s) => s.last_at, cell: (s) => [time(s.last_at, s.time_zone || "UTC"), " ", s.last_task ? h("a", { href: link(pool, "task", {}, s.last_task), "aria-label": t("last_task_of", { name: visible(s.name) }) }, t("its_task")) : null] },
    { label: t("handler"), by: (s) => s.handler, cell: (s) => h("a", { href: link(pool, "tasks", { handler: s.handler }) }, foreign(s.handler)) },
    { label: t("missed"), spare: true, cell: (s) => foreign(s.missed) },
  ]);
  if (may()) columns.push({ label: t("actions"), cell: (s) => h("div.actions", { role: "group", "aria-label": t("actions") }, fireNow(s, pool), pauseOrResume(s, pool)) });
  const fire = actionButton(t("fire"), () => ({ pool, name: "fire", title: t("fire"), about: t("about_fire"), body: {} }));
  return h("div", {}, h("p.hint", {}, t("schedules_hint")), fire ? h("div.actions", {}, fire) : null, table(t("schedules"), columns, data.schedules, (s) => s.name, { hideCaption: true, again }));
}

export const live = 10000;
export const title = "schedules";
