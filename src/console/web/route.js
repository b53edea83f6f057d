/* Where the page is: #/POOL/PAGE/ID?name=value. The part after # is never sent to a server, so that business keys in a
 * filter stay out of its logs. */

import { h } from "./dom.js";

/** @typedef {{pool: string, page: string, id: string, query: Record<string, string>}} Place */

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @returns {Place} */
export function currentPlace() {
  const [path, search] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const [pool = "", page = "", id = ""] = path.split("/").map(decode);
  return { pool, page: page || "overview", id, query: Object.fromEntries(new URLSearchParams(search ?? "")) };
}

/** @param {string} pool @param {string} page @param {Record<string, unknown>} [query] @param {string} [id] */
export function link(pool, page, query = {}, id = "") {
  const set = Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const search = new URLSearchParams(set.map(([key, value]) => [key, String(value)])).toString();
  return "#/" + [pool, page, id].filter(Boolean).map(encodeURIComponent).join("/") + (search ? `?${search}` : "");
}

/** A task by the end of its id: ids of one time begin alike. @param {string} pool @param {string} id */
export function taskLink(pool, id) {
  return h("a.id", { href: link(pool, "task", {}, id), title: id }, id.length > 16 ? `…${id.slice(-12)}` : id);
}

/** @param {string} hash */
export function go(hash) {
  location.hash = hash;
}
