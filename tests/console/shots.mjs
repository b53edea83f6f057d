/* The pictures of docs/console.md, of a pool with some life in it. Arguments: taskpool, taskpool-console, the folder. */
import { finish, goTo, openPage, pool, program, run, signIn, startBrowser, startConsole, worker } from "./rig.mjs";
import { until } from "./seed.mjs";

const folder = process.argv[4];
const put = (handler, count, key, at = {}) => run(["enqueue", "--file", "-", "--format", "jsonl"],
  { input: [...Array(count).keys()].map((i) => JSON.stringify({ handler, biz_key: `${key}-${4700 + i}`, params: { order: 4700 + i, amount: "12.50" } })).join("\n"), ...at });

let browser;
try {
  run(["schema", "install"]);
  const fine = program("fine", 'sleep "0.0$(date +%N | cut -c8-9)"');
  const bank = program("bank", 'case $TASKPOOL_BIZ_KEY in *3) echo "bank.example: connection refused after 30 s, trace $(date +%N)" >&2; exit 1 ;; esac');
  const full = program("full", 'case $TASKPOOL_BIZ_KEY in *7) echo "mailbox of $TASKPOOL_BIZ_KEY is full" >&2; exit 1 ;; esac; sleep 0.02');
  run(["schedule", "add", "nightly-report", "0 2 * * *", "report", "--time-zone", "Europe/Berlin"]);
  run(["schedule", "add", "digest", "0 8 * * 1", "mail", "--time-zone", "Asia/Shanghai"]);
  // An hour of work: SQLite's clock is that of the process, which may be told another.
  for (let minutes = 58; minutes > 0; minutes--) {
    const at = { faketime: `-${minutes}m` };
    put("settle", Math.round(70 + 40 * Math.sin(minutes / 7) + 8 * Math.sin(minutes * 2)), "file", at);
    if (minutes < 20) put("pay", 12, "order", at);
    run(["work", "--handler", `settle=${fine}`, "--handler", `pay=${bank}`, "--retry", "none", "--drain", "--quiet", "--threads", "3"], { code: null, ...at });
  }
  put("pay", 60, "order");
  put("mail", 40, "user");
  worker("--handler", `pay=${bank}`, "--handler", `settle=${fine}`, "--retry", "none", "--name", "app1-payments");
  worker("--handler", `mail=${full}`, "--retry", "1h", "--name", "app2-mail", "--threads", "2");
  put("settle", 20, "file");
  put("report", 3, "month");
  const server = await startConsole({ pool: pool.dsn });
  browser = await startBrowser();
  const page = await openPage(browser, server.url, { colorScheme: "light", viewport: { width: 1180, height: 760 } });
  await signIn(page, "olga");
  await until("the work is done", () => !run(["list", "--json", "--handler", "settle"], { code: null }).trim());
  run(["pause", "report", "--why", "the figures are not there yet", "--who", "olga"]);
  put("settle", 60, "file");
  await page.waitForTimeout(65000); // rates are those of the last full minute
  const shoot = async (place, name, theme) => {
    await page.selectOption("#theme", theme);
    await goTo(page, place);
    await page.waitForTimeout(2500);
    await page.screenshot({ path: `${folder}/${name}.png` });
  };
  await shoot("pool/overview?range=1h", "overview", "light");
  await shoot("pool/handlers", "handlers", "dark");
  await goTo(page, "pool/failures");
  await page.selectOption("#theme", "light");
  await page.click("tbody button:has-text('Retry')");
  await page.waitForSelector("dialog button.main:not([disabled])");
  await page.fill("#why", "the bank is back");
  await page.screenshot({ path: `${folder}/retry.png` });
  await page.keyboard.press("Escape");
  await page.setViewportSize({ width: 360, height: 720 });
  await shoot("pool/overview?range=1h&phone=", "phone", "light");
} catch (error) {
  console.error(error);
}
await finish(browser);
