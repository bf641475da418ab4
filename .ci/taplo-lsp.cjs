// taplo's language server on standard streams: `taplo-lsp.cjs FOLDER`, where FOLDER has the npm package `@taplo/lsp`.
//
// That package is the server inside Even Better TOML, the extension of VS Code; this file is the part of the extension
// that connects it. Nothing is fetched, so its catalog of schemas is empty.
"use strict";
globalThis.fetch = () => Promise.reject(new Error("offline"));
const fs = require("fs");
const path = require("path");
const { TaploLsp } = require(path.resolve(process.argv[2], "node_modules/@taplo/lsp"));

const environment = {
  cwd: () => process.cwd(),
  envVar: (name) => process.env[name],
  envVars: () => Object.entries(process.env),
  findConfigFile: (folder) => [".taplo.toml", "taplo.toml"].map((name) => path.join(folder, name)).find(fs.existsSync),
  glob: () => [],
  isAbsolute: path.isAbsolute,
  isWindows: () => false,
  now: () => new Date(),
  readFile: (file) => fs.promises.readFile(file),
  writeFile: () => Promise.reject(new Error("read-only")),
  stderr: process.stderr,
  stdErrAtty: () => false,
  stdin: process.stdin,
  stdout: process.stdout,
  urlToFilePath: (url) => decodeURIComponent(url).slice("file://".length),
  fetch: { fetch, Headers, Request, Response },
};

function onMessage(message) {
  const text = Buffer.from(JSON.stringify(message));
  process.stdout.write(Buffer.concat([Buffer.from(`Content-Length: ${text.length}\r\n\r\n`), text]));
}

TaploLsp.initialize(environment, { onMessage }).then((server) => {
  let received = Buffer.alloc(0);
  process.stdin.on("end", () => process.exit(0));
  process.stdin.on("data", (bytes) => {
    received = Buffer.concat([received, bytes]);
    for (;;) {
      const head = received.indexOf("\r\n\r\n");
      if (head < 0) return;
      const end = head + 4 + Number(/content-length: *(\d+)/i.exec(received.toString("latin1", 0, head))[1]);
      if (received.length < end) return;
      const message = JSON.parse(received.toString("utf8", head + 4, end));
      received = received.subarray(end);
      if (message.method === "exit") process.exit(0);
      server.send(message);
    }
  });
});
