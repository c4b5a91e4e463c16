// Uses the console of a deployed stack with the demo world: `node tests/deployed.mjs`. It prints the settings of a new
// issuer as JSON, and reads the URL of a stack with this issuer from its standard input. The issuer signs in jane, a
// member of the owner of VM. Only the browser sends requests: it finds each name in `localhost`, and Node may not.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { startIssuer } from "./issuer.mjs";
import { openPage, rowOf } from "./pages.mjs";
import { launchBrowser } from "./world.mjs";

const VM = "vm-owner-key";
const CONSUMER = "awesome-key";
const DECLARATION = "Shop:\n  services:\n    VM:\n      - name: vm1\n        cpu: 1\n      - name: vm2\n        cpu: 2\n";

const issuer = await startIssuer();
console.log(JSON.stringify({ Issuer: issuer.url, Audience: issuer.clientId, ConsoleClientId: issuer.clientId }));
const input = createInterface({ input: process.stdin });
const [line] = await once(input, "line");
input.close();
const world = { site: { url: line }, browser: await launchBrowser() };
try {
  await applies();
  await decides("vm1", signInByKey);
  await decides("vm2", (page) => page.getByRole("button", { name: "Sign in with your organisation" }).click());
} finally {
  await world.browser.close();
  issuer.close();
}

/** Plans and applies a declaration, with the key of a consumer. */
async function applies() {
  const opened = await openPage(world);
  const { page } = opened;
  // Only a local system offers the teams of the demo world.
  assert.equal(await page.getByRole("button", { name: "VMOwnerTeam" }).count(), 0);
  await signInByKey(page, CONSUMER);
  await page.goto(`${world.site.url}#/edit`);
  const text = page.getByRole("textbox", { name: /^Declaration as/ });
  await text.focus();
  await page.keyboard.press("Control+A");
  await page.keyboard.insertText(DECLARATION);
  await page.locator(".totals").getByText("2 to create, 0 to modify, 0 to delete.").waitFor();
  await page.getByRole("button", { name: "Apply", exact: true }).click();
  await page.waitForURL(/#\/submissions\/\d+$/);
  await close(opened);
}

/** Signs in as the owner, and approves the change of a machine. */
async function decides(name, signIn) {
  const opened = await openPage(world);
  const { page } = opened;
  await signIn(page, VM);
  await page.getByRole("link", { name: "Queue", exact: true }).click();
  await rowOf(page, name).getByRole("checkbox").check();
  await page.getByRole("button", { name: "Approve (1)" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
  await page.getByRole("region", { name: "Results" }).getByText("1 change approved, 0 errors").waitFor();
  await close(opened);
}

async function signInByKey(page, key) {
  await page.getByLabel("API key").fill(key);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
}

/** Closes a page, and fails on its errors and on violations of the policy. */
async function close({ page, seen, context }) {
  assert.deepEqual(seen.errors, []);
  assert.deepEqual(await page.evaluate(() => globalThis.violations), []);
  await context.close();
}
