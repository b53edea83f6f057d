/* Asks the server. Knows the session and its token; what the answers mean is the pages' business. */

/** @typedef {{count: number, until?: number, requested?: boolean, asked?: number, unstored?: number, answer?: string, state?: string}} Done */
/** @typedef {{user: string | null, role: string, params: boolean, csrf: string | null, sign_in: boolean}} Session */

const BASE = new URL("api/v1/", document.baseURI);
const RANKS = ["viewer", "operator", "approver", "administrator"];

/** @type {Session} */
let session = { user: null, role: "viewer", params: false, csrf: null, sign_in: false };

export class ApiError extends Error {
  /** @param {number} status  0: no answer @param {string} text @param {any} [body] */
  constructor(status, text, body) {
    super(text);
    this.status = status;
    this.body = body;
  }
}

/** @param {string} path @param {Record<string, unknown>} [query] */
export function apiUrl(path, query = {}) {
  const url = new URL(path, BASE);
  for (const [key, value] of Object.entries(query))
    if (value !== null && value !== undefined && value !== "") url.searchParams.set(key, String(value));
  return url;
}

/**
 * @param {string} path @param {Record<string, unknown>} [query] @param {RequestInit} [init]
 * @returns {Promise<any>}
 */
export async function get(path, query, init = {}) {
  let answer, body;
  try {
    answer = await fetch(apiUrl(path, query), { credentials: "same-origin", ...init });
    body = answer.status === 204 ? {} : await answer.json();
  } catch (error) {
    if (!answer) throw new ApiError(0, error instanceof Error ? error.message : String(error));
    body = {};
  }
  if (!answer.ok) throw new ApiError(answer.status, body.error || `${answer.status} ${answer.statusText}`, body);
  return body;
}

/** @param {string} method @param {string} path @param {unknown} [body] */
function send(method, path, body) {
  const headers = /** @type {Record<string, string>} */ ({ "Content-Type": "application/json" });
  if (session.csrf) headers["X-CSRF-Token"] = session.csrf;
  return get(path, {}, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
}

/** @param {string} pool @param {string} name @param {Record<string, unknown>} body @returns {Promise<Done>} */
export function act(pool, name, body) {
  return send("POST", `pools/${encodeURIComponent(pool)}/actions/${name}`, body);
}

/** @param {string} pool @param {string} what @param {Record<string, unknown>} [query] */
export function ask(pool, what, query) {
  return get(`pools/${encodeURIComponent(pool)}/${what}`, query);
}

export async function readSession() {
  session = await get("session");
  return session;
}

/** @param {string} user @param {string} password */
export async function signIn(user, password) {
  session = await send("POST", "session", { user, password });
}

export async function signOut() {
  await send("DELETE", "session");
  await readSession();
}

export function currentSession() {
  return session;
}

/** Whether the session may change something. @param {string} [role] */
export function may(role = "operator") {
  return Boolean(session.user) && RANKS.indexOf(session.role) >= RANKS.indexOf(role);
}

/** Version 4; crypto.randomUUID is there by TLS only. */
export function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 15) | 64;
  bytes[8] = (bytes[8] & 63) | 128;
  const text = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return text.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
