/* What eslint holds the page to: no text becomes HTML or code, and what is commonly wrong. */
const BROWSER = ["window", "document", "location", "fetch", "URL", "URLSearchParams", "EventSource", "localStorage", "navigator", "matchMedia", "FormData", "Blob", "Event", "HTMLElement",
  "Element", "Node", "ResizeObserver", "requestAnimationFrame", "getComputedStyle", "setTimeout", "clearTimeout", "setInterval", "addEventListener", "scrollTo", "crypto"];
const TEXT = "Text of tasks is shown by text nodes: see dom.js.";

export default [{
  languageOptions: { ecmaVersion: 2022, sourceType: "module", globals: Object.fromEntries(BROWSER.map((name) => [name, "readonly"])) },
  linterOptions: { reportUnusedDisableDirectives: "error" },
  rules: {
    "no-undef": "error", "no-unused-vars": "error", "no-var": "error", "prefer-const": "error", eqeqeq: ["error", "always", { null: "ignore" }],
    "no-eval": "error", "no-implied-eval": "error", "no-new-func": "error", "no-script-url": "error", "no-control-regex": "error", "no-shadow": "error",
    "no-unreachable": "error", "no-self-compare": "error", "no-console": "error", "max-lines": ["error", 400], "max-len": "off",
    "no-restricted-properties": ["error", ...["innerHTML", "outerHTML", "insertAdjacentHTML", "write", "writeln", "cssText"].map((property) => ({ property, message: TEXT }))],
    "no-restricted-syntax": ["error", { selector: "CallExpression[callee.property.name='setAttribute'][arguments.0.value='style']", message: "The page's CSP forbids style attributes." }],
  },
}];
