import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, watch } from "node:fs";
import os from "node:os";
import path from "node:path";
import { chromium } from "playwright-core";
import { serve } from "./server.mjs";

const PROGRAM = process.env.DOVETAIL ?? path.join(import.meta.dirname, "../../target/debug/dovetaild");
/** Whether the browser gets the files embedded in the system, and not those of `dist`. */
const IS_EMBEDDED = process.env.DOVETAIL_CONSOLE === "embedded";
const BROWSER = process.env.CHROMIUM ?? "/usr/bin/chromium";
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/**
 * Starts a new system, a browser, and a server for `dist` if needed. `stop` ends all of them. `issuer` signs people in,
 * and `scope` is the scope that the console asks of it.
 */
export async function startWorld({ issuer, scope } = {}) {
  const directory = mkdtempSync(path.join(os.tmpdir(), "console-"));
  const options = issuer
    ? ["--issuer", issuer.url, "--audience", issuer.clientId, "--console-client-id", issuer.clientId]
    : [];
  const { url: system, child } = await startSystem(directory, options);
  const site = IS_EMBEDDED ? { url: system, close() {} } : await serve(system);
  const browser = await launchBrowser();
  const stop = async () => {
    await browser.close();
    site.close();
    child.kill();
    await new Promise((resolve) => child.once("exit", resolve));
    rmSync(directory, { recursive: true, force: true });
  };
  return { system, site, browser, scope, stop };
}

/** Starts the browser of the tests. */
export function launchBrowser() {
  return chromium.launch({ executablePath: BROWSER, args: FLAGS });
}

async function startSystem(directory, options) {
  const ready = path.join(directory, "ready");
  const found = fileWithText(directory, ready);
  const every = ["--memory", "--listen", "127.0.0.1:0", "--ready-file", ready];
  const child = spawn(PROGRAM, [...every, ...options], { stdio: "ignore" });
  const failed = new Promise((_, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`dovetaild ended with code ${code}`)));
  });
  failed.catch(() => {});
  return { url: await Promise.race([found, failed]), child };
}

/** Waits until the file has a text. */
function fileWithText(directory, file) {
  return new Promise((resolve) => {
    const watcher = watch(directory, () => {
      const text = textOf(file);
      if (!text) return;
      watcher.close();
      resolve(text);
    });
  });
}

function textOf(file) {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return "";
  }
}

/** Sends a request to the system itself, as another client does. */
export async function request(system, key, method, target, body) {
  const response = await fetch(`${system}/v1/${target}`, {
    method,
    headers: { Authorization: `Api-Key ${key}` },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${target}: ${response.status} ${await response.text()}`);
  return response.json();
}

/** Declares machines for the demo consumer, and leaves its other applications unchanged. */
export function declare(system, application, machines, loadBalancers = [], message = "") {
  const services = { VM: machines, ...(loadBalancers.length > 0 && { LoadBalancer: loadBalancers }) };
  const declaration = { AwesomeConsumer: { [application]: { services } } };
  const target = `orcabase/consumer/submissions/submit/?${new URLSearchParams({ message })}`;
  return request(system, "awesome-key", "PATCH", target, declaration);
}

/** Returns the changes of a team as a service owner. */
export async function changesOf(system, key, state) {
  const target = `orcabase/serviceowner/change_instances/?limit=100&state=${state}`;
  return (await request(system, key, "GET", target)).results;
}

/** Decides a change as its owner, outside the console. */
export function decide(system, key, id, update) {
  return request(system, key, "PATCH", `orcabase/serviceowner/change_instances/${id}/`, update);
}

/** Claims changes of a team for a worker, outside the console. Returns the claimed changes. */
export async function claim(system, key, demand) {
  return (await request(system, key, "POST", "orcabase/serviceowner/change_instances/claim/", demand)).results;
}

/** Completes every open change of a team. */
export async function finishAll(system, key) {
  for (const { id } of await changesOf(system, key, "PENDING")) await decide(system, key, id, { state: "APPROVED" });
  for (const { id } of await changesOf(system, key, "APPROVED")) await decide(system, key, id, { state: "COMPLETED" });
}
