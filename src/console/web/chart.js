/* Plots over time, by uPlot where the build has it; the same numbers are a table below each, which is all there is where
 * it has not. */
import { h } from "./dom.js";
import { timeText } from "./format.js";
import { table } from "./table.js";
import { language, t } from "./texts.js";

/**
 * @typedef {{label: string, tone: "a" | "b" | "bad" | "warn", value: (point: any) => number | null, fill?: boolean}} Series
 * @typedef {{title: string, series: Series[], points: any[], text: (value: number | null) => string}} Chart
 */

const HEIGHT = 150;
/** @type {Promise<any> | null} */
let loading = null;

/** uPlot, or null. */
function library() {
  loading ??= new Promise((resolve) => {
    const script = h("script", { src: "assets/uplot.js" });
    script.addEventListener("load", () => {
      document.head.append(h("link", { rel: "stylesheet", href: "assets/uplot.css" }));
      resolve(/** @type {any} */ (window).uPlot ?? null);
    });
    script.addEventListener("error", () => resolve(null));
    document.head.append(script);
  });
  return loading;
}

/** @param {string} name */
function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** Values with no other beside them, of which no line is drawn. @param {any} u @param {number} series */
function alone(u, series) {
  const values = /** @type {(number | null)[]} */ (u.data[series]);
  return values.flatMap((value, i) => (value !== null && (values[i - 1] ?? null) === null && (values[i + 1] ?? null) === null ? [i] : []));
}

/** @param {Chart} now */
function columnsOf(now) {
  return [now.points.map((point) => point.at / 1000), ...now.series.map((one) => now.points.map((point) => one.value(point) ?? null))];
}

/** @param {Chart} now @param {number} width */
function optionsOf(now, width) {
  const clock = new Intl.DateTimeFormat(language(), { hour: "2-digit", minute: "2-digit", hour12: false });
  const day = new Intl.DateTimeFormat(language(), { month: "numeric", day: "numeric" });
  /** @param {any} _ @param {number[]} at */
  const times = (_, at) => at.map((s) => (at.length > 1 && at[1] - at[0] >= 86400 ? day : clock).format(s * 1000));
  /** @param {any} _ @param {number[]} at */
  const values = (_, at) => at.map((v) => now.text(v));
  const axis = { stroke: colour("dim"), grid: { stroke: colour("line"), width: 1 }, ticks: { show: false }, font: "11px system-ui" };
  return {
    width, height: HEIGHT, legend: { show: false }, cursor: { y: false, drag: { x: false, y: false } },
    scales: { y: { range: (/** @type {any} */ _, /** @type {number} */ low, /** @type {number} */ high) => [0, high > 0 ? high * 1.1 : 1] } },
    axes: [{ ...axis, values: times, space: 60, size: 24 }, { ...axis, values, size: 62, space: 32 }],
    series: [{}, ...now.series.map((one) => ({
      points: { show: true, size: 4, filter: alone }, label: one.label, stroke: colour(one.tone), width: 1.5, fill: one.fill ? colour(`${one.tone}-soft`) : undefined,
    }))],
  };
}

/** @param {Chart} now */
function numbers(now) {
  const columns = [{ label: t("time"), cell: (/** @type {any} */ point) => timeText(point.at) },
    ...now.series.map((one) => ({ label: one.label, number: true, cell: (/** @type {any} */ point) => now.text(one.value(point)) }))];
  return table(now.title, columns, [...now.points].reverse(), (point) => String(point.at), { hideCaption: true });
}

/** @param {Chart} first @returns {HTMLElement} */
export function chart(first) {
  const plot = h("div.plot", { "aria-hidden": "true" });
  const details = /** @type {HTMLDetailsElement} */ (h("details", {}, h("summary", {}, t("numbers"), h("span.hidden", {}, `: ${first.title}`))));
  const keys = h("span.keys", { "aria-hidden": "true" }, first.series.map((one) => h(`span.key.${one.tone}`, {}, one.label)));
  const value = h("span.value", { "aria-hidden": "true" });
  const figure = /** @type {import("./dom.js").Part} */ (h("figure", { "data-key": first.title }, h("figcaption", {}, h("b", {}, first.title), keys, value), plot, details));
  let now = first;
  /** @type {any} */
  let drawn = null;

  const fill = () => details.open && details.replaceChildren(details.firstChild ?? "", numbers(now));
  const say = (/** @type {any} */ u) => {
    const at = u.cursor.idx;
    const point = at === null || at === undefined ? null : now.points[at];
    value.textContent = point ? `${timeText(point.at).slice(5, 16)}: ${now.series.map((one) => now.text(one.value(point))).join(" / ")}` : "";
  };
  const draw = async () => {
    const uPlot = await library();
    if (!uPlot) {
      plot.hidden = details.open = true;
      fill();
      return;
    }
    drawn?.destroy();
    drawn = new uPlot({ ...optionsOf(now, plot.clientWidth || 300), hooks: { setCursor: [say] } }, columnsOf(now), plot);
  };
  details.addEventListener("toggle", fill);
  figure.data = first;
  figure.refresh = (made) => {
    now = made;
    drawn?.setData(columnsOf(now));
    fill();
  };
  new ResizeObserver(() => drawn && plot.clientWidth && drawn.setSize({ width: plot.clientWidth, height: HEIGHT })).observe(plot);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => figure.isConnected && draw());
  document.addEventListener("theme", () => figure.isConnected && draw());
  requestAnimationFrame(draw);
  return figure;
}
