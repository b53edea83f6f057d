/* The pages as a site (tools/site.sh), read in Debian's Chromium from files, without a server: the search from pages of each depth and, with
 * "all", every page on a phone and on a desktop, every link and picture; and that nobody else is asked for anything. Arguments: the folder of
 * the site, all. */
import { readdirSync } from "node:fs";
import { relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "../../tools/console/node_modules/playwright-core/index.mjs";

const folder = resolve(process.argv[2]);
const home = `${pathToFileURL(folder).href}/`;
const PHONE = { width: 390, height: 844 }, DESKTOP = { width: 1280, height: 900 };
let passed = 0, failed = 0;

function check(name, good, what = "") {
  if (good) return void passed++;
  failed++;
  console.log(`not ok - ${name}: ${what}`);
}

/** Of a page: what a link may lead to, where its own lead, what is too wide or was not loaded. */
const look = () => ({
  ids: [...document.querySelectorAll("[id]")].map((element) => element.id),
  links: [...document.querySelectorAll("a[href]")].map((link) => link.href),
  wide: document.scrollingElement.scrollWidth - window.innerWidth,
  broken: [...document.images].filter((image) => !image.naturalWidth).map((image) => image.src),
  heading: document.querySelector("h1")?.textContent ?? "",
});

async function every_page(page) {
  const names = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".html"));
  const found = new Map();
  for (const name of names) {
    await page.setViewportSize(PHONE);
    await page.goto(home + name);
    const seen = await page.evaluate(look);
    found.set(home + name, seen);
    check(`${name} has a heading`, seen.heading.length > 2);
    check(`${name} fits on a phone`, seen.wide <= 0, `${seen.wide} pixels too wide`);
    check(`${name} has its pictures`, seen.broken.length === 0, seen.broken.join());
    await page.setViewportSize(DESKTOP);
    const wide = (await page.evaluate(look)).wide;
    check(`${name} fits on a desktop`, wide <= 0, `${wide} pixels too wide`);
  }
  for (const [name, { links }] of found) {
    for (const link of links.filter((one) => one.startsWith("file:"))) {
      const [to, anchor] = link.split("#"), target = found.get(to);
      check(`${relative(folder, new URL(name).pathname)}: ${link}`, target && (!anchor || target.ids.includes(decodeURIComponent(anchor))), "leads nowhere");
    }
  }
  check("there are pages", names.length > 50, names.length);
}

/** What a search finds: the texts of its links. */
async function find(page, words) {
  await page.fill("#q", words);
  return page.locator("#found li a").allTextContents();
}

async function search(page, from) {
  await page.goto(home + from);
  const hits = await find(page, "dedup_key ledger");
  check(`${from}: a search finds`, hits.length > 0 && hits.length <= 12, hits.length);
  for (const text of await page.locator("#found li").allTextContents()) check(`${from}: a hit has text, as it is read`, text.length > 10 && !/', '|\('/.test(text), text);
  check(`${from}: the heading counts most`, (await find(page, "exit codes"))[0]?.toLowerCase() === "exit codes", (await find(page, "exit codes"))[0]);
  check(`${from}: hits fit`, (await page.evaluate(look)).wide <= 0);
  await page.click("#found li:first-child a");
  await page.waitForURL("**/docs/cli.html#exit-codes");
  check(`${from}: a hit leads to its heading`, await page.locator("#exit-codes").evaluate((heading) => {
    const { top } = heading.getBoundingClientRect();
    return top > -5 && top < window.innerHeight;
  }));
  check(`${from}: nothing is found`, (await find(page, "xyzzy-plugh")).length === 0 && (await page.textContent("#found")) === "nothing found");
  await find(page, "<img src=x>");
  check(`${from}: words are no HTML`, await page.locator("#found img").count() === 0);
  await find(page, "");
  check(`${from}: an empty search shows nothing`, (await page.textContent("#found")) === "");
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
try {
  const page = await browser.newPage();
  const said = [], asked = [];
  page.on("console", (message) => message.type() === "error" && said.push(message.text()));
  page.on("pageerror", (error) => said.push(String(error)));
  page.on("request", (request) => request.url().startsWith(home) || asked.push(request.url()));
  if (process.argv[3] === "all") await every_page(page);
  for (const [size, from] of [[DESKTOP, "index.html"], [PHONE, "docs/guarantees.html"], [PHONE, "include/taskpool.h.html"]]) {
    await page.setViewportSize(size);
    await search(page, from);
  }
  check("nobody else is asked", asked.length === 0, asked.join());
  check("no errors", said.length === 0, said.join());
} finally {
  await browser.close();
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
