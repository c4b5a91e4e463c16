import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { assertClean, assertFits, openPage, rowOf, signIn } from "./pages.mjs";
import { changesOf, decide, declare, finishAll, request, startWorld } from "./world.mjs";

const LONG = "Produktionsumgebungsdatenbankverbindungspool-Hauptrechenzentrum-Frankfurt";
const VM = "vm-owner-key";
const CONSUMER = "awesome-key";

describe("applications", () => {
  let world;
  let shop;
  let itemIds;
  before(async () => {
    world = await startWorld();
    const { system } = world;
    await declare(system, "Other", [{ name: "solo", cpu: 1 }]);
    await finishAll(system, VM);
    const machines = [{ name: "web1", cpu: 2 }, { name: "web2", cpu: 64 }, { name: LONG, cpu: 1 }];
    await declare(system, "Shop", machines, [{ name: "front", related_vms: ["web1", "web2"], algorithm: "RoundRobin" }]);
    const changes = await changesOf(system, VM, "PENDING");
    const change = changes.find((row) => row.service_item.name === "web2");
    await decide(system, VM, change.id, { state: "REJECTED", log: "at most 16 CPUs" });
    shop = change.application.id;
    const { results } = await request(system, CONSUMER, "GET", `orcabase/consumer/service_items/?application_id=${shop}`);
    itemIds = Object.fromEntries(results.map((item) => [item.name, item.id]));
  });
  after(() => world.stop());

  async function openShop(query = "", options = undefined) {
    const opened = await openPage(world, options);
    await signIn(opened.page, "AwesomeConsumer");
    await opened.page.goto(`${world.site.url}/#/applications/${shop}${query}`);
    await opened.page.getByRole("heading", { level: 1, name: "Shop" }).waitFor();
    await opened.page.getByText("Blocked").waitFor();
    return opened;
  }
  const node = (page, name) => page.locator(".node").filter({ has: page.getByText(name, { exact: true }) });
  const panel = (page) => page.getByRole("complementary", { name: "Selected item" });

  it("lists the applications with their states, and searches them", async () => {
    const { page, context } = await openPage(world);
    await signIn(page, "AwesomeConsumer");
    await page.getByRole("link", { name: "Applications", exact: true }).click();
    await rowOf(page, "Shop").waitFor();
    const text = await rowOf(page, "Shop").innerText();
    for (const part of ["Blocked", "4 items, 0 in service", "1 rejected", "3 pending"]) assert.ok(text.includes(part), text);
    assert.match(await rowOf(page, "Other").innerText(), /Ready[^]*1 item, 1 in service[^]*None/);
    await page.getByLabel("Name contains").fill("sho");
    await rowOf(page, "Other").waitFor({ state: "detached" });
    await page.waitForURL(/search=sho/);
    await page.getByText("Retired", { exact: true }).click();
    await page.getByText("No application matches the filters.").waitFor();
    assert.match(await page.getByRole("link", { name: "New application" }).getAttribute("href"), /#\/edit$/);
    await context.close();
  });

  it("draws items by service with their references, and dependent teams", async () => {
    const { page, context } = await openShop();
    await node(page, "front").waitFor();
    const text = await node(page, "web2").innerText();
    assert.match(text, /Rejected[^]*Consumer must answer/);
    assert.match(await node(page, "web1").innerText(), /Pending[^]*VMOwnerTeam decides/);
    await page.getByRole("region", { name: "VM, 3 items" }).waitFor();
    assert.equal(await page.locator(".lines .reference").count(), 2);
    assert.equal(await page.locator(".lines .dependent").count(), 1);
    await page.locator(".team-node").getByText("Dependent team").waitFor();
    await context.close();
  });

  it("marks references to items that are not in place, after which the item stands", async () => {
    const { page, context } = await openShop();
    await node(page, "front").waitFor();
    assert.equal(await page.locator(".lines .blocking").count(), 2);
    const legend = await page.getByRole("list", { name: "Lines" }).innerText();
    assert.match(legend, /^Waits: the referenced item is not in place yet\s+Dependent team$/);
    assert.match(await node(page, "front").innerText(), /Waits for web1, web2$/);
    const [front, web1] = [await node(page, "front").boundingBox(), await node(page, "web1").boundingBox()];
    assert.ok(front.x > web1.x + web1.width, `${front.x} after ${web1.x}`);
    await node(page, "front").click();
    assert.match(await panel(page).innerText(), /Waits for\s+web1, web2/);
    await context.close();
  });

  it("selects an item, highlights its references, and opens it with the next click", async () => {
    const { page, context } = await openShop();
    await node(page, "front").click();
    await panel(page).getByText("LBOwnerTeam", { exact: true }).first().waitFor();
    await panel(page).getByText("/related_vms/1").waitFor();
    assert.match(await node(page, "web1").innerText(), /Referenced/);
    assert.doesNotMatch(await node(page, LONG).innerText(), /Referenced/);
    assert.equal(await page.locator(".lines .reference.selected").count(), 2);
    await panel(page).getByRole("button", { name: "web2" }).click();
    await panel(page).getByText("at most 16 CPUs").waitFor();
    assert.match(await node(page, "front").innerText(), /Refers to it/);
    assert.match(page.url(), new RegExp(`item=${itemIds.web2}`));
    await node(page, "web2").click();
    await page.waitForURL(new RegExp(`#/items/${itemIds.web2}$`));
    await context.close();
  });

  it("moves between items, pans and zooms by keyboard", async () => {
    const { page, context } = await openShop();
    await node(page, "front").focus();
    const transform = () => page.locator(".graph-drawing").evaluate((element) => element.style.transform);
    const before = await transform();
    await page.keyboard.press("+");
    const zoomed = await transform();
    assert.notEqual(zoomed, before);
    await page.keyboard.press("Shift+ArrowRight");
    assert.notEqual(await transform(), zoomed);
    await page.keyboard.press("0");
    await page.keyboard.press("ArrowLeft");
    await panel(page).getByRole("heading", { name: "web1" }).waitFor();
    await page.keyboard.press("ArrowDown");
    await panel(page).getByRole("heading", { name: "web2" }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(new RegExp(`#/items/${itemIds.web2}$`));
    await context.close();
  });

  it("pans by pointer, and zooms with Control and the wheel", async () => {
    const { page, context } = await openShop();
    await node(page, "front").waitFor();
    const transform = () => page.locator(".graph-drawing").evaluate((element) => element.style.transform);
    const box = await page.locator(".graph-canvas").boundingBox();
    const before = await transform();
    await page.mouse.move(box.x + 8, box.y + 300);
    await page.mouse.down();
    await page.mouse.move(box.x + 68, box.y + 340);
    await page.mouse.up();
    const panned = await transform();
    assert.notEqual(panned, before);
    await page.mouse.wheel(0, 10);
    assert.match(panned, /scale\(1\)/);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -200);
    await page.keyboard.up("Control");
    await page.waitForFunction(() => !document.querySelector(".graph-drawing").style.transform.includes("scale(1)"));
    await context.close();
  });

  it("filters the list, keeps filters in the address, and closes groups", async () => {
    const { page, context } = await openShop("?view=list");
    await page.getByText("4 of 4 items shown.").waitFor();
    assert.match(await rowOf(page, "front").innerText(), /→ web1, web2/);
    await page.getByLabel("Needs attention").check();
    await page.getByText("1 of 4 items shown.").waitFor();
    await rowOf(page, "web2").waitFor();
    await page.getByLabel("Needs attention").uncheck();
    await page.getByRole("combobox", { name: "State" }).selectOption("Pending");
    await page.getByRole("combobox", { name: "Service" }).selectOption("VM");
    await page.getByText("2 of 4 items shown.").waitFor();
    await page.getByLabel("Name contains").fill("WEB");
    await page.getByText("1 of 4 items shown.").waitFor();
    await page.waitForURL(/view=list.*state=Pending.*text=WEB/);
    await page.getByRole("button", { name: "VM 1 item" }).click();
    await rowOf(page, "web1").waitFor({ state: "detached" });
    await context.close();
  });

  it("goes from the list to the item in the graph", async () => {
    const { page, context } = await openShop("?view=list");
    await page.getByRole("link", { name: "Show web1 in the graph" }).click();
    await panel(page).getByRole("heading", { name: "web1" }).waitFor();
    await page.getByText("Open changes", { exact: true }).last().waitFor();
    await panel(page).getByRole("button", { name: "Close the selected item" }).click();
    await panel(page).waitFor({ state: "detached" });
    await context.close();
  });

  it("lists open changes, and links to the editor and to the submission", async () => {
    const { page, context } = await openShop("?view=changes");
    const row = page.getByRole("row").filter({ hasText: "web2" });
    await row.getByText("at most 16 CPUs").waitFor();
    assert.match(await row.innerText(), /Rejected[^]*VMOwnerTeam/);
    assert.match(await page.getByRole("link", { name: "Edit application" }).getAttribute("href"), new RegExp(`application=${shop}`));
    assert.match(await page.getByRole("link", { name: /^Submission / }).getAttribute("href"), /#\/submissions\/\d+$/);
    await context.close();
  });

  it("explains an application of another team to a service owner", async () => {
    const { page, context } = await openPage(world);
    await signIn(page, "VMOwnerTeam");
    await page.getByRole("link", { name: "Applications", exact: true }).click();
    await page.getByText("Your team has no applications.").waitFor();
    await page.goto(`${world.site.url}/#/applications/${shop}`);
    await page.getByText("Only its own team can open it.").waitFor();
    assert.match(await page.getByRole("link", { name: "in your queue" }).getAttribute("href"), new RegExp(`application=${shop}`));
    await context.close();
  });

  it("shows drift and health", async () => {
    const { page, context } = await openPage(world);
    await page.route("**/service_items/**", async (route) => {
      const response = await route.fetch();
      const body = await response.json();
      const url = new URL(route.request().url());
      for (const item of body.results ?? [body]) item.service.healthcheck = true;
      for (const item of body.results ?? []) item.healthcheck_status = item.name === "web1" ? "UNHEALTHY" : "HEALTHY";
      if (url.searchParams.get("is_drifted") === "true") body.results = [{ id: itemIds.front }];
      await route.fulfill({ response, json: body });
    });
    await signIn(page, "AwesomeConsumer");
    await page.goto(`${world.site.url}/#/applications/${shop}`);
    await node(page, "web1").getByText("Unhealthy").waitFor();
    await node(page, "front").getByText("Drifted").waitFor();
    await page.getByText("List", { exact: true }).click();
    await page.getByLabel("Needs attention").check();
    await page.getByText("3 of 4 items shown.").waitFor();
    await context.close();
  });

  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1280, 390]) {
      it(`has no findings, ${colorScheme}, ${width} pixels`, async () => {
        const opened = await openShop(`?item=${itemIds.web2}`, { colorScheme, viewport: { width, height: 844 } });
        const { page } = opened;
        await panel(page).getByText("at most 16 CPUs").waitFor();
        await assertClean(opened);
        await assertFits(page);
        for (const [view, text] of [["List", "4 of 4 items shown."], ["Open changes", "at most 16 CPUs"]]) {
          await page.locator(".segments").getByText(view, { exact: true }).click();
          await page.getByText(text).waitFor();
          await assertClean(opened);
          await assertFits(page);
        }
        await page.goto(`${world.site.url}/#/applications`);
        await rowOf(page, "Shop").waitFor();
        await assertClean(opened);
        await assertFits(page);
        await opened.context.close();
      });
    }
  }

  /** Opens the list of an application under a clock of the test, after its first requests. */
  async function openLiveList() {
    const opened = await openPage(world);
    const { page } = opened;
    await page.clock.install();
    await signIn(page, "AwesomeConsumer");
    await page.goto(`${world.site.url}/#/applications/${shop}?view=list`);
    await rowOf(page, "web1").waitFor();
    await page.getByRole("link", { name: /^Submission / }).waitFor();
    await page.waitForLoadState("networkidle");
    return opened;
  }

  it("follows changes of others within 12 requests a minute, marks and announces them", async () => {
    const { page, seen, context } = await openLiveList();
    seen.requests.length = 0;
    await page.clock.runFor(60_000);
    const polls = seen.requests.filter((url) => url.includes("/v1/"));
    assert.ok(polls.length > 0 && polls.length <= 12, `${polls.length} requests`);
    const change = (await changesOf(world.system, VM, "PENDING")).find((row) => row.service_item.name === "web1");
    await decide(world.system, VM, change.id, { state: "APPROVED" });
    await page.clock.runFor(8_000);
    await page.getByRole("status").getByText("web1 is approved.").waitFor();
    await rowOf(page, "web1").getByText("Changed").waitFor();
    await rowOf(page, "web1").getByText("Approved", { exact: true }).waitFor();
    await page.clock.runFor(5_000);
    await rowOf(page, "web1").getByText("Changed").waitFor({ state: "detached" });
    await context.close();
  });

  it("ends a mark although two slow polls find the same change", async () => {
    const { page, context } = await openLiveList();
    const [change] = await changesOf(world.system, VM, "PENDING");
    await decide(world.system, VM, change.id, { state: "APPROVED" });
    const held = [];
    while (held.length < 2) {
      const route = new Promise((resolve) => page.route("**/graph/**", resolve, { times: 1 }));
      await page.clock.runFor(8_000);
      held.push(await route);
    }
    for (const route of held) await route.continue();
    await rowOf(page, change.service_item.name).getByText("Changed").waitFor();
    await page.waitForLoadState("networkidle");
    await page.clock.runFor(5_000);
    await rowOf(page, change.service_item.name).getByText("Changed").waitFor({ state: "detached" });
    await context.close();
  });
});
