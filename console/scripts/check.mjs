// Checks the generated files: the types of the API, and the built console.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";

const ROOT = path.join(import.meta.dirname, "..");
const MAX_FILES = 6;
/** Files that the first page does not load. */
const LAZY = ["editor.js", "licenses.txt"];
const MAX_FIRST_BYTES = 250 * 1024;
const MAX_LAZY_BYTES = 400 * 1024;
const directory = mkdtempSync(path.join(os.tmpdir(), "console-check-"));

try {
  checkTypes();
  checkBuild();
} finally {
  rmSync(directory, { recursive: true });
}

function checkTypes() {
  const output = path.join(directory, "schema.d.ts");
  run("openapi-typescript", "../infra/openapi.yaml", "--output", output);
  const isCurrent = readFileSync(output).equals(readFileSync(path.join(ROOT, "src/api/schema.d.ts")));
  assert.ok(isCurrent, "src/api/schema.d.ts must match infra/openapi.yaml: npm run types");
}

function checkBuild() {
  const output = path.join(directory, "dist");
  run("vite", "build", "--outDir", output, "--logLevel", "error");
  const built = contents(output);
  assert.deepEqual(contents(path.join(ROOT, "dist")), built, "dist must match the sources: npm run build");
  const files = Object.keys(built);
  assert.ok(files.length <= MAX_FILES, `dist must have at most ${MAX_FILES} files`);
  const bytesOf = (names) =>
    names.reduce((sum, file) => sum + gzipSync(Buffer.from(built[file], "base64")).length, 0);
  const first = bytesOf(files.filter((file) => !LAZY.includes(file)));
  const lazy = bytesOf(files.filter((file) => LAZY.includes(file)));
  assert.ok(first <= MAX_FIRST_BYTES, `the first page must load at most ${MAX_FIRST_BYTES} bytes after gzip`);
  assert.ok(lazy <= MAX_LAZY_BYTES, `the other files must have at most ${MAX_LAZY_BYTES} bytes after gzip`);
  console.log(`dist: ${files.length} files, ${first} bytes after gzip for the first page, ${lazy} later`);
}

function contents(folder) {
  const names = readdirSync(folder).sort();
  return Object.fromEntries(names.map((name) => [name, readFileSync(path.join(folder, name), "base64")]));
}

function run(program, ...args) {
  execFileSync(path.join(ROOT, "node_modules/.bin", program), args, { cwd: ROOT, stdio: ["ignore", "ignore", "inherit"] });
}
