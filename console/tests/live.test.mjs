import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { openPage, rowOf, signIn } from "./pages.mjs";
import { claim, declare, finishAll, startWorld } from "./world.mjs";

describe("live lists", () => {
  let world;
  before(async () => {
    world = await startWorld();
    await declare(world.system, "Shop", [{ name: "vm1", cpu: 2 }]);
  });
  after(() => world.stop());

  it("offers another attempt after a lost connection, and signs out after 401", async () => {
    const { page, context } = await openPage(world);
    await signIn(page, "VMOwnerTeam");
    await page.route("**/change_instances/**", (route) => route.abort());
    await page.getByRole("link", { name: "Queue", exact: true }).click();
    await page.getByRole("alert").getByText("The system does not answer.").waitFor();
    await page.unroute("**/change_instances/**");
    await page.getByRole("button", { name: "Try again" }).click();
    await rowOf(page, "vm1").waitFor();
    await page.route("**/change_instances/**", (route) => route.fulfill({ status: 401, json: {} }));
    await page.getByRole("link", { name: "Home" }).click();
    await page.getByText("The system no longer accepts this key.").waitFor();
    await page.getByLabel("API key").waitFor();
    await context.close();
  });

  it("follows changes of others within 12 light requests a minute", async () => {
    const opened = await openPage(world);
    const { page, seen } = opened;
    await page.clock.install();
    await signIn(page, "VMOwnerTeam");
    await page.getByRole("link", { name: "Queue", exact: true }).click();
    await rowOf(page, "vm1").waitFor();
    await page.waitForLoadState("networkidle");
    seen.requests.length = 0;
    await page.clock.runFor(60_000);
    const polls = seen.requests.filter((url) => url.includes("/v1/"));
    assert.ok(polls.length > 0 && polls.length <= 12, `${polls.length} requests`);
    assert.ok(polls.every((url) => url.includes("light=true")), `${polls}`);
    await declare(world.system, "Other", [{ name: "late", cpu: 1 }]);
    await page.clock.runFor(6_000);
    await rowOf(page, "late").waitFor();
    await opened.context.close();
  });

  it("shows a new claim after one light request", async () => {
    const { page, seen, context } = await openPage(world);
    await page.clock.install();
    await signIn(page, "VMOwnerTeam");
    await page.getByRole("link", { name: "Queue", exact: true }).click();
    await rowOf(page, "vm1").waitFor();
    await page.waitForLoadState("networkidle");
    await claim(world.system, "vm-owner-key", { worker: "w-7", limit: 50, state: "PENDING" });
    seen.requests.length = 0;
    await page.clock.runFor(6_000);
    await rowOf(page, "vm1").getByText("w-7 until").waitFor();
    assert.equal(await rowOf(page, "vm1").getByRole("list", { name: "Differences" }).count(), 1);
    assert.ok(seen.requests.every((url) => url.includes("light=true")), `${seen.requests}`);
    await context.close();
  });

  it("stops polling while the page is hidden", async () => {
    const { page, seen, context } = await openPage(world);
    await page.clock.install();
    await signIn(page, "VMOwnerTeam");
    await page.getByRole("link", { name: "Queue", exact: true }).click();
    await rowOf(page, "vm1").waitFor();
    await page.waitForLoadState("networkidle");
    await page.evaluate(() => Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true }));
    seen.requests.length = 0;
    await page.clock.runFor(60_000);
    assert.deepEqual(seen.requests, []);
    await context.close();
  });

  it("shows the end of a wait after one light request", async () => {
    await declare(world.system, "Balanced", [{ name: "base", cpu: 1 }], [{ name: "front", related_vms: ["base"] }]);
    const { page, seen, context } = await openPage(world);
    await page.clock.install();
    await signIn(page, "LBOwnerTeam");
    await page.getByRole("link", { name: "Queue", exact: true }).click();
    const wait = rowOf(page, "front").getByText("After base", { exact: true });
    await wait.waitFor();
    await page.waitForLoadState("networkidle");
    await finishAll(world.system, "vm-owner-key");
    seen.requests.length = 0;
    await page.clock.runFor(6_000);
    await wait.waitFor({ state: "detached" });
    assert.equal(await rowOf(page, "front").getByRole("list", { name: "Differences" }).count(), 1);
    assert.ok(seen.requests.every((url) => url.includes("light=true")), `${seen.requests}`);
    await context.close();
  });
});
