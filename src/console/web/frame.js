/* What stands around each page: pools, pages, who is signed in, theme and language, and the band that says what is away. */
import { currentSession } from "./api.js";
import { byId, h, morph } from "./dom.js";
import { foreign, timeText } from "./format.js";
import { go, link } from "./route.js";
import { language, LANGUAGES, setLanguage, t } from "./texts.js";

const PAGES = ["overview", "tasks", "failures", "handlers", "workers", "schedules", "audit", "approvals"];
const THEMES = ["auto", "light", "dark"];

/** Storage may be forbidden: then a choice lasts until the page is left. @param {string} name @param {string} [value] */
export function remember(name, value) {
  try {
    if (value !== undefined) localStorage.setItem(`taskpool.${name}`, value);
    return localStorage.getItem(`taskpool.${name}`);
  } catch {
    return null;
  }
}

/** @param {string} theme */
function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  remember("theme", theme);
  document.dispatchEvent(new Event("theme"));
}

/** @param {string} id @param {string} label @param {[string, string][]} options @param {string} now @param {(value: string) => void} take */
function choice(id, label, options, now, take) {
  const onchange = (/** @type {Event} */ event) => take(/** @type {HTMLSelectElement} */ (event.target).value);
  return h("select", { id, "aria-label": label, onchange },
    options.map(([value, text]) => h("option", { value, selected: value === now }, text)));
}

/** @param {import("./route.js").Place} place */
function who(place) {
  const session = currentSession();
  if (session.user)
    return h("a", { href: link(place.pool, "session") }, foreign(session.user), h("span.role", {}, ` ${t(session.role)}`));
  return session.sign_in ? h("a", { href: link(place.pool, "session", { back: location.hash }) }, t("sign_in")) : h("span.role", {}, t("viewer"));
}

/** @param {{name: string, away: boolean}[]} pools @param {import("./route.js").Place} place */
export function frame(pools, place) {
  const here = place.page === "task" ? "tasks" : place.page;
  const made = h("header", { id: "top" },
    h("div.brand", {}, h("a", { href: link(place.pool, "overview") }, "taskpool"),
      pools.length > 1 ? choice("pool", t("pool"), pools.map(({ name, away }) => [name, away ? `${name} (${t("away")})` : name]), place.pool,
        (name) => go(link(name, here))) : h("span.pool", {}, foreign(place.pool))),
    h("nav.pages", { "aria-label": t("pages") }, PAGES.map((page) =>
      h("a", { href: link(place.pool, page), "aria-current": page === here ? "page" : false }, t(page)))),
    h("div.own", {}, choice("theme", t("theme"), THEMES.map((theme) => [theme, t(`theme_${theme}`)]), document.documentElement.dataset.theme ?? "auto", setTheme),
      choice("language", t("language"), LANGUAGES, language(), setLanguage), who(place)));
  morph(byId("top"), made);
  byId("top").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  byId("skip").textContent = t("skip_link");
  document.documentElement.lang = language();
}

/** @param {import("./live.js").Live} live */
export function showBand(live) {
  const band = byId("band");
  document.body.classList.toggle("stale", Boolean(live.away));
  band.hidden = !live.away;
  if (!live.away) {
    if (band.textContent) band.textContent = "";
    return;
  }
  const since = timeText(live.away.since);
  const text = live.away.error === null ? t("lost_server", { time: since }) : t("lost_database", { time: since });
  const made = h("div", {}, h("b", {}, text), live.away.error ? h("span", {}, " ", foreign(live.away.error)) : "");
  if (band.textContent !== made.textContent) band.replaceChildren(made);
}

document.documentElement.dataset.theme = remember("theme") ?? "auto";
