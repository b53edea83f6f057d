/* Tasks by the selection that the command line has, a page at a time by their keys. */
import { actionButton } from "../action.js";
import { ApiError, ask, get, may } from "../api.js";
import { h } from "../dom.js";
import { foreign, gateOf, localInput, number, state, time, visible } from "../format.js";
import { go, link, taskLink } from "../route.js";
import { table } from "../table.js";
import { t } from "../texts.js";

const POOLS = ["pending", "finished", "failed", "all"];
const STATES = ["", "pending", "handling", "done", "failed", "skipped"];
const TEXTS = ["handler", "reason", "reason_like", "biz_key", "dedup_key", "worker", "group", "gate", "id"];
const TIMES = ["since", "until"];

/** The ids that are marked on this page. @type {Set<string>} */
const marked = new Set();
let markedOn = "";

/** @param {import("../route.js").Place} place */
export async function load(place) {
  const here = location.hash;
  if (markedOn !== here) marked.clear();
  markedOn = here;
  const { pools } = await get("pools");
  const { every, ...query } = place.query;
  if (every && pools.length > 1) return { ...(await everywhere(pools, query)), every: true, pools };
  const found = await ask(place.pool, "tasks", { limit: 50, ...query });
  if (markedOn !== here) return { ...found, pools }; // another page is read meanwhile
  const there = new Set(found.tasks.map((/** @type {any} */ task) => task.id));
  for (const id of marked) if (!there.has(id)) marked.delete(id); // nothing is done to what is not shown any more
  return { ...found, pools };
}

/** Where a task, or a page that ends at a cursor, is in the order of a list: that of the last change, or that of ids. @param {Record<string, string>} query */
function order(query) {
  const byChange = (query.since || query.until) && !["biz_key", "id", "group", "gate"].some((name) => query[name]);
  const place = (/** @type {string} */ id, /** @type {string | number} */ at) => (byChange ? `${String(at).padStart(16, "0")} ${id}` : id);
  return {
    task: (/** @type {any} */ task) => place(task.id, task.settled_at || task.modified_at),
    cursor: (/** @type {string} */ next) => place(next.split("@")[0], next.split("@")[1] ?? 0),
  };
}

/** Each pool is asked for what comes behind the same key, and what all have read up to is shown; one that does not answer is named.
 * @param {{name: string}[]} pools @param {Record<string, string>} query */
async function everywhere(pools, query) {
  const { task: placeOf, cursor } = order(query);
  const answers = await Promise.allSettled(pools.map(({ name }) => ask(name, "tasks", { limit: 50, ...query })));
  const silent = /** @type {{name: string, why: string}[]} */ ([]), tasks = /** @type {any[]} */ ([]);
  let next = /** @type {string | null} */ (null);
  answers.forEach((answer, i) => {
    const { name } = pools[i];
    if (answer.status === "fulfilled") {
      tasks.push(...answer.value.tasks.map((/** @type {any} */ task) => ({ ...task, of: name })));
      if (answer.value.next && (!next || cursor(answer.value.next) < cursor(next))) next = answer.value.next;
    } else if (answer.reason instanceof ApiError && answer.reason.status >= 500) {
      silent.push({ name, why: answer.reason.message });
    } else {
      throw answer.reason; // signed out, or a search that is none
    }
  });
  const shown = tasks.filter((task) => !next || placeOf(task) <= cursor(next));
  return { tasks: shown.sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1)), next, silent };
}

/** @param {string} name @param {HTMLElement} input */
function field(name, input) {
  return h("div.field", {}, h("label", { for: `by-${name}` }, t(name)), input);
}

/** @param {string} name @param {string[]} values @param {string | undefined} now */
function choice(name, values, now) {
  return field(name, h("select", { id: `by-${name}`, name }, values.map((value) => h("option", { value, selected: value === now }, value || t("any")))));
}

/** @param {import("../route.js").Place} place @param {boolean} several  the console shows more than one pool */
function search(place, several) {
  const { query } = place;
  /** @param {SubmitEvent} event */
  const onsubmit = (event) => {
    event.preventDefault();
    const said = /** @type {Record<string, string>} */ (Object.fromEntries(new FormData(/** @type {HTMLFormElement} */ (event.target))));
    for (const name of TIMES) said[name] = said[name] ? String(new Date(said[name]).getTime()) : "";
    if (said.pool === "pending") said.pool = "";
    go(link(place.pool, "tasks", said));
  };
  const more = TEXTS.slice(4).concat(TIMES).some((name) => query[name]);
  const text = (/** @type {string} */ name) => field(name, h("input", { id: `by-${name}`, name, value: query[name] ?? "", maxlength: 512, spellcheck: "false", autocomplete: "off" }));
  return h("form.search", { onsubmit, role: "search" },
    choice("pool", POOLS, query.pool ?? "pending"), choice("state", STATES, query.state ?? ""), TEXTS.slice(0, 2).map(text), text("biz_key"),
    h("details.more", { open: more || Boolean(query.reason_like) }, h("summary", {}, t("more_fields")), h("div.search", {}, text("reason_like"), TEXTS.slice(4).map(text),
      TIMES.map((name) => field(name, h("input", { id: `by-${name}`, name, type: "datetime-local", value: query[name] ? localInput(Number(query[name])) : "" }))))),
    several ? h("label.check", {}, h("input", { type: "checkbox", name: "every", value: "1", checked: Boolean(query.every) }), t("every")) : null,
    h("div.buttons", {}, h("button.main", { type: "submit" }, t("search")), h("a.quiet", { href: link(place.pool, "tasks") }, t("reset"))));
}

/** What the actions are done to: the marked tasks, else all that the search finds. @param {import("../route.js").Place} place */
function selected(place) {
  const { after, limit, every, ...selection } = place.query; // eslint-disable-line no-unused-vars
  if (marked.size) return { selection: { id: [...marked] }, about: t("about_marked", { n: number(marked.size) }) };
  const words = Object.entries({ pool: "pending", ...selection }).map(([key, value]) => `${t(key)} = ${value}`);
  return { selection: { pool: "pending", ...selection }, about: t("about_search", { what: words.join(", ") }) };
}

/** @param {import("../route.js").Place} place */
function actions(place) {
  if (!may()) return null;
  const one = (/** @type {string} */ name) => actionButton(t(name), () => {
    const { selection, about } = selected(place);
    return { pool: place.pool, name, title: t(name === "cancel" ? "cancel_tasks" : name), about, body: { selection } };
  });
  return h("div.actions", { role: "group", "aria-label": t("actions") },
    h("span", { role: "status" }, marked.size ? t("marked", { n: number(marked.size) }) : t("all_found")), one("retry"), one("cancel"), one("skip"), one("release"));
}

/** @param {any} task @param {() => void} again */
function mark(task, again) {
  const onchange = (/** @type {Event} */ event) => {
    if (/** @type {HTMLInputElement} */ (event.target).checked) marked.add(task.id);
    else marked.delete(task.id);
    again();
  };
  return h("input", { type: "checkbox", "aria-label": t("mark", { id: task.id }), checked: marked.has(task.id), onchange });
}

/** @param {any} task */
function due(task) {
  const { name, label, waits } = gateOf(task);
  const when = waits ? h("span", {}, label, " ", foreign(name)) : time(task.settled_at || task.due_at);
  return task.deadline_at ? [when, " ", h("span.dim", {}, t("deadline"), " ", time(task.deadline_at))] : when;
}

/** @param {{tasks: any[], next: string | null, pools: any[], every?: boolean, silent?: {name: string, why: string}[]}} data @param {import("../route.js").Place} place @param {() => void} again */
export function view(data, place, again) {
  const columns = /** @type {import("../table.js").Column<any>[]} */ ([
    { label: t("id"), cell: (task) => taskLink(task.of ?? place.pool, task.id) },
    { label: t("state"), cell: state },
    { label: t("handler"), cell: (task) => foreign(task.handler) },
    { label: t("biz_key"), cell: (task) => foreign(task.biz_key) },
    { label: t("due_settled"), cell: due },
    { label: t("created_at"), spare: true, cell: (task) => time(task.created_at) },
    { label: t("reason"), cell: (task) => foreign(task.reason, 160) },
  ]);
  if (data.every) columns.splice(1, 0, { label: t("pool"), cell: (task) => foreign(task.of) });
  else if (may()) columns.unshift({ label: t("mark_head"), cell: (task) => mark(task, again) });
  return h("div", {}, search(place, data.pools.length > 1), data.every ? null : actions(place),
    (data.silent ?? []).map(({ name, why }) => h("p.problem", { role: "alert", "data-key": name }, t("not_searched", { name: visible(name), why: visible(why) }))),
    table(t("tasks"), columns, data.tasks, (task) => `${task.of ?? ""} ${task.id}`, { hideCaption: true, empty: t(data.next ? "none_here" : "no_tasks") }),
    h("nav.paging", { "aria-label": t("paging") },
      place.query.after ? h("a.quiet", { href: link(place.pool, "tasks", { ...place.query, after: "" }) }, t("first_page")) : null,
      data.next ? h("a.quiet", { href: link(place.pool, "tasks", { ...place.query, after: data.next }) }, t("next_page")) : h("span.dim", {}, t("end"))));
}

export const live = 0;
export const title = "tasks";
