/* Which language the page speaks, and its texts in it. */
import { TABLE } from "./table_of_texts.js";

/** @type {[string, string][]} */
export const LANGUAGES = [["en", "English"], ["de", "Deutsch"], ["zh", "中文"]];

let now = choose();
let changed = () => {};

/** What the reader chose, else the first of the browser's languages that there is. */
function choose() {
  let chosen = null;
  try {
    chosen = localStorage.getItem("taskpool.language");
  } catch {
    // Storage is forbidden: the browser's languages decide.
  }
  const wanted = [chosen, ...navigator.languages].map((tag) => (tag ?? "").slice(0, 2));
  return wanted.find((tag) => LANGUAGES.some(([known]) => known === tag)) ?? "en";
}

export function language() {
  return now;
}

/** @param {string} chosen */
export function setLanguage(chosen) {
  now = chosen;
  try {
    localStorage.setItem("taskpool.language", chosen);
  } catch {
    // It lasts until the page is left.
  }
  changed();
}

/** @param {() => void} see */
export function onLanguage(see) {
  changed = see;
}

/** The text of this name; a name that the table lacks stands for itself. @param {string} name @param {Record<string, unknown>} [values]  for {name} in it */
export function t(name, values = {}) {
  const row = TABLE[name];
  const text = row ? row[LANGUAGES.findIndex(([known]) => known === now)] : name;
  return text.replace(/\{(\w+)\}/g, (whole, key) => (key in values ? String(values[key]) : whole));
}
