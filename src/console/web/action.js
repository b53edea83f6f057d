/* The dialog of every action: what will change (the dry run's count), why, and what came of it. */
import { ApiError, act, may } from "./api.js";
import { h, note } from "./dom.js";
import { number } from "./format.js";
import { t } from "./texts.js";

/**
 * @typedef {object} Action
 * @property {string} pool
 * @property {string} name  of the API
 * @property {string} title
 * @property {string} about  what it is done to, in words
 * @property {string} [warning]  what must be known before
 * @property {Record<string, unknown>} body
 * @property {Record<string, unknown>} [dry]  what the dry run needs besides
 * @property {boolean} [any]  also when it is about nothing
 * @property {HTMLElement} [fields]  further inputs
 * @property {(form: HTMLFormElement) => Record<string, unknown>} [read]  what they say, for the body
 */

/** @type {() => void} */
let done = () => {};
/** @param {() => void} refresh  called after an action */
export function onAction(refresh) {
  done = refresh;
}

/** A button that opens the dialog; nothing where the session may not act. @param {string} label @param {() => Action} make @param {string} [kind] @param {string} [role] */
export function actionButton(label, make, kind = "quiet", role = "operator") {
  return may(role) ? h(`button.${kind}`, { type: "button", onclick: () => open(make()) }, label) : null;
}

/** @param {import("./api.js").Done} came @param {string} title */
function whatCame({ count, requested, asked, answer, state }, title) {
  if (requested) return t("requested", { action: title });
  if (answer) return t(`cancelled_${answer}`, { state: state ?? "" });
  const changed = t(count === 1 ? "changed_one" : "changed", { n: number(count), action: title });
  return asked ? `${changed} ${t("in_hand", { n: number(asked) })}` : changed;
}

/** @param {Action} action */
function open(action) {
  const count = h("p.count", { role: "status" }, t("counting"));
  const warning = h("p.warning", { role: "alert" }, action.warning);
  const problem = h("p.problem", { role: "alert" });
  const why = h("textarea", { id: "why", name: "why", required: true, maxlength: 200, rows: 2 });
  const go = /** @type {HTMLButtonElement} */ (h("button.main", { type: "submit", disabled: true }, action.title));
  const form = /** @type {HTMLFormElement} */ (h("form", { method: "dialog", onsubmit: submit },
    h("h2", { id: "action-title" }, action.title),
    h("p", {}, h("bdi", {}, action.about)), count, warning, action.fields,
    h("label", { for: "why" }, t("why")), why, h("p.hint", {}, t("why_hint")), problem,
    h("div.buttons", {}, h("button.quiet", { type: "button", onclick: () => dialog.close() }, t("back")), go)));
  const dialog = /** @type {HTMLDialogElement} */ (h("dialog", { "aria-labelledby": "action-title" }, form));
  /** @type {{expect?: number, until?: number}} what was counted, and until when it had changed */
  let seen = {};

  /** @param {import("./api.js").Done} answer */
  function counted({ count: found, until, asked, unstored }) {
    seen = { expect: found, until };
    warning.textContent = action.warning ?? (unstored ? t("unstored", { n: number(unstored) }) : "");
    const changes = t(found === 1 ? "will_change_one" : "will_change", { n: number(found) });
    count.textContent = asked ? `${changes} ${t("in_hand", { n: number(asked) })}` : changes;
    go.disabled = found === 0 && !action.any;
  }
  function recount() {
    go.disabled = true;
    count.textContent = t("counting");
    act(action.pool, action.name, { ...action.body, ...action.dry, why: "", dry_run: true }).then(counted, (error) => {
      count.textContent = "";
      refused(error);
    });
  }
  /** @param {unknown} error */
  function refused(error) {
    problem.textContent = error instanceof Error ? error.message : String(error);
    if (error instanceof ApiError && error.status === 409 && typeof error.body?.count === "number") {
      recount();
      problem.textContent = t("count_changed");
    }
  }
  /** @param {SubmitEvent} event */
  async function submit(event) {
    event.preventDefault();
    go.disabled = true;
    problem.textContent = "";
    try {
      const said = action.read ? action.read(form) : {};
      const came = await act(action.pool, action.name,
        { ...action.body, ...said, why: /** @type {HTMLTextAreaElement} */ (why).value, dry_run: false, ...seen });
      dialog.close();
      note(whatCame(came, action.title));
      done();
    } catch (error) {
      go.disabled = false;
      refused(error);
      // Nobody knows whether it was done: what it would change now is counted anew before it can be confirmed again.
      if (error instanceof ApiError && (error.status === 0 || error.status >= 500)) {
        problem.textContent = `${problem.textContent} ${t("answer_lost")}`;
        recount();
      }
    }
  }

  const opener = /** @type {HTMLElement | null} */ (document.activeElement);
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (opener?.isConnected) opener.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
  why.focus();
  recount();
}
