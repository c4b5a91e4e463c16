// Uses the console of a deployed stack with the demo world: `node tests/deployed.mjs URL`. The stack has a pending VM.
import assert from "node:assert/strict";
import { openPage, rowOf } from "./pages.mjs";
import { changesOf, launchBrowser } from "./world.mjs";

const url = process.argv[2].replace(/\/$/, "");
const VM = "vm-owner-key";
const world = { system: url, site: { url: `${url}/` }, browser: await launchBrowser() };
try {
  await decidesByKey();
} finally {
  await world.browser.close();
}

/** Signs in with the key of an owner, and approves the pending change. */
async function decidesByKey() {
  const [{ service_item: item }] = await changesOf(url, VM, "PENDING");
  const { page, seen, context } = await openPage(world);
  // Only a local system offers the teams of the demo world.
  assert.equal(await page.getByRole("button", { name: "VMOwnerTeam" }).count(), 0);
  await page.getByLabel("API key").fill(VM);
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Queue", exact: true }).click();
  await rowOf(page, item.name).getByRole("checkbox").check();
  await page.getByRole("button", { name: "Approve (1)" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
  await page.getByRole("region", { name: "Results" }).getByText("1 change approved, 0 errors").waitFor();
  assert.deepEqual((await changesOf(url, VM, "APPROVED")).map((change) => change.service_item.name), [item.name]);
  assert.deepEqual(seen.errors, []);
  assert.deepEqual(await page.evaluate(() => globalThis.violations), []);
  await context.close();
}
