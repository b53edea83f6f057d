/* Each text that the page asks for stands in the table, in all languages, and none stands there for nothing. A name with
 * blanks is a text that the server answers. */
import { readdirSync, readFileSync } from "node:fs";
import { TABLE } from "../../src/console/web/table_of_texts.js";

const web = new URL("../../src/console/web/", import.meta.url);
const source = readdirSync(web, { recursive: true }).filter((name) => name.endsWith(".js") && name !== "table_of_texts.js")
  .map((name) => readFileSync(new URL(name, web), "utf8")).join("\n");
const server = readFileSync(new URL("../../src/common/pool_columns.c", import.meta.url), "utf8");
const asked = [...source.matchAll(/\bt\("(\w+)"/g)].map((match) => match[1]);
const problems = asked.filter((name) => !(name in TABLE)).map((name) => `${name} is not in the table`);
for (const [name, texts] of Object.entries(TABLE)) {
  const holes = texts.map((text) => [...text.matchAll(/\{\w+\}/g)].map(String).sort().join());
  if (texts.length !== 3 || texts.some((text) => !text)) problems.push(`${name} has not all languages`);
  if (new Set(holes).size > 1) problems.push(`${name} has not the same {names} in all languages`);
  if (["viewer", "operator", "approver", "administrator", "nobody"].includes(name)) continue;
  if (name.includes(" ")) {
    if (!server.includes(`"${name}"`)) problems.push(`${name} is answered by nobody`);
    continue;
  }
  const words = new RegExp(`"${name}"|\\b${name}\\b`);
  if (!words.test(source) && !/^(theme|pool|found|closed|cancelled)_/.test(name)) problems.push(`${name} is asked for by nobody`);
}
for (const text of new Set(problems)) console.error(`console: text ${text}`);
process.exit(problems.length ? 1 : 0);
