/* Makes elements, and brings a page that is shown up to date. Text of tasks becomes text nodes only; nothing here or
 * elsewhere parses a string as HTML. */

/**
 * A plot or another part with a state of its own: brought up to date by its own function.
 * @typedef {HTMLElement & {data?: unknown, refresh?: (data: any) => void}} Part
 * @typedef {Node | string | number | null | undefined | false} Child
 */

const HANDLERS = ["onclick", "onsubmit", "onchange", "oninput", "ontoggle"];

/**
 * @param {string} tag  the element, with classes: "td.number"
 * @param {Record<string, unknown>} [properties]  on...: a handler; true: an attribute without a value
 * @param {...(Child | Child[])} children
 * @returns {HTMLElement}
 */
export function h(tag, properties = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name);
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(properties)) {
    if (HANDLERS.includes(key)) /** @type {any} */ (element)[key] = value;
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value != null) element.setAttribute(key, String(value));
  }
  for (const child of children.flat())
    if (child !== null && child !== undefined && child !== false)
      element.append(child instanceof Node ? child : String(child));
  return element;
}

/** @param {Element} old @param {Element} made */
function takeAttributes(old, made) {
  for (const { name } of [...old.attributes])
    if (!made.hasAttribute(name) && !(name === "open" && old.tagName === "DETAILS")) old.removeAttribute(name);
  for (const { name, value } of [...made.attributes])
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  for (const name of HANDLERS) /** @type {any} */ (old)[name] = /** @type {any} */ (made)[name];
}

/**
 * Makes old like made and keeps the elements that are there, and with them the focus, what is typed and what is marked.
 * @param {Node} old @param {Node} made
 */
export function morph(old, made) {
  if (old.nodeType !== made.nodeType || old.nodeName !== made.nodeName || keyOf(old) !== keyOf(made)) {
    /** @type {ChildNode} */ (old).replaceWith(made);
    return;
  }
  if (!(old instanceof Element) || !(made instanceof Element)) {
    if (old.nodeValue !== made.nodeValue) old.nodeValue = made.nodeValue;
    return;
  }
  const part = /** @type {Part} */ (old);
  if (part.refresh) {
    part.refresh(/** @type {Part} */ (made).data);
    return;
  }
  takeAttributes(old, made);
  morphChildren(old, made);
}

/** @param {Node} node */
function keyOf(node) {
  return node instanceof HTMLElement ? node.dataset.key : undefined;
}

/** Children with a key are found again by it, wherever they stand now. @param {Element} old @param {Element} made */
function morphChildren(old, made) {
  const keyed = new Map([...old.children].filter((child) => keyOf(child)).map((child) => [keyOf(child), child]));
  let at = old.firstChild;
  for (const child of [...made.childNodes]) {
    const found = keyed.get(keyOf(child));
    if (found && found !== at) old.insertBefore(found, at);
    const here = found ?? at;
    if (!here) {
      old.append(child);
      continue;
    }
    if (!found && keyOf(here)) {
      old.insertBefore(child, here);
      continue;
    }
    at = here.nextSibling;
    morph(here, child);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

/** @param {string} id */
export function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

let noteTimer = 0;
/** Says something once, to the eye and to a screen reader. @param {string} text */
export function note(text) {
  byId("note").textContent = text;
  clearTimeout(noteTimer);
  noteTimer = setTimeout(() => (byId("note").textContent = ""), 8000);
}
