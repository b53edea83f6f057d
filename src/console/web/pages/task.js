/* One task: what it is, its whole life, its parameters where the session may see them. */
import { actionButton } from "../action.js";
import { ask, uuid } from "../api.js";
import { h } from "../dom.js";
import { duration, foreign, gateOf, localInput, number, state, time, visible, warned } from "../format.js";
import { paramsOf, SHOWN } from "../params.js";
import { link } from "../route.js";
import { list, table } from "../table.js";
import { t } from "../texts.js";

/** @param {import("../route.js").Place} place */
export async function load(place) {
  return ask(place.pool, `tasks/${encodeURIComponent(place.id)}`);
}

/** @param {any} task */
function result(task) {
  if (!task.result) return null;
  return [h("h2", {}, t("result")), h("pre", { "data-key": "result", tabindex: "0", role: "region", "aria-label": t("result"), dir: "ltr" }, visible(String(task.result).slice(0, SHOWN)))];
}

/** @param {any} task */
function progress(task) {
  const told = task.progress;
  if (!told) return null;
  return h("span", {}, told.percent == null ? null : `${number(told.percent)} % `, told.message ? foreign(told.message, 1000) : null, " ", h("span.dim", {}, time(told.at)));
}

/** @param {any} task */
function steps(task) {
  if (!task.steps?.length) return null;
  return [h("h2", {}, t("steps")), table(t("steps"), [
    { label: t("name"), cell: (step) => foreign(step.name) }, { label: t("time"), cell: (step) => time(step.at) },
    { label: t("result"), cell: (step) => foreign(step.result, 1000) }], task.steps, (step) => step.name, { hideCaption: true })];
}

/** @param {any} task @param {string} pool */
function actions(task, pool) {
  const about = t("about_task", { id: task.id, handler: visible(task.handler) });
  const one = (/** @type {string} */ name) =>
    actionButton(t(name), () => ({ pool, name, title: t(name === "cancel" ? "cancel_task" : name), about, body: { selection: { id: [task.id] } }, warning: name === "retry" ? warned(task) : undefined }));
  const failed = task.state === "failed", open = task.pool === "pending";
  const buttons = [failed ? one("retry") : null, open ? one("cancel") : failed ? one("skip") : null, task.state === "handling" ? one("release") : null,
    failed || task.state === "pending" ? actionButton(t("edit"), () => edit(task, pool, about)) : null].filter(Boolean);
  return buttons.length ? h("div.actions", { role: "group", "aria-label": t("actions") }, ...buttons) : null;
}

/** A task of the failed pool has a deadline only when it is retried. @param {any} task @param {string} pool @param {string} about
 * @returns {import("../action.js").Action} */
function edit(task, pool, about) {
  // A form's text has line feeds alone: all CRLF can be put back, a mixture cannot.
  const before = String(task.params ?? ""), lines = before.replace(/\r\n?/g, "\n");
  const crlf = before.includes("\r"), plain = !crlf || before === lines.replace(/\n/g, "\r\n");
  const failed = task.state === "failed", deadline = localInput(task.deadline_at);
  const fields = h("div", {},
    task.params_hidden || task.params_masked ? null : !plain ? h("p.hint", {}, t("params_mixed")) : [h("label", { for: "edit-params" }, t("params")), h("textarea", { id: "edit-params", name: "params", rows: 6, spellcheck: "false" }, task.params ?? "")],
    h("label", { for: "edit-priority" }, t("priority")), h("input", { id: "edit-priority", name: "priority", type: "number", value: task.priority ?? 0, min: -32768, max: 32767 }),
    h("label", { for: "edit-deadline" }, t("deadline")), h("input", { id: "edit-deadline", name: "deadline", type: "datetime-local", value: deadline, "aria-describedby": "deadline-hint" }),
    h("p.hint", { id: "deadline-hint" }, t("deadline_hint")),
    failed ? h("label.check", {}, h("input", { type: "checkbox", name: "retry", checked: !task.warning }), t("retry_too")) : null);
  /** @param {HTMLFormElement} form */
  const read = (form) => {
    const said = new FormData(form);
    const body = /** @type {Record<string, unknown>} */ ({ retry: said.has("retry") });
    // A form's data has CRLF; what nobody touched is not sent.
    const text = String(said.get("params") ?? "").replace(/\r\n/g, "\n");
    if (said.has("params") && text !== lines) body.params = crlf ? text.replace(/\n/g, "\r\n") : text;
    if (Number(said.get("priority")) !== task.priority) body.priority = Number(said.get("priority"));
    const until = String(said.get("deadline") ?? "");
    if (until !== deadline) body.deadline_at = until ? new Date(until).getTime() : 0;
    return body;
  };
  return { pool, name: "edit", title: t("edit"), about, body: { id: task.id, edit_id: uuid(), modified_at: task.modified_at }, dry: { priority: task.priority }, fields, read, warning: warned(task) };
}

/** @param {any} task */
function asked(task) {
  return h("span", {}, foreign(task.cancel.reason, 1000), " ", h("span.dim", {}, time(task.cancel.at)));
}

/** @param {any} task */
function took(task) {
  const claimed = (task.life ?? []).filter((/** @type {any} */ event) => event.what === "claimed").at(-1)?.at;
  if (task.state !== "done" || !claimed || !task.settled_at) return "–";
  return duration(task.settled_at - claimed);
}

/** @param {any} task @param {import("../route.js").Place} place */
export function view(task, place) {
  const search = (/** @type {string} */ name) => task[name] ? h("a", { href: link(place.pool, "tasks", { pool: "all", [name]: task[name] }) }, foreign(task[name])) : foreign(null);
  const life = task.life ?? task.history ?? [], gate = gateOf(task);
  const told = /** @type {[string, import("../dom.js").Child][]} */ ([...(task.deadline_at ? [[t("deadline"), time(task.deadline_at)]] : []), ...(task.cancel ? [[t("cancel_was_asked"), asked(task)]] : []),
    ...(task.progress ? [[t("progress"), progress(task)]] : [])]);
  return h("div", { "data-key": task.id }, actions(task, place.pool), h("p.warning", {}, warned(task)),
    list([[t("id"), h("code", {}, task.id)], [t("state"), state(task)], [t("pool"), t(`pool_${task.pool}`)], [t("handler"), search("handler")], [t("biz_key"), search("biz_key")],
      [t("dedup_key"), foreign(task.dedup_key)], [gate.label, foreign(gate.name)], [t("failures"), number(task.failures)], [t("max_failures"), number(task.max_failures)], [t("reason"), foreign(task.reason, 1000)],
      [t(task.state === "handling" ? "lease_until" : "due_at"), time(gate.waits ? null : task.due_at)], [t("created_at"), time(task.created_at)], [t("settled_at"), time(task.settled_at)],
      [t("took"), took(task)], [t("priority"), number(task.priority)], [t("shard"), number(task.shard)], [t("worker"), foreign(task.worker)], [t("owner"), foreign(task.owner)],
      ...told]),
    steps(task), result(task),
    h("h2", {}, t("life")),
    table(t("life"), [
      { label: t("time"), cell: (event) => time(event.at) }, { label: t("what"), cell: (event) => foreign(event.what ?? event.event) },
      { label: t("attempt"), number: true, cell: (event) => number(event.attempt) }, { label: t("who"), cell: (event) => foreign(event.who) },
      { label: t("reason"), cell: (event) => foreign(event.reason, 1000) }, { label: t("owner"), spare: true, cell: (event) => foreign(event.owner) }],
    life, (event) => `${event.at} ${event.what ?? event.event} ${event.attempt}`, { hideCaption: true }),
    h("h2", {}, t("params")), paramsOf(task, SHOWN));
}

export const live = 4000;
export const title = "task";
