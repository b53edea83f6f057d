/* A pool as operators meet it: a backlog, failures, a worker, a schedule, and tasks by somebody who means harm. */
import { existsSync, writeFileSync } from "node:fs";
import { json, LIMIT_MS, path, program, run, worker } from "./rig.mjs";

export const HOSTILE = {
  handler: "evil", // a handler has letters and digits only; what follows has not
  biz_key: "\u202e<img src=x onerror=hacked()>",
  reason: "<b onclick=hacked()>red \u202eevil</b>",
  params: `<script>window.hacked=1</script>\u202e\u001b[31m${"x".repeat(1 << 20).slice(0, (1 << 20) - 100)}`,
};

export async function until(what, condition) {
  const limit = Date.now() + LIMIT_MS;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > limit) throw new Error(`waited for too long: ${what}`);
    await new Promise((later) => setTimeout(later, 50));
  }
}

function put(rows) {
  run(["enqueue", "--file", "-", "--format", "jsonl"], { input: rows.map((row) => JSON.stringify(row)).join("\n") });
}

export async function seed() {
  run(["schema", "install"]);
  put([...Array(6).keys()].map((i) => ({ handler: "mail", biz_key: `user-${i}`, params: { to: i } })));
  put([{ handler: HOSTILE.handler, biz_key: HOSTILE.biz_key, params: HOSTILE.params }]);
  put([...Array(20).keys()].map((i) => ({ handler: "pay", biz_key: `paid-${i}` })));
  const full = program("full", 'echo "mailbox $TASKPOOL_BIZ_KEY is full" >&2; exit 1'), fine = program("fine", "exit 0");
  writeFileSync(path("reason"), HOSTILE.reason);
  const evil = program("evil", `cat ${path("reason")} >&2; exit 1`);
  run(["work", "--handler", `mail=${full}`, "--handler", `${HOSTILE.handler}=${evil}`, "--handler", `pay=${fine}`, "--retry", "none", "--drain", "--quiet"], { code: 8 });
  put([...Array(120).keys()].map((i) => ({ handler: "pay", biz_key: `order-${i}` })));
  put([{ handler: "slow", biz_key: "long one" }]);
  run(["schedule", "add", "nightly", "0 2 * * *", "report", "--time-zone", "Europe/Berlin"]);
  const slow = worker("--handler", `slow=${program("slow", `touch ${path("began")}; while kill -0 $PPID 2>/dev/null; do sleep 0.1; done`)}`, "--name", "slow-worker");
  await until("the slow task begins", () => existsSync(path("began")));
  await until("its worker is known", () => json("workers").some((row) => row.name.includes("slow-worker")));
  return { slow };
}

/** A task that stays in hand: its worker died, and its lease is long. */
export async function inHand(key) {
  run(["enqueue", "held", "{}", "--biz-key", key]);
  const began = path(`began-${key}`);
  const dying = worker("--handler", `held=${program("held", `touch '${began}'; while kill -0 $PPID 2>/dev/null; do sleep 0.1; done`)}`, "--lease", "1h");
  await until("it is in hand", () => existsSync(began));
  const gone = new Promise((ended) => dying.on("exit", ended));
  dying.kill("SIGKILL");
  await gone;
  return json("list", "--handler", "held", "--biz-key", key)[0];
}
