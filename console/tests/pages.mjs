import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

/** How long a page may take to reach an expected state. Debug builds beside other checks are slow. */
const PATIENCE_MS = 90_000;
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Opens the console in a new browser profile, and records errors, violations and requests. `hasTour` leaves the offer of the tour. */
export async function openPage(world, { hasTour = false, ...options } = {}) {
  const context = await world.browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const seen = { errors: [], requests: [] };
  page.on("console", (message) => message.type() === "error" && seen.errors.push(`${message.location().url}: ${message.text()}`));
  page.on("pageerror", (error) => seen.errors.push(String(error)));
  page.on("request", (sent) => seen.requests.push(sent.url()));
  await page.addInitScript(() => {
    globalThis.violations = [];
    document.addEventListener("securitypolicyviolation", (event) => globalThis.violations.push(event.blockedURI));
  });
  if (!hasTour) await page.addInitScript(endTour);
  if (world.scope) await withScope(page, world);
  await page.goto(world.site.url);
  return { page, seen, context };
}

function endTour() {
  // The blank page of a new tab has no storage.
  if (location.protocol.startsWith("http")) localStorage.setItem("dovetail.tour", "over");
}

/** Adds a scope to the settings of the console. */
async function withScope(page, { site, scope }) {
  const settings = await (await fetch(`${site.url}/v1/console.json`)).json();
  // A page that goes on to the issuer no longer waits for its settings.
  await page.route("**/v1/console.json", (route) => route.fulfill({ json: { ...settings, scope } }).catch(() => {}));
}

/** Signs in with the button of a demo team, and waits for its home page. */
export async function signIn(page, team) {
  await page.getByRole("button", { name: team, exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
}

/** Forgets the refused requests of a page that checks what a person writes. The browser reports each as a console error. */
export function forgetRefused(seen) {
  seen.errors = seen.errors.filter((error) => !error.endsWith("status of 400 (Bad Request)"));
}

/** Fails on findings of axe, on violations of the policy and on console errors. */
export async function assertClean({ page, seen }) {
  // A protocol evaluation is not subject to the policy of the page, so axe needs no exception in it.
  await page.evaluate(AXE);
  const findings = await page.evaluate(async () => (await globalThis.axe.run()).violations);
  assert.deepEqual(findings.map(({ id, nodes }) => [id, nodes.map((node) => node.html)]), []);
  assert.deepEqual(await page.evaluate(() => globalThis.violations), []);
  assert.deepEqual(seen.errors, []);
}

/** Fails if the page scrolls sideways. */
export async function assertFits(page) {
  const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(content <= window, `the page is ${content} pixels wide, the window ${window}`);
}

/** Returns the row of an item in a table. */
export function rowOf(page, item) {
  return page.getByRole("row").filter({ has: page.getByText(item, { exact: true }) });
}
