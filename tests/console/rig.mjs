/* What the tests of the console's page share: a pool of its own with tasks in it, the console and workers over it, and
 * Debian's Chromium. */
import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, connect } from "node:net";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "../../tools/console/node_modules/playwright-core/index.mjs";

const TOOLS = new URL("../../tools/console/", import.meta.url);
const AXE = readFileSync(new URL("node_modules/axe-core/axe.min.js", TOOLS), "utf8");
const [taskpool, consoleProgram] = process.argv.slice(2, 4).map((path) => resolve(path));
export const LIMIT_MS = 240000; // for what hangs
export const PASSWORD = "correct horse battery";

const folder = mkdtempSync(`${tmpdir()}/taskpool-console.`);
const base = process.env.TASKPOOL_DSN.replace(/;*$/, ";");
const dsn = `${base}Prefix=w${randomBytes(4).toString("hex")}_`;
const running = [];
let passed = 0, failed = 0;

export function check(name, good, what = "") {
  if (good) return void passed++;
  failed++;
  console.log(`not ok - ${name}: ${what}`);
}

export function run(args, { input, code = 0, faketime } = {}) {
  const command = faketime ? ["faketime", "-f", faketime, taskpool, ...args] : [taskpool, ...args];
  const done = spawnSync(command[0], command.slice(1), { input, env: { ...process.env, TASKPOOL_DSN: dsn, DONT_FAKE_MONOTONIC: "1" }, encoding: "utf8", maxBuffer: 1 << 26 });
  if (code !== null && done.status !== code) throw new Error(`taskpool ${args.join(" ").slice(0, 200)}: exit code ${done.status}: ${done.stderr}`);
  return done.stdout;
}

export function json(...args) {
  return run([...args, "--json"]).split("\n").filter(Boolean).map((line) => JSON.parse(line));
}

/** A handler program of these lines. */
export function program(name, text) {
  writeFileSync(`${folder}/${name}`, `#!/bin/sh\n${text}\n`);
  chmodSync(`${folder}/${name}`, 0o755);
  return `${folder}/${name}`;
}

export function path(name) {
  return `${folder}/${name}`;
}

export function worker(...args) {
  const child = spawn(taskpool, ["work", ...args], { env: { ...process.env, TASKPOOL_DSN: dsn }, stdio: "ignore" });
  running.push(child);
  return child;
}

/** The console with its users, and where it is. */
export async function startConsole(pools) {
  const users = `${folder}/users`;
  for (const [name, role, ...params] of [["vera", "viewer"], ["olga", "operator", "--params"], ["albert", "approver", "--params"], ["adele", "administrator"]]) {
    const made = spawnSync(consoleProgram, ["user", "add", name, "--role", role, "--users", users, ...params], { input: `${PASSWORD}\n`, encoding: "utf8" });
    if (made.status !== 0) throw new Error(`user add: ${made.stderr}`);
  }
  const options = Object.entries(pools).flatMap(([name, string]) => {
    writeFileSync(`${folder}/${name}.dsn`, string, { mode: 0o600 });
    return ["--pool", `${name}=${folder}/${name}.dsn`];
  });
  const child = spawn(consoleProgram, ["--listen", "127.0.0.1:0", "--users", users, "--wait", "2m", ...options], { stdio: ["ignore", "pipe", "inherit"] });
  running.push(child);
  for await (const line of createInterface({ input: child.stdout })) return { child, url: line.match(/http:\S+/)[0], port: Number(line.match(/:(\d+)\//)[1]) };
  throw new Error("the console does not say where it listens");
}

/** Hands on to a server, until it is told to cut: so that the database is away for the console alone. */
export async function startProxy(to) {
  const pairs = new Set();
  let cut = false;
  const server = createServer((from) => {
    if (cut) return void from.destroy();
    const other = connect(to, "127.0.0.1");
    for (const [a, b] of [[from, other], [other, from]]) {
      a.pipe(b);
      a.on("error", () => b.destroy());
      a.on("close", () => b.destroy());
      pairs.add(a);
    }
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  server.unref();
  return { port: server.address().port, cut: (away) => {
    cut = away;
    for (const one of pairs) if (away) one.destroy();
    pairs.clear();
  } };
}

export const pool = { dsn, base };

/** A browser whose pages report what they should not do. */
export async function startBrowser() {
  return chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"] });
}

export async function openPage(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(LIMIT_MS);
  page.problems = [];
  page.on("pageerror", (error) => page.problems.push(`error: ${error}`));
  page.on("console", (message) => /Content.Security|violates|Trusted/i.test(message.text()) && page.problems.push(message.text()));
  page.on("dialog", (dialog) => page.problems.push(`dialog: ${dialog.message()}`) && dialog.dismiss());
  page.on("request", (request) => !/^(blob|data):/.test(request.url()) && !request.url().startsWith(url) && page.problems.push(`another host: ${request.url()}`));
  page.root = url;
  return page;
}

/** Goes to a page of the console and waits until it is shown; not only that the pool, or a page of it, is still being read. */
export async function goTo(page, hash) {
  const there = await page.evaluate(([root, to]) => location.href.startsWith(root) && location.hash !== to && Boolean((location.hash = to)), [page.root, `#/${hash}`]);
  if (!there) await page.goto("about:blank");
  if (!there) await page.goto(`${page.root}#/${hash}`);
  await page.waitForFunction((to) => {
    const main = document.getElementById("main");
    return main?.dataset.shows === to && !main.hasAttribute("aria-busy") && main.querySelector("h1") && !main.textContent.includes("still being read");
  }, `#/${hash}`);
}

/** axe has its way into the page past the CSP, by the debugger. */
export async function axe(page, name) {
  const session = await page.context().newCDPSession(page);
  await session.send("Runtime.evaluate", { expression: AXE });
  const expression = "axe.run(document).then((r) => JSON.stringify({ passes: r.passes.length, found: r.violations.map((v) => `${v.id} ${v.nodes[0].target} ${v.nodes[0].failureSummary}`) }))";
  const { result } = await session.send("Runtime.evaluate", { expression, awaitPromise: true });
  const { passes, found } = JSON.parse(result.value);
  check(`axe on ${name}`, found.length === 0 && passes > 10, `${passes} passes; ${found.join("; ")}`);
}

export async function signIn(page, user) {
  await goTo(page, "pool/session");
  await page.fill("#user", user);
  await page.fill("#password", PASSWORD);
  await page.press("#password", "Enter");
  await page.waitForSelector(`header .own a:has-text("${user}")`);
  await page.goto("about:blank"); // it begins anew, and on a busy machine later than what comes next
}

/** Fills the dialog of an action in; says what it was about to do. */
export async function confirm(page, why) {
  await page.waitForSelector("dialog[open] button.main:not([disabled])");
  const said = await page.textContent("dialog .count");
  await page.fill("#why", why);
  await page.click("dialog button.main");
  await page.waitForSelector("dialog", { state: "detached" });
  return said;
}

export async function finish(browser) {
  await browser?.close();
  for (const child of running) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
}
