import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { assertClean, assertFits, openPage, rowOf, signIn } from "./pages.mjs";
import { answerPlatform, troubledSystem } from "./platform.mjs";
import { declare, startWorld } from "./world.mjs";

describe("operations", () => {
  let world;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  async function openOperations(options, change = () => {}) {
    const system = troubledSystem();
    change(system);
    const opened = await openPage(world, options);
    await answerPlatform(opened.page, system);
    await opened.page.getByLabel("API key").fill("platform-key");
    await opened.page.keyboard.press("Enter");
    await opened.page.getByRole("heading", { level: 1, name: "Operations" }).waitFor();
    return opened;
  }

  const card = (page, name) => page.getByRole("article", { name });
  const queues = (page) => page.getByRole("region", { name: "Open changes by owner" });
  const dialog = (page) => page.getByRole("dialog");

  it("is the home of an operator, and the only page", async () => {
    const { page, context } = await openOperations();
    const navigation = page.getByRole("navigation", { name: "Pages" });
    assert.deepEqual(await navigation.getByRole("link").allInnerTexts(), ["Operations"]);
    assert.equal(await navigation.getByRole("link").getAttribute("aria-current"), "page");
    assert.equal(await page.getByRole("radio", { name: "Consumer" }).count(), 0);
    await page.goto(`${world.site.url}/#/queue`);
    await page.getByText("This page belongs to a team. Your key is for operations.").waitFor();
    await page.getByRole("link", { name: "Go to the home page" }).click();
    await page.getByRole("heading", { level: 1, name: "Operations" }).waitFor();
    await context.close();
  });

  it("is closed to other keys", async () => {
    const { page, context, seen } = await openPage(world);
    await signIn(page, "VMOwnerTeam");
    assert.equal(await page.getByRole("link", { name: "Operations" }).count(), 0);
    await page.goto(`${world.site.url}/#/operations`);
    await page.getByText("This page needs a key with the role PLATFORM.").waitFor();
    assert.ok(!seen.requests.some((url) => url.includes("/platform/")));
    await context.close();
  });

  it("shows late and quarantined work, and the last audit", async () => {
    const { page, context } = await openOperations();
    assert.match(await card(page, "Pending work").innerText(), /1000\+[^]*Late[^]*5 min/);
    assert.match(await card(page, "Large submissions").innerText(), /0[^]*Normal/);
    assert.match(await card(page, "Quarantined work").innerText(), /1[^]*Needs you[^]*AwesomeConsumer, submission 1048577, 2 h/);
    assert.match(await card(page, "Last audit").innerText(), /Violated[^]*1 h[^]*81234 records checked, 2 violations/);
    await context.close();
  });

  it("shows the work of a real system, and creates a team that signs in", async () => {
    await declare(world.system, "Shop", [{ name: "web1", cpu: 2 }]);
    const { page, context } = await openPage(world);
    await page.getByLabel("API key").fill("platform-key");
    await page.keyboard.press("Enter");
    const row = queues(page).getByRole("row").filter({ hasText: "VMOwnerTeam" });
    await row.waitFor();
    assert.match((await row.getByRole("cell").allInnerTexts())[1], /^1, oldest/);
    await card(page, "Pending work").getByText("Normal").waitFor();
    await card(page, "Last audit").getByText("No audit is recorded yet.").waitFor();
    await page.getByRole("button", { name: "Create team" }).click();
    await dialog(page).getByLabel("Name", { exact: true }).fill("Payments");
    await page.keyboard.press("Enter");
    const key = /dvt_\w+/.exec(await dialog(page).getByText("dvt_").innerText())[0];
    const other = await openPage(world);
    await other.page.getByLabel("API key").fill(key);
    await other.page.keyboard.press("Enter");
    await other.page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
    await other.page.getByText("Payments", { exact: true }).waitFor();
    await other.context.close();
    await context.close();
  });

  it("explains a missing audit", async () => {
    const { page, context } = await openOperations({}, (system) => {
      system.status.last_audit = null;
    });
    await card(page, "Last audit").getByText("No audit is recorded yet.").waitFor();
    await context.close();
  });

  it("shows the owner with the oldest change first, and reads further pages on request", async () => {
    const { page, context } = await openOperations();
    const owners = async () => (await queues(page).getByRole("row").allInnerTexts()).slice(1).map((text) => text.split(/\s/)[0]);
    await queues(page).getByText("VMOwnerTeam").waitFor();
    assert.deepEqual((await owners()).map((name) => name.slice(0, 5)), ["Produ", "VMOwn"]);
    const cells = await queues(page).getByRole("row").filter({ hasText: "Produ" }).getByRole("cell").allInnerTexts();
    assert.deepEqual(cells.slice(1), ["0", "100+, oldest 2 days", "0", "0"]);
    const more = queues(page).getByRole("button", { name: "Show more owners" });
    await more.click();
    // The second page has no rows, and still a next one.
    await queues(page).getByText("VMOwnerTeam").waitFor();
    await more.click();
    await queues(page).getByText("NPOwnerTeam").waitFor();
    assert.equal((await owners())[0], "NPOwnerTeam");
    assert.equal(await more.count(), 0);
    await context.close();
  });

  it("creates a team, and shows its key once", async () => {
    const { page, context } = await openOperations();
    await page.getByRole("button", { name: "Create team" }).click();
    await dialog(page).getByLabel("Name", { exact: true }).fill("VMOwnerTeam");
    await page.keyboard.press("Enter");
    await dialog(page).getByRole("alert").getByText("a team has this name").waitFor();
    await dialog(page).getByLabel("Name", { exact: true }).fill("Payments");
    const sent = page.waitForRequest((request) => request.method() === "POST");
    await page.keyboard.press("Enter");
    assert.deepEqual((await sent).postDataJSON(), { name: "Payments", confirm_removals: true });
    await dialog(page).getByText("dvt_").waitFor();
    assert.match(await dialog(page).innerText(), /Payments-1, with the role ADMIN/);
    await dialog(page).getByRole("button", { name: "Close" }).click();
    await dialog(page).getByText("You have not copied it.").waitFor();
    await dialog(page).getByRole("button", { name: "Close" }).click();
    await rowOf(page, "Payments").waitFor();
    assert.equal(await page.getByText("dvt_").count(), 0);
    await context.close();
  });

  it("polls within 12 requests a minute", async () => {
    const opened = await openOperations();
    const { page, seen } = opened;
    await page.clock.install();
    await page.reload();
    await page.getByLabel("API key").fill("platform-key");
    await page.keyboard.press("Enter");
    await card(page, "Last audit").waitFor();
    await queues(page).getByText("VMOwnerTeam").waitFor();
    seen.requests.length = 0;
    await page.clock.runFor(60_000);
    const polls = seen.requests.filter((url) => url.includes("/v1/"));
    assert.ok(polls.length > 0 && polls.length <= 12, `${polls.length} requests`);
    await opened.context.close();
  });

  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1280, 390]) {
      it(`has no findings, ${colorScheme}, ${width} pixels`, async () => {
        const opened = await openOperations({ colorScheme, viewport: { width, height: 844 } });
        await card(opened.page, "Last audit").waitFor();
        await queues(opened.page).getByText("VMOwnerTeam").waitFor();
        await rowOf(opened.page, "AwesomeConsumer").waitFor();
        await assertClean(opened);
        await assertFits(opened.page);
        await opened.page.getByRole("button", { name: "Create team" }).click();
        await dialog(opened.page).waitFor();
        await assertClean(opened);
        await opened.context.close();
      });
    }
  }
});
