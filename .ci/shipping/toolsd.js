#!/usr/bin/env node
// Starts the binary for this system: it is next to this file in an MCP bundle, otherwise in a package of its own.
"use strict";
const { accessSync, chmodSync, constants, existsSync } = require("node:fs");
const { spawn } = require("node:child_process");
const path = require("node:path");

const file = "toolsd";
const name = `@toolsd/${process.platform}-${process.arch}`;

function findBinary() {
  if (process.env.TOOLSD_BINARY) return process.env.TOOLSD_BINARY;
  const bundled = path.join(__dirname, file);
  if (existsSync(bundled)) {
    // Claude Desktop on macOS unpacks a bundle without modes (modelcontextprotocol/mcpb#294).
    chmodSync(bundled, 0o755);
    return bundled;
  }
  try {
    return require.resolve(`${name}/bin/${file}`);
  } catch {
    console.error(`toolsd: the package ${name} is not installed. It contains the binary for this system.
- If optional dependencies are omitted, install toolsd again without --omit=optional or --no-optional.
- If node_modules or the lock file comes from another system, delete node_modules and install on this one.
- If there is no such package for this system, build the binary from source.
- TOOLSD_BINARY can name a binary to use in any case.`);
    process.exit(1);
  }
}

const binary = findBinary();
const words = process.argv.slice(2);
try {
  // `execve` does not throw if it fails: it aborts Node.
  accessSync(binary, constants.X_OK);
} catch (error) {
  fail(error);
}
if (process.execve) {
  // From Node 22.15 on, the binary replaces this process, so one process remains. Node warns that this is experimental.
  process.removeAllListeners("warning");
  process.execve(binary, [binary, ...words], process.env);
}

// Before the binary runs: a signal that ends this process alone would leave it behind.
const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
for (const signal of signals) process.on(signal, () => child.kill(signal));
// `spawn`, not `spawnSync`: signals must reach the binary while it runs.
const child = spawn(binary, words, { stdio: "inherit" });
child.on("error", fail);
child.on("exit", (code, signal) => {
  if (!signal) process.exit(code);
  for (const each of signals) process.removeAllListeners(each);
  process.kill(process.pid, signal);
});

function fail(error) {
  console.error(`toolsd: cannot start ${binary}: ${error.message}`);
  process.exit(1);
}
