// Reads what the conformance suite wrote for one leg, prints a line a scenario, and compares warnings and skips with
// those that are known. Arguments: the leg, the folder of its results, the table of what is known.
const fs = require("fs");
const path = require("path");
const [leg, folder, table] = process.argv.slice(2);

const rows = fs.readFileSync(table, "utf8").split("\n").filter((line) => line && !line.startsWith("#"));
const known = new Map();
let failed = false;
for (const row of rows) {
  const [of, scenario, check, status, reason] = row.split("\t");
  if (!reason) {
    failed = true;
    console.log(`FAIL  ${table}: a row without a reason: ${row}`);
  }
  if (of === leg) known.set([scenario, check, status].join("\t"), false);
}

let scenarios = 0;
let checks = 0;
for (const name of fs.readdirSync(folder).sort()) {
  const file = path.join(folder, name, "checks.json");
  if (!fs.existsSync(file)) continue;
  const scenario = name.replace(/^server-/, "").replace(/-\d{4}-\d{2}-\d{2}T.*$/, "");
  const results = JSON.parse(fs.readFileSync(file, "utf8"));
  const said = [];
  let passed = 0;
  for (const { id, status, errorMessage } of results) {
    if (status === "SUCCESS") passed += 1;
    if (!["FAILURE", "WARNING", "SKIPPED"].includes(status)) continue;
    const key = [scenario, id, status].join("\t");
    if (status !== "FAILURE" && known.has(key)) known.set(key, true);
    else said.push(`      ${status} ${id}: ${(errorMessage ?? "").slice(0, 200)}`);
  }
  scenarios += 1;
  checks += passed;
  failed ||= said.length > 0 || results.length === 0;
  console.log(`${said.length || !results.length ? "FAIL " : "ok   "} ${leg.padEnd(15)} ${scenario.padEnd(52)} ${passed}`);
  said.forEach((line) => console.log(line));
}
for (const [key, seen] of known) {
  if (seen) continue;
  failed = true;
  console.log(`FAIL  ${leg}: known, but no longer so: ${key.replaceAll("\t", " ")}`);
}
if (scenarios === 0) {
  failed = true;
  console.log(`FAIL  ${leg}: the suite wrote nothing\n${fs.readFileSync(path.join(folder, "log"), "utf8").slice(-2000)}`);
}
console.log(`==    ${leg}: ${scenarios} scenarios, ${checks} checks passed${failed ? ", with failures" : ""}`);
process.exit(failed ? 1 : 0);
