/* Parameters, where the session may see them. */
import { h } from "./dom.js";
import { number, visible } from "./format.js";
import { t } from "./texts.js";

export const SHOWN = 20000; // characters that are shown at once

/** @param {any} task  or a schedule, or a request: whatever has params @param {number} most  so much until all is asked for */
export function paramsOf(task, most) {
  if (task.params_hidden) return h("p.empty", {}, t("params_hidden"));
  const text = String(task.params ?? "");
  const masked = task.params_masked ? h("p.hint", {}, t("params_masked")) : null;
  const box = h("pre", { tabindex: "0", role: "region", "aria-label": t("params"), dir: "ltr" }, visible(text.slice(0, most)));
  const part = /** @type {import("./dom.js").Part} */ (h("div", { "data-key": "params" }, masked, box));
  part.data = task;
  part.refresh = (now) => { if (now.params !== task.params) part.replaceWith(paramsOf(now, most)); }; // what was opened stays open
  const onclick = (/** @type {Event} */ event) => {
    box.textContent = visible(text);
    /** @type {HTMLElement} */ (event.target).remove();
    box.focus();
  };
  if (text.length > most) part.append(h("button.quiet", { type: "button", onclick }, t("show_all", { n: number(text.length) })));
  return part;
}
