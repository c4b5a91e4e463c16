import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { assertClean, assertFits, openPage, signIn } from "./pages.mjs";
import { changesOf, claim, decide, finishAll, request, startWorld } from "./world.mjs";

const VM = "vm-owner-key";
const LB = "lb-owner-key";
const NP = "np-owner-key";
const LONG = "Produktionsumgebungsdatenbankverbindungspool-Hauptrechenzentrum-Frankfurt";
const DISK = {
  title: "Disk",
  type: "object",
  metadata: { cost_per_change: 10, monthly_cost: 73 },
  required: ["name"],
  properties: { name: { type: "string" }, mounts: { type: "array", items: { type: "object" } }, raid: { type: "object" } },
};

describe("item", () => {
  let world;
  let ids;
  before(async () => {
    world = await startWorld();
    await request(world.system, VM, "POST", "orcabase/serviceowner/services/", DISK);
    const disk = { name: "disk1", mounts: [{ path: "/data" }, { path: "/logs" }], raid: { level: 1, tags: ["a", "b"] } };
    await submit("Start", {
      VM: [{ name: "web1", cpu: 2 }, { name: LONG, cpu: 1 }],
      LoadBalancer: [{ name: "front", related_vms: ["web1"], algorithm: "RoundRobin" }],
      Network: [{ name: "net", hosts: 10 }],
      Disk: [disk],
    });
    await complete(VM, "web1", { ip: "10.0.0.1", rack: 7 });
    await complete(VM, "disk1");
    await complete(NP, "net", { range: "10.0.0.0/24" });
    await submit("More power", { VM: [{ name: "web1", cpu: 8 }, { name: LONG, cpu: 1 }] }, "PATCH");
    await complete(VM, "web1", { ip: "10.0.0.2", rack: 7, host: "h1" }, "in the new rack");
    await submit("Too much", { VM: [{ name: "web1", cpu: 64 }, { name: LONG, cpu: 1 }] }, "PATCH");
    const large = (await changesOf(world.system, VM, "PENDING")).find((change) => change.service_item.name === "web1");
    await decide(world.system, VM, large.id, { state: "REJECTED", log: "at most 16 CPUs" });
    const items = await request(world.system, "awesome-key", "GET", "orcabase/consumer/service_items/?limit=100");
    ids = Object.fromEntries(items.results.map(({ name, id }) => [name, id]));
    const observed = { service_item: ids.net, data: { hosts: 20 } };
    await request(world.system, NP, "POST", "orcabase/serviceowner/deployed_items/", observed);
  });
  after(() => world.stop());

  let services = {};
  function submit(message, changed) {
    services = { ...services, ...changed };
    const target = `orcabase/consumer/submissions/submit/?message=${encodeURIComponent(message)}`;
    return request(world.system, "awesome-key", "PATCH", target, { AwesomeConsumer: { Shop: { services } } });
  }

  async function complete(key, name, deployed, log) {
    const change = (await changesOf(world.system, key, "PENDING")).find(({ service_item }) => service_item.name === name);
    await decide(world.system, key, change.id, { state: "APPROVED" });
    await decide(world.system, key, change.id, { state: "COMPLETED", ...(deployed && { deployed_item: deployed }), ...(log && { log }) });
  }

  async function open(name, team = "AwesomeConsumer", options) {
    const opened = await openPage(world, options);
    await signIn(opened.page, team);
    await opened.page.goto(`${world.site.url}/#/items/${ids[name]}`);
    await opened.page.getByRole("heading", { level: 1, name }).waitFor();
    return opened;
  }

  const flat = async (locator) => (await locator.innerText()).replace(/\s+/g, " ").trim();
  const panel = (page) => page.getByRole("tabpanel");
  const tab = (page, name) => page.getByRole("tab", { name }).click();
  const entries = (page) => page.getByRole("list", { name: "Entries of the timeline" }).locator("> li");
  const asOf = (page) => page.getByRole("region", { name: "Item as of a time" });

  it("shows state and turn with links, and the declaration as values and JSON", async () => {
    const { page, context } = await open("disk1");
    const main = await flat(page.getByRole("main"));
    for (const text of ["In service", "No open change", "VMOwnerTeam", "AwesomeConsumer"]) assert.ok(main.includes(text), text);
    assert.match(await page.getByRole("link", { name: "Shop" }).getAttribute("href"), /#\/applications\/\d+$/);
    assert.match(await page.getByRole("link", { name: "Disk", exact: true }).getAttribute("href"), /#\/catalogue\/\d+$/);
    assert.match(await page.getByRole("link", { name: "Edit" }).getAttribute("href"), /#\/edit\?application=\d+&item=disk1$/);
    assert.match(await flat(panel(page)), /mounts 0 path \/data 1 path \/logs name disk1 raid level 1 tags a, b$/);
    await page.getByText("raid", { exact: true }).click();
    await page.getByText("level", { exact: true }).waitFor({ state: "hidden" });
    await page.getByText("JSON", { exact: true }).click();
    assert.ok(JSON.parse(await panel(page).locator("pre").innerText()).mounts);
    await context.close();
  });

  it("shows an owner the turn and the way to the queue", async () => {
    const { page, context } = await open("web1", "VMOwnerTeam");
    await page.getByText("Rejected: the consumer answers").waitFor();
    assert.equal(await page.getByRole("link", { name: "Shop" }).count(), 0);
    await page.getByRole("link", { name: "Decide its changes in the queue" }).click();
    await page.getByRole("heading", { level: 1, name: "Queue" }).waitFor();
    assert.match(page.url(), /#\/queue\?service=1$/);
    await context.close();
  });

  it("shows an owner the claim of the item and of its change", async () => {
    await claim(world.system, VM, { worker: "w-7", limit: 50, state: "PENDING" });
    const { page, context } = await open(LONG, "VMOwnerTeam");
    const claims = page.getByRole("definition").filter({ hasText: "number 1" });
    await claims.getByText(/^w-7 until \d/).waitFor();
    await tab(page, "History");
    await entries(page).last().getByRole("button", { name: "Show differences" }).click();
    await panel(page).getByText(/^w-7 until \d/).waitFor();
    assert.equal(await claims.count(), 2);
    await context.close();
    const consumer = await open(LONG);
    await consumer.page.getByText("Pending: the owner decides").waitFor();
    await consumer.page.waitForLoadState("networkidle");
    assert.equal(await consumer.page.getByText("w-7").count(), 0);
    assert.ok(consumer.seen.requests.every((url) => !url.includes("claims")), `${consumer.seen.requests}`);
    await consumer.context.close();
  });

  it("shows the document and the drift of a verified item", async () => {
    const { page, context } = await open("net");
    const drift = page.getByRole("region", { name: "Drift since" });
    assert.match(await flat(drift), /~ changed \/hosts 10 → to 20/);
    await page.getByText("Drifted", { exact: true }).waitFor();
    await tab(page, "Document");
    assert.match(await flat(panel(page)), /range 10\.0\.0\.0\/24/);
    await context.close();
  });

  it("compares deployed versions", async () => {
    const { page, context } = await open("web1", "VMOwnerTeam");
    await tab(page, "Deployed");
    const differences = page.getByRole("list", { name: "Differences" });
    assert.equal(await flat(differences), '+ added /host "h1" ~ changed /ip "10.0.0.1" → to "10.0.0.2"');
    await page.getByRole("combobox", { name: "Version" }).selectOption({ index: 1 });
    await page.getByText("The two versions are equal.").waitFor();
    assert.match(await flat(panel(page)), /Version 1 .* ip 10\.0\.0\.1/);
    await context.close();
  });

  it("shows the history with actor, reason and message, and filters it", async () => {
    const { page, context } = await open("web1");
    await tab(page, "History");
    await entries(page).first().waitFor();
    const texts = (await entries(page).allInnerTexts()).map((text) => text.replace(/\s+/g, " "));
    assert.match(texts[0], /Modify Rejected by VMOwnerTeam VMOwnerTeam-1 \(Api Key\) at most 16 CPUs$/);
    assert.match(texts[1], /Modify Pending by AwesomeConsumer .* Too much .*Submission \d+/);
    assert.match(texts.at(-1), /Create Pending by AwesomeConsumer .* Start/);
    await entries(page).nth(1).getByRole("button", { name: "Show differences" }).click();
    const differences = entries(page).nth(1).getByRole("list", { name: "Differences" });
    assert.equal(await flat(differences), "~ changed /cpu 8 → to 64");
    await page.getByText("Deployed", { exact: true }).last().click();
    assert.equal(await entries(page).count(), 2);
    assert.match(await flat(entries(page).first()), /Deployed version 2 recorded/);
    await context.close();
  });

  for (const [team, role] of [["AwesomeConsumer", "consumer"], ["VMOwnerTeam", "owner"]]) {
    it(`moves through the states of the item by keyboard as ${role}`, async () => {
      const { page, context } = await open("web1", team);
      await tab(page, "History");
      const slider = page.getByRole("slider", { name: "State as of" });
      assert.equal(await slider.getAttribute("aria-valuetext"), "Now");
      await slider.focus();
      await page.keyboard.press("Home");
      await asOf(page).getByText("Requested").waitFor();
      const oldest = await flat(asOf(page));
      assert.match(oldest, /Pending: the owner decides .*version 1 .*cpu 2 .*There was no deployed version/);
      assert.match(oldest, /~ changed \/cpu 2 → to 64/);
      assert.match(oldest, /\+ added \/host "h1"/);
      assert.notEqual(await slider.getAttribute("aria-valuetext"), "Now");
      await page.keyboard.press("ArrowRight");
      await asOf(page).getByText("Approved: the owner carries out").waitFor();
      await asOf(page).getByText("In service").waitFor();
      await page.keyboard.press("ArrowRight");
      await asOf(page).getByText("Deployed version 1", { exact: true }).waitFor();
      await page.keyboard.press("End");
      await page.getByText("Move the slider to see the item at an earlier time.").waitFor();
      await context.close();
    });
  }

  it("shows the item as of an entry, and keeps the time while the history grows", async () => {
    const { page, context } = await openPage(world);
    await page.clock.install();
    await signIn(page, "AwesomeConsumer");
    await page.goto(`${world.site.url}/#/items/${ids.front}`);
    await tab(page, "History");
    await entries(page).last().getByRole("button", { name: "Show the item" }).click();
    await page.clock.runFor(1_000);
    await asOf(page).getByText("Requested").waitFor();
    const shown = await page.getByRole("slider").getAttribute("aria-valuetext");
    const before = await entries(page).count();
    await finishAll(world.system, LB);
    await page.clock.runFor(31_000);
    await page.getByRole("list", { name: "Entries of the timeline" }).getByText("Completed").first().waitFor();
    assert.ok((await entries(page).count()) > before);
    assert.equal(await page.getByRole("slider").getAttribute("aria-valuetext"), shown);
    await context.close();
  });

  it("omits the slider for a dependent team, which may not see earlier states", async () => {
    const { page, context } = await open("front", "NPOwnerTeam");
    await tab(page, "History");
    await entries(page).first().waitFor();
    assert.equal(await page.getByRole("slider").count(), 0);
    await context.close();
  });

  it("shows references in both directions, and charges", async () => {
    const { page, context } = await open("front");
    await tab(page, "References");
    const refers = page.getByRole("region", { name: "Refers to" });
    assert.match(await flat(refers), /\/related_vms\/0 VM \/ web1 In service/);
    assert.match(await flat(page.getByRole("region", { name: "Dependent teams" })), /NPOwnerTeam for LoadBalancer/);
    await refers.getByRole("link", { name: "web1" }).click();
    await page.getByRole("heading", { level: 1, name: "web1" }).waitFor();
    await tab(page, "References");
    assert.match(await flat(page.getByRole("region", { name: "Referenced by" })), /front LoadBalancer/);
    await page.goto(`${world.site.url}/#/items/${ids.disk1}`);
    await page.getByRole("heading", { level: 1, name: "disk1" }).waitFor();
    await tab(page, "Charges");
    assert.match(await flat(page.getByRole("row").filter({ hasText: "Fee of a change" })), /10/);
    assert.match(await flat(page.getByRole("row").filter({ hasText: "Monthly price" })), /73 .*Still running/);
    await context.close();
  });

  it("sends at most 12 requests a minute, and explains a missing item", async () => {
    const { page, seen, context } = await openPage(world);
    await page.clock.install();
    await signIn(page, "AwesomeConsumer");
    await page.goto(`${world.site.url}/#/items/${ids.web1}`);
    await tab(page, "History");
    await entries(page).first().waitFor();
    await page.waitForLoadState("networkidle");
    seen.requests.length = 0;
    await page.clock.runFor(60_000);
    const polls = seen.requests.filter((url) => url.includes("/v1/"));
    assert.ok(polls.length > 0 && polls.length <= 12, `${polls}`);
    await page.goto(`${world.site.url}/#/items/1`);
    await page.getByRole("alert").waitFor();
    await context.close();
  });

  for (const team of ["AwesomeConsumer", "VMOwnerTeam"]) {
    for (const colorScheme of ["light", "dark"]) {
      for (const width of [1280, 390]) {
        it(`has no findings for ${team}, ${colorScheme}, ${width} pixels`, async () => {
          const opened = await open(LONG, team, { colorScheme, viewport: { width, height: 844 } });
          const { page } = opened;
          await assertFits(page);
          await page.goto(`${world.site.url}/#/items/${ids.web1}`);
          await page.getByRole("heading", { level: 1, name: "web1" }).waitFor();
          for (const name of ["Declaration", "Deployed", "References", "Charges", "History"]) {
            await tab(page, name);
            await panel(page).getByText("Loading…").waitFor({ state: "detached" });
            await assertClean(opened);
            await assertFits(page);
          }
          await page.getByRole("slider").focus();
          await page.keyboard.press("Home");
          await asOf(page).getByText("Requested").waitFor();
          await assertClean(opened);
          await assertFits(page);
          await opened.context.close();
        });
      }
    }
  }
});
