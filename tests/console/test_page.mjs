/* The console's page, driven as operators do: each page, each action, roles, what hostile tasks show, live figures, a
 * database that goes away, a keyboard alone, a phone. Arguments: taskpool, taskpool-console; and short, for what only a
 * database on a network has: a search over several pools, one of which goes away. */
import { axe, check, confirm, finish, goTo, json, openPage, pool, program, run, signIn, startBrowser, startConsole, startProxy } from "./rig.mjs";
import { HOSTILE, inHand, seed, until } from "./seed.mjs";

const PAGES = ["overview", "tasks", "failures", "handlers?handler=pay", "workers", "schedules", "audit", "approvals", "session"];
const PAUSED = { de: /mail ist angehalten/, zh: /mail 已暂停/ };
const SHORT = process.argv[4] === "short";
const of = (handler) => json("list", "--pool", "all", "--handler", handler);

async function pages(page) {
  for (const name of PAGES) {
    await goTo(page, `pool/${name}`);
    await axe(page, name);
    const problems = await page.locator("main .problem:not(:empty)").allTextContents();
    check(`${name} is shown`, problems.length === 0, problems.join());
  }
  await goTo(page, "pool/handlers");
  await page.evaluate(() => { // a click, or news, when the address is another already and the page is not
    const head = document.querySelector("thead button");
    location.hash = "#/pool/overview";
    head.click();
  });
  await goTo(page, "pool/overview");
  check("a page is never drawn from another one's answer", page.problems.length === 0, page.problems.join());
  const plots = await page.evaluate(() => fetch("assets/uplot.js").then((answer) => answer.ok));
  check("plots are built in", plots || process.env.TASKPOOL_TEST_REQUIRE !== "1", "uPlot was not there when it was built");
  if (plots) await page.waitForSelector(".plot canvas");
  else console.log("SKIPPED: plots were NOT tried out: uPlot was not there when it was built");
  check("the overview answers first", (await page.textContent("main .answer")).length > 5);
  check("plots have their numbers", await page.locator("figure details").count() === 3);
  if (plots) await page.click("figure:first-of-type summary");
  await page.waitForSelector("figure:first-of-type table");
  await page.route("**/uplot.js", (route) => route.fulfill({ status: 404 }));
  await goTo(page, "pool/overview"); // loads the page anew
  await page.waitForSelector("figure:first-of-type table");
  check("without uPlot there are tables", await page.locator("figure canvas").count() === 0);
  await page.unroute("**/uplot.js");
}

async function search(page) {
  await goTo(page, "pool/tasks?handler=pay");
  check("a page of tasks", await page.locator("tbody tr").count() === 50);
  const first = await page.textContent("tbody tr:first-child td .id");
  await page.click("text=Next page");
  await page.waitForFunction((id) => document.querySelector("tbody tr td .id")?.textContent !== id, first);
  check("a next page has its address", page.url().includes("after="));
  await page.click("text=Next page");
  await page.waitForSelector("text=The end");
  check("the last page", await page.locator("tbody tr").count() === 20);
  await goTo(page, "pool/tasks");
  await page.fill("#by-biz_key", "order-7");
  await page.press("#by-biz_key", "Enter");
  await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 1);
  await page.click("tbody .id");
  await page.waitForSelector("h2:has-text('Its life')");
  check("a task has its life", (await page.textContent("main")).includes("enqueued"));
  run(["gate", "set", "narrow", "--width", "1"]);
  run(["group", "open", "november"]);
  run(["enqueue", "gated", "{}", "--gate", "narrow"]);
  const second = run(["enqueue", "gated", "{}", "--gate", "narrow"]).trim(), after = run(["enqueue", "gated", "{}", "--after", "november"]).trim();
  run(["enqueue", "gated", "{}", "--group", "november"]);
  for (const [field, value, found] of [["gate", "narrow", 2], ["group", "november", 1]]) {
    await goTo(page, "pool/tasks");
    await page.locator("details.more").evaluate((/** @type {HTMLDetailsElement} */ more) => { more.open = true; });
    await page.fill(`#by-${field}`, value);
    await page.press(`#by-${field}`, "Enter");
    await page.waitForFunction((rows) => document.querySelectorAll("tbody tr").length === rows, found);
    check(`found by ${field}`, (await page.locator("tbody tr").allTextContents()).every((row) => row.includes("gated")));
  }
  await goTo(page, "pool/tasks?handler=gated");
  const rows = (await page.locator("tbody tr").allTextContents()).join("\n");
  check("a list says what tasks wait for", rows.includes("Waits at gate narrow") && rows.includes("After group november") && !rows.includes("9999"), rows);
  await goTo(page, `pool/task/${second}`);
  await page.waitForSelector("dl:has-text('Waits at gate'):has-text('narrow'):not(:has-text('9999'))");
  await goTo(page, `pool/task/${after}`);
  await page.waitForSelector("dl:has-text('After group'):has-text('november'):not(:has-text('9999'))");
  run(["skip", "--handler", "gated"]); // those that ask how long the backlog is need not know them
  check("the wrong id says so", await goTo(page, "pool/task/none").then(() => page.locator("main .problem").count()) === 1);
}

async function hostile(page) {
  const [{ id }] = of(HOSTILE.handler);
  for (const name of ["failures", "handlers", "audit", "tasks?pool=failed", "overview"]) await goTo(page, `pool/${name}`);
  await goTo(page, `pool/task/${id}`);
  const text = await page.textContent("main");
  check("markup is text", text.includes("<b onclick=hacked()>") && text.includes("<img src=x onerror=hacked()>"), text.slice(0, 400));
  check("what turns or hides text is written out", text.includes("\\u202e") && text.includes("\\u001b[31m") && !/[\u202e\u001b]/.test(text));
  check("long parameters are cut", (await page.textContent("pre")).length < 30000);
  await page.click("text=/Show all/");
  check("and shown when asked for", (await page.textContent("pre")).length > 1e6);
  check("nothing of it ran", !(await page.evaluate(() => "hacked" in window)) && await page.locator("main script, main img, main b[onclick]").count() === 0);
}

/** What olga asks for waits until albert approves it; she cannot, and what changed meanwhile is not done. */
async function approvals(browser, url, page) {
  run(["enqueue", "doubtful", "{}"]);
  run(["enqueue", "doubtful", "{}"]);
  const admin = await openPage(browser, url), other = await openPage(browser, url);
  await signIn(admin, "adele");
  await goTo(admin, "pool/approvals");
  await admin.click("button:has-text('Switch four eyes on')");
  await confirm(admin, "policy 9");
  await admin.waitForSelector("text=Four eyes is on");
  await admin.context().close();
  await goTo(page, "pool/tasks?handler=doubtful");
  await page.click(".actions button:has-text('Cancel')");
  check("a cancel is counted as always", (await confirm(page, "sent twice")).includes("2"));
  await page.waitForSelector("#note:has-text('another person')");
  check("nothing is done before", of("doubtful").every((task) => task.state === "pending"));
  await goTo(page, "pool/approvals");
  await page.waitForSelector("tbody tr:has-text('olga'):has-text('cancel')");
  check("one's own request cannot be approved", await page.locator("tbody button:has-text('Approve')").count() === 0);
  await axe(page, "a waiting request");
  await signIn(other, "albert");
  await goTo(other, "pool/approvals");
  await other.click("tbody tr:has-text('cancel') button:has-text('Approve')");
  check("the approver sees how many", (await confirm(other, "seen")).includes("2"));
  await other.waitForSelector("text=Nothing waits");
  check("it is carried out", of("doubtful").every((task) => task.state === "skipped" && /^cancelled by olga: .*sent twice/.test(task.reason)), JSON.stringify(of("doubtful")));
  const told = json("history").filter((event) => ["asked", "approved"].includes(event.event));
  check("both are recorded", told.some((event) => event.event === "asked" && event.who === "olga") && told.some((event) => event.event === "approved" && event.who === "albert"), JSON.stringify(told));
  check("an approver does not switch settings", await other.locator("button:has-text('Switch four eyes')").count() === 0);
  run(["enqueue", "doubtful", "{}"]);
  await goTo(page, "pool/tasks?handler=doubtful");
  await page.click(".actions button:has-text('Skip')");
  await confirm(page, "again");
  await page.waitForSelector("#note:has-text('another person')");
  await goTo(other, "pool/approvals");
  await other.click("tbody tr:has-text('skip') button:has-text('Refuse')");
  await confirm(other, "not this one");
  await other.waitForSelector("text=Nothing waits");
  check("a refusal changes nothing", of("doubtful").some((task) => task.state === "pending"));
  const id = json("requests", "--all").find((request) => request.state === "refused");
  check("and is kept", id?.asked_by === "olga", JSON.stringify(id));
  await contents(page, other);
  run(["four-eyes", "off", "--who", "adele"], { code: 13 });
  await goTo(other, "pool/approvals");
  await other.click("tbody tr:has-text('four-eyes') button:has-text('Approve')");
  await confirm(other, "back");
  await other.waitForSelector("text=Four eyes is off");
  check("nothing odd in the approver's page", other.problems.length === 0, other.problems.join());
  await other.context().close();
}

/** What is approved is seen: each field that an edit writes, also one that it takes out or sets to 0, and params to their end. */
async function contents(page, other) {
  const of = (/** @type {string} */ text) => run(["enqueue", "edited", "{}", "--biz-key", text, "--dedup-key", text]).trim();
  const edits = /** @type {[string, string[], string[]][]} */ ([
    ["filled", ["--params", `${" ".repeat(30000)}{"iban":"THE END"}`], ["Parameters", "THE END"]],
    ["blank", ["--params", "-"], ["Parameters taken out"]],
    ["bare", ["--no-dedup-key", "--no-biz-key"], ["Business key taken out", "Dedup key taken out"]],
    ["numbers", ["--priority", "0", "--max-failures", "0", "--due-at", "2030-01-01T12:00:00Z"], ["Priority 0", "Failures at most 0", "Due 2030-01-01"]],
    ["moved", ["--shard", "-3", "--deadline", "2030-06-01T12:00:00Z"], ["Shard -3", "Deadline 2030-06-01"]],
    ["endless", ["--no-deadline"], ["Deadline taken out"]],
  ]);
  for (const [name, options] of edits) run(["edit", of(name), ...options, "--who", "olga", "--why", name], { input: "", code: 13 });
  await other.setViewportSize({ width: 800, height: 900 });
  await goTo(other, "pool/approvals");
  for (const [name, , told] of edits) {
    const row = other.locator(`tbody tr:has-text('${name}')`);
    await row.waitFor();
    const text = await row.innerText();
    for (const what of told) check(`an approver sees ${name}: ${what}`, text.replace(/\s+/g, " ").includes(what), text.slice(0, 300));
    check(`the task of ${name} is a link`, await row.locator("a[href*='/task/']").count() === 1, text.slice(0, 300));
    await row.locator("button:has-text('Refuse')").click();
    await confirm(other, "no");
    await row.waitFor({ state: "detached" });
  }
  await goTo(other, "pool/approvals?all=1");
  const decided = (/** @type {string} */ name) => other.locator(`tbody tr:has-text('${name}')`).innerText();
  check("whose parameters may be seen reads no stars", /Parameters(?! \*)/.test(await decided("filled")), await decided("filled"));
  check("a shard is kept", /Shard\s+-3/.test(await decided("moved")), await decided("moved"));
  await other.setViewportSize({ width: 1280, height: 900 });
}

/** An answer that comes after its reader has gone on takes no mark from the page where he is. */
async function marks(page) {
  let release = () => {};
  const held = new Promise((go) => { release = () => go(null); });
  const late = (/** @type {URL} */ url) => url.pathname.endsWith("/tasks") && url.searchParams.get("biz_key") === "nobody";
  await page.route(late, async (route) => {
    await held;
    await route.continue();
  });
  const asked = page.waitForRequest((request) => late(new URL(request.url())));
  await page.evaluate(() => { location.hash = "#/pool/tasks?biz_key=nobody"; });
  await asked;
  await goTo(page, "pool/tasks?handler=pay&pool=finished");
  const box = (/** @type {number} */ i) => page.locator("tbody input[type=checkbox]").nth(i);
  await box(0).check();
  await page.evaluate(() => { // what waits for an answer's body goes on before the next timer
    const { json } = Response.prototype;
    Response.prototype.json = async function () {
      const body = await json.call(this);
      if (this.url.includes("biz_key=nobody")) setTimeout(() => { document.body.dataset.late = "read"; });
      return body;
    };
  });
  release();
  await page.waitForSelector("body[data-late=read]");
  await box(1).check();
  check("both marks are there", (await page.textContent(".actions [role=status]")).includes("2"), await page.textContent(".actions [role=status]"));
  await page.unroute(late);
}

/** As many leave a group as come to it while the dialog is open: nothing is done, and what is there now is counted. */
async function swapped(page) {
  const enqueue = () => [1, 2].forEach(() => run(["enqueue", "swap", "x"]));
  enqueue();
  await goTo(page, "pool/tasks?handler=swap");
  await page.click(".actions button:has-text('Skip')");
  await page.waitForSelector("dialog[open] button.main:not([disabled])");
  run(["skip", "--handler", "swap"]);
  enqueue();
  await page.fill("#why", "not these");
  await page.click("dialog button.main");
  await page.waitForSelector("dialog .problem:has-text('another number')");
  check("those that came are as they were", of("swap").filter((task) => task.state === "pending").length === 2);
  check("and are counted anew", (await confirm(page, "these")).includes("2"));
  check("then they are skipped", of("swap").every((task) => task.state === "skipped"));
}

/** Over all pools of the console: cut is pool by another way, so each task is there twice. */
async function everyPool(page, proxy) {
  const found = async () => page.locator("tbody tr").evaluateAll((rows) => rows.map((row) => `${row.children[1].textContent} ${row.querySelector(".id").title}`));
  const wanted = json("list", "--pool", "all", "--handler", "pay", "--limit", "1000").flatMap(({ id }) => [`cut ${id}`, `pool ${id}`]).sort().join();
  await page.route("**/pools/cut/tasks?*", (route) => route.continue({ url: route.request().url().replace("limit=50", "limit=20") })); // one reads less far
  for (const more of ["", "&since=100000000000"]) {
    await goTo(page, `pool/tasks?handler=pay&pool=all&every=1${more}`);
    if (!more) await axe(page, "a search over all pools");
    const all = await found();
    for (let pages = 1; await page.locator("a:has-text('Next page')").count() && pages < 50; pages++) {
      await goTo(page, (await page.getAttribute("a:has-text('Next page')", "href")).slice(2));
      all.push(...(await found()));
    }
    check(`each task of each pool once${more}`, all.length > 200 && [...all].sort().join() === wanted, `${all.length}`);
  }
  await page.unroute("**/pools/cut/tasks?*");
  check("nothing is done to several pools at once", await page.locator(".actions, tbody input").count() === 0);
  proxy.cut(true);
  await goTo(page, "pool/tasks?handler=pay&every=1");
  await page.waitForSelector(".problem:has-text('cut was not searched')");
  check("a pool that is away is named, the others are searched", (await found()).length > 0 && (await found()).every((row) => row.startsWith("pool ")));
  proxy.cut(false);
  await until("it is back", () => page.evaluate(async () => !(await (await fetch("/api/v1/pools")).json()).pools.find((one) => one.name === "cut").away));
}

/** Opens the dialog of an action, looks at its warning, and leaves it. */
async function warningOf(page, button) {
  await page.click(`.actions button:has-text('${button}')`);
  await page.waitForSelector("dialog[open] button.main:not([disabled])");
  const said = { text: await page.textContent("dialog .warning"), retries: await page.locator("dialog [name=retry]:checked").count() };
  await page.keyboard.press("Escape");
  await page.waitForSelector("dialog", { state: "detached" });
  return said;
}

/** What is done and could only not be stored would be done again by a retry. */
async function doneNotStored(page) {
  const warning = "done, only not stored: a retry would do it again";
  for (const reason of ["done, but the database refuses to store that: check 7", "check 7"]) {
    run(["enqueue", "unstored", "{}"]);
    const known = program("unstored", `echo '${reason}' >&2; exit 1`);
    run(["work", "--handler", `unstored=${known}`, "--retry", "none", "--drain", "--quiet"], { code: 8 });
  }
  const [done, failed] = of("unstored").map(({ id }) => id).sort();
  await goTo(page, `pool/task/${done}`);
  check("a task that is done is shown with the warning", (await page.textContent(".actions + .warning")) === warning);
  await axe(page, "a task that is done and not stored");
  check("its retry is warned of", (await warningOf(page, "Retry")).text === warning);
  check("its skip is not", (await warningOf(page, "Skip")).text === "");
  const edited = await warningOf(page, "Edit");
  check("its edit retries it only when that is asked for", edited.text === warning && edited.retries === 0, JSON.stringify(edited));
  await goTo(page, `pool/task/${failed}`);
  const other = await warningOf(page, "Edit");
  check("another is retried by its edit", other.text === "" && other.retries === 1, JSON.stringify(other));
  check("and not warned of", (await page.textContent(".actions + .warning")) === "" && (await warningOf(page, "Retry")).text === "");
  await goTo(page, "pool/tasks?handler=unstored&pool=failed");
  check("of all that are found those that are done are counted", (await warningOf(page, "Retry")).text.startsWith("Done, only not stored: 1 of them."));
  await page.locator(`tr:has([title="${failed}"]) input[type=checkbox]`).check();
  check("of those that are marked, too", (await warningOf(page, "Retry")).text === "");
  run(["skip", "--id", failed]);
  await goTo(page, "pool/failures?handler=unstored");
  await page.waitForSelector("tbody button:has-text('Skip')");
  check("the group is shown with the warning", (await page.textContent("tbody .warning")) === warning);
  check("no retry is offered of what is done", await page.locator("tbody button:has-text('Retry')").count() === 0);
  await page.click("tbody button:has-text('Skip')");
  await confirm(page, "it was done");
  await page.waitForSelector("#note:has-text('1')");
  check("what is done is skipped", of("unstored").every((task) => task.state === "skipped"));
}

async function actions(page) {
  const why = "the mailboxes <b>are</b> larger now";
  await goTo(page, "pool/failures?handler=mail");
  await page.click("tbody button:has-text('Retry')");
  check("a group is counted first", (await confirm(page, why)).includes("6"));
  await page.waitForSelector("#note:has-text('6')");
  check("a group is retried", of("mail").every((task) => task.state === "pending"));
  const told = json("history").filter((event) => event.event === "retried");
  check("who and why are recorded", told.length > 0 && told.every((event) => event.who.includes("olga") && event.reason.includes(why)), JSON.stringify(told[0]));
  await goTo(page, "pool/tasks?handler=mail");
  for (const i of [0, 1]) await page.locator("tbody input[type=checkbox]").nth(i).check();
  await page.click(".actions button:has-text('Skip')");
  check("marked ones are counted", (await confirm(page, "two of them are gone")).includes("2"));
  check("marked ones are skipped", of("mail").filter((task) => task.state === "skipped").length === 2);
  await page.waitForSelector(".actions [role=status]:not(:has-text('2'))");
  await page.locator("tbody input[type=checkbox]").first().check();
  await page.waitForSelector(".actions [role=status]:has-text('1')");
  check("a mark goes with its task", (await page.textContent(".actions [role=status]")).includes("1"));
  await swapped(page);
  await goTo(page, "pool/handlers");
  await page.click("tr:has-text('pay') button:has-text('Pause')");
  await confirm(page, "the bank is closed");
  await page.waitForSelector("tr:has-text('pay') :text('paused')");
  await page.click("tr:has-text('pay') button:has-text('Resume')");
  await confirm(page, "it is open");
  await page.waitForSelector("tr:has-text('pay') button:has-text('Pause')");
  await goTo(page, "pool/schedules");
  check("the next time is in its zone", /02:00:00/.test(await page.textContent("tbody tr")));
  await page.click("tbody button:has-text('Pause')");
  await confirm(page, "no reports this week");
  check("a schedule is paused", json("schedule", "list")[0].paused === true);
  await page.click("main .actions button:has-text('Fire what is due')");
  await page.waitForSelector("dialog .count:has-text('0')");
  check("what changes nothing cannot be done", await page.isDisabled("dialog button.main"));
  await page.keyboard.press("Escape");
  check("no calendar, no column", !(await page.textContent("thead")).includes("Calendar"));
  run(["calendar", "import", "bank", "-", "--time-zone", "Europe/Berlin"], { input: "date,kind,cut_off,name\n2026-12-25,closed,,Christmas Day\n" });
  run(["schedule", "add", "salaries", "0 9 15 * *", "pay", "--time-zone", "Europe/Berlin", "--calendar", "bank", "--closed", "before"]);
  await page.reload();
  await page.waitForSelector("thead:has-text('Calendar')");
  check("a schedule's calendar", (await page.textContent("tr:has-text('salaries')")).includes("bank (before closed days)"));
  run(["schedule", "remove", "salaries"]);
  await lostAnswer(page);
  await cancels(page);
  await deadlines(page);
  const [{ id }] = of(HOSTILE.handler);
  for (const [params, fields] of /** @type {[string, number][]} */ ([["{}\n[]\r\n", 0], ["{}\r\n", 1]])) {
    run(["edit", id, "--params", params, "--who", "ben"]);
    await goTo(page, "pool/overview");
    await goTo(page, `pool/task/${id}`);
    await page.click(".actions button:has-text('Edit')");
    check("only line ends that can be put back are edited", await page.locator("#edit-params").count() === fields);
    if (!fields) await page.keyboard.press("Escape");
  }
  await page.fill("#edit-params", '{"now":\n"fine"}');
  await confirm(page, "parameters were wrong");
  await until("the task is edited", () => json("show", id)[0].params === '{"now":\r\n"fine"}');
  check("an edited task is retried", json("show", id)[0].state === "pending");
  await longParams(page, id);
}

/** What was opened stays open while the task is as it was, and what another person made of it is shown. */
async function longParams(page, id) {
  const shown = "[data-key=params] pre", all = "[data-key=params] button";
  await goTo(page, `pool/task/${id}`);
  run(["edit", id, "--params", "y".repeat(30000), "--who", "ben"]);
  await page.waitForSelector(`${shown}:text('yyy')`);
  check("long params are cut", (await page.textContent(shown)).length === 20000);
  await page.click(all);
  run(["edit", id, "--priority", "7", "--who", "ben"]);
  await page.waitForSelector("dd:text-is('7')");
  check("what was opened stays open", (await page.textContent(shown)).length === 30000);
  run(["edit", id, "--params", "z".repeat(40000), "--priority", "0", "--who", "ben"]);
  await page.waitForSelector(`${shown}:text('zzz')`);
  await page.click(all);
  check("and what is new is opened", (await page.textContent(shown)).length === 40000);
}

/** A list shows a deadline; the edit form moves it and takes it away. */
async function deadlines(page) {
  const id = run(["enqueue", "until", "{}", "--deadline", "2100-06-01T00:00:00Z"]).trim();
  await goTo(page, "pool/tasks?handler=until");
  check("a list has the deadline", /Deadline 2100-0[56]/.test(await page.textContent("tbody")));
  for (const [said, wanted] of [["2101-02-03T04:05", Date.parse("2101-02-03T04:05")], ["", null]]) {
    await goTo(page, `pool/task/${id}`);
    await page.click(".actions button:has-text('Edit')");
    check("what is there is filled in", (await page.inputValue("#edit-deadline")).startsWith(wanted ? "2100-0" : "2101-02-03T04:05"));
    await axe(page, "the edit form");
    await page.fill("#edit-deadline", said);
    await confirm(page, "the file closes later");
    await until("the deadline is edited", () => json("show", id)[0].deadline_at === wanted);
  }
  check("and nothing else", json("show", id)[0].params === "{}" && json("show", id)[0].priority === 0);
}

/** Whatever comes of a cancel is said, also when the task moves while the dialog is open. */
async function cancels(page) {
  const held = inHand("one that is in hand");
  const cancel = async (id, meanwhile) => {
    await goTo(page, `pool/task/${id}`);
    await page.click(".actions button:has-text('Cancel')");
    await page.waitForSelector("dialog[open] button.main:not([disabled])");
    await meanwhile?.();
    return confirm(page, "wrong amount");
  };
  const put = () => run(["enqueue", "wrong", "{}", "--deadline", "2100-01-01T00:00:00Z"]).trim();
  const waits = put();
  await goTo(page, `pool/task/${waits}`);
  await page.waitForSelector("dl:has-text('Deadline'):has-text('2100')");
  check("what waits is counted", !(await cancel(waits)).includes("In hand"));
  await page.waitForSelector("#note:has-text('it is not done')");
  check("and skipped, with who and why", json("show", waits)[0].reason === "cancelled by olga: wrong amount");
  const { id } = await held;
  check("one in hand is counted as such", (await cancel(id)).includes("In hand, 1"));
  await page.waitForSelector("#note:has-text('told within two seconds')");
  await page.waitForSelector("dl:has-text('Cancel asked'):has-text('cancelled by olga: wrong amount')");
  await axe(page, "a task whose end was asked for");
  await cancel(put(), () => run(["work", "--handler", `wrong=${program("quick", "exit 0")}`, "--drain", "--quiet"]));
  await page.waitForSelector("#note:has-text('Too late: it is done')");
  const gone = put();
  await cancel(gone, () => [["skip", "--id", gone], ["purge", "--id", gone]].forEach((args) => run(args)));
  await page.waitForSelector("#note:has-text('No task has this id')");
  [1, 2, 3].forEach(put);
  await goTo(page, "pool/tasks?handler=wrong");
  for (const i of [0, 1]) await page.locator("tbody input[type=checkbox]").nth(i).check();
  await page.click(".actions button:has-text('Cancel')");
  await confirm(page, "two of three");
  await page.waitForSelector("#note:has-text('2 changed')");
  check("the marked ones are cancelled", of("wrong").filter((task) => task.reason === "cancelled by olga: two of three").length === 2);
}

/** The action is done, its answer does not arrive, and the person confirms it again. */
async function lostAnswer(page) {
  let tries = 0;
  await page.route("**/actions/fire", async (route) => {
    const done = await route.fetch();
    if (!route.request().postDataJSON().dry_run && tries++ === 0) await route.abort();
    else await route.fulfill({ response: done });
  });
  await page.click("tbody button:has-text('Fire now')");
  await page.waitForSelector("dialog[open] button.main:not([disabled])");
  await page.fill("#why", "the report was lost");
  await page.click("dialog button.main");
  await page.waitForSelector("dialog .problem:has-text('It may have been done')");
  await confirm(page, "the report was lost");
  await page.unroute("**/actions/fire");
  check("confirmed again it fires once", tries === 2 && of("report").length === 1, `${tries} tries, ${of("report").length} tasks`);
}

async function drains(page, slow) {
  await goTo(page, "pool/workers");
  const text = await page.textContent("main");
  check("a worker and its task", text.includes("slow-worker") && text.includes("long one"), text);
  await page.click("tr:has-text('slow-worker') button:text-is('Drain')");
  await confirm(page, "it is old");
  await page.waitForSelector("tr:has-text('slow-worker') :text-matches('draining|stopping')");
  const gone = new Promise((ended) => slow.on("exit", ended));
  slow.kill("SIGKILL");
  await gone;
}

async function audit(page) {
  await goTo(page, "pool/audit?what=retried");
  const [row, ...more] = await page.locator("tbody tr").allTextContents();
  check("the audit is searched", !more.length && /olga.*retried.*6.*the mailboxes/.test(row), row);
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("text=Export as CSV")]);
  let csv = "";
  for await (const part of await download.createReadStream()) csv += part;
  check("the audit is exported", csv.startsWith("seq,at,who,action") && csv.split("\r\n").length === 3, csv.slice(0, 300));
}

async function live(page) {
  await goTo(page, "pool/overview");
  const before = await page.textContent(".tiles li:first-child .figure");
  const focus = page.locator(".tiles a").first();
  await focus.focus();
  run(["enqueue", "pay", "{}"]);
  await page.waitForFunction((text) => document.querySelector(".tiles .figure").textContent !== text, before);
  check("figures come by themselves, and the focus stays", await focus.evaluate((link) => link === document.activeElement));
}

async function roles(browser, url) {
  const page = await openPage(browser, url);
  await page.goto(`${url}#/pool/failures`);
  await page.waitForSelector("#user");
  check("nobody looks without signing in", await page.locator("main table").count() === 0);
  await page.fill("#user", "vera");
  await page.fill("#password", "wrong wrong wrong");
  await page.press("#password", "Enter");
  await page.waitForSelector(".problem:has-text('wrong')");
  await signIn(page, "vera");
  for (const name of ["tasks?pool=all", "failures", "handlers", "workers", "schedules"]) {
    await goTo(page, `pool/${name}`);
    check(`a viewer only looks at ${name}`, await page.locator("main button.quiet").count() === 0);
  }
  const [{ id }] = of(HOSTILE.handler);
  await goTo(page, `pool/task/${id}`);
  check("a viewer sees no parameters", (await page.textContent("main")).includes("You may not see the parameters") && await page.locator("main pre").count() === 0);
  await goTo(page, "pool/session");
  await page.click("text=Sign out");
  await page.waitForSelector("#user, header a:has-text('Sign in')");
  check("no problems of a viewer", page.problems.length === 0, page.problems.join());
  await page.context().close();
}

/** Tab and Enter alone: the skip link, a page, a dialog and back. */
async function keyboard(page) {
  await goTo(page, "pool/failures");
  await page.evaluate(() => /** @type {HTMLElement} */ (document.activeElement).blur());
  await page.keyboard.press("Tab");
  check("the skip link is first", await page.evaluate(() => document.activeElement.id) === "skip");
  await page.keyboard.press("Enter");
  check("it leads to the page", await page.evaluate(() => document.activeElement.id) === "main");
  const rests = async (condition) => {
    for (let i = 0; i < 40; i++) {
      if (await page.evaluate(condition)) return true;
      await page.keyboard.press("Tab");
    }
    return false;
  };
  run(["enqueue", "mail", "{}"]);
  await goTo(page, "pool/handlers");
  check("a button is reached", await rests(() => document.activeElement.matches("td button")));
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  check("the focus is seen", outline !== "none", outline);
  await page.keyboard.press("Enter");
  await page.waitForSelector("dialog[open]");
  check("a dialog takes the focus", await page.evaluate(() => document.activeElement.id) === "why");
  await axe(page, "a dialog");
  await page.keyboard.press("Escape");
  await page.waitForSelector("dialog", { state: "detached" });
  check("and gives it back", await page.evaluate(() => document.activeElement.matches("td button")));
}

async function phone(browser, url) {
  const page = await openPage(browser, url, { viewport: { width: 360, height: 740 }, colorScheme: "dark" });
  await signIn(page, "olga");
  for (const name of PAGES) {
    await goTo(page, `pool/${name}`);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    check(`${name} fits a phone`, over <= 0, `${over} too wide`);
    if (["overview", "tasks", "workers"].includes(name)) await axe(page, `${name} on a phone, dark`);
  }
  run(["pause", "mail"]);
  for (const language of ["de", "zh"]) {
    await page.selectOption("#language", language);
    await page.waitForSelector(`html[lang=${language}]`);
    check(`it speaks ${language}`, !(await page.textContent("header")).includes("Overview"));
    await goTo(page, "pool/overview");
    await page.waitForFunction((/** @type {string} */ paused) => new RegExp(paused).test(document.querySelector(".verdict ul:last-child")?.textContent ?? ""), PAUSED[language].source);
    const found = await page.textContent(".verdict ul:last-child");
    check(`what is worth knowing is said in ${language}`, !/tasks|paused/.test(found), found);
  }
  check("no problems on a phone", page.problems.length === 0, page.problems.join());
  await page.context().close();
}

/** A pool whose database is away is the first that the browser shows. */
async function lostBefore(page, proxy) {
  proxy.cut(true);
  await until("the console sees it", () => page.evaluate(async () => (await (await fetch("/api/v1/pools")).json()).pools.find((one) => one.name === "cut").away));
  await page.goto("about:blank");
  await goTo(page, "cut/overview");
  check("it says so", await page.locator("#main .problem").count() === 1);
  proxy.cut(false);
}

async function lost(page, proxy, console) {
  if (proxy) await lostBefore(page, proxy);
  else await goTo(page, "pool/overview");
  await page.waitForSelector(".tiles");
  await page.waitForSelector("body:not(.stale)");
  if (proxy) {
    proxy.cut(true);
    await page.waitForSelector("#band:not([hidden]):has-text('database has been away since')");
    await axe(page, "a lost database");
    proxy.cut(false);
    await page.waitForSelector("#band", { state: "hidden" });
    check("it comes back by itself", await page.locator("body.stale").count() === 0);
  }
  console.child.kill("SIGKILL");
  await page.waitForSelector("#band:not([hidden]):has-text('not been heard since')");
  check("old figures are grey and stay", await page.locator("body.stale .tiles li").count() === 9);
}

async function whatAPoolHas(page, console, slow) {
  for (const part of [pages, search, hostile]) await part(page);
  await roles(browser, console.url);
  for (const part of [actions, audit, doneNotStored]) await part(page);
  await approvals(browser, console.url, page);
  for (const part of [live, keyboard, marks]) await part(page);
  await drains(page, slow);
  await phone(browser, console.url);
}

let browser;
try {
  const { slow } = await seed();
  const server = pool.base.match(/Port=(\d+);/);
  const proxy = server ? await startProxy(Number(server[1])) : null;
  const pools = { pool: pool.dsn, ...(proxy ? { cut: pool.dsn.replace(server[0], `Port=${proxy.port};`) } : {}) };
  const console = await startConsole(pools);
  browser = await startBrowser();
  const page = await openPage(browser, console.url);
  await signIn(page, "olga");
  if (!SHORT) await whatAPoolHas(page, console, slow);
  if (proxy) await everyPool(page, proxy);
  await lost(page, proxy, console);
  check("no problems", page.problems.length === 0, page.problems.join("\n"));
} catch (error) {
  check("the test itself", false, error.stack);
  for (const page of browser?.contexts().flatMap((context) => context.pages()) ?? [])
    console.log(`${page.url()} showed: ${await page.innerText("body", { timeout: 5000 }).catch(String)}`);
}
await finish(browser);
