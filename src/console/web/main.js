/* Starts the page, shows the one that the address names, and keeps it up to date. */
import { onAction } from "./action.js";
import { ApiError, get, readSession } from "./api.js";
import { byId, h, morph } from "./dom.js";
import { frame, showBand } from "./frame.js";
import { listen, lastLive, mute, onLive } from "./live.js";
import { currentPlace, go, link } from "./route.js";
import { onLanguage, t } from "./texts.js";
import * as approvals from "./pages/approvals.js";
import * as failures from "./pages/failures.js";
import * as handlers from "./pages/handlers.js";
import * as audit from "./pages/audit.js";
import * as overview from "./pages/overview.js";
import * as schedules from "./pages/schedules.js";
import * as session from "./pages/session.js";
import * as task from "./pages/task.js";
import * as tasks from "./pages/tasks.js";
import * as workers from "./pages/workers.js";

/**
 * A page reads (load), makes its elements (view), and is read again each `live` ms; 0: when its reader asks.
 * @typedef {{title: string, live: number, load: (place: import("./route.js").Place) => Promise<any>,
 *   view: (data: any, place: import("./route.js").Place, again: () => void) => HTMLElement, again?: boolean}} Page
 */

const PAGES = /** @type {Record<string, Page>} */ ({ overview, tasks, task, failures, handlers, workers, schedules, audit, approvals, session });

/** @type {{name: string, away: boolean}[]} */
let pools = [];
let shownAt = 0, shownHash = "", listening = "", turn = 0, reading = false;
/** @type {any} */
let data = null;
let dataOf = ""; // the address that it was read for
let unread = ""; // the address that could not be read, the server or its database being away: it is read once they answer

/** @param {unknown} error @param {boolean} fresh */
function refused(error, fresh) {
  const status = error instanceof ApiError ? error.status : -1;
  if (status === 401) {
    go(link(currentPlace().pool, "session", { back: location.hash }));
    return;
  }
  // What is shown stays where the server or its database is away: the band says since when.
  const away = status === 0 || status >= 500;
  if (!fresh && away) return;
  unread = away ? location.hash : "";
  const text = status === 0 ? t("server_away") : error instanceof Error ? error.message : String(error);
  byId("main").replaceChildren(h("h1", {}, t(currentPlace().page)), h("p.problem", { role: "alert" }, text),
    h("button.quiet", { type: "button", onclick: () => show(true) }, t("again")));
}

/** @param {boolean} fresh  another page than is shown */
function render(fresh) {
  if (dataOf !== location.hash) return; // the address has just changed: route is about to hear of it
  const place = currentPlace();
  const page = PAGES[place.page];
  const made = h("div.page", { "data-key": place.page }, h("h1", {}, t(page.title)), page.view(data, place, () => render(false)));
  document.title = `${t(page.title)} – ${place.pool} – taskpool`;
  const main = byId("main");
  if (fresh || !main.firstElementChild) main.replaceChildren(made);
  else morph(main.firstElementChild, made);
}

/** @param {boolean} fresh */
async function show(fresh) {
  const place = currentPlace(), address = location.hash;
  const mine = ++turn;
  if (!(place.page in PAGES)) return go(link(place.pool, "overview"));
  if (fresh) byId("main").setAttribute("aria-busy", "true");
  reading = true;
  try {
    const read = await PAGES[place.page].load(place);
    if (mine !== turn) return;
    data = read;
    dataOf = address;
    unread = "";
    shownAt = Date.now();
    render(fresh);
  } catch (error) {
    if (mine === turn) refused(error, fresh);
  } finally {
    if (mine === turn) {
      reading = false;
      byId("main").removeAttribute("aria-busy");
      byId("main").dataset.shows = address;
    }
  }
}

function route() {
  const place = currentPlace();
  if (location.hash === "#main") return;
  if (!place.pool || !pools.some((pool) => pool.name === place.pool)) {
    if (pools.length) location.replace(link(pools[0].name, place.page, place.query));
    return;
  }
  const samePage = shownHash.split("?")[0] === location.hash.split("?")[0];
  shownHash = location.hash;
  if (listening !== place.pool) {
    listen(place.pool);
    listening = place.pool;
  }
  frame(pools, place);
  void show(true);
  if (!samePage) byId("main").focus({ preventScroll: true });
  if (!samePage) scrollTo(0, 0);
}

/** @param {import("./live.js").Live} live */
function hear(live) {
  showBand(live);
  const page = PAGES[currentPlace().page];
  if (!page || live.away || reading || document.hidden || document.querySelector("dialog[open]")) return;
  if (unread === location.hash) void show(true);
  else if (!shownAt) return;
  else if (page.live && Date.now() - shownAt >= page.live) void show(false);
  else if (data && (page === overview || page === handlers)) render(false);
}

async function start() {
  try {
    await readSession();
    pools = (await get("pools")).pools;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) pools = [{ name: "pool", away: false }];
    else {
      refused(error, true);
      setTimeout(start, 3000);
      return;
    }
  }
  route();
}

/** Everything anew: after a sign-in or in another language. */
export function restart() {
  mute();
  listening = shownHash = "";
  void start();
}

byId("skip").onclick = (event) => {
  event.preventDefault();
  byId("main").focus();
};
onLive(hear);
onAction(() => void show(false));
onLanguage(() => {
  frame(pools, currentPlace());
  void show(true);
  showBand(lastLive());
});
document.addEventListener("session", restart);
addEventListener("hashchange", route);
void start();
