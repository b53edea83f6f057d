/* Who is signed in; signing in and out. */
import { ApiError, currentSession, signIn, signOut } from "../api.js";
import { h } from "../dom.js";
import { foreign } from "../format.js";
import { go } from "../route.js";
import { list } from "../table.js";
import { t } from "../texts.js";

export async function load() {
  return currentSession();
}

function changed() {
  document.dispatchEvent(new Event("session"));
}

/** @param {import("../route.js").Place} place */
function signInForm(place) {
  const problem = h("p.problem", { role: "alert" });
  const user = /** @type {HTMLInputElement} */ (h("input", { id: "user", name: "user", autocomplete: "username", required: true, maxlength: 200 }));
  const password = /** @type {HTMLInputElement} */ (h("input", { id: "password", type: "password", autocomplete: "current-password", required: true }));
  /** @param {SubmitEvent} event */
  const onsubmit = async (event) => {
    event.preventDefault();
    try {
      await signIn(user.value, password.value);
      go(place.query.back?.startsWith("#/") ? place.query.back : `#/${encodeURIComponent(place.pool)}`);
      changed();
    } catch (error) {
      const status = error instanceof ApiError ? error.status : 0;
      problem.textContent = status === 401 ? t("wrong_password") : error instanceof Error ? error.message : String(error);
      password.value = "";
      password.focus();
    }
  };
  return h("form.sign-in", { onsubmit }, h("label", { for: "user" }, t("user")), user, h("label", { for: "password" }, t("password")), password,
    problem, h("button.main", { type: "submit" }, t("sign_in")));
}

/** @param {import("../api.js").Session} session @param {import("../route.js").Place} place */
export function view(session, place) {
  if (!session.user) return session.sign_in ? signInForm(place) : h("p.empty", {}, t("no_users"));
  const out = async () => {
    await signOut();
    go(`#/${encodeURIComponent(place.pool)}`);
    changed();
  };
  return h("div", {}, list([[t("user"), foreign(session.user)], [t("role"), t(session.role)], [t("sees_params"), t(session.params ? "yes" : "no")]]),
    h("p", {}, h("button.quiet", { type: "button", onclick: out }, t("sign_out"))));
}

export const live = 0;
export const title = "session";
